// SPDX-License-Identifier: GPL-2.0
/*
 * Places of values in the data of an event type: see layout.h.
 */
#include <stdlib.h>
#include <string.h>

#include "event/layout.h"

#define ITEMS_MAX	128	/* larger types are walked for each event */

static bool is_integer(const struct posixtrace_field *field)
{
	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
	case POSIXTRACE_FIELD_SIGNED:
	case POSIXTRACE_FIELD_HEX:
	case POSIXTRACE_FIELD_BOOL:
	case POSIXTRACE_FIELD_ENUM:
		return true;
	default:
		return false;
	}
}

static enum layout_kind kind_of(const struct posixtrace_field *field, int what)
{
	if (what != POSIXTRACE_VALUE)
		return what == POSIXTRACE_BEGIN ? LAYOUT_BEGIN : LAYOUT_END;
	if (field->unit)
		return LAYOUT_OTHER;
	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
		return LAYOUT_UNSIGNED;
	case POSIXTRACE_FIELD_SIGNED:
		return LAYOUT_SIGNED;
	case POSIXTRACE_FIELD_HEX:
		return LAYOUT_HEX;
	case POSIXTRACE_FIELD_BOOL:
		return LAYOUT_BOOL;
	default:
		return LAYOUT_OTHER;
	}
}

/* Returns false if the label is too long. */
static bool set_label(struct layout_item *item, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len + 2 > sizeof(item->label))
		return false;
	item->label[0] = name ? ' ' : ',';
	if (len)
		memcpy(&item->label[1], name, len);
	item->label_len = (unsigned int)len + 1;
	if (name)
		item->label[item->label_len++] = '=';
	return true;
}

/* Returns false if the layout has no room. */
static bool add(struct layout *layout, const struct posixtrace_field *field, int what, size_t index,
		unsigned int depth)
{
	bool is_count = what == POSIXTRACE_BEGIN && field->type == POSIXTRACE_FIELD_ARRAY;
	struct layout_item *item;

	if (layout->count == ITEMS_MAX)
		return false;
	layout->items[layout->count++] = (struct layout_item){
		.value = {
			.field = field,
			.what = what,
			.index = index,
			.size = what == POSIXTRACE_END ? 0 : field->size,
			.number = is_count ? field->count : 0,
		},
		.offset = layout->size,
		.depth = depth,
	};
	item = &layout->items[layout->count - 1];
	item->is_integer = what == POSIXTRACE_VALUE && is_integer(field);
	item->shift = item->is_integer ? (unsigned char)(64 - 8 * field->size) : 0;
	item->kind = kind_of(field, what);
	layout->has_labels &= set_label(item, field->name);
	return true;
}

/* Adds a field and its members. Returns false if the place of a value depends on the data. */
static bool add_field(struct layout *layout, const struct posixtrace_field *field, size_t index,
		      unsigned int depth)
{
	bool is_array = field->type == POSIXTRACE_FIELD_ARRAY, ok;

	/*
	 * A string has a fixed place only at the end of the data, where it takes all remaining
	 * bytes.
	 */
	if (layout->has_text || field->length || field->type == POSIXTRACE_FIELD_STRING)
		return false;
	switch (field->type) {
	case POSIXTRACE_FIELD_PAD:
		layout->size += field->size;
		return true;
	case POSIXTRACE_FIELD_STRUCT:
	case POSIXTRACE_FIELD_ARRAY:
		ok = add(layout, field, POSIXTRACE_BEGIN, index, depth);
		for (size_t i = 0; ok && i < field->count; i++)
			ok = add_field(layout, is_array ? field->members : &field->members[i],
				       is_array ? i : 0, depth + 1);
		return ok && add(layout, field, POSIXTRACE_END, index, depth);
	case POSIXTRACE_FIELD_TEXT:
		layout->has_text = true;
		break;
	}
	ok = add(layout, field, POSIXTRACE_VALUE, index, depth);
	layout->size += field->size;
	return ok;
}

struct layout *layout_new(const struct posixtrace_field *root)
{
	struct layout *layout = calloc(1, sizeof(*layout) + ITEMS_MAX * sizeof(layout->items[0]));
	struct layout *fitting;

	if (!layout)
		return NULL;
	layout->has_labels = true;
	if (!add_field(layout, root, 0, 0)) {
		free(layout);
		return NULL;
	}
	fitting = realloc(layout, sizeof(*layout) + layout->count * sizeof(layout->items[0]));
	return fitting ? fitting : layout;
}

/* ------------------------------------------------------------------ */
/* Values								*/

static double load_real(const void *data, size_t size)
{
	double wide;
	float narrow;

	if (size == sizeof(narrow)) {
		memcpy(&narrow, data, sizeof(narrow));
		return (double)narrow;
	}
	memcpy(&wide, data, sizeof(wide));
	return wide;
}

/* Returns the first of the labels with this value, or NULL. The labels are sorted by value. */
static const char *find_label(const struct posixtrace_field *field, uint64_t number)
{
	const struct posixtrace_label *labels = field->labels;
	size_t low = 0, high = field->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (labels[middle].value < (int64_t)number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < field->count && labels[low].value == (int64_t)number ? labels[low].name : NULL;
}

size_t layout_text(const struct layout_item *item, const void *data, size_t len)
{
	const char *at = (const char *)data + item->offset;

	if (item->value.field->type == POSIXTRACE_FIELD_CHARS)
		return strnlen(at, item->value.size);
	/* A null byte at the end of the data is not part of the text. */
	len -= item->offset;
	return len && !at[len - 1] ? len - 1 : len;
}

void layout_value(const struct layout_item *item, const void *data, size_t len,
		  struct posixtrace_value *value)
{
	const unsigned char *at = (const unsigned char *)data + item->offset;
	const struct posixtrace_field *field = item->value.field;

	*value = item->value;
	value->data = at;
	if (value->what != POSIXTRACE_VALUE)
		return;
	switch (field->type) {
	case POSIXTRACE_FIELD_TEXT:
		value->size = len - item->offset;
		value->text_len = layout_text(item, data, len);
		break;
	case POSIXTRACE_FIELD_CHARS:
		value->text_len = layout_text(item, data, len);
		break;
	case POSIXTRACE_FIELD_FLOAT:
		value->real = load_real(at, field->size);
		break;
	default:
		value->number = layout_integer(item, data);
		if (field->type == POSIXTRACE_FIELD_ENUM)
			value->label = find_label(field, value->number);
	}
}
