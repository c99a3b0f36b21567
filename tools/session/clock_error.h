/* SPDX-License-Identifier: GPL-2.0 */
/* Notes in a log how far CLOCK_REALTIME may be from UTC. */
#ifndef POSIXTRACE_CLOCK_ERROR_H
#define POSIXTRACE_CLOCK_ERROR_H

#include <stdint.h>
#include <posixtrace.h>

/*
 * clock_error_note() - note what adjtimex() says, at most every few seconds. @due: when to do so
 * again, 0 at first; changed by this function
 */
void clock_error_note(trace_id_t trid, uint64_t *due);

#endif /* POSIXTRACE_CLOCK_ERROR_H */
