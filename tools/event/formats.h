/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format files, which describe the data of event types. For each, the file has its name and the
 * fields:
 *
 *	name { u32 id; x64 address; char text[16]; string path; f64 x; pad[4]; }
 *	struct name { u8 kind; u32 value; }
 *
 * The library reads the fields: see posixtrace-fields(7).
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
	unsigned int line;	/* of the file, where it begins */
	struct description *description;
};

/* A format file. */
struct formats {
	const char *path;
	struct format *formats;
	size_t nr_formats;
};

/* The option --format-file; its target is the path. */
extern const struct command_option formats_options[];

/**
 * formats_load() - read a format file
 * @path: path of the file, which the caller keeps
 * @formats: where to store its contents
 *
 * Prints on standard error what is wrong, and in which line.
 *
 * Return: 0 or a negative error number; -EINVAL if the contents are invalid.
 */
int formats_load(const char *path, struct formats **formats);

/* formats_find() - find an event type by name; NULL if there is none or @formats is NULL */
struct description *formats_find(const struct formats *formats, const char *event);

void formats_free(struct formats *formats);

#endif /* POSIXTRACE_FORMATS_H */
