/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simple writer to the mapped sub-buffers. The calling thread stays on one CPU and is the only
 * thread of the program that writes there, so it needs no restartable sequence.
 */
#ifndef _SELFTESTS_WRITER_H
#define _SELFTESTS_WRITER_H

#include "process.h"
#include "uapi.h"

struct writer {
	struct target *target;
	unsigned int slot;
	int cpu;
	struct posixtrace_cpu_head *heads;
	struct posixtrace_cpu_head *head;	/* head of this CPU */
	const struct posixtrace_wakeup *wakeup;
	char *pool;
};

/* Maps the stream in @slot of a synced target, and moves to CPU number @n. */
int writer_open(struct writer *writer, struct target *target, unsigned int slot, unsigned int n);

void writer_close(struct writer *writer);
int writer_next(struct writer *writer, unsigned int size);

/* Writes a record. Returns 0, -ENOSPC if it was counted as lost, or negative errno of NEXT. */
int writer_event(struct writer *writer, unsigned int id, const void *data, unsigned int len);

/*
 * Like writer_event(), but as if the CPU had been delayed since @time, which must be later than its
 * last record; 0: no delay.
 */
int writer_event_at(struct writer *writer, unsigned long long time, unsigned int id,
		    const void *data, unsigned int len);

#endif /* _SELFTESTS_WRITER_H */
