/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of the fields of an event type: the range of numbers, and how often each label of an
 * enumeration comes. Texts and structs themselves have none.
 */
#ifndef POSIXTRACE_STAT_FIELDS_H
#define POSIXTRACE_STAT_FIELDS_H

#include <stdio.h>

#include "event/source.h"

/**
 * struct stat_field - statistics of a field
 * @path: names of the structs around the field, then its own, with dots between them
 * @field: the field; of an array, its element
 * @count: number of values
 * @min: the smallest value, but not NaN
 * @max: the largest value
 * @least: the same as @min of an integer, exactly: of a signed one, to be cast
 * @most: as @max
 * @sum: the sum of all values
 * @labels: ENUM and BOOL: number of values with each label, then of those without
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
