// SPDX-License-Identifier: MIT
/*
 * The life of an active trace stream: made, shared with the module, freed. What
 * is done with it in between is in stream.c.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "attach.h"
#include "attr.h"
#include "trid.h"

static int release(struct pxtu_reader *reader, __u32 subbuf)
{
	struct pxtu_stream *stream = (struct pxtu_stream *)
		(void *)((char *)reader - offsetof(struct pxtu_stream, reader));
	struct posixtrace_release arg = { .subbuf = subbuf };

	return pxtu_stream_ioctl(stream, POSIXTRACE_IOC_RELEASE, &arg);
}

/* Map what CREATE told, in two pieces: what we write and what we read. */
static int map_memory(struct pxtu_stream *stream, const struct posixtrace_create *create,
		      struct pxtu_map *map)
{
	size_t ctrl = create->ctrl.size, heads = create->heads.size, pool = create->pool.size;
	char *data;
	void *shared;
	int err;

	/* One mapping needs one range. */
	if (create->heads.offset != create->ctrl.offset + ctrl ||
	    create->pool.offset != create->heads.offset + heads)
		return -EPROTO;

	shared = mmap(NULL, create->reader.size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_POPULATE, stream->fd, (off_t)create->reader.offset);
	if (shared == MAP_FAILED)
		return -errno;
	stream->shared = shared;
	stream->shared_size = create->reader.size;

	data = mmap(NULL, ctrl + heads + pool, PROT_READ, MAP_SHARED, stream->fd,
		    (off_t)create->ctrl.offset);
	if (data == MAP_FAILED) {
		err = -errno;
		goto unmap_shared;
	}
	stream->data = data;
	stream->data_size = ctrl + heads + pool;
	/* What if it was closed meanwhile, and we have mapped another file? */
	err = -EBADF;
	if (!pxtu_is_ours(stream->fd, stream->number))
		goto unmap_data;

	/*
	 * Not in a child: there the trace id is not valid. The pool is not
	 * populated, for sub-buffers of system events are allocated when needed.
	 * Neither has to succeed.
	 */
	madvise(shared, stream->shared_size, MADV_DONTFORK);
	madvise(data, stream->data_size, MADV_DONTFORK);
#ifdef MADV_POPULATE_READ
	madvise(data, ctrl + heads, MADV_POPULATE_READ);
#endif

	map->shared = shared;
	map->shared_size = stream->shared_size;
	map->ctrl = (const struct posixtrace_ctrl *)(const void *)data;
	map->ctrl_size = ctrl;
	map->heads = (const struct posixtrace_cpu_head *)(const void *)(data + ctrl);
	map->heads_size = heads;
	map->pool = (const unsigned char *)data + ctrl + heads;
	map->pool_size = pool;
	return 0;

unmap_data:
	munmap(data, stream->data_size);
unmap_shared:
	munmap(shared, stream->shared_size);
	return err;
}

static int make_stream(pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
	struct posixtrace_create create = { .pid = pid, .log_fd = -1 };
	struct pxtu_state *state = pxtu_state();
	struct posixtrace_attr granted;
	struct pxtu_stream *stream;
	struct pxtu_map map;
	int err;

	if (!state)
		return -ENOMEM;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->idle, NULL);

	stream->fd = pxtu_device_open();
	err = stream->fd;
	if (err < 0)
		goto free;
	pxtu_attach_retry(state);

	pxtu_attr_to_uapi(attr, &create.attr);
	/* The standard lets it be interrupted; then nothing was created. */
	err = pxtu_ioctl_once(stream->fd, POSIXTRACE_IOC_CREATE, &create);
	if (err < 0)
		goto close_new_fd;
	stream->number = create.stream;
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_GET_ATTR, &granted);
	if (err < 0)
		goto close_fd;
	err = map_memory(stream, &create, &map);
	if (err < 0)
		goto close_fd;
	err = pxtu_reader_init(&stream->reader, &map, &granted, release);
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
	munmap(stream->shared, stream->shared_size);
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
	munmap(stream->shared, stream->shared_size);
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
 * module; ENOMEM, also beyond RLIMIT_MEMLOCK; ENOTSUP if the module can not do
 * what @attr asks for; EPERM if the caller may not trace that process or may not
 * open the device; ESRCH if there is no such process. EMFILE and ENFILE if there
 * are no more descriptors.
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
	err = make_stream(pid, attr, trid);
	errno = saved_errno;
	return pxtu_error(err);
}

/**
 * posix_trace_shutdown() - stop a stream and free all of it
 * @trid: trace id
 *
 * Recorded events that were not read are gone. Threads that are blocked in
 * posix_trace_getnext_event() or posix_trace_timedgetnext_event() on this stream
 * return EINVAL; this function returns when they and all other calls have left.
 *
 * If the program has closed the descriptor of the stream, the stream was shut down
 * by that, and @trid is as invalid here as everywhere. Nevertheless this frees what
 * the library has kept of the stream; a file that has the number of the descriptor
 * now is left alone.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process.
 */
PXTU_API int posix_trace_shutdown(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_remove(trid);
	int err, cancel;

	if (!stream)
		return EINVAL;
	/* From here on nobody else can free it. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_SHUTDOWN, NULL);
	pxtu_trid_drain(stream);
	free_stream(stream);
	pthread_setcancelstate(cancel, NULL);
	return err ? EINVAL : 0;
}
