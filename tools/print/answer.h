/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints a one-line answer for a log with kernel events: where the time of its threads went.
 */
#ifndef POSIXTRACE_ANSWER_H
#define POSIXTRACE_ANSWER_H

#include <stdio.h>

/**
 * answer_print() - print in a line where the time went
 * @path: path of a log with events of the class sched
 * @to: where to print
 *
 * Reads the log once. Prints nothing if the log has no thread or cannot be read.
 */
void answer_print(const char *path, FILE *to);

#endif /* POSIXTRACE_ANSWER_H */
