/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the value of one field of an event, in a form that can be used as a key.
 */
#ifndef POSIXTRACE_FIELD_VALUE_H
#define POSIXTRACE_FIELD_VALUE_H

#include <stdbool.h>

#include "event/event.h"
#include "util/buffer.h"

#define FIELD_PATH_MAX	8	/* maximum number of names in the path of a field */

/**
 * struct field_path - which field
 * @name: names of the enclosing structs and the field
 * @depth: number of names
 * @indexed: the path selects one element of an array
 * @index: index of that element, from 0
 */
struct field_path {
	char *name[FIELD_PATH_MAX];
	unsigned int depth;
	bool indexed;
	size_t index;
};

enum field_kind {
	FIELD_TEXT,	/* text, any bytes */
	FIELD_WORD,	/* a label, hexadecimal digits or several values, any bytes */
	FIELD_NUMBER,	/* a number, true or false, as written in JSON */
};

/**
 * struct field_value - a value; initially all zero
 * @kind: how to read @text
 * @text: the value, without quotes and unit
 * @unit: its unit, or NULL; valid as long as the source of the event is open
 */
struct field_value {
	enum field_kind kind;
	struct buffer text;
	const char *unit;
};

/**
 * field_path_parse() - parse the name of a field: a.b or a.b[2]
 * @text: the name
 * @path: where to store it; free it with field_path_free() even after an error
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int field_path_parse(const char *text, struct field_path *path);

void field_path_free(struct field_path *path);

/* field_known() - check if the description of an event has the field */
bool field_known(const struct field_path *path, const struct event *event);

/**
 * field_read() - read a field of an event
 * @path: the field
 * @event: the event
 * @value: where to store the value
 *
 * The elements of an array become one value, with commas between them.
 *
 * Return: true; false if the event does not have the field.
 */
bool field_read(const struct field_path *path, const struct event *event,
		struct field_value *value);

#endif /* POSIXTRACE_FIELD_VALUE_H */
