/* SPDX-License-Identifier: MIT */
/*
 * <trace.h>, the header of the standard. A program that has a trace.h of its own finds that one,
 * and takes <posixtrace/trace.h> instead.
 */
#include <posixtrace/trace.h>
