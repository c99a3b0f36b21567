/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Explains the slowest instances of scopes in an export, with the results of "posixtrace why".
 */
#ifndef POSIXTRACE_EXPORT_EXPLAIN_H
#define POSIXTRACE_EXPORT_EXPLAIN_H

#include "analyze/instances.h"
#include "analyze/parts.h"
#include "export/export.h"
#include "print/why_print.h"

#define EXPLAIN_WORST	5	/* default of --worst: instances per scope */

struct explain;

/**
 * explain_new() - find the slowest instances, and what the threads did in them
 * @export: the log at its first event, with @scope and @worst
 * @max_events: only find instances among the first @max_events events; 0: among all
 * @explain: where to store it; NULL if the log has no scheduler events
 *
 * If export.scope is NULL, finds the slowest instances of each scope and system call. Reads the log
 * twice, up to @max_events events, then rewinds it.
 *
 * Return: 0; a negative error number; -ENODATA after a message if export.scope cannot be explained.
 */
int explain_new(struct export *export, uint64_t max_events, struct explain **explain);

/* explain_count() - get the number of instances */
size_t explain_count(const struct explain *explain);

/**
 * explain_get() - divide an instance
 * @explain: from explain_new()
 * @index: index of the instance: first come the longest of each scope, then the second longest,
 *	etc.
 * @why: where to store the explanation
 * @parts: where to store why.parts, to free with parts_free()
 *
 * Return: 0 or -ENOMEM.
 */
int explain_get(const struct explain *explain, size_t index, struct why *why,
		struct parts **parts);

void explain_free(struct explain *explain);

#endif /* POSIXTRACE_EXPORT_EXPLAIN_H */
