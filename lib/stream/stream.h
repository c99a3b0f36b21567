/* SPDX-License-Identifier: MIT */
/*
 * An active trace stream that this process controls. Each file calls only those in front of
 * it: stream.c sends commands, wait.c sleeps, streamops.c has the operations of a source,
 * life.c makes and frees. How its events are read is in reader.h.
 */
#ifndef PXTU_STREAM_H
#define PXTU_STREAM_H

#include "common/trid.h"
#include "stream/reader.h"

/**
 * struct pxtu_stream - an active trace stream that this process controls
 * @source: what the trace id stands for; its lock guards @reader and what @types_next and
 *	the next three members say
 * @fd: descriptor with the role of a stream; the program may have closed it, so
 *	it is used with @number only
 * @number: of the stream; no other has it
 * @reader: reading of events. Of a stream with log, which is not read, it has nothing but
 *	the address of what pxtu_stream_dead() looks at
 * @types_next: event types told by posix_trace_eventtypelist_getnext_id()
 * @types_first: position in the list of @types[0]
 * @types_count: how many of @types are valid
 * @types: part of the list of event types
 * @shared: mapping of struct posixtrace_reader; NULL of a stream with log
 * @shared_size: its size in bytes
 * @data: mapping of all that is only read
 * @data_size: its size in bytes
 *
 * Made by posix_trace_create() and its kin, freed by posix_trace_shutdown() when the last
 * call that uses it has left. @fd and the mappings do not change in between.
 */
struct pxtu_stream {
	struct pxtu_source source;
	int fd;
	__u64 number;

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

/* Operations of all sources that are active streams. */
extern const struct pxtu_source_ops pxtu_stream_ops
	__attribute__((__visibility__("hidden")));

static inline struct pxtu_stream *pxtu_stream_of(const struct pxtu_source *source)
{
	return pxtu_container_of(source, struct pxtu_stream, source);
}

/**
 * pxtu_stream_get() - the active stream of a trace id, to use it
 * @trid: any number
 *
 * Return: the stream, that lives until pxtu_stream_put(); NULL if the number is
 * no trace id of this process, or that of a log.
 */
static inline struct pxtu_stream *pxtu_stream_get(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_get(trid, &pxtu_stream_ops);

	return source ? pxtu_stream_of(source) : NULL;
}

/**
 * pxtu_stream_put() - end of a use
 * @stream: stream from pxtu_stream_get()
 */
static inline void pxtu_stream_put(struct pxtu_stream *stream)
{
	pxtu_trid_put(&stream->source);
}

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

/**
 * pxtu_stream_wait() - sleep until there may be an event
 * @stream: in use by the caller; its lock is not held
 * @wait: argument of WAIT
 *
 * A cancellation point: then the use of @stream is given up.
 *
 * Return: 0 or negative errno.
 */
int pxtu_stream_wait(struct pxtu_stream *stream, struct posixtrace_wait *wait);

/**
 * pxtu_stream_alloc() - memory for a stream that is going to be created
 * @withlog: it is going to have a log
 *
 * Return: the stream, for pxtu_stream_dealloc(); NULL without memory.
 */
struct pxtu_stream *pxtu_stream_alloc(bool withlog);

/**
 * pxtu_stream_dealloc() - free the memory
 * @stream: from pxtu_stream_alloc()
 */
void pxtu_stream_dealloc(struct pxtu_stream *stream);

/**
 * pxtu_stream_create() - create a stream, and share its memory with the module
 * @stream: allocated; @fd is the device, without role, and is closed after an error
 * @create: argument of CREATE
 *
 * Return: 0; -EINTR if a signal came, then nothing was created; other negative errno.
 */
int pxtu_stream_create(struct pxtu_stream *stream, struct posixtrace_create *create);

/**
 * pxtu_stream_destroy() - undo pxtu_stream_create(), and close the descriptor
 * @stream: created; used by the caller only
 */
void pxtu_stream_destroy(struct pxtu_stream *stream);

#endif /* PXTU_STREAM_H */
