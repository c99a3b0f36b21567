/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The places of the values in the data of an event type. They exist only if no place depends on the
 * data. A value can then be read with a few instructions, instead of a walk through the description
 * for each event.
 */
#ifndef POSIXTRACE_LAYOUT_H
#define POSIXTRACE_LAYOUT_H

#include <posixtrace/fields.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LAYOUT_LABEL	32	/* size of a label in bytes */

/* What text output shows for an item. */
enum layout_kind {
	LAYOUT_UNSIGNED,	/* UNSIGNED, SIGNED and HEX are shown as plain digits */
	LAYOUT_SIGNED,
	LAYOUT_HEX,
	LAYOUT_BOOL,
	LAYOUT_BEGIN,
	LAYOUT_END,
	LAYOUT_OTHER,
};

/**
 * struct layout_item - one result of posixtrace_fields_next(), in the same order
 * @value: the value, with the members set that do not depend on the data
 * @offset: offset of the value in the data
 * @depth: number of structs and arrays around the value
 * @label: text before the value: " name=" for a field, "," for an element of an array
 * @label_len: length of @label
 * @is_integer: layout_integer() can read the value
 * @shift: 64 minus the number of bits of the integer
 * @kind: how the value is shown
 */
struct layout_item {
	struct posixtrace_value value;
	size_t offset;
	unsigned int depth;
	char label[LAYOUT_LABEL];
	unsigned int label_len;
	bool is_integer;
	unsigned char shift;
	enum layout_kind kind;
};

/**
 * struct layout - the places of all values
 * @size: number of bytes of the data, without the text if @has_text
 * @has_text: the last value is a text that takes all bytes after @size
 * @has_labels: all items have a label
 * @count: number of @items
 * @items: the values, with the start and end of each struct and array
 */
struct layout {
	size_t size;
	bool has_text;
	bool has_labels;
	size_t count;
	struct layout_item items[];
};

/**
 * layout_new() - find the places of values
 * @root: the outermost struct of a description
 *
 * Return: the layout. NULL if a place depends on the data, if there are too many values, or if out
 * of memory.
 */
struct layout *layout_new(const struct posixtrace_field *root);

/* layout_fits() - check if data with this number of bytes match the description */
static inline bool layout_fits(const struct layout *layout, size_t len)
{
	return layout->has_text ? len >= layout->size : len == layout->size;
}

/* layout_integer() - read an integer, which may have a sign or labels, or a bool */
static inline uint64_t layout_integer(const struct layout_item *item, const void *data)
{
	const unsigned char *at = (const unsigned char *)data + item->offset;
	const struct posixtrace_field *field = item->value.field;
	uint64_t number = 0;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data are little endian");
	switch (field->size) {
	case 1:
		if (field->type == POSIXTRACE_FIELD_BOOL)
			return *at != 0;
		return field->is_signed ? (uint64_t)(int8_t)*at : *at;
	case 2:
		memcpy(&number, at, 2);
		return field->is_signed ? (uint64_t)(int16_t)number : number;
	case 4:
		memcpy(&number, at, 4);
		return field->is_signed ? (uint64_t)(int32_t)number : number;
	default:
		memcpy(&number, at, 8);
		return number;
	}
}

/* Like layout_integer(), but faster. The value must not be a bool. @len: total size of the data. */
static inline uint64_t layout_plain_integer(const struct layout_item *item, const void *data,
					    size_t len)
{
	uint64_t number;

	if (item->offset + sizeof(number) > len)
		return layout_integer(item, data);
	memcpy(&number, (const unsigned char *)data + item->offset, sizeof(number));
	number <<= item->shift;
	return item->kind == LAYOUT_SIGNED ? (uint64_t)((int64_t)number >> item->shift) :
					     number >> item->shift;
}

/* layout_text() - get the length of a text in data of @len bytes */
size_t layout_text(const struct layout_item *item, const void *data, size_t len);

/**
 * layout_value() - read a value
 * @item: place of the value
 * @data: data of an event that fits the layout
 * @len: number of bytes
 * @value: where to store it
 */
void layout_value(const struct layout_item *item, const void *data, size_t len,
		  struct posixtrace_value *value);

#endif /* POSIXTRACE_LAYOUT_H */
