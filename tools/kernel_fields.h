/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Single fields in the data of the kernel's events, by name: fast enough for each event. The data
 * and their description come from a log, so any field may be missing.
 */
#ifndef POSIXTRACE_KERNEL_FIELDS_H
#define POSIXTRACE_KERNEL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

#define KERNEL_FIELDS_TYPES	(POSIX_TRACE_UNNAMED_USEREVENT)	/* all ids are smaller */

enum kernel_field {
	KERNEL_TID,
	KERNEL_REASON,
	KERNEL_RUNNABLE,
	KERNEL_BY,
	KERNEL_WAKER_PID,
	KERNEL_WAKER_TID,
	KERNEL_CHILD_PID,
	KERNEL_CHILD_TID,
	KERNEL_GROUP_DEAD,
	KERNEL_NR,
	KERNEL_COMPAT,
	KERNEL_NAME,
	KERNEL_DURATION,
	KERNEL_NESTED,
	KERNEL_FIELDS
};

/**
 * struct kernel_fields - where the fields are; initially all zero
 * @types: by event type: the description that they were found in, the fields or NULL, and the
 *	offsets in the data
 */
struct kernel_fields {
	struct {
		const struct description *description;
		const struct posixtrace_field *field[KERNEL_FIELDS];
		size_t offset[KERNEL_FIELDS];
	} types[KERNEL_FIELDS_TYPES];
};

/**
 * kernel_field_number() - get an integer, a bool, or the number of an enumeration
 * @fields: where the fields are
 * @event: an event of the kernel
 * @which: the field
 *
 * Return: the number, sign-extended; 0 if there is no such field.
 */
uint64_t kernel_field_number(struct kernel_fields *fields, const struct event *event,
			     enum kernel_field which);

/**
 * kernel_field_is() - check which label an enumeration has
 * @fields: where the fields are
 * @event: an event of the kernel
 * @which: the field
 * @label: the label
 *
 * Return: true if the field has this label.
 */
bool kernel_field_is(struct kernel_fields *fields, const struct event *event,
		     enum kernel_field which, const char *label);

/**
 * kernel_field_text() - get a text at the end of the data
 * @fields: where the fields are
 * @event: an event of the kernel
 * @which: the field
 * @to: where to store it: cut, NUL-terminated, may have any bytes
 * @size: of @to
 */
void kernel_field_text(struct kernel_fields *fields, const struct event *event,
		       enum kernel_field which, char *to, size_t size);

#endif /* POSIXTRACE_KERNEL_FIELDS_H */
