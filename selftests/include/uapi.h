/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes commands of /dev/posixtrace without the library. Each helper returns the result of the
 * command, or negative errno. The reader is minimal: it is correct only while no thread writes.
 */
#ifndef _SELFTESTS_UAPI_H
#define _SELFTESTS_UAPI_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

#define DEVICE	"/dev/posixtrace"

/* An address that no process has mapped, so every command must return EFAULT. */
#define BAD_POINTER	((void *)8)

/* Loads memory that other threads may write. */
#define LOAD(x)		__atomic_load_n(&(x), __ATOMIC_ACQUIRE)

static inline int command(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int device_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Returns the classes of kernel events that the caller may record, or 0. */
__u64 device_classes(void);

static inline void *map_range(int fd, const struct posixtrace_map *range, int prot)
{
	return mmap(NULL, range->size, prot, MAP_SHARED, fd, range->offset);
}

/* ------------------------------------------------------------------ */
/* Role stream								*/

struct stream {
	int fd;
	struct posixtrace_create arg;
	struct posixtrace_reader *reader;
	const struct posixtrace_ctrl *ctrl;
	const struct posixtrace_cpu_head *heads;
	const char *pool;
};

/* Fills in valid arguments of CREATE. */
void create_init(struct posixtrace_create *arg, pid_t pid);

void stream_unmap(struct stream *stream);
void stream_close(struct stream *stream);
int stream_map(struct stream *stream);

/* Creates a stream from stream->arg and maps it. */
int stream_open(struct stream *stream);

int stream_create(struct stream *stream, pid_t pid);

static inline int stream_start(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 0x1234, .thread_id = 0x5678 };

	return command(stream->fd, POSIXTRACE_IOC_START, &origin);
}

static inline int stream_stop(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 0x4321, .thread_id = 0x8765 };

	return command(stream->fd, POSIXTRACE_IOC_STOP, &origin);
}

static inline int stream_status(struct stream *stream, struct posixtrace_status *status)
{
	return command(stream->fd, POSIXTRACE_IOC_GET_STATUS, status);
}

static inline int stream_release(struct stream *stream, unsigned int subbuf)
{
	struct posixtrace_release release = { .subbuf = subbuf };

	return command(stream->fd, POSIXTRACE_IOC_RELEASE, &release);
}

/* Returns the id of an event type, or negative errno. @fd may have either role. */
int eventid_open(int fd, const char *name);

/* Describes a type with DESCRIBE. @fd may have either role. */
int type_describe_bytes(int fd, unsigned int id, const char *text, size_t size);
int type_describe(int fd, unsigned int id, const char *text);

/* Gets the description of a type. Returns its size including the null byte, or negative errno. */
int type_description(int fd, unsigned int id, char *text, size_t room);

static inline const struct posixtrace_subbuf *stream_subbuf(struct stream *stream, unsigned int i)
{
	return (const void *)((const char *)stream->ctrl + stream->ctrl->subbuf_offset +
			      i * sizeof(struct posixtrace_subbuf));
}

static inline unsigned int stream_oldest(struct stream *stream, unsigned int cpu)
{
	const unsigned int *oldest = (const void *)((const char *)stream->ctrl +
						    stream->ctrl->oldest_offset);

	return LOAD(oldest[cpu]);
}

/* Returns the bytes of records in sub-buffer @i, which is the oldest of @cpu. */
unsigned int stream_used(struct stream *stream, unsigned int cpu, unsigned int i);

/*
 * Parses the next unread record of a sub-buffer. Returns its data, or NULL if its thread is
 * unknown.
 */
const void *stream_next(struct stream *stream, unsigned int subbuf, struct record *record);

/*
 * Reads the oldest record. Returns 1, 0 if all were read, or -EPROTO if its writer is unknown.
 * Stores up to @room bytes of its data in @data.
 */
int stream_take(struct stream *stream, struct record *record, void *data, size_t room);

/* ------------------------------------------------------------------ */
/* Role target								*/

struct target {
	int fd;
	struct posixtrace_attach arg;
	const struct posixtrace_gate *gate;
	struct posixtrace_slot slots[POSIXTRACE_SLOTS_MAX];
	unsigned long long generation;	/* generation of the slots */
};

void target_close(struct target *target);

/* Attaches the caller and maps its gate. */
int target_open(struct target *target);

/*
 * Like target_open(), but only maps the gate, as the library does before main(). The number of the
 * target remains 0.
 */
int target_map(struct target *target);

int target_sync(struct target *target);

/* Calls SYNC. Returns the number of streams on the target, or -1. */
int target_streams(struct target *target);
int target_event(struct target *target, unsigned int id, const void *data, size_t len);

#endif /* _SELFTESTS_UAPI_H */
