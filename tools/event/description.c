// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of event types, and the values in the data of events: see description.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/description.h"

#define PATH_MAX_BYTES	(DESCRIPTION_LEVELS * 64)

const struct posixtrace_field *description_root(const struct description *description)
{
	return posixtrace_fields_root(description->fields);
}

/* Returns the element type of nested arrays. */
static const struct posixtrace_field *element_of(const struct posixtrace_field *field)
{
	while (field->type == POSIXTRACE_FIELD_ARRAY)
		field = field->members;
	return field;
}

const struct posixtrace_field *description_find(const struct description *description,
						char *const *path, unsigned int depth)
{
	const struct posixtrace_field *field = description_root(description);

	for (unsigned int i = 0; i < depth; i++) {
		const struct posixtrace_field *member = field->members;
		size_t left = field->type == POSIXTRACE_FIELD_STRUCT ? field->count : 0;

		while (left && (!member->name || strcmp(member->name, path[i]) != 0)) {
			member++;
			left--;
		}
		if (!left)
			return NULL;
		field = element_of(member);
	}
	return field;
}

/* ------------------------------------------------------------------ */
/* Units								*/

static int add_unit(struct description *description, const char *path, const char *unit)
{
	struct description_unit *units;

	units = reallocarray(description->units, description->nr_units + 1, sizeof(*units));
	if (!units)
		return -ENOMEM;
	description->units = units;
	units[description->nr_units].path = strdup(path);
	units[description->nr_units].unit = unit;
	if (!units[description->nr_units].path)
		return -ENOMEM;
	description->nr_units++;
	return 0;
}

/*
 * Adds the units of a field and its members. @path has the names of the enclosing structs, in @len
 * bytes.
 */
static int add_units(struct description *description, const struct posixtrace_field *field,
		     char *path, size_t len)
{
	size_t members = field->type == POSIXTRACE_FIELD_STRUCT ? field->count :
			 field->type == POSIXTRACE_FIELD_ARRAY;
	int err = 0;

	if (field->name)
		len += (size_t)snprintf(path + len, PATH_MAX_BYTES - len, "%s%s", len ? "." : "",
					field->name);
	if (field->unit)
		err = add_unit(description, path, field->unit);
	for (size_t i = 0; !err && i < members; i++)
		err = add_units(description, &field->members[i], path, len);
	return err;
}

/* ------------------------------------------------------------------ */
/* Descriptions								*/

static bool is_number(const struct posixtrace_field *field)
{
	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
	case POSIXTRACE_FIELD_SIGNED:
	case POSIXTRACE_FIELD_HEX:
	case POSIXTRACE_FIELD_FLOAT:
		return true;
	default:
		return false;
	}
}

static const struct posixtrace_field *find_counter(const struct posixtrace_field *root)
{
	const struct posixtrace_field *only = NULL;

	for (size_t i = 0; i < root->count; i++) {
		if (!root->members[i].name)
			continue;
		if (only)
			return NULL;
		only = &root->members[i];
	}
	return only && is_number(only) && !strcmp(only->name, "counter") ? only : NULL;
}

int description_new(const char *text, struct description **description,
		    struct posixtrace_fields_error *error)
{
	struct description *new = calloc(1, sizeof(*new));
	char path[PATH_MAX_BYTES] = "";
	int err;

	if (!new)
		return -ENOMEM;
	err = -posixtrace_fields_parse(text, &new->fields, error);
	if (!err)
		err = add_units(new, description_root(new), path, 0);
	if (err) {
		description_free(new);
		return err;
	}
	new->counter = find_counter(description_root(new));
	new->layout = layout_new(description_root(new));
	*description = new;
	return 0;
}

void description_free(struct description *description)
{
	if (!description)
		return;
	for (size_t i = 0; i < description->nr_units; i++)
		free(description->units[i].path);
	free(description->units);
	free(description->plan);
	free(description->layout);
	posixtrace_fields_free(description->fields);
	free(description);
}

bool description_matches(struct description *description, const void *data, size_t len, bool cut)
{
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	bool some = false;
	int ret;

	if (description->layout && layout_fits(description->layout, len))
		return true;
	posixtrace_fields_begin(&walk, description->fields, data, len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		some |= value.what == POSIXTRACE_VALUE;
		if (cut && some)
			return true;
	}
	if (!ret)
		return true;
	if (!cut && !description->misfit) {
		description->misfit = true;
		description->misfit_len = len;
	}
	return false;
}

/* The minimum size of a field in bytes. */
static size_t least_size(const struct posixtrace_field *field)
{
	size_t size = 0;

	if (field->size)
		return field->size;
	switch (field->type) {
	case POSIXTRACE_FIELD_STRING:
		return 1;
	case POSIXTRACE_FIELD_ARRAY:
		return field->count * least_size(field->members);
	case POSIXTRACE_FIELD_STRUCT:
		for (size_t i = 0; i < field->count; i++)
			size += least_size(&field->members[i]);
		return size;
	default:
		return 0;
	}
}

void description_misfit(const struct description *description, struct buffer *to)
{
	const struct posixtrace_field *root = description_root(description);
	size_t size = least_size(root), len = description->misfit_len;
	bool least = root->count && !root->size;

	if (len < size || !least)
		buffer_printf(to, "the fields have %s%zu bytes, an event has %zu",
			      least ? "at least " : "", size, len);
	else
		buffer_printf(to, "the %zu bytes of an event do not match these fields", len);
	buffer_text(to, ": shown as bytes");
}

/* ------------------------------------------------------------------ */
/* Values								*/

void values_begin(struct values *values, const struct description *description, const void *data,
		  size_t len)
{
	const struct layout *layout = description->layout;

	values->layout = layout && layout_fits(layout, len) ? layout : NULL;
	values->item = 0;
	values->data = data;
	values->len = len;
	if (!values->layout)
		posixtrace_fields_begin(&values->walk, description->fields, data, len);
	values->depth = 0;
	values->ended = false;
}

static bool next_item(struct values *values, struct posixtrace_value *value)
{
	const struct layout_item *item = &values->layout->items[values->item];

	if (values->item == values->layout->count)
		return false;
	values->item++;
	layout_value(item, values->data, values->len, value);
	values->depth = item->depth + (value->what == POSIXTRACE_BEGIN);
	return true;
}

bool values_next(struct values *values, struct posixtrace_value *value)
{
	if (values->layout)
		return next_item(values, value);
	values->ended |= posixtrace_fields_next(&values->walk, value) != 1;
	if (values->ended) {
		if (!values->depth)
			return false;
		*value = (struct posixtrace_value){
			.field = values->open[values->depth - 1],
			.what = POSIXTRACE_END,
		};
	}
	if (value->what == POSIXTRACE_BEGIN)
		values->open[values->depth++] = value->field;
	else if (value->what == POSIXTRACE_END)
		values->depth--;
	return true;
}

bool value_is_text(const struct posixtrace_value *value)
{
	switch (value->field->type) {
	case POSIXTRACE_FIELD_CHARS:
	case POSIXTRACE_FIELD_STRING:
	case POSIXTRACE_FIELD_TEXT:
		return true;
	default:
		return false;
	}
}
