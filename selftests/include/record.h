/* SPDX-License-Identifier: GPL-2.0 */
/* Records as in sub-buffers and logs, for tests. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <stdbool.h>
#include <string.h>

#include <linux/posixtrace.h>

/**
 * struct record - a record, and its thread, which an earlier record may have named
 * @size: its bytes, including the struct posixtrace_writer before it, if any
 * @writers: number of these
 * @data_len: as in struct posixtrace_record
 * @event_id: as in struct posixtrace_record
 * @flags: as in struct posixtrace_record
 * @timestamp: as in struct posixtrace_record
 * @prog_address: as in struct posixtrace_record
 * @thread_id: as in struct posixtrace_writer
 * @pid: as in struct posixtrace_writer
 * @tid: as in struct posixtrace_writer
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
};

/*
 * Parses the record at @from; @record has the previous record, or nothing. Returns its
 * data, or NULL if its thread is unknown.
 */
static inline const void *record_parse(struct record *record, const void *from)
{
	const struct posixtrace_record *header = from;
	const struct posixtrace_writer *writer = from;
	bool known = record->size;

	record->writers = 0;
	if (header->event_id == POSIXTRACE_ID_WRITER) {
		record->thread_id = writer->thread_id;
		record->pid = writer->pid;
		record->tid = writer->tid;
		record->writers = 1;
		header = (const void *)(writer + 1);
	}
	record->data_len = header->data_len;
	record->event_id = header->event_id;
	record->flags = header->flags;
	record->timestamp = header->timestamp;
	record->prog_address = header->prog_address;
	record->size = record->writers * sizeof(*writer) + POSIXTRACE_RECORD_STEP(header->data_len);
	return known || record->writers ? header + 1 : NULL;
}

/*
 * Writes the record after one of the thread of @before, or of no thread, without the data.
 * Returns its size without the data.
 */
static inline size_t record_format(const struct record *record, const struct record *before,
				   void *to)
{
	const struct posixtrace_writer writer = {
		.pid = record->pid,
		.tid = record->tid,
		.thread_id = record->thread_id,
	};
	const struct posixtrace_record header = {
		.data_len = record->data_len,
		.event_id = record->event_id,
		.flags = record->flags,
		.timestamp = record->timestamp,
		.prog_address = record->prog_address,
	};
	size_t len = 0;

	if (!before || before->pid != record->pid || before->tid != record->tid ||
	    before->thread_id != record->thread_id) {
		memcpy(to, &writer, sizeof(writer));
		len = sizeof(writer);
	}
	memcpy((char *)to + len, &header, sizeof(header));
	return len + sizeof(header);
}

#endif /* _SELFTESTS_RECORD_H */
