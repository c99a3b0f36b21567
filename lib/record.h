/* SPDX-License-Identifier: MIT */
/*
 * What streams and logs have in common: records that nobody vouches for, and the
 * events that they become. Without state, so that it is all inline.
 */
#ifndef PXTU_RECORD_H
#define PXTU_RECORD_H

#include "pxtu.h"

/* Where records are damaged, an event is reported with this data: int EIO. */
#define PXTU_ERROR_DATA_SIZE	((__u32)sizeof(int))

/**
 * struct pxtu_event - an event to be reported
 * @id: event type
 * @truncated: data was cut when it was recorded
 * @timestamp: nanoseconds since the Epoch
 * @prog_address: instruction behind the call
 * @thread_id: pthread_t
 * @pid: process id
 * @data_len: bytes of data
 * @data: the data
 */
struct pxtu_event {
	__u32 id;
	bool truncated;
	__u64 timestamp;
	__u64 prog_address;
	__u64 thread_id;
	__s32 pid;
	__u32 data_len;
	const void *data;
};

/**
 * struct pxtu_queue - what is to be reported next
 * @event: OVERFLOW, RESUME and a record
 * @next: next of them
 * @count: how many there are
 */
struct pxtu_queue {
	struct pxtu_event event[3];
	unsigned int next;
	unsigned int count;
};

/**
 * pxtu_record_valid() - can this be a record?
 * @record: private copy of the header
 * @system: it is among those that the kernel writes
 * @max_data: largest data that one can have, in bytes
 * @room: bytes that it has at most
 */
static inline bool pxtu_record_valid(const struct posixtrace_record *record, bool system,
				     __u32 max_data, __u32 room)
{
	__u32 first = system ? 1 : POSIXTRACE_ID_UNNAMED;
	__u32 end = system ? POSIXTRACE_ID_UNNAMED : POSIXTRACE_ID_MAX;

	return record->size >= sizeof(*record) && record->size <= room &&
	       record->data_len <= max_data &&
	       POSIXTRACE_RECORD_SIZE(record->data_len) == record->size &&
	       record->event_id >= first && record->event_id < end &&
	       !(record->flags & ~POSIXTRACE_RECORD_TRUNCATED);
}

/**
 * pxtu_record_error() - instead of what is no record, one that says so
 * @record: where to write it
 * @timestamp: its time
 */
static inline void pxtu_record_error(struct posixtrace_record *record, __u64 timestamp)
{
	*record = (struct posixtrace_record){
		.size = POSIXTRACE_RECORD_SIZE(PXTU_ERROR_DATA_SIZE),
		.data_len = PXTU_ERROR_DATA_SIZE,
		.event_id = POSIXTRACE_ID_ERROR,
		.timestamp = timestamp,
	};
}

/**
 * pxtu_record_after_gap() - is this the first record behind what was lost?
 * @record: the record, about to be reported
 * @loop: the stream has the policy POSIX_TRACE_LOOP
 * @first: time of the first event that was lost
 */
static inline bool pxtu_record_after_gap(const struct posixtrace_record *record, bool loop,
					 __u64 first)
{
	if (record->timestamp < first)
		return false;
	if (loop)
		return true;
	/*
	 * The stream was full: the last event before is its automatic STOP, which
	 * may be younger than the first lost event; the first one behind is START.
	 */
	if (record->event_id == POSIXTRACE_ID_STOP)
		return false;
	return record->timestamp > first || record->event_id == POSIXTRACE_ID_START;
}

static inline void pxtu_queue_add(struct pxtu_queue *queue, const struct pxtu_event *event)
{
	queue->event[queue->count++] = *event;
}

/**
 * pxtu_queue_record() - the event that a record stands for is reported next
 * @queue: has room
 * @record: private copy of the header
 * @data: its data
 */
static inline void pxtu_queue_record(struct pxtu_queue *queue,
				     const struct posixtrace_record *record, const void *data)
{
	struct pxtu_event event = {
		.id = record->event_id,
		.truncated = record->flags & POSIXTRACE_RECORD_TRUNCATED,
		.timestamp = record->timestamp,
		.prog_address = record->prog_address,
		.thread_id = record->thread_id,
		.pid = record->pid,
		.data_len = record->data_len,
		.data = data,
	};

	pxtu_queue_add(queue, &event);
}

#endif /* PXTU_RECORD_H */
