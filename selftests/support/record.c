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

size_t record_format(const struct record *record, const struct record *before, void *to)
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
