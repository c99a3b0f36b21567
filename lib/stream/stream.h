/* SPDX-License-Identifier: MIT */
/* What a trace id of this process stands for: an active trace stream, or a log. */
#ifndef PXTU_STREAM_H
#define PXTU_STREAM_H

#include <pthread.h>

#include "stream/reader.h"

struct pxtu_log;

/**
 * struct pxtu_stream - an active trace stream that this process controls
 * @fd: descriptor with the role of a stream; the program may have closed it, so
 *	it is used with @number only
 * @number: of the stream; no other has it
 * @users: calls that are using it; guarded by the lock of the trace ids
 * @idle: signalled, under the lock of the trace ids, when @users gets 0 after
 *	the trace id was removed
 * @removed: the trace id is gone; guarded by the lock of the trace ids
 * @withlog: it has a log: nobody reads it, @reader has nothing but the address of what
 *	pxtu_stream_dead() looks at, and @shared is NULL
 * @log: NULL; or a log that is read, and then nothing below is used but @lock, which
 *	guards it, and @types_next
 * @lock: guards everything below; never held while waiting for an event
 * @reader: reading of events
 * @types_next: event types told by posix_trace_eventtypelist_getnext_id()
 * @types_first: position in the list of @types[0]
 * @types_count: how many of @types are valid
 * @types: part of the list of event types
 * @shared: mapping of struct posixtrace_reader
 * @shared_size: its size in bytes
 * @data: mapping of all that is only read
 * @data_size: its size in bytes
 *
 * Made by posix_trace_create() and its kin, freed by posix_trace_shutdown() when the last
 * call that uses it has left. @fd and the mappings do not change in between.
 */
struct pxtu_stream {
	int fd;
	__u64 number;
	unsigned int users;
	pthread_cond_t idle;
	bool removed;
	bool withlog;
	struct pxtu_log *log;

	pthread_mutex_t lock;
	struct pxtu_reader reader;
	__u32 types_next;
	__u32 types_first;
	__u32 types_count;
	__u32 types[64];

	void *shared;
	size_t shared_size;
	void *data;
	size_t data_size;
};

/**
 * pxtu_stream_dead() - was it shut down?
 * @stream: in use
 *
 * By SHUTDOWN, or because the program closed the descriptor. Costs two loads.
 *
 * Return: false also for a moment after the program closed the descriptor.
 */
static inline bool pxtu_stream_dead(const struct pxtu_stream *stream)
{
	const struct posixtrace_ctrl *ctrl = stream->reader.map.ctrl;

	/* What was mapped of it is zero, or soon will be. */
	return !pxtu_load(&ctrl->size) || pxtu_load(&ctrl->flags) & POSIXTRACE_CTRL_SHUTDOWN;
}

/**
 * pxtu_stream_ioctl() - a command of the role stream
 * @stream: in use
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Started again after a signal.
 *
 * Return: what the command returned, or negative errno, never -EINTR. If the
 * program has closed the descriptor, one that pxtu_error() makes EINVAL.
 */
int pxtu_stream_ioctl(const struct pxtu_stream *stream, unsigned long cmd, void *arg);

/**
 * pxtu_stream_answer() - whose answer to a command is this?
 * @stream: in use
 * @ret: what pxtu_checked_once() returned for it
 *
 * Return: @ret, if it may be the stream's; else -ESHUTDOWN.
 */
int pxtu_stream_answer(const struct pxtu_stream *stream, int ret);

#endif /* PXTU_STREAM_H */
