// SPDX-License-Identifier: GPL-2.0
/*
 * usage: late_helper MS [wait]
 *
 * Records as if CPU 0 had been delayed between reading the clock and the commit: first the event
 * "young" on CPU 1, then the older event "old" on CPU 0. With "wait", records "old" only after the
 * reader has read "young". Fails if the reader read "young" less than MS milliseconds after it was
 * recorded.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

/* Returns when the reader has read all events and asks to be woken. */
static void wait_for_reader(const struct writer *writer)
{
	while (!LOAD(writer->wakeup->need_wakeup))
		sched_yield();
}

static int write_text(struct writer *writer, int cpu, unsigned long long time, const char *text)
{
	unsigned int mask = 1U << writer->slot;

	if (run_on(cpu) < 0 ||
	    writer_event_at(writer, time, POSIXTRACE_ID_UNNAMED, text, strlen(text)))
		return -1;
	return LOAD(writer->wakeup->need_wakeup) ?
		command(writer->target->fd, POSIXTRACE_IOC_WAKE, &mask) : 0;
}

int main(int argc, char **argv)
{
	unsigned long long ms, old, young, read;
	struct writer writer[2];
	struct target target;

	if (argc < 2 || target_open(&target) || target_sync(&target))
		return 3;
	ms = strtoull(argv[1], NULL, 10);
	for (int cpu = 0; cpu < 2; cpu++) {
		if (writer_open(&writer[cpu], &target, 0, cpu) ||
		    write_text(&writer[cpu], cpu, 0, "first"))
			return 3;
	}
	if (argc > 2)
		wait_for_reader(&writer[1]);
	old = now();
	do
		young = now();
	while (young == old);
	if (write_text(&writer[1], 1, young, "young"))
		return 3;
	if (argc > 2)
		wait_for_reader(&writer[1]);
	read = now();
	if (write_text(&writer[0], 0, old, "old"))
		return 3;
	if (read - young < ms * 1000000) {
		fprintf(stderr, "late_helper: read after %llu ns\n", read - young);
		return 1;
	}
	return 0;
}
