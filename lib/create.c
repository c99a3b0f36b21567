// SPDX-License-Identifier: MIT
/*
 * The life of an active trace stream: made, shared with the module, freed. What
 * is done with it in between is in control.c.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "attr/attr.h"
#include "common/trid.h"
#include "record/attach.h"

static int release(struct pxtu_reader *reader, __u32 subbuf)
{
	struct pxtu_stream *stream = (struct pxtu_stream *)
		(void *)((char *)reader - offsetof(struct pxtu_stream, reader));
	struct posixtrace_release arg = { .subbuf = subbuf };

	return pxtu_stream_ioctl(stream, POSIXTRACE_IOC_RELEASE, &arg);
}

static void unmap_shared(const struct pxtu_stream *stream)
{
	if (stream->shared)
		munmap(stream->shared, stream->shared_size);
}

/* What we write: but nobody reads a stream with log. */
static int map_shared(struct pxtu_stream *stream, const struct posixtrace_create *create)
{
	void *shared;
	int err;

	if (stream->withlog)
		return 0;
	err = pxtu_map(stream->fd, stream->number, &create->reader,
		       POSIXTRACE_MAPPING_WRITE | POSIXTRACE_MAPPING_POPULATE, &shared);
	if (err)
		return err;
	stream->shared = shared;
	stream->shared_size = create->reader.size;
	return 0;
}

/* Map what CREATE told, in two pieces: what we write and what we read. */
static int map_memory(struct pxtu_stream *stream, const struct posixtrace_create *create,
		      struct pxtu_map *map)
{
	size_t ctrl = create->ctrl.size, heads = create->heads.size, pool = create->pool.size;
	struct posixtrace_map all = {
		.offset = create->ctrl.offset,
		.size = ctrl + heads + pool,
	};
	void *data;
	int err;

	/* One mapping needs one range. */
	if (create->heads.offset != create->ctrl.offset + ctrl ||
	    create->pool.offset != create->heads.offset + heads)
		return -EPROTO;

	err = map_shared(stream, create);
	if (err)
		return err;
	err = pxtu_map(stream->fd, stream->number, &all, 0, &data);
	if (err)
		goto unmap_shared;
	stream->data = data;
	stream->data_size = all.size;

	/*
	 * Not in a child: there the trace id is not valid. The pool is not
	 * populated, for sub-buffers of system events are allocated when needed.
	 * Neither has to succeed.
	 */
	if (stream->shared)
		madvise(stream->shared, stream->shared_size, MADV_DONTFORK);
	madvise(data, stream->data_size, MADV_DONTFORK);
#ifdef MADV_POPULATE_READ
	madvise(data, ctrl + heads, MADV_POPULATE_READ);
#endif

	map->shared = stream->shared;
	map->shared_size = stream->shared_size;
	map->ctrl = data;
	map->ctrl_size = ctrl;
	map->heads = (const struct posixtrace_cpu_head *)(const void *)((char *)data + ctrl);
	map->heads_size = heads;
	map->pool = (const unsigned char *)data + ctrl + heads;
	map->pool_size = pool;
	return 0;

unmap_shared:
	unmap_shared(stream);
	return err;
}

/* Make ready to read it, or, with a log, not to. */
static int init_reader(struct pxtu_stream *stream, const struct pxtu_map *map)
{
	struct posixtrace_attr granted;
	int err;

	if (stream->withlog) {
		stream->reader.map = *map;
		return 0;
	}
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_GET_ATTR, &granted);
	return err < 0 ? err : pxtu_reader_init(&stream->reader, map, &granted, release);
}

static int make_stream(pid_t pid, const trace_attr_t *attr, int log_fd, trace_id_t *trid)
{
	struct posixtrace_create create = { .pid = pid, .log_fd = log_fd };
	struct pxtu_state *state = pxtu_state();
	struct pxtu_stream *stream;
	struct pxtu_map map;
	int err;

	if (!state)
		return -ENOMEM;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	stream->withlog = log_fd >= 0;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->idle, NULL);

	stream->fd = pxtu_device_open();
	err = stream->fd;
	if (err < 0)
		goto free;
	pxtu_attach_retry(state);

	pxtu_attr_to_uapi(attr, stream->withlog, &create.attr);
	/* The standard lets it be interrupted; then nothing was created. */
	err = pxtu_ioctl_once(stream->fd, POSIXTRACE_IOC_CREATE, &create);
	if (err < 0)
		goto close_new_fd;
	stream->number = create.stream;
	err = map_memory(stream, &create, &map);
	if (err < 0)
		goto close_fd;
	err = init_reader(stream, &map);
	if (err < 0)
		goto unmap_memory;
	err = pxtu_trid_install(stream, trid);
	if (err < 0)
		goto destroy_reader;
	return 0;

destroy_reader:
	pxtu_reader_destroy(&stream->reader);
unmap_memory:
	munmap(stream->data, stream->data_size);
	unmap_shared(stream);
close_fd:
	pxtu_close_ours(stream->fd, stream->number);
	goto free;
close_new_fd:
	pxtu_close_new(stream->fd, err);
free:
	pthread_cond_destroy(&stream->idle);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
	return err;
}

static void free_stream(struct pxtu_stream *stream)
{
	pxtu_reader_destroy(&stream->reader);
	munmap(stream->data, stream->data_size);
	unmap_shared(stream);
	pxtu_close_ours(stream->fd, stream->number);
	pthread_cond_destroy(&stream->idle);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

/**
 * posix_trace_create() - create an active trace stream without log
 * @pid: process to trace, 0 for the caller
 * @attr: attributes, copied; NULL for the defaults
 * @trid: where to write the trace id, which is valid in this process only
 *
 * The stream is suspended and has an empty filter. It is shut down when this
 * process ends or execs, or closes all descriptors, ours among them, as daemons do:
 * then the trace id is not valid any more.
 *
 * Return: 0; EAGAIN if there are TRACE_SYS_MAX streams, 32 on this process, or as
 * many as this user may have; EINTR if a signal came, then there is no stream;
 * EINVAL if @attr is not initialized or has the stream-full-policy
 * POSIX_TRACE_FLUSH, which needs a log, or if @trid is NULL; ENODEV without the
 * module; ENOMEM, also beyond RLIMIT_MEMLOCK; ENOTSUP if the module cannot do
 * what @attr asks for, or is of another version; EPERM if the caller may not trace
 * that process or may not open the device; ESRCH if there is no such process. EMFILE
 * and ENFILE if there are no more descriptors.
 */
PXTU_API int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
				trace_id_t *restrict trid)
{
	int err, saved_errno = errno;
	trace_attr_t defaults;

	if (!trid)
		return EINVAL;
	if (!attr) {
		pxtu_attr_init(&defaults);
		attr = &defaults;
	}
	if (!pxtu_attr_valid(attr) || attr->__stream_policy == POSIX_TRACE_FLUSH)
		return EINVAL;
	err = make_stream(pid, attr, -1, trid);
	errno = saved_errno;
	return pxtu_error(err);
}

/**
 * posix_trace_create_withlog() - create an active trace stream with log
 * @pid: process to trace, 0 for the caller
 * @attr: attributes, copied; NULL for the defaults
 * @file_desc: descriptor of the log, open for writing: a regular file, with O_APPEND
 *	not for the log-full-policy POSIX_TRACE_LOOP; or, for POSIX_TRACE_APPEND, a
 *	pipe, a FIFO, a socket or a device that the kernel can write to. It may be closed
 *	afterwards; its file offset is neither used nor changed
 * @trid: where to write the trace id, which is valid in this process only
 *
 * As posix_trace_create(), but that all that is recorded gets into the log: with each
 * flush, when the stream is shut down, and when this process ends, however. If no
 * stream-full-policy was set, it is POSIX_TRACE_FLUSH. The events can only be read
 * from the log. If it fails, the file may have a part of the beginning of a log.
 *
 * Return: as posix_trace_create(); EBADF if @file_desc is not open for writing; EINVAL
 * if it is of a kind that can not be the log; EINTR also if a signal came while a pipe
 * was full; EFBIG, ENOSPC and what else writing says if not even the header fits.
 */
PXTU_API int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
					int file_desc, trace_id_t *restrict trid)
{
	int err, saved_errno = errno;
	trace_attr_t defaults;

	if (!trid)
		return EINVAL;
	if (!attr) {
		pxtu_attr_init(&defaults);
		attr = &defaults;
	}
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	/* Before a descriptor of ours gets that number. */
	err = fcntl(file_desc, F_GETFL) < 0 ? -EBADF : make_stream(pid, attr, file_desc, trid);
	errno = saved_errno;
	/* Here it is the caller's descriptor that is bad. */
	return err == -EBADF ? EBADF : pxtu_error(err);
}

/**
 * posix_trace_shutdown() - stop a stream and free all of it
 * @trid: trace id
 *
 * If it has a log, all that was recorded is in there when this returns; a second call,
 * if this one fails, can not help. Else events that were not read are gone. Threads
 * that are blocked in posix_trace_getnext_event() or posix_trace_timedgetnext_event()
 * on this stream return EINVAL; this function returns when they and all other calls
 * have left.
 *
 * If the program has closed the descriptor of the stream, the stream was shut down
 * by that, and @trid is as invalid here as everywhere. Nevertheless this frees what
 * the library has kept of the stream; a file that has the number of the descriptor
 * now is left alone.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process; EFBIG, ENOSPC
 * and what else writing says if not all got into the log. All else was done then.
 */
PXTU_API int posix_trace_shutdown(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_remove(trid);
	int err, cancel;
	bool dead;

	if (!stream)
		return EINVAL;
	/* A file under its number says anything, but not what became of our log. */
	dead = pxtu_stream_dead(stream);
	/* From here on nobody else can free it. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_SHUTDOWN, NULL);
	pxtu_trid_drain(stream);
	free_stream(stream);
	pthread_setcancelstate(cancel, NULL);
	return dead ? EINVAL : pxtu_error(err);
}
