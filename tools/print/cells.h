/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table cells for people: names and times.
 */
#ifndef POSIXTRACE_CELLS_H
#define POSIXTRACE_CELLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/buffer.h"

#define CELLS_SIZE	16	/* bytes of a formatted time */

/* cells_width() - get the number of columns that cells_name() needs for a name */
size_t cells_width(const char *name);

/* cells_widen() - make a column wide enough for a name */
void cells_widen(size_t *column, const char *name);

/* cells_name() - print a name, which may contain any bytes, padded to the width of its column */
void cells_name(FILE *to, const char *name, size_t column);

/* cells_text_width(), cells_text() - like cells_width() and cells_name(), for escaped text */
size_t cells_text_width(const struct buffer *text);
void cells_text(FILE *to, const struct buffer *text, size_t column);

/* cells_rate() - format events per second; "-" if the duration is 0; returns @text or "-" */
const char *cells_rate(char text[CELLS_SIZE], uint64_t count, uint64_t ns);

/* cells_time() - format a time with three digits and a unit; returns @text */
const char *cells_time(char text[CELLS_SIZE], uint64_t ns);

#endif /* POSIXTRACE_CELLS_H */
