/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEMO_VERIFY_H
#define _DEMO_VERIFY_H

#include "report.h"

/*
 * verify() - does the trace tell the truth about the file?
 * @report: what was learned from the trace
 * @output: the compressed file
 * @inputs: the files it was made of, in this order
 *
 * Unpacks @output and compares it with the inputs byte by byte, and the size
 * and place of each gzip member with what the trace said about its block.
 * Says on standard output what it found. True when everything fits.
 */
bool verify(const struct report *report, const char *output, char *const *inputs,
	    size_t nr_inputs);

#endif /* _DEMO_VERIFY_H */
