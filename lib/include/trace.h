/* SPDX-License-Identifier: MIT */
/*
 * <trace.h>, the header of the standard. A program that has a trace.h of another kind finds that
 * file first, and must include <posixtrace/trace.h> instead.
 */
#include <posixtrace/trace.h>
