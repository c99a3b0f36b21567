/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of the fields of an event type: the range of numbers, and how often each label of an
 * enumeration occurs. Texts and structs themselves are not counted.
 */
#ifndef POSIXTRACE_STAT_FIELDS_H
#define POSIXTRACE_STAT_FIELDS_H

#include <stdio.h>

#include "event/source.h"

/**
 * struct stat_field - statistics of a field
 * @path: names of the enclosing structs and the field, with dots between them
 * @field: the field; for an array: the field of its elements
 * @count: number of values
 * @min: the smallest value except NaN
 * @max: the largest value
 * @least: the exact @min of an integer; cast it if the field is signed
 * @most: the exact @max of an integer; cast it if the field is signed
 * @sum: the sum of all values
 * @labels: ENUM and BOOL: number of values with each label; the last entry counts values without a
 *	label
 */
struct stat_field {
	char *path;
	const struct posixtrace_field *field;
	uint64_t count;
	double min;
	double max;
	uint64_t least;
	uint64_t most;
	double sum;
	uint64_t *labels;
};

/* The fields of an event type; initially all zero. */
struct stat_fields {
	const struct description *description;
	struct stat_field *fields;
	size_t nr_fields;
};

/* stat_fields_event() - count the values of an event of the type; returns 0 or -ENOMEM */
int stat_fields_event(struct stat_fields *fields, const struct event *event);

/* stat_fields_print() - print a line for each field or label that has values */
void stat_fields_print(const struct stat_fields *fields, const char *type, FILE *to);

void stat_fields_free(struct stat_fields *fields);

#endif /* POSIXTRACE_STAT_FIELDS_H */
