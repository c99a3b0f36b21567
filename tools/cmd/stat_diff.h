/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares two logs.
 */
#ifndef POSIXTRACE_STAT_DIFF_H
#define POSIXTRACE_STAT_DIFF_H

#include <stdbool.h>

#include "analyze/measures.h"
#include "event/select.h"

/**
 * struct stat_diff - what to compare
 * @paths: the logs
 * @selection: events to measure
 * @by: argument of --by, or NULL
 * @measure: how to measure; stat_diff() sets its classes, names and kinds
 * @all: print all rows
 * @json: print JSON
 */
struct stat_diff {
	char **paths;
	struct selection *selection;
	const char *by;
	struct measures_options measure;
	bool all;
	bool json;
};

/* stat_diff() - print the differences; returns 0, or a negative error number after an error */
int stat_diff(const struct stat_diff *diff);

#endif /* POSIXTRACE_STAT_DIFF_H */
