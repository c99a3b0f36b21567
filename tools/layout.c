// SPDX-License-Identifier: GPL-2.0
/*
 * Fields in the data of events: see layout.h. layout_file.c reads the format file.
 */
#include <string.h>

#include "escape.h"
#include "layout.h"

static bool text_is_good(const unsigned char *data, size_t len)
{
	return !len || escape_is_text(data, len);
}

bool layout_value(const struct layout *layout, size_t index, const unsigned char *data,
		  size_t len, struct layout_value *value)
{
	const struct layout_field *field = &layout->fields[index];
	const unsigned char *end = NULL;

	if (len < field->size)
		return false;
	*value = (struct layout_value){ .field = field, .data = data, .size = field->size };
	if (field->type == LAYOUT_CHARS) {
		end = memchr(data, '\0', field->size);
		value->len = end ? (size_t)(end - data) : field->size;
	} else if (field->type == LAYOUT_STRING) {
		end = len ? memchr(data, '\0', len) : NULL;
		if (!end)
			return false;
		value->len = end - data;
		value->size = value->len + 1;
	}
	return true;
}

bool layout_matches(const struct layout *layout, const unsigned char *data, size_t len)
{
	struct layout_value value;

	for (size_t i = 0; i < layout->nr_fields; i++) {
		if (!layout_value(layout, i, data, len, &value) ||
		    !text_is_good(data, value.len))
			return false;
		data += value.size;
		len -= value.size;
	}
	return len == 0;
}

size_t layout_size(const struct layout *layout, bool *least)
{
	size_t size = 0;

	*least = false;
	for (size_t i = 0; i < layout->nr_fields; i++) {
		bool string = layout->fields[i].type == LAYOUT_STRING;

		/* A string has at least its null byte. */
		size += string ? 1 : layout->fields[i].size;
		*least |= string;
	}
	return size;
}

/* Little endian, the byte order of this machine and of every log that it can read. */
uint64_t layout_unsigned(const struct layout_value *value)
{
	uint64_t number = 0;

	for (size_t i = value->size; i-- > 0;)
		number = number << 8 | value->data[i];
	return number;
}

int64_t layout_signed(const struct layout_value *value)
{
	unsigned int unused = 64 - 8 * value->size;

	return (int64_t)(layout_unsigned(value) << unused) >> unused;
}

double layout_float(const struct layout_value *value)
{
	double wide;
	float narrow;

	if (value->size == sizeof(narrow)) {
		memcpy(&narrow, value->data, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, value->data, sizeof(wide));
	return wide;
}
