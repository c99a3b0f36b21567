// SPDX-License-Identifier: GPL-2.0
/*
 * Notes in a log how far CLOCK_REALTIME may be from UTC: see clock_error.h.
 */
#include <sys/timex.h>
#include <time.h>

#include "session/clock_error.h"

#define NSEC		1000000000ULL
/* The kernel writes pairs of clocks at most this often, see Documentation/trace-log.rst. */
#define INTERVAL	(4 * NSEC)
/* If this takes longer, the error may be that of a clock that was set meanwhile. */
#define PROMPT		(NSEC / 100)
#define TRIES		3

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

/* The maximum error in nanoseconds, or POSIXTRACE_CLOCK_UNKNOWN. */
static uint64_t max_error(void)
{
	struct timex timex = { .modes = 0 };
	const int state = adjtimex(&timex);
	uint64_t part;

	if (state < 0 || state == TIME_ERROR || timex.status & STA_UNSYNC || timex.maxerror < 0)
		return POSIXTRACE_CLOCK_UNKNOWN;
	/* The kernel adds 500 us at the start of each second: add the part of this second. */
	part = timex.status & STA_NANO ? (uint64_t)timex.time.tv_usec / 2000 :
					 (uint64_t)timex.time.tv_usec / 2;
	return (uint64_t)timex.maxerror * 1000 + part;
}

void clock_error_note(trace_id_t trid, uint64_t *due)
{
	uint64_t before = now();
	int i;

	if (before < *due)
		return;
	*due = before + INTERVAL;
	for (i = 0; i < TRIES; i++) {
		before = now();
		if (posixtrace_setclockerror(trid, max_error()) || now() - before < PROMPT)
			return;
	}
	posixtrace_setclockerror(trid, POSIXTRACE_CLOCK_UNKNOWN);
}
