/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints measures and their differences as JSON, one object per line.
 */
#ifndef POSIXTRACE_MEASURES_JSON_H
#define POSIXTRACE_MEASURES_JSON_H

#include <stdio.h>

#include "analyze/measures.h"

/**
 * measures_json() - print all measures
 * @measures: the measures, after measures_end()
 * @lost: number of lost events
 * @to: where to print
 *
 * Return: 0 or -ENOMEM.
 */
int measures_json(const struct measures *measures, uint64_t lost, FILE *to);

/**
 * compare_json() - print the differences between two traces
 * @measures: measures of traces A and B
 * @lost: number of lost events of each trace
 * @to: where to print
 *
 * Return: 0 or -ENOMEM.
 */
int compare_json(struct measures *const measures[2], const uint64_t lost[2], FILE *to);

#endif /* POSIXTRACE_MEASURES_JSON_H */
