/* SPDX-License-Identifier: GPL-2.0 */
/* Records as they lie in sub-buffers and logs, for tests. */
#ifndef _SELFTESTS_RECORD_H
#define _SELFTESTS_RECORD_H

#include <stdbool.h>
#include <string.h>

#include <linux/posixtrace.h>

/**
 * struct record - what a record says, and the one before that said of the thread
 * @size: bytes that it takes, with the struct posixtrace_writer in front if it has one
 * @writers: how many of these it has
 * @data_len: as in struct posixtrace_record; and so on
 * @event_id: likewise
 * @flags: likewise
 * @timestamp: likewise
 * @prog_address: likewise
 * @thread_id: as in struct posixtrace_writer
 * @pid: likewise
 * @tid: likewise
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
 * What the record at @from says; @record says what the one before it did, or nothing.
 * The data, or NULL if nothing has said of which thread it is.
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
 * As it is written behind one of the thread of @before, or of nobody: but for the data.
 * Says how many bytes that are.
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
