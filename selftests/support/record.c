// SPDX-License-Identifier: GPL-2.0
/* Parses and formats records. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>

#include "record.h"

const void *record_parse(struct record *record, const void *from)
{
	const struct posixtrace_record *header = from;
	const struct posixtrace_writer *writer = from;
	bool known = record->size;

	record->writers = 0;
	if (POSIXTRACE_RECORD_ID(header->type) == POSIXTRACE_ID_WRITER) {
		record->thread_id = writer->thread_id;
		record->pid = writer->pid;
		record->tid = writer->tid;
		record->named = writer->time;
		record->writers = 1;
		header = (const void *)(writer + 1);
	}
	record->data_len = header->data_len;
	record->event_id = POSIXTRACE_RECORD_ID(header->type);
	record->flags = POSIXTRACE_RECORD_FLAGS(header->type);
	record->timestamp = posixtrace_record_time(record->named, header->time);
	record->prog_address = header->prog_address;
	record->size = record->writers * sizeof(*writer) + POSIXTRACE_RECORD_STEP(header->data_len);
	return known || record->writers ? header + 1 : NULL;
}

size_t record_format(struct record *record, const struct record *before, void *to)
{
	bool same = before && before->pid == record->pid && before->tid == record->tid &&
		    before->thread_id == record->thread_id &&
		    record->timestamp - before->named < POSIXTRACE_WRITER_SPAN;
	const struct posixtrace_writer writer = {
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
	size_t len = 0;

	record->named = same ? before->named : record->timestamp;
	if (!same) {
		memcpy(to, &writer, sizeof(writer));
		len = sizeof(writer);
	}
	memcpy((char *)to + len, &header, sizeof(header));
	return len + sizeof(header);
}
