/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Points of time in the options of commands: either relative to the first event of a trace, or
 * dates.
 */
#ifndef POSIXTRACE_MOMENT_H
#define POSIXTRACE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/options.h"

/* The forms that moment_option() accepts, for the help. */
#define MOMENT_FORMS	"1234.5 (us), 2.5s, @SECONDS or 2026-01-31T12:00:00Z"

/**
 * struct moment - a point of time
 * @set: the option was given
 * @absolute: it is a date: @time counts from the Epoch
 * @time: ns since the Epoch, or else after the first event
 */
struct moment {
	bool set;
	bool absolute;
	uint64_t time;
};

/* moment_option() - parse the value of an option; returns 0, or -EINVAL after printing an error */
int moment_option(struct moment *moment, const struct command_option *option, const char *text);

/**
 * moment_time() - get the point of time
 * @moment: a point of time with @set
 * @first: time of the first event of the trace
 *
 * Return: ns since the Epoch, at most UINT64_MAX.
 */
uint64_t moment_time(const struct moment *moment, uint64_t first);

/* moment_compare() - compare @time with a moment: -1 if it is earlier, 1 if later, 0 if equal */
int moment_compare(const struct moment *moment, uint64_t first, uint64_t time);

#endif /* POSIXTRACE_MOMENT_H */
