/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints why a period of a thread took so long, as a tree for people or as JSON.
 */
#ifndef POSIXTRACE_WHY_PRINT_H
#define POSIXTRACE_WHY_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/parts.h"
#include "analyze/tracks.h"
#include "util/buffer.h"

/**
 * struct why - a period that has been divided
 * @tracks: tracks of the threads
 * @parts: parts of the period
 * @thread: number of the thread
 * @scope: name of the scope, or NULL
 * @number: number of the instance: 1 is the longest
 * @of: number of instances that are printed
 * @begin: start of the period
 * @end: end of the period
 * @first: time of the first event of the log
 */
struct why {
	const struct tracks *tracks;
	const struct parts *parts;
	uint32_t thread;
	const char *scope;
	size_t number;
	size_t of;
	uint64_t begin;
	uint64_t end;
	uint64_t first;
};

/**
 * why_print() - print a period as a tree
 * @why: the period
 * @to: output file
 * @all: print all parts; otherwise parts of less than 0.5 % are combined into one line
 *
 * Return: 0 or -ENOMEM.
 */
int why_print(const struct why *why, FILE *to, bool all);

/* why_json() - print a period as a JSON object on one line; returns 0 or -ENOMEM */
int why_json(const struct why *why, FILE *to);

/**
 * why_page() - append the JSON object of why_json() for an HTML page
 * @why: the period
 * @to: where to append
 *
 * Each part also has a "text" that describes it. If there are more than 1000 parts, those of less
 * than 0.5 % are left out, and "smaller" has their number and time. The path has at most 5000
 * steps.
 *
 * Return: 0 or -ENOMEM.
 */
int why_page(const struct why *why, struct buffer *to);

#endif /* POSIXTRACE_WHY_PRINT_H */
