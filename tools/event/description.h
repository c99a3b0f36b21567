/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields in the data of events: the description of an event type, which the traced process or a
 * format file gives, and the values in the data. Both may come from any process.
 */
#ifndef POSIXTRACE_DESCRIPTION_H
#define POSIXTRACE_DESCRIPTION_H

#include <posixtrace/fields.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

#define DESCRIPTION_LEVELS	8	/* of structs and arrays, the outermost struct included */

/**
 * struct description_unit - the unit of a field
 * @path: names of the field and of the structs around it, with dots between them
 * @unit: the unit, which may have any bytes
 */
struct description_unit {
	char *path;
	const char *unit;
};

/**
 * struct description - what the data of an event type mean
 * @fields: the fields
 * @units: units of the fields that have one
 * @nr_units: number of @units
 * @counter: the only field, if that is a number with the name "counter": the type is a counter
 * @misfit: the data of an event did not match
 * @misfit_len: number of bytes of the first such data
 */
struct description {
	struct posixtrace_fields *fields;
	struct description_unit *units;
	size_t nr_units;
	const struct posixtrace_field *counter;
	bool misfit;
	size_t misfit_len;
};

/**
 * description_new() - read a description
 * @text: the text, see posixtrace-fields(7)
 * @description: where to store it
 * @error: where to explain -EINVAL, or NULL
 *
 * Return: 0; -EINVAL if the text is wrong; -ENOMEM.
 */
int description_new(const char *text, struct description **description,
		    struct posixtrace_fields_error *error);

void description_free(struct description *description);

/**
 * description_matches() - check whether data have the fields
 * @description: the description
 * @data: data of an event
 * @len: number of bytes
 * @cut: bytes are missing at the end of the data
 *
 * Notes data that do not match.
 *
 * Return: true if the data have exactly these fields; with @cut, also if they begin with some.
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
 * struct values - a place in the data of an event
 * @walk: the place
 * @open: the structs and arrays around it
 * @depth: number of @open
 * @ended: the data have no further value
 */
struct values {
	struct posixtrace_walk walk;
	const struct posixtrace_field *open[DESCRIPTION_LEVELS];
	unsigned int depth;
	bool ended;
};

/**
 * values_begin(), values_next() - find the values in data one by one
 * @values: where to keep the place
 * @description: the description
 * @data: data for which description_matches() returned true
 * @len: number of bytes
 * @value: where to store the value
 *
 * As posixtrace_fields_next(), but if the data are cut, the structs and arrays still end.
 *
 * values_next() returns false after the last value.
 */
void values_begin(struct values *values, const struct description *description, const void *data,
		  size_t len);
bool values_next(struct values *values, struct posixtrace_value *value);

/* value_is_text() - check whether a value has text_len bytes of text */
bool value_is_text(const struct posixtrace_value *value);

#endif /* POSIXTRACE_DESCRIPTION_H */
