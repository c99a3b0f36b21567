/* SPDX-License-Identifier: GPL-2.0 */
/* Parses and formats records in sub-buffers and logs. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <linux/posixtrace.h>
#include <stddef.h>

/**
 * struct record - a record and its thread, which may come from an earlier struct posixtrace_writer
 */
struct record {
	/**
	 * @size: bytes, including any struct posixtrace_writer before the record
	 */
	__u32 size;
	/**
	 * @writers: number of struct posixtrace_writer before the record
	 */
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
 * Parses the record at @from. The caller passes the previous record, or zero, in @record. Returns
 * the data of the record, or NULL if its thread is unknown.
 */
const void *record_parse(struct record *record, const void *from);

/*
 * Writes a record without its data. @before is the previous record, or NULL if there is none. Sets
 * @record->named and @record->address_high. If the flags do not request a packed record, the writer
 * before it (if any) gets the @record->address_high that the caller has set. Returns the size
 * without the data.
 */
size_t record_format(struct record *record, const struct record *before, void *to);

/*
 * Like record_format(), for a kernel event with its data, which together have at most 63 words. The
 * data start with the id of the thread, so the record does not repeat it.
 */
size_t record_format_kernel(struct record *record, const struct record *before, const void *data,
			    void *to);

/*
 * Returns addresses with two different upper halves in turn, so that some packed records need a new
 * struct posixtrace_writer.
 */
static inline __u64 mixed_address(unsigned int n)
{
	return (n % 7 < 5 ? 0x5555ULL : 0x7fffULL) << 32 | (0xfffffff0U + n);
}

#endif /* _SELFTESTS_RECORD_H */
