// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the value of a field: see field_value.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/field_value.h"

#define TEXT_MAX	65536	/* longest text of an array: a forged log can have long labels */

/* ------------------------------------------------------------------ */
/* Paths								*/

static bool is_identifier(const char *text)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *text && (*text < '0' || *text > '9') && strspn(text, chars) == strlen(text);
}

/* Cuts "[N]" off the end of the text. */
static int parse_index(char *text, struct field_path *path)
{
	char *bracket = strchr(text, '['), *end;

	if (!bracket)
		return 0;
	*bracket++ = '\0';
	if (*bracket < '0' || *bracket > '9')
		return -EINVAL;
	errno = 0;
	path->index = strtoul(bracket, &end, 10);
	path->indexed = true;
	return errno || strcmp(end, "]") != 0 ? -EINVAL : 0;
}

int field_path_parse(const char *text, struct field_path *path)
{
	char *copy = strdup(text), *rest = copy, *part;
	int err;

	*path = (struct field_path){ };
	if (!copy)
		return -ENOMEM;
	err = parse_index(copy, path);
	while (!err && (part = strsep(&rest, "."))) {
		if (!is_identifier(part) || path->depth == FIELD_PATH_MAX) {
			err = -EINVAL;
			break;
		}
		path->name[path->depth] = strdup(part);
		if (!path->name[path->depth++])
			err = -ENOMEM;
	}
	free(copy);
	return err;
}

void field_path_free(struct field_path *path)
{
	for (unsigned int i = 0; i < path->depth; i++)
		free(path->name[i]);
	path->depth = 0;
}

/* ------------------------------------------------------------------ */
/* Values								*/

static const struct posixtrace_field *find(const struct field_path *path,
					   const struct event *event)
{
	if (!event->description)
		return NULL;
	return description_find(event->description, path->name, path->depth);
}

bool field_known(const struct field_path *path, const struct event *event)
{
	return find(path, event);
}

static void put_value(struct field_value *to, const struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;
	struct buffer *text = &to->text;

	to->kind = FIELD_NUMBER;
	if (value_is_text(value)) {
		to->kind = FIELD_TEXT;
		buffer_put(text, value->data, value->text_len);
	} else if (field->type == POSIXTRACE_FIELD_FLOAT) {
		/* JSON does not support infinity and NaN. */
		if (!isfinite(value->real))
			to->kind = FIELD_WORD;
		buffer_real(text, value->real, value->size);
	} else if (field->type == POSIXTRACE_FIELD_BOOL) {
		buffer_text(text, value->number ? "true" : "false");
	} else if (field->type == POSIXTRACE_FIELD_HEX) {
		to->kind = FIELD_WORD;
		buffer_integer(text, value->number, 16, "0x", 0);
	} else if (value->label) {
		to->kind = FIELD_WORD;
		buffer_text(text, value->label);
	} else if (field->is_signed) {
		buffer_signed(text, (int64_t)value->number);
	} else {
		buffer_integer(text, value->number, 10, "", 0);
	}
}

bool field_read(const struct field_path *path, const struct event *event,
		struct field_value *to)
{
	const struct posixtrace_field *field = find(path, event);
	struct posixtrace_value value;
	struct values values;
	size_t count = 0;

	buffer_reset(&to->text);
	if (!field || !event_has_fields(event, event->len))
		return false;
	to->unit = field->unit;
	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		if (value.field != field || value.what != POSIXTRACE_VALUE ||
		    (path->indexed && value.index != path->index))
			continue;
		if (to->text.len > TEXT_MAX) {
			buffer_text(&to->text, ",...");
			break;
		}
		if (count++)
			buffer_byte(&to->text, ',');
		put_value(to, &value);
	}
	if (count > 1)
		to->kind = FIELD_WORD;
	return count && !to->text.failed;
}
