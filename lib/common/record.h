/* SPDX-License-Identifier: MIT */
/*
 * Shared by streams and logs: untrusted records, and the events made of them. All inline,
 * because there is no state here.
 */
#ifndef PXTU_RECORD_H
#define PXTU_RECORD_H

#include <posixtrace.h>
#include <stddef.h>
#include <string.h>

#include "common/pxtu.h"

/* Data of the event that reports damaged records: int EIO. */
#define PXTU_ERROR_DATA_SIZE	((__u32)sizeof(int))

/* The largest header before the data. */
#define PXTU_HEADER_MAX \
	(sizeof(struct posixtrace_writer) + sizeof(struct posixtrace_record))

/**
 * struct pxtu_writer - the thread that wrote a record
 * @known: an earlier record, or this one, named the thread
 * @pid: process id
 * @tid: kernel thread id
 * @address_high: upper half of the addresses of packed records
 * @thread_id: pthread_t
 * @time: time of the record that named the thread
 */
struct pxtu_writer {
	bool known;
	__s32 pid;
	__s32 tid;
	__u32 address_high;
	__u64 thread_id;
	__u64 time;
};

/**
 * struct pxtu_record - a parsed record
 * @header: bytes before the data
 * @size: bytes from its start to the next record
 * @data_len: bytes of data
 * @words: kernel event: words of its data in memory
 * @event_id: event type
 * @flags: POSIXTRACE_RECORD_*
 * @timestamp: nanoseconds since the Epoch; meaningless if the writer is unknown
 * @prog_address: instruction after the call
 * @plain: a kernel event with POSIXTRACE_KFLAG_PLAIN
 * @value: kernel event: its value, see POSIXTRACE_KHEAD_VALUE
 * @writer: the thread that wrote it
 */
struct pxtu_record {
	__u32 header;
	__u32 size;
	__u32 data_len;
	__u32 words;
	__u32 event_id;
	__u32 flags;
	__u64 timestamp;
	__u64 prog_address;
	bool plain;
	__u32 value;
	struct pxtu_writer writer;
};

/**
 * struct pxtu_place - buffer for the data of an event
 * @at: address
 * @room: bytes there
 */
struct pxtu_place {
	void *at;
	size_t room;
};

/**
 * struct pxtu_queue - the next events to report
 * @event: OVERFLOW, RESUME and a record
 * @next: index of the next event to report
 * @count: number of events
 */
struct pxtu_queue {
	struct posixtrace_batch_event event[3];
	unsigned int next;
	unsigned int count;
};

/* The first word of a record, and of a struct posixtrace_writer. */
struct pxtu_record_head {
	__u16 data_len;
	__u16 type;
	__u32 time;
};

_Static_assert(offsetof(struct posixtrace_record, data_len) ==
	       offsetof(struct pxtu_record_head, data_len) &&
	       offsetof(struct posixtrace_record, type) ==
	       offsetof(struct pxtu_record_head, type) &&
	       offsetof(struct posixtrace_record, time) ==
	       offsetof(struct pxtu_record_head, time) &&
	       offsetof(struct posixtrace_record, prog_address) == sizeof(__u64) &&
	       offsetof(struct posixtrace_packed_record, data_len) ==
	       offsetof(struct pxtu_record_head, data_len) &&
	       offsetof(struct posixtrace_packed_record, type) ==
	       offsetof(struct pxtu_record_head, type) &&
	       offsetof(struct posixtrace_packed_record, time) ==
	       offsetof(struct pxtu_record_head, time) &&
	       offsetof(struct posixtrace_packed_record, address_low) == sizeof(__u64) &&
	       offsetof(struct posixtrace_writer, address_high) ==
	       offsetof(struct pxtu_record_head, time) &&
	       offsetof(struct posixtrace_writer, pid) == sizeof(__u64) &&
	       offsetof(struct posixtrace_writer, thread_id) == 2 * sizeof(__u64) &&
	       offsetof(struct posixtrace_writer, time) == 3 * sizeof(__u64), "as they are read");

static inline struct pxtu_record_head pxtu_record_head(const __u64 *word)
{
	const __u64 value = pxtu_load(word);
	struct pxtu_record_head head;

	memcpy(&head, &value, sizeof(head));
	return head;
}

/* Parse the rest of a struct posixtrace_writer that starts with @head. */
static inline struct pxtu_writer pxtu_record_writer(struct pxtu_record_head head,
						    const __u64 *word)
{
	const __u64 value = pxtu_load(&word[1]);
	struct pxtu_writer writer = {
		.known = true,
		.address_high = head.time,
		.thread_id = pxtu_load(&word[2]),
		.time = pxtu_load(&word[3]),
	};

	memcpy(&writer.pid, &value, sizeof(writer.pid));
	memcpy(&writer.tid, (const char *)&value + sizeof(writer.pid), sizeof(writer.tid));
	return writer;
}

static inline bool pxtu_record_packed(struct pxtu_record_head head)
{
	return POSIXTRACE_RECORD_FLAGS(head.type) & POSIXTRACE_RECORD_PACKED;
}

/* Get the address of a packed record; @low is the lower half. */
static inline __u64 pxtu_record_packed_address(__u32 address_high, const void *low)
{
	return (__u64)address_high << 32 | pxtu_load((const __u32 *)low);
}

/* Get the size of a call stack. False if the size is invalid. */
static inline bool pxtu_record_stack(const void *from, __u32 *size)
{
	const struct posixtrace_stack *stack = from;

	*size = pxtu_load(&stack->size);
	return !(*size % POSIXTRACE_RECORD_ALIGN) && *size <= POSIXTRACE_STACK_SIZE_MAX;
}

/**
 * pxtu_record_parse() - parse a record that others may change concurrently
 * @record: result
 * @from: address of the record, aligned to 8 bytes
 * @room: largest size that the record can have, in bytes
 * @before: writer of the previous record
 *
 * Reads each word once, because the word may change, and readers of streams spend much of their
 * time here. The smallest record has no data, packed or not.
 *
 * Return: false if this cannot be a record; if true, also check pxtu_record_valid().
 */
static inline bool pxtu_record_parse(struct pxtu_record *record, const void *from, __u32 room,
				     const struct pxtu_writer *before)
{
	const __u64 *word = from;
	struct pxtu_record_head head;
	__u32 stack = 0;

	if (room < sizeof(struct posixtrace_record))
		return false;
	head = pxtu_record_head(word);
	record->header = sizeof(struct posixtrace_record);
	record->writer = *before;
	if (pxtu_unlikely(POSIXTRACE_RECORD_ID(head.type) == POSIXTRACE_ID_WRITER)) {
		if (room < PXTU_HEADER_MAX || head.data_len || head.type)
			return false;
		record->writer = pxtu_record_writer(head, word);
		record->header = PXTU_HEADER_MAX;
		word += sizeof(struct posixtrace_writer) / sizeof(*word);
		head = pxtu_record_head(word);
	}
	record->data_len = head.data_len;
	record->event_id = POSIXTRACE_RECORD_ID(head.type);
	record->flags = POSIXTRACE_RECORD_FLAGS(head.type);
	record->timestamp = posixtrace_record_time(record->writer.time, head.time);
	if (pxtu_record_packed(head)) {
		record->header -= (__u32)(sizeof(struct posixtrace_record) -
					  sizeof(struct posixtrace_packed_record));
		record->prog_address = pxtu_record_packed_address(record->writer.address_high,
								  &word[1]);
	} else {
		record->prog_address = pxtu_load(&word[1]);
	}
	if (pxtu_unlikely(record->flags & POSIXTRACE_RECORD_STACK)) {
		if (pxtu_record_packed(head) ||
		    room < record->header + sizeof(struct posixtrace_stack) ||
		    !pxtu_record_stack(&word[2], &stack))
			return false;
		record->header += (__u32)sizeof(struct posixtrace_stack);
	}
	record->size = stack + (__u32)POSIXTRACE_RECORD_ALIGNED(record->header +
								 (__u32)head.data_len);
	return true;
}

/**
 * pxtu_record_room() - get the room needed for the data of any valid record, in bytes
 * @max_data: largest data of a user event, in bytes
 */
static inline size_t pxtu_record_room(__u32 max_data)
{
	return max_data > POSIXTRACE_SYSDATA_MAX ? max_data : POSIXTRACE_SYSDATA_MAX;
}

/**
 * pxtu_record_valid() - check if this can be a record
 * @record: from pxtu_record_parse()
 * @system: the kernel wrote the record
 * @max_data: largest data of a user event, in bytes
 * @room: largest size that the record can have, in bytes
 */
static inline bool pxtu_record_valid(const struct pxtu_record *record, bool system,
				     __u32 max_data, __u32 room)
{
	__u32 first = system ? 1 : POSIXTRACE_ID_UNNAMED;
	__u32 end = system ? POSIXTRACE_ID_UNNAMED : POSIXTRACE_ID_MAX;

	if (system)
		max_data = POSIXTRACE_SYSDATA_MAX;
	return record->data_len <= max_data && record->size <= room &&
	       record->event_id >= first && record->event_id < end &&
	       !(record->flags & ~(POSIXTRACE_RECORD_TRUNCATED | POSIXTRACE_RECORD_PACKED |
				   POSIXTRACE_RECORD_STACK)) &&
	       (!(record->flags & POSIXTRACE_RECORD_PACKED) ||
		POSIXTRACE_RECORD_PACKS(record->data_len));
}

/**
 * pxtu_record_error() - make the record that reports damage
 * @record: result
 * @timestamp: its time
 */
static inline void pxtu_record_error(struct pxtu_record *record, __u64 timestamp)
{
	*record = (struct pxtu_record){
		.data_len = PXTU_ERROR_DATA_SIZE,
		.event_id = POSIXTRACE_ID_ERROR,
		.timestamp = timestamp,
	};
}

/**
 * pxtu_record_after_gap() - check if this is the first record after lost events
 * @record: the next record to report
 * @loop: the stream has the policy POSIX_TRACE_LOOP
 * @first: time of the first event that was lost
 */
static inline bool pxtu_record_after_gap(const struct pxtu_record *record, bool loop, __u64 first)
{
	if (record->timestamp < first)
		return false;
	if (loop)
		return true;
	/*
	 * The stream was full. The last event before the gap is the automatic STOP, which may be
	 * younger than the first lost event. The first event after the gap is START.
	 */
	if (record->event_id == POSIXTRACE_ID_STOP)
		return false;
	return record->timestamp > first || record->event_id == POSIXTRACE_ID_START;
}

/**
 * pxtu_queue_record() - queue the event of a record
 * @queue: has room
 * @record: the record, checked
 * @data: its data
 * @cpu: the CPU that recorded it, or POSIXTRACE_NO_CPU
 * @lost: events lost before it
 *
 * Does not touch the reserved fields: they have been zero since the queue was allocated.
 */
static inline void pxtu_queue_record(struct pxtu_queue *queue, const struct pxtu_record *record,
				     void *data, __u32 cpu, __u64 lost)
{
	struct posixtrace_batch_event *event = &queue->event[queue->count++];
	struct posix_trace_event_info *info = &event->event;

	info->posix_event_id = record->event_id;
	info->posix_pid = record->writer.pid;
	info->posix_prog_address = (void *)(uintptr_t)record->prog_address;
	info->posix_thread_id = (pthread_t)record->writer.thread_id;
	info->posix_timestamp.tv_sec = (time_t)(record->timestamp / PXTU_NSEC_PER_SEC);
	info->posix_timestamp.tv_nsec = (long)(record->timestamp % PXTU_NSEC_PER_SEC);
	info->posix_truncation_status = record->flags & POSIXTRACE_RECORD_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->data = data;
	event->data_len = record->data_len;
	event->lost = lost;
	event->cpu = cpu;
	event->flags = 0;
	event->tid = record->writer.tid;
}

/**
 * pxtu_queue_system() - queue an event of the reader, without data
 * @queue: has room
 * @id: event type
 * @timestamp: nanoseconds since the Epoch
 * @lost: events lost before it
 * @data: any address in a buffer of the reader
 */
static inline void pxtu_queue_system(struct pxtu_queue *queue, __u32 id, __u64 timestamp,
				     __u64 lost, void *data)
{
	const struct pxtu_record record = { .event_id = id, .timestamp = timestamp };

	pxtu_queue_record(queue, &record, data, POSIXTRACE_NO_CPU, lost);
}

#endif /* PXTU_RECORD_H */
