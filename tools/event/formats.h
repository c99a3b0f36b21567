/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format files, which describe the data of event types: the name and the fields of each type.
 *
 *	name { u32 id; x64 address; char text[16]; string path; f64 x; pad[4]; }
 *	struct name { u8 kind; u32 value; }
 *
 * The library parses the fields: see posixtrace-fields(7).
 */
#ifndef POSIXTRACE_FORMATS_H
#define POSIXTRACE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

#include "event/description.h"
#include "util/options.h"

#define FORMAT_NAME_SIZE	(TRACE_EVENT_NAME_MAX + 1)

/* The definition of an event type. */
struct format {
	char event[FORMAT_NAME_SIZE];
	unsigned int line;	/* first line of the definition */
	struct description *description;
};

/* A format file. */
struct formats {
	const char *path;
	struct format *formats;
	size_t nr_formats;
};

/* The option --format-file. Its target is a pointer to the path. */
extern const struct command_option formats_options[];

/**
 * formats_load() - load a format file
 * @path: path of the file, which the caller keeps
 * @formats: where to store its contents
 *
 * Reports errors with their line number on standard error.
 *
 * Return: 0 or a negative error number; -EINVAL if the contents are invalid.
 */
int formats_load(const char *path, struct formats **formats);

/* formats_find() - find an event type by name; NULL if not found or @formats is NULL */
struct description *formats_find(const struct formats *formats, const char *event);

void formats_free(struct formats *formats);

#endif /* POSIXTRACE_FORMATS_H */
