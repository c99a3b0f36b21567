/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extensions of Perfetto's schema for arguments that occur often.
 *
 * A debug annotation takes five bytes and its value. An extension of TrackEvent takes two bytes and
 * its value. Its name in the trace is "debug." and the name of the argument, so the trace processor
 * makes the same row of it. Perfetto has no extension that is shown as a pointer.
 */
#ifndef POSIXTRACE_PERFETTO_FIELDS_H
#define POSIXTRACE_PERFETTO_FIELDS_H

#include <stdbool.h>

#include "util/buffer.h"

/*
 * Types of arguments: the field numbers of the values in DebugAnnotation. An extension of type
 * FIELDS_INT has the encoding of sint64, in which a small negative number is short.
 */
#define FIELDS_BOOL	2
#define FIELDS_UINT	3
#define FIELDS_INT	4
#define FIELDS_DOUBLE	5

struct fields;

/**
 * fields_new() - create an empty set
 * @fixed: use only extensions that have the same number in all traces, so that traces can be read
 *	together: Perfetto has one set of extensions for all of them
 * @fields: result
 *
 * Return: 0 or -ENOMEM.
 */
int fields_new(bool fixed, struct fields **fields);
void fields_free(struct fields *fields);

/**
 * fields_find() - count a use of an argument, and find its extension
 * @fields: from fields_new()
 * @prefix: first part of the name
 * @name: the rest of the name
 * @type: FIELDS_*
 *
 * Return: its field number in TrackEvent, or 0 if the argument must be an annotation.
 */
unsigned int fields_find(struct fields *fields, const char *prefix, const char *name,
			 unsigned int type);

/* fields_write() - append packets that describe new extensions, before packets that use them */
void fields_write(struct fields *fields, struct buffer *to);

#endif /* POSIXTRACE_PERFETTO_FIELDS_H */
