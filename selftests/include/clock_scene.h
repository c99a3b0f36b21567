/* SPDX-License-Identifier: GPL-2.0 */
/* Changes the clock source of the kernel, and checks event times against clock_gettime(). */
#ifndef _SELFTESTS_CLOCK_SCENE_H
#define _SELFTESTS_CLOCK_SCENE_H

#include "trace_test.h"

/*
 * With the clock source COUNTER, the vDSO and the library read the CPU's counter. With NO_COUNTER,
 * reading the clock needs a system call.
 */
#ifdef __aarch64__
/* arm64 has only COUNTER. In guests with --erratum, COUNTER also needs a system call. */
#define COUNTER		"arch_sys_counter"
#else
#define COUNTER		"tsc"
#define NO_COUNTER	"acpi_pm"
#endif

#define BATCH	4000

/* Returns CLOCK_REALTIME in nanoseconds. */
unsigned long long clock_ns(void);

/* Selects a clock source. Returns 0 once it is in use. */
int set_source(const char *name);

/* Speeds up the clock by @ppm, as NTP does. */
int set_frequency(long ppm);

/* The clock source before the test, an event type, and a stream. */
struct scene {
	char source[64];
	trace_event_id_t type;
	trace_id_t trid;
};

/* Selects clock source @source, and opens the event type and the stream. Returns 0 or an error. */
int scene_set(struct scene *scene, const char *source);
int scene_clear(struct scene *scene);

/* Readings of the clock before and after an event. */
struct bracket {
	unsigned long long before;
	unsigned long long after;
};

void record_brackets(trace_event_id_t type, struct bracket *bracket, int count);

/* Returns the number of events outside their bracket, or -1 if one is missing. */
int count_outside(trace_id_t trid, const struct bracket *bracket, int count);

#endif /* _SELFTESTS_CLOCK_SCENE_H */
