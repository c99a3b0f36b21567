/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fields of events: the description of an event type, which comes from the traced process or a
 * format file, and the values in the data of an event. Neither can be trusted.
 */
#ifndef POSIXTRACE_DESCRIPTION_H
#define POSIXTRACE_DESCRIPTION_H

#include <posixtrace/fields.h>
#include <stdbool.h>
#include <stddef.h>

#include "event/layout.h"
#include "util/buffer.h"

#define DESCRIPTION_LEVELS	8	/* maximum levels of nested structs and arrays */

struct kevent_plan;

/**
 * struct description_unit - the unit of a field
 * @path: names of the enclosing structs and the field, with dots between them
 * @unit: the unit; may contain any bytes
 */
struct description_unit {
	char *path;
	const char *unit;
};

/**
 * struct description - the data layout of an event type
 * @fields: the fields
 * @units: units of the fields that have one
 * @nr_units: number of @units
 * @counter: NULL, or the field of a counter: a type whose only field is a number named "counter"
 * @layout: the places of the values, or NULL if they depend on the data
 * @plan: how kevent.c reads the fields of a kernel event, or NULL
 * @misfit: the data of an event did not match
 * @misfit_len: number of bytes of the first such data
 */
struct description {
	struct posixtrace_fields *fields;
	struct description_unit *units;
	size_t nr_units;
	const struct posixtrace_field *counter;
	struct layout *layout;
	struct kevent_plan *plan;
	bool misfit;
	size_t misfit_len;
};

/**
 * description_new() - parse a description
 * @text: the text; see posixtrace-fields(7)
 * @description: where to store it
 * @error: where to store details of -EINVAL, or NULL
 *
 * Return: 0; -EINVAL if the text is wrong; -ENOMEM.
 */
int description_new(const char *text, struct description **description,
		    struct posixtrace_fields_error *error);

void description_free(struct description *description);

/**
 * description_matches() - check if data matches a description
 * @description: the description
 * @data: data of an event
 * @len: number of bytes
 * @cut: the data is truncated
 *
 * Remembers the first data that does not match, for description_misfit().
 *
 * Return: true if the data has exactly the fields of the description or, with @cut, the first
 * ones.
 */
bool description_matches(struct description *description, const void *data, size_t len, bool cut);

/* description_misfit() - append what is wrong with the first data that did not match */
void description_misfit(const struct description *description, struct buffer *to);

/**
 * description_root() - get the outermost struct
 * @description: the description
 *
 * Return: the struct.
 */
const struct posixtrace_field *description_root(const struct description *description);

/**
 * description_find() - find a field
 * @description: the description
 * @path: names of the enclosing structs and the field
 * @depth: number of names
 *
 * Return: the field, the innermost element of an array, or NULL if there is no such field.
 */
const struct posixtrace_field *description_find(const struct description *description,
						char *const *path, unsigned int depth);

/**
 * struct values - a position in the data of an event
 * @walk: the position
 * @layout: the places of the values; NULL if @walk is used instead
 * @item: with @layout: index of the next item
 * @data: with @layout: the data
 * @len: number of bytes of @data
 * @open: without @layout: the structs and arrays around the position
 * @depth: number of structs and arrays around the position
 * @ended: no values are left
 */
struct values {
	struct posixtrace_walk walk;
	const struct layout *layout;
	size_t item;
	const void *data;
	size_t len;
	const struct posixtrace_field *open[DESCRIPTION_LEVELS];
	unsigned int depth;
	bool ended;
};

/**
 * values_begin(), values_next() - iterate over the values in data
 * @values: the position
 * @description: the description
 * @data: data for which description_matches() returned true
 * @len: number of bytes
 * @value: where to store the value
 *
 * Like posixtrace_fields_next(), but the end of each struct and array is returned even if the data
 * is truncated.
 *
 * values_next() returns false after the last value.
 */
void values_begin(struct values *values, const struct description *description, const void *data,
		  size_t len);
bool values_next(struct values *values, struct posixtrace_value *value);

/* value_is_text() - check if a value is a text of value.text_len bytes */
bool value_is_text(const struct posixtrace_value *value);

#endif /* POSIXTRACE_DESCRIPTION_H */
