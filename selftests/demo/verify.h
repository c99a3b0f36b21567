/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEMO_VERIFY_H
#define _DEMO_VERIFY_H

#include "report.h"

/*
 * verify() - check the trace against the compressed file
 * @report: the report of the trace
 * @output: the compressed file
 * @inputs: the input files, in order
 * @nr_inputs: number of input files
 *
 * Unpacks @output and compares it with the inputs byte by byte. Compares each gzip member with its
 * block in the trace, by size and position. Prints the result on standard output.
 *
 * Return: true if everything agrees.
 */
bool verify(const struct report *report, const char *output, char *const *inputs,
	    size_t nr_inputs);

#endif /* _DEMO_VERIFY_H */
