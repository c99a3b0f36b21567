/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the data of events mean: fields, as a format file tells them. It has, for each event
 * type that it knows,
 *
 *	name { u32 id; x64 address; char text[16]; string path; f64 x; pad[4]; }
 *
 * Fields lie directly one behind the other; with "struct name { ... }" as a C compiler has
 * them, with room in between and behind. Data that are not like that are only bytes.
 */
#ifndef POSIXTRACE_LAYOUT_H
#define POSIXTRACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_NAME_MAX		64	/* bytes of a name, with the null byte */
#define LAYOUT_FIELDS_MAX	256	/* of one event type */
#define LAYOUT_SIZE_MAX		65536	/* bytes of an array */
#define LAYOUT_FILE_MAX		(1 << 20)

enum layout_type {
	LAYOUT_UNSIGNED,
	LAYOUT_SIGNED,
	LAYOUT_HEX,
	LAYOUT_FLOAT,
	LAYOUT_CHARS,		/* an array of them; a null byte ends the text */
	LAYOUT_STRING,		/* up to a null byte that must be there */
	LAYOUT_PAD,		/* nobody looks at it */
};

/**
 * struct layout_field - one field
 * @type: of it
 * @size: bytes of it; 0 of a string
 * @name: of it; empty of a pad
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
 * @nr_fields: how many
 * @line: where it begins in the format file
 * @in_log: the caller's: the log has that event type
 * @misfit: the caller's: some event has other data
 * @misfit_len: bytes of the first data of that kind
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
 * @field: which
 * @data: where it is
 * @size: bytes of it, with the null byte of a string
 * @len: of a text, bytes up to its null byte or end
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
 * @path: of the file
 * @layouts: where to put what is in it
 *
 * Says on the standard error what is wrong, and where.
 *
 * Return: 0, or a negative error number; -EINVAL if the file makes no sense.
 */
int layouts_load(const char *path, struct layouts **layouts);

/* layouts_find() - of the event type with this name, or NULL; also if @layouts is NULL */
struct layout *layouts_find(const struct layouts *layouts, const char *event);

/* layouts_get() - by number, in the order of the file; NULL behind the last */
const struct layout *layouts_get(const struct layouts *layouts, size_t number);

void layouts_free(struct layouts *layouts);

/**
 * layout_matches() - whether data have these fields, all of them and nothing else
 * @layout: the fields
 * @data: of an event
 * @len: bytes of them
 *
 * Texts have to be valid and printable: who exports others would have to change them.
 */
bool layout_matches(const struct layout *layout, const unsigned char *data, size_t len);

/**
 * layout_value() - where a field of data that match is
 * @layout: the fields
 * @index: of the field
 * @data: where the field begins
 * @len: how many bytes are left
 * @value: where to put what is there
 *
 * Return: false if it does not fit into what is left.
 */
bool layout_value(const struct layout *layout, size_t index, const unsigned char *data,
		  size_t len, struct layout_value *value);

/* layout_size() - bytes that the fields take; if one is a string, @least is true */
size_t layout_size(const struct layout *layout, bool *least);

/* The value of a number: without sign, or with, or a float. */
uint64_t layout_unsigned(const struct layout_value *value);
int64_t layout_signed(const struct layout_value *value);
double layout_float(const struct layout_value *value);

#endif /* POSIXTRACE_LAYOUT_H */
