/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event types of the kernel, and their data made of names and values: for logs of tests.
 * It shares no code with the code under test.
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
	/** @description: of its data */
	const char *description;
};

/* The types in the order of their numbers; NULL behind the last. */
const struct kernel_type *kernel_type_at(size_t i);

/* The type with a name, or NULL. */
const struct kernel_type *kernel_type_named(const char *name);

/* The bits of "sched,syscall" or "all"; 0 if a name is wrong. */
unsigned int kernel_classes(const char *list);

/* Zeros for all fields. Returns the number of bytes. */
size_t kernel_data_begin(const struct kernel_type *type, unsigned char *data);

/*
 * Sets a field: a number, a label, "true", numbers with commas between them, or text with
 * "\xNN" resolved already; @value_len: bytes of text. Returns false if there is no such field or
 * label. A field of type text changes *len.
 */
bool kernel_data_set(const struct kernel_type *type, unsigned char *data, size_t *len,
		     const char *name, const char *value, size_t value_len);

#endif /* _SELFTESTS_KERNEL_TYPES_H */
