// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the same measurements as native_bench, with LTTng-UST. Prints one round of lines "NAME
 * VALUE".
 *
 * usage: lttng_bench on|off|read
 *
 * "on" needs a session that records the event, "off" needs no session. "read" records events, which
 * are then read separately.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

#define EVENTS		20000
#define CHUNKS		20
#define READ_EVENTS	200000
#define DATA_MAX	1024

static unsigned char payload[DATA_MAX];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static double record(size_t len, int events)
{
	double begin = now();

	for (int i = 0; i < events; i++)
		lttng_ust_tracepoint(bench, event, payload, len);
	return (now() - begin) / events;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, size_t len)
{
	double chunk[CHUNKS];

	for (int i = 0; i < CHUNKS; i++)
		chunk[i] = record(len, EVENTS);
	qsort(chunk, CHUNKS, sizeof(chunk[0]), compare);
	printf("%s %f\n", name, chunk[CHUNKS / 2]);
}

int main(int argc, char **argv)
{
	static const size_t lens[] = { 0, 16, 64, 256, 1024 };
	const char *what = argc > 1 ? argv[1] : "";
	char name[32];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 1;
	if (!strcmp(what, "read")) {
		record(16, READ_EVENTS);
		return 0;
	}
	if (!strcmp(what, "off")) {
		measure("lttng_off", 16);
		return 0;
	}
	/* Record once, so that all buffers exist. */
	for (int i = 0; i < 3 * CHUNKS; i++)
		record(16, EVENTS);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		snprintf(name, sizeof(name), "lttng_%zu", lens[i]);
		measure(name, lens[i]);
	}
	return 0;
}
