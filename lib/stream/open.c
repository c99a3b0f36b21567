// SPDX-License-Identifier: MIT
/*
 * The lifetime of an active stream: creates it, shares its memory with the module, frees it.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "common/sys.h"
#include "stream/open.h"
#include "stream/reader.h"
#include "stream/stream.h"

static int release(struct pxtu_reader *reader, __u32 subbuf)
{
	struct pxtu_stream *stream = pxtu_container_of(reader, struct pxtu_stream, reader);
	struct posixtrace_release arg = { .subbuf = subbuf };

	return pxtu_stream_ioctl(stream, POSIXTRACE_IOC_RELEASE, &arg);
}

static int defer(struct pxtu_reader *reader, struct posixtrace_defer *arg)
{
	struct pxtu_stream *stream = pxtu_container_of(reader, struct pxtu_stream, reader);

	return pxtu_stream_ioctl(stream, POSIXTRACE_IOC_DEFER, arg);
}

static void unmap_shared(const struct pxtu_stream *stream)
{
	if (stream->shared)
		munmap(stream->shared, stream->shared_size);
}

/* Map the memory that the reader writes. A stream with log has no reader. */
static int map_shared(struct pxtu_stream *stream, const struct posixtrace_create *create)
{
	void *shared;
	int err;

	if (!stream->source.readable)
		return 0;
	err = pxtu_map(stream->fd, stream->number, &create->reader,
		       POSIXTRACE_MAPPING_WRITE | POSIXTRACE_MAPPING_POPULATE, &shared);
	if (err)
		return err;
	stream->shared = shared;
	stream->shared_size = (size_t)create->reader.size;
	return 0;
}

/* Map the memory returned by CREATE: first the part that we write, then the part that we read. */
static int map_memory(struct pxtu_stream *stream, const struct posixtrace_create *create,
		      struct pxtu_map *map)
{
	__u64 ctrl = create->ctrl.size, heads = create->heads.size, pool = create->pool.size;
	struct posixtrace_map all = {
		.offset = create->ctrl.offset,
		.size = ctrl + heads + pool,
	};
	void *data;
	int err;

	/* A single mapping needs a contiguous range. */
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
	stream->data_size = (size_t)all.size;

	/* A child needs no mappings, because the trace id is invalid there. Ignore failures. */
	if (stream->shared)
		madvise(stream->shared, stream->shared_size, MADV_DONTFORK);
	madvise(data, stream->data_size, MADV_DONTFORK);

	map->shared = stream->shared;
	map->shared_size = stream->shared_size;
	map->ctrl = data;
	map->ctrl_size = (size_t)ctrl;
	map->heads = (const struct posixtrace_cpu_head *)(const void *)((char *)data + ctrl);
	map->heads_size = (size_t)heads;
	map->pool = (const unsigned char *)data + ctrl + heads;
	map->pool_size = (size_t)pool;
	return 0;

unmap_shared:
	unmap_shared(stream);
	return err;
}

/* Get the names of system calls. A kernel without names of 32-bit calls has fewer texts. */
static int get_call_names(struct pxtu_stream *stream)
{
	struct posixtrace_description arg = { .size = POSIXTRACE_DESCRIPTION_SIZE };
	int err = 0;
	char *text;

	/* In this ABI version, SYSCALL_EXIT has an error and a name. */
	stream->reader.names.of_exits = true;
	for (arg.id = POSIXTRACE_ID_CALL_NAMES; arg.id < POSIXTRACE_ID_UNNAMED; arg.id++) {
		text = malloc(POSIXTRACE_DESCRIPTION_SIZE);
		if (!text)
			return -ENOMEM;
		arg.text = (uintptr_t)text;
		arg.size = POSIXTRACE_DESCRIPTION_SIZE;
		err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_DESCRIPTION, &arg);
		if (err < 0)
			free(text);
		else
			pxtu_call_names_add(&stream->reader.names, arg.id, text);
		if (err < 0 && err != -EINVAL)
			return err;
	}
	return 0;
}

/* Prepare the reader. A stream with log only needs the map, for pxtu_stream_dead(). */
static int init_reader(struct pxtu_stream *stream, const struct pxtu_map *map)
{
	struct posixtrace_attr granted;
	int err;

	if (!stream->source.readable) {
		stream->reader.map = *map;
		return 0;
	}
	err = pxtu_checked(stream->fd, stream->number, POSIXTRACE_IOC_GET_ATTR, &granted);
	if (err < 0)
		return err;
	err = pxtu_reader_init(&stream->reader, map, &granted, release, defer);
	if (err || !(granted.classes & POSIXTRACE_CLASS_SYSCALL))
		return err;
	err = get_call_names(stream);
	if (err)
		pxtu_reader_destroy(&stream->reader);
	return err;
}

struct pxtu_stream *pxtu_stream_alloc(bool withlog)
{
	struct pxtu_stream *stream = calloc(1, sizeof(*stream));

	if (stream)
		pxtu_source_init(&stream->source, &pxtu_stream_ops, !withlog);
	return stream;
}

void pxtu_stream_dealloc(struct pxtu_stream *stream)
{
	free(stream);
}

int pxtu_stream_share(struct pxtu_stream *stream, const struct posixtrace_create *create)
{
	struct pxtu_map map;
	int err;

	stream->number = create->stream;
	err = map_memory(stream, create, &map);
	if (err < 0)
		return err;
	err = init_reader(stream, &map);
	if (err < 0) {
		munmap(stream->data, stream->data_size);
		unmap_shared(stream);
	}
	return err;
}

void pxtu_stream_unshare(struct pxtu_stream *stream)
{
	pxtu_reader_destroy(&stream->reader);
	munmap(stream->data, stream->data_size);
	unmap_shared(stream);
}

int pxtu_stream_create(struct pxtu_stream *stream, struct posixtrace_create *create)
{
	int err;

	/* Do not retry after a signal: the standard allows EINTR, if no stream was created. */
	err = pxtu_ioctl_once(stream->fd, POSIXTRACE_IOC_CREATE, create);
	if (err < 0) {
		pxtu_close_new(stream->fd, err);
		return err;
	}
	err = pxtu_stream_share(stream, create);
	if (err < 0)
		pxtu_close_ours(stream->fd, stream->number);
	return err;
}

void pxtu_stream_destroy(struct pxtu_stream *stream)
{
	pxtu_stream_unshare(stream);
	pxtu_close_ours(stream->fd, stream->number);
}
