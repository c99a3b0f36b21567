/* SPDX-License-Identifier: GPL-2.0 */
/* Records as in sub-buffers and logs, for tests. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <linux/posixtrace.h>
#include <stddef.h>

/**
 * struct record - a record, and its thread, which an earlier record may have named
 * @size: its bytes, including the struct posixtrace_writer before it, if any
 * @writers: number of these
 * @data_len: as in struct posixtrace_record
 * @event_id: event type
 * @flags: POSIXTRACE_RECORD_*
 * @timestamp: nanoseconds since the Epoch
 * @prog_address: as in struct posixtrace_record
 * @thread_id: as in struct posixtrace_writer
 * @pid: as in struct posixtrace_writer
 * @tid: as in struct posixtrace_writer
 * @named: time in that struct posixtrace_writer
 */
struct record {
	__u32 size;
	__u32 writers;
	__u32 data_len;
	__u32 event_id;
	__u32 flags;
	__u64 timestamp;
	__u64 prog_address;
	__u64 thread_id;
	__s32 pid;
	__s32 tid;
	__u64 named;
};

/*
 * Parses the record at @from; @record has the previous record, or nothing. Returns its
 * data, or NULL if its thread is unknown.
 */
const void *record_parse(struct record *record, const void *from);

/*
 * Writes the record after one of the thread of @before, or of no thread, without the data, and
 * sets @record->named. Returns its size without the data.
 */
size_t record_format(struct record *record, const struct record *before, void *to);

#endif /* _SELFTESTS_RECORD_H */
