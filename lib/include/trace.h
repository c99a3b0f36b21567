/* SPDX-License-Identifier: MIT */
/*
 * <trace.h>, the header of the standard. A program that has another trace.h finds that one, and
 * uses <posixtrace/trace.h> instead.
 */
#include <posixtrace/trace.h>
