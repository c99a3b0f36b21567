/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses durations as people write them.
 */
#ifndef POSIXTRACE_DURATION_H
#define POSIXTRACE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/**
 * duration_decimal() - parse digits with an optional decimal point
 * @text: the digits; advanced past them
 * @unit: number of ns of one unit
 * @ns: where to store the time
 *
 * Return: true; false if there is no digit, or the time does not fit.
 */
bool duration_decimal(const char **text, uint64_t unit, uint64_t *ns);

/**
 * duration_parse() - parse a number with a unit: 1h, 10min, 2.5s, 10ms, 4us, 300ns
 * @text: the text
 * @bare: number of ns of one unit if the text has no unit; 0: a unit is required
 * @ns: where to store the time
 *
 * Return: true; false if the text is anything else, or the time does not fit.
 */
bool duration_parse(const char *text, uint64_t bare, uint64_t *ns);

#endif /* POSIXTRACE_DURATION_H */
