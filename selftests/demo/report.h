/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEMO_REPORT_H
#define _DEMO_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <sys/types.h>
#include <trace.h>

/* One block of the compressor, as its events describe it. */
struct report_block {
	unsigned int worker;		/* index in report.workers */
	__u64 begin;			/* start of the compression, nanoseconds since the Epoch */
	__u64 duration;			/* duration of the compression, nanoseconds */
	__u64 out_offset;
	__u32 size_in;
	__u32 size_out;
	bool packed;
	bool written;
};

struct report_worker {
	pthread_t thread;
	__u64 blocks;
	__u64 size_in;
	__u64 size_out;
	__u64 busy;			/* nanoseconds spent compressing */
};

struct report_name {
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
};

struct report {
	trace_id_t trid;
	bool quiet;
	struct {
		trace_event_id_t thread, read, compress, packed, write, done;
	} id;

	struct report_name *names;
	size_t nr_names;
	struct report_worker *workers;
	size_t nr_workers;
	struct report_block *blocks;
	size_t nr_blocks;

	__u64 first, last;		/* times of the first and the last event */
	__u64 events;			/* number of events of the compressor */
	__u64 overflows;		/* number of gaps in the trace */
	bool overrun;			/* the status of the stream reported an overrun */
	bool done;			/* the trace has the compressor's last event */
	__u64 done_blocks, done_in, done_out;
};

/*
 * report_init() - look up the event types of the compressor
 *
 * Return: 0, or an error number of posix_trace_trid_eventid_open().
 */
int report_init(struct report *report, trace_id_t trid);

/*
 * report_event() - print one event and add it to the report
 *
 * Return: false if memory is exhausted.
 */
bool report_event(struct report *report, const struct posix_trace_event_info *info,
		  const void *data, size_t len);

/* report_summary() - print the summary */
void report_summary(const struct report *report);

void report_free(struct report *report);

#endif /* _DEMO_REPORT_H */
