// SPDX-License-Identifier: MIT
/*
 * Finds the values of fields in data, which may come from any process. Allocates no memory.
 */
#include <string.h>

#include "fields/fields.h"

/*
 * Limit the number of values: with arrays without elements, and elements without bytes, a few bytes
 * could contain any number of values. The limit does not affect normal data: even eight levels of
 * structs have only 15 values per byte.
 */
#define VALUES_OF_A_BYTE	16
#define VALUES_AT_LEAST		4096

_Static_assert(PXTU_ARRAY_SIZE(((struct posixtrace_walk *)0)->__levels) == PXTU_FIELDS_LEVELS,
	       "a walk has room for all levels");
_Static_assert(PXTU_ARRAY_SIZE(((struct posixtrace_walk *)0)->__lengths) == PXTU_FIELDS_LENGTHS,
	       "a walk has room for all lengths");

/* Get a number of 1, 2, 4 or 8 bytes: little-endian, like all machines that the module supports. */
static __u64 get_unsigned(const unsigned char *data, size_t size)
{
	__u64 number = 0;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data are little endian");
	switch (size) {
	case 1:
		return *data;
	case 2:
		memcpy(&number, data, 2);
		break;
	case 4:
		memcpy(&number, data, 4);
		break;
	default:
		memcpy(&number, data, 8);
	}
	return number;
}

static __u64 get_signed(const unsigned char *data, size_t size)
{
	__u64 number = get_unsigned(data, size);

	switch (size) {
	case 1:
		return (__u64)(__s8)number;
	case 2:
		return (__u64)(__s16)number;
	case 4:
		return (__u64)(__s32)number;
	default:
		return number;
	}
}

static double get_float(const unsigned char *data, size_t size)
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

static const char *find_label(const struct posixtrace_field *field, __u64 number)
{
	size_t low = 0, high = field->count;

	/* Find the first label with a value that is not smaller. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (field->labels[middle].value < (int64_t)number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < field->count && field->labels[low].value == (int64_t)number ?
		field->labels[low].name : NULL;
}

/* Get the number of elements of an array, or of bytes of a text. */
static unsigned int length_of(const struct posixtrace_walk *walk,
			      const struct posixtrace_field *field)
{
	if (field->length)
		return walk->__lengths[field->length->__slot];
	return (unsigned int)(field->type == POSIXTRACE_FIELD_ARRAY ? field->count : field->size);
}

static size_t bytes_left(const struct posixtrace_walk *walk)
{
	return (size_t)(walk->__end - walk->__at);
}

/* Returns false if the data ends within the text. */
static bool set_text(const struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;
	size_t left = bytes_left(walk);
	const char *null;

	value->size = field->type == POSIXTRACE_FIELD_CHARS ? length_of(walk, field) : left;
	if (value->size > left)
		return false;
	value->text_len = value->size;
	if (field->type == POSIXTRACE_FIELD_TEXT) {
		if (left && !walk->__end[-1])
			value->text_len--;
		return true;
	}
	null = value->size ? memchr(value->data, '\0', value->size) : NULL;
	if (null)
		value->text_len = (size_t)(null - (const char *)value->data);
	if (field->type == POSIXTRACE_FIELD_STRING)
		value->size = value->text_len + 1;
	return null || field->type == POSIXTRACE_FIELD_CHARS;
}

static void set_number(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;
	const unsigned char *data = value->data;

	switch (field->type) {
	case POSIXTRACE_FIELD_FLOAT:
		value->real = get_float(data, field->size);
		break;
	case POSIXTRACE_FIELD_BOOL:
		value->number = *data != 0;
		break;
	default:
		value->number = field->is_signed ? get_signed(data, field->size) :
						   get_unsigned(data, field->size);
		if (field->type == POSIXTRACE_FIELD_ENUM)
			value->label = find_label(field, value->number);
		/* Limit the length: no data has more bytes or elements. */
		if (field->__slot)
			walk->__lengths[field->__slot] = value->number < UINT32_MAX ?
				(unsigned int)value->number : UINT32_MAX;
	}
}

/* Returns false if the data does not match. */
static bool set_value(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;

	value->what = POSIXTRACE_VALUE;
	if (field->type == POSIXTRACE_FIELD_CHARS || field->type == POSIXTRACE_FIELD_STRING ||
	    field->type == POSIXTRACE_FIELD_TEXT) {
		if (!set_text(walk, value))
			return false;
	} else {
		if (field->size > bytes_left(walk))
			return false;
		value->size = field->size;
		if (field->type != POSIXTRACE_FIELD_PAD)
			set_number(walk, value);
	}
	walk->__at += value->size;
	return true;
}

static void begin_level(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;
	bool array = field->type == POSIXTRACE_FIELD_ARRAY;
	unsigned int count = array ? length_of(walk, field) : (unsigned int)field->count;

	walk->__levels[walk->__depth++] = (struct __posixtrace_level){
		.__field = field,
		.__count = count,
	};
	value->what = POSIXTRACE_BEGIN;
	value->size = field->size;
	value->number = array ? count : 0;
}

static bool is_array(const struct posixtrace_field *field)
{
	return field->type == POSIXTRACE_FIELD_ARRAY;
}

static bool end_level(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	const struct __posixtrace_level *around;

	value->what = POSIXTRACE_END;
	value->field = walk->__levels[--walk->__depth].__field;
	if (!walk->__depth) {
		/* The outermost struct must end with the data. */
		walk->__result = 0;
		return walk->__at == walk->__end;
	}
	around = &walk->__levels[walk->__depth - 1];
	value->index = is_array(around->__field) ? around->__next - 1 : 0;
	return true;
}

/* Find what comes next, which may be padding. Returns false if the data does not match. */
static bool find_next(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	struct __posixtrace_level *level;

	memset(value, 0, sizeof(*value));
	value->data = walk->__at;
	if (!walk->__depth) {
		value->field = &walk->__fields->root;
		begin_level(walk, value);
		return true;
	}
	level = &walk->__levels[walk->__depth - 1];
	if (level->__next == level->__count)
		return end_level(walk, value);
	if (is_array(level->__field)) {
		value->field = level->__field->members;
		value->index = level->__next;
	} else {
		value->field = &level->__field->members[level->__next];
	}
	level->__next++;
	if (value->field->type != POSIXTRACE_FIELD_STRUCT && !is_array(value->field))
		return set_value(walk, value);
	begin_level(walk, value);
	return true;
}

/**
 * posixtrace_fields_begin() - start to find values in data
 * @walk: the position; initialized
 * @fields: description of the data; must stay valid
 * @data: the data, which must also stay valid; any bytes
 * @len: number of bytes
 *
 * Async-signal-safe.
 */
PXTU_API void posixtrace_fields_begin(struct posixtrace_walk *walk,
				      const struct posixtrace_fields *fields, const void *data,
				      size_t len)
{
	static const unsigned char none[1];

	memset(walk, 0, sizeof(*walk));
	walk->__fields = fields;
	walk->__at = len ? data : none;
	walk->__end = walk->__at + len;
	/* Refuse larger data: lengths have 32 bits, and events have much less data. */
	walk->__result = len < UINT32_MAX ? 1 : -1;
	walk->__left = VALUES_AT_LEAST + (unsigned long long)VALUES_OF_A_BYTE * len;
}

/**
 * posixtrace_fields_next() - find the next value in data
 * @walk: from posixtrace_fields_begin()
 * @value: result
 *
 * Async-signal-safe.
 *
 * Return: 1; 0 at the end; -1 if the data does not match.
 */
PXTU_API int posixtrace_fields_next(struct posixtrace_walk *walk, struct posixtrace_value *value)
{
	if (walk->__result != 1)
		return walk->__result;
	do {
		if (!walk->__left-- || !find_next(walk, value)) {
			walk->__result = -1;
			return -1;
		}
	} while (value->field->type == POSIXTRACE_FIELD_PAD);
	return 1;
}
