/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields in the data of events, as a format file defines them. For each event type, the file
 * has a definition:
 *
 *	name { u32 id; x64 address; char text[16]; string path; f64 x; pad[4]; }
 *
 * Fields follow one another without padding. In "struct name { ... }" they lie as a C compiler
 * places them, with padding between them and at the end. Data that do not match are bytes.
 */
#ifndef POSIXTRACE_LAYOUT_H
#define POSIXTRACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_NAME_MAX		64	/* bytes of a name, including the null byte */
#define LAYOUT_FIELDS_MAX	256	/* of one event type */
#define LAYOUT_SIZE_MAX		65536	/* bytes of an array */
#define LAYOUT_FILE_MAX		(1 << 20)

enum layout_type {
	LAYOUT_UNSIGNED,
	LAYOUT_SIGNED,
	LAYOUT_HEX,
	LAYOUT_FLOAT,
	LAYOUT_CHARS,		/* char array; a null byte ends the text */
	LAYOUT_STRING,		/* text up to a null byte, which must exist */
	LAYOUT_PAD,		/* ignored bytes */
};

/**
 * struct layout_field - one field
 * @type: its type
 * @size: its size in bytes; 0 for a string
 * @name: its name; empty for a pad
 */
struct layout_field {
	enum layout_type type;
	size_t size;
	char name[LAYOUT_NAME_MAX];
};

/**
 * struct layout - the fields of an event type
 * @event: name of the event type
 * @fields: the fields
 * @nr_fields: number of fields
 * @line: line of the format file where it begins
 * @in_log: set by the caller: the log has that event type
 * @misfit: set by the caller: the data of an event do not match
 * @misfit_len: set by the caller: number of bytes of the first such data
 */
struct layout {
	char event[LAYOUT_NAME_MAX];
	struct layout_field *fields;
	size_t nr_fields;
	unsigned int line;
	bool in_log;
	bool misfit;
	size_t misfit_len;
};

/**
 * struct layout_value - a field of an event's data
 * @field: the field
 * @data: where its value is
 * @size: size of the value in bytes, including the null byte of a string
 * @len: for a text, number of bytes up to its null byte or end
 */
struct layout_value {
	const struct layout_field *field;
	const unsigned char *data;
	size_t size;
	size_t len;
};

struct layouts;

/**
 * layouts_load() - read a format file
 * @path: path of the file
 * @layouts: where to store its contents
 *
 * Prints on standard error what is wrong, and in which line.
 *
 * Return: 0 or a negative error number; -EINVAL if the contents are invalid.
 */
int layouts_load(const char *path, struct layouts **layouts);

/* layouts_find() - find an event type by name; NULL if there is none or @layouts is NULL */
struct layout *layouts_find(const struct layouts *layouts, const char *event);

/* layouts_get() - get a layout by its number in the file; NULL after the last */
const struct layout *layouts_get(const struct layouts *layouts, size_t number);

void layouts_free(struct layouts *layouts);

/**
 * layout_matches() - check whether data consist of exactly these fields
 * @layout: the fields
 * @data: data of an event
 * @len: number of bytes
 *
 * Texts must be valid and printable: an exporter would have to change others.
 */
bool layout_matches(const struct layout *layout, const unsigned char *data, size_t len);

/**
 * layout_value() - locate the value of a field
 * @layout: the fields
 * @index: index of the field
 * @data: where the field begins
 * @len: number of bytes left
 * @value: where to store the result
 *
 * Return: false if the field needs more than @len bytes.
 */
bool layout_value(const struct layout *layout, size_t index, const unsigned char *data,
		  size_t len, struct layout_value *value);

/* layout_size() - get the size of the fields; the minimum, with @least set, if one is a string */
size_t layout_size(const struct layout *layout, bool *least);

/* Get the value of an unsigned, signed or floating point number. */
uint64_t layout_unsigned(const struct layout_value *value);
int64_t layout_signed(const struct layout_value *value);
double layout_float(const struct layout_value *value);

#endif /* POSIXTRACE_LAYOUT_H */
