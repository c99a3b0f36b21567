// SPDX-License-Identifier: GPL-2.0
/* Parses and formats records. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>

#include "record.h"

const void *record_parse(struct record *record, const void *from)
{
	const struct posixtrace_record *header = from;
	const struct posixtrace_packed_record *packed;
	const struct posixtrace_writer *writer = from;
	bool known = record->size;

	record->writers = 0;
	if (POSIXTRACE_RECORD_ID(header->type) == POSIXTRACE_ID_WRITER) {
		record->thread_id = writer->thread_id;
		record->pid = writer->pid;
		record->tid = writer->tid;
		record->named = writer->time;
		record->address_high = writer->address_high;
		record->writers = 1;
		header = (const void *)(writer + 1);
	}
	record->data_len = header->data_len;
	record->event_id = POSIXTRACE_RECORD_ID(header->type);
	record->flags = POSIXTRACE_RECORD_FLAGS(header->type);
	record->timestamp = posixtrace_record_time(record->named, header->time);
	record->size = record->writers * sizeof(*writer);
	packed = (const void *)header;
	if (record->flags & POSIXTRACE_RECORD_PACKED) {
		record->prog_address = (__u64)record->address_high << 32 | packed->address_low;
		record->size += POSIXTRACE_RECORD_PACKED_STEP(header->data_len);
	} else {
		record->prog_address = header->prog_address;
		record->size += POSIXTRACE_RECORD_STEP(header->data_len);
	}
	if (!known && !record->writers)
		return NULL;
	return record->flags & POSIXTRACE_RECORD_PACKED ? (const void *)(packed + 1) : header + 1;
}

size_t record_format(struct record *record, const struct record *before, void *to)
{
	const bool packed = record->flags & POSIXTRACE_RECORD_PACKED;
	bool same = before && before->pid == record->pid && before->tid == record->tid &&
		    before->thread_id == record->thread_id &&
		    (!packed || before->address_high == record->prog_address >> 32) &&
		    record->timestamp - before->named < POSIXTRACE_WRITER_SPAN;
	const struct posixtrace_writer writer = {
		.address_high = packed ? record->prog_address >> 32 : record->address_high,
		.pid = record->pid,
		.tid = record->tid,
		.thread_id = record->thread_id,
		.time = record->timestamp,
	};
	const struct posixtrace_record header = {
		.data_len = record->data_len,
		.type = POSIXTRACE_RECORD_TYPE(record->event_id, record->flags),
		.time = (__u32)record->timestamp,
		.prog_address = record->prog_address,
	};
	const struct posixtrace_packed_record short_header = {
		.data_len = header.data_len,
		.type = header.type,
		.time = header.time,
		.address_low = (__u32)record->prog_address,
	};
	size_t len = 0;

	record->named = same ? before->named : record->timestamp;
	record->address_high = same ? before->address_high : writer.address_high;
	if (!same) {
		memcpy(to, &writer, sizeof(writer));
		len = sizeof(writer);
	}
	if (packed) {
		memcpy((char *)to + len, &short_header, sizeof(short_header));
		return len + sizeof(short_header);
	}
	memcpy((char *)to + len, &header, sizeof(header));
	return len + sizeof(header);
}

size_t record_format_kernel(struct record *record, const struct record *before, const void *data,
			    void *to)
{
	const bool timed = !before || record->timestamp - before->named >= POSIXTRACE_WRITER_SPAN;
	const bool named = !before || before->pid != record->pid || before->tid != record->tid ||
			   before->thread_id != record->thread_id;
	const struct posixtrace_kthread thread = {
		.pid = record->pid,
		.tid = record->tid,
		.thread_id = record->thread_id,
	};
	/* Leave out the thread id at the start of the data, because @thread has it. */
	const size_t len = record->data_len > sizeof(thread.tid) ?
			   record->data_len - sizeof(thread.tid) : 0;
	const size_t padding = -len % sizeof(__u64);
	__u64 *word = to, head = 0;
	__u32 flags = POSIXTRACE_KFLAG_PLAIN;

	record->named = timed ? record->timestamp : before->named;
	word++;
	if (timed) {
		flags |= POSIXTRACE_KFLAG_TIME;
		*word++ = record->timestamp;
	}
	if (named) {
		flags |= POSIXTRACE_KFLAG_THREAD;
		memcpy(word, &thread, sizeof(thread));
		word += sizeof(thread) / sizeof(*word);
	}
	if (record->flags & POSIXTRACE_RECORD_TRUNCATED)
		flags |= POSIXTRACE_KFLAG_TRUNCATED;
	memcpy(word, (const char *)data + sizeof(thread.tid), len);
	memset((char *)word + len, 0, padding);
	word += (len + padding) / sizeof(*word);
	head = record->event_id | (__u64)(word - (__u64 *)to) << POSIXTRACE_KHEAD_WORDS_SHIFT |
	       (__u64)flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
	       (__u64)padding << POSIXTRACE_KHEAD_VALUE_SHIFT |
	       record->timestamp << POSIXTRACE_KHEAD_TIME_SHIFT;
	memcpy(to, &head, sizeof(head));
	return (char *)word - (char *)to;
}
