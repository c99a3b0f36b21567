/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of numbers in options, such as "1,2" or "0-3,7".
 */
#ifndef POSIXTRACE_RANGES_H
#define POSIXTRACE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/options.h"

struct range {
	uint64_t first;
	uint64_t last;
};

/* A list of ranges; initially all zero. */
struct ranges {
	struct range *range;
	size_t count;
};

/**
 * ranges_option() - add the numbers of an option
 * @ranges: the list
 * @option: the option
 * @text: value of the option: decimal, hexadecimal or octal numbers as in C, separated by commas
 * @max: largest number
 * @spans: FIRST-LAST is also allowed
 *
 * Return: 0; -EINVAL after printing an error; -ENOMEM.
 */
int ranges_option(struct ranges *ranges, const struct command_option *option, const char *text,
		  uint64_t max, bool spans);

/* ranges_have() - check if a number is in one of the ranges */
bool ranges_have(const struct ranges *ranges, uint64_t number);

void ranges_free(struct ranges *ranges);

#endif /* POSIXTRACE_RANGES_H */
