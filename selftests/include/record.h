/* SPDX-License-Identifier: GPL-2.0 */
/* Records as in sub-buffers and logs, for tests. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <linux/posixtrace.h>
#include <stddef.h>

/**
 * struct record - a record, and its thread, which an earlier record may have named
 */
struct record {
	/** @size: its bytes, including the struct posixtrace_writer before it, if any */
	__u32 size;
	/** @writers: number of these */
	__u32 writers;
	/** @data_len: as in struct posixtrace_record */
	__u32 data_len;
	/** @event_id: event type */
	__u32 event_id;
	/** @flags: POSIXTRACE_RECORD_* */
	__u32 flags;
	/** @timestamp: nanoseconds since the Epoch */
	__u64 timestamp;
	/** @prog_address: as in struct posixtrace_record */
	__u64 prog_address;
	/** @thread_id: as in struct posixtrace_writer */
	__u64 thread_id;
	/** @pid: as in struct posixtrace_writer */
	__s32 pid;
	/** @tid: as in struct posixtrace_writer */
	__s32 tid;
	/** @named: time in that struct posixtrace_writer */
	__u64 named;
	/** @address_high: as in that struct posixtrace_writer */
	__u32 address_high;
};

/*
 * Parses the record at @from; @record has the previous record, or nothing. Returns its
 * data, or NULL if its thread is unknown.
 */
const void *record_parse(struct record *record, const void *from);

/*
 * Writes the record after one of the thread of @before, or of no thread, without the data, and
 * sets @record->named and @record->address_high. It is packed if the flags say so; if not, a writer
 * has that @record->address_high. Returns its size without the data.
 */
size_t record_format(struct record *record, const struct record *before, void *to);

/* Addresses with two upper halves in turns: some packed records have to name their writer again. */
static inline __u64 mixed_address(unsigned int n)
{
	return (n % 7 < 5 ? 0x5555ULL : 0x7fffULL) << 32 | (0xfffffff0U + n);
}

#endif /* _SELFTESTS_RECORD_H */
