/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's event types, and their data from names and values, for logs that tests write. Shares
 * no code with the code under test.
 */
#ifndef _SELFTESTS_KERNEL_TYPES_H
#define _SELFTESTS_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_DATA_MAX	4096

/**
 * struct kernel_type - an event type of the kernel
 */
struct kernel_type {
	/** @id: its number */
	unsigned int id;
	/** @classes: POSIXTRACE_CLASS_*: its class */
	unsigned int classes;
	/** @name: its name */
	const char *name;
	/** @description: the description of its data */
	const char *description;
};

/* The types in order of their numbers; NULL after the last. */
const struct kernel_type *kernel_type_at(size_t i);

/* The type with this name, or NULL. */
const struct kernel_type *kernel_type_named(const char *name);

/* The bits of a list such as "sched,syscall", "all" or "all,strings"; 0 if a name is invalid. */
unsigned int kernel_classes(const char *list);

/* Sets all fields to zero. Returns the number of bytes of the data. */
size_t kernel_data_begin(const struct kernel_type *type, unsigned char *data);

/*
 * Sets a field to @value: a number, a label, "true", numbers separated by commas, or text of
 * @value_len bytes in which "\xNN" is already resolved. A field of type text changes *len. The
 * result of a system call also sets its error. Returns false if the field or the label does not
 * exist.
 */
bool kernel_data_set(const struct kernel_type *type, unsigned char *data, size_t *len,
		     const char *name, const char *value, size_t value_len);

#endif /* _SELFTESTS_KERNEL_TYPES_H */
