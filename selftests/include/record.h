/* SPDX-License-Identifier: GPL-2.0 */
/* Records in sub-buffers and logs. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <linux/posixtrace.h>
#include <stddef.h>

/**
 * struct record - a record and its thread, which an earlier record may have named
 */
struct record {
	/** @size: bytes, including struct posixtrace_writer before it, if any */
	__u32 size;
	/** @writers: number of struct posixtrace_writer before it */
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
	/** @named: time in the last struct posixtrace_writer */
	__u64 named;
	/** @address_high: as in the last struct posixtrace_writer */
	__u32 address_high;
};

/*
 * Parses the record at @from. On entry @record is the previous record, or zero. Returns its data,
 * or NULL if its thread is unknown.
 */
const void *record_parse(struct record *record, const void *from);

/*
 * Writes a record without its data. @before is the previous record; NULL: there is none. Sets
 * @record->named and @record->address_high. If the flags do not pack the record, its writer (if
 * any) has the caller's @record->address_high. Returns the size without the data.
 */
size_t record_format(struct record *record, const struct record *before, void *to);

/*
 * As record_format(), for a kernel event with its data, which together have at most 63 words. The
 * data start with the id of the thread, which the record does not repeat.
 */
size_t record_format_kernel(struct record *record, const struct record *before, const void *data,
			    void *to);

/* Alternates between two upper halves, so that some packed records must name their writer again. */
static inline __u64 mixed_address(unsigned int n)
{
	return (n % 7 < 5 ? 0x5555ULL : 0x7fffULL) << 32 | (0xfffffff0U + n);
}

#endif /* _SELFTESTS_RECORD_H */
