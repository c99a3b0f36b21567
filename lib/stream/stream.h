/* SPDX-License-Identifier: MIT */
/*
 * Active trace streams that this process controls. Each file only calls files named before
 * it: stream.c sends commands, wait.c waits, streamops.c has the operations of a source,
 * open.c creates and frees, worker.c writes logs. reader.h reads events.
 */
#ifndef PXTU_STREAM_H
#define PXTU_STREAM_H

#include "common/trid.h"
#include "stream/reader.h"

/**
 * struct pxtu_stream - an active trace stream that this process controls
 *
 * Created by posix_trace_create() and posix_trace_create_withlog(), freed by
 * posix_trace_shutdown() after the last pxtu_stream_put(). Until then, @fd and the mappings do not
 * change.
 */
struct pxtu_stream {
	/**
	 * @source: the source of its trace id; the lock guards @reader and the four @types* fields
	 */
	struct pxtu_source source;
	/**
	 * @fd: descriptor with the role of a stream; the program may have closed it, so every use
	 * checks @number
	 */
	int fd;
	/** @number: number of the stream; unique */
	__u64 number;

	/**
	 * @reader: reads the events. A stream with log is not read and has only the map, for
	 * pxtu_stream_dead()
	 */
	struct pxtu_reader reader;
	/** @types_next: event types returned by posix_trace_eventtypelist_getnext_id() */
	__u32 types_next;
	/** @types_first: position in the list of @types[0] */
	__u32 types_first;
	/** @types_count: number of valid @types */
	__u32 types_count;
	/** @types: part of the list of event types */
	__u32 types[64];

	/** @shared: mapping of struct posixtrace_reader; NULL for a stream with log */
	void *shared;
	/** @shared_size: its size in bytes */
	size_t shared_size;
	/** @data: mapping of the memory that we only read */
	void *data;
	/** @data_size: its size in bytes */
	size_t data_size;
};

/* The operations of active streams as sources. */
extern const struct pxtu_source_ops pxtu_stream_ops
	__attribute__((__visibility__("hidden")));

static inline struct pxtu_stream *pxtu_stream_of(const struct pxtu_source *source)
{
	return pxtu_container_of(source, struct pxtu_stream, source);
}

/**
 * pxtu_stream_get() - look up a trace id, and use its active stream
 * @trid: any number
 *
 * Return: the stream, valid until pxtu_stream_put(); NULL if the number is not a trace id
 * of this process, or belongs to a log.
 */
static inline struct pxtu_stream *pxtu_stream_get(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_get(trid, &pxtu_stream_ops);

	return source ? pxtu_stream_of(source) : NULL;
}

/**
 * pxtu_stream_put() - end the use of a stream
 * @stream: stream from pxtu_stream_get()
 */
static inline void pxtu_stream_put(struct pxtu_stream *stream)
{
	pxtu_trid_put(&stream->source);
}

/**
 * pxtu_stream_dead() - check if the stream was shut down
 * @stream: in use
 *
 * A stream ends by SHUTDOWN, or if the program closes the descriptor. Costs two
 * loads.
 *
 * Return: true if it was; may be false for a moment after the program closed the descriptor.
 */
static inline bool pxtu_stream_dead(const struct pxtu_stream *stream)
{
	const struct posixtrace_ctrl *ctrl = stream->reader.map.ctrl;

	/* The mapped pages of a dead stream are zero, or soon will be. */
	return !pxtu_load(&ctrl->size) || pxtu_load(&ctrl->flags) & POSIXTRACE_CTRL_SHUTDOWN;
}

/**
 * pxtu_stream_ioctl() - send a command of the role stream
 * @stream: in use
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Retries after a signal.
 *
 * Return: the result of the command, or negative errno, never -EINTR. If the program has
 * closed the descriptor, an error that pxtu_error() turns into EINVAL.
 */
int pxtu_stream_ioctl(const struct pxtu_stream *stream, unsigned long cmd, void *arg);

/**
 * pxtu_stream_answer() - check if an answer can come from the stream
 * @stream: in use
 * @ret: result of pxtu_checked_once()
 *
 * Return: @ret if it can; else -ESHUTDOWN, or -ESTALE in a child.
 */
int pxtu_stream_answer(const struct pxtu_stream *stream, int ret);

#endif /* PXTU_STREAM_H */
