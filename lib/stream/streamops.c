// SPDX-License-Identifier: MIT
/*
 * An active stream as a source of events.
 */
#include <string.h>

#include "attr/attr.h"
#include "stream/ahead.h"
#include "stream/reader.h"
#include "stream/run.h"
#include "stream/stream.h"
#include "stream/task.h"
#include "stream/wait.h"

static int stream_next(struct pxtu_source *source, const struct pxtu_place *place,
		       const struct posixtrace_batch_event **event)
{
	*event = pxtu_reader_next(&pxtu_stream_of(source)->reader, place);
	return 0;
}

static size_t stream_next_run(struct pxtu_source *source, struct posixtrace_batch_event *events,
			      size_t max_events, struct pxtu_place *place)
{
	struct pxtu_reader *reader = &pxtu_stream_of(source)->reader;
	size_t count = 0;

	/* Events that were read ahead come first. */
	if (pxtu_ahead_is_empty(reader))
		count = pxtu_reader_run(reader, events, max_events, place);
	if (count)
		pxtu_reader_restart(reader);
	return count;
}

static const struct posixtrace_batch_event *stream_next_ahead(struct pxtu_source *source)
{
	return pxtu_ahead_next(&pxtu_stream_of(source)->reader);
}

static void stream_unread(struct pxtu_source *source)
{
	pxtu_reader_unread(&pxtu_stream_of(source)->reader);
}

static void stream_settle(struct pxtu_source *source)
{
	pxtu_reader_settle(&pxtu_stream_of(source)->reader);
}

static int stream_wait(struct pxtu_source *source, struct posixtrace_wait *wait)
{
	return pxtu_stream_wait(pxtu_stream_of(source), wait);
}

static int stream_alive(const struct pxtu_source *source)
{
	return pxtu_stream_dead(pxtu_stream_of(source)) ? -ESHUTDOWN : 0;
}

static int stream_get_attr(struct pxtu_source *source, trace_attr_t *attr)
{
	struct posixtrace_attr uattr;
	int err;

	err = pxtu_stream_ioctl(pxtu_stream_of(source), POSIXTRACE_IOC_GET_ATTR, &uattr);
	if (!err)
		pxtu_attr_from_uapi(attr, &uattr);
	return err;
}

static int stream_get_status(struct pxtu_source *source, struct posix_trace_status_info *info)
{
	struct pxtu_stream *stream = pxtu_stream_of(source);
	struct posixtrace_status status;
	bool overrun;
	int err;

	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_GET_STATUS, &status);
	if (err)
		return err;

	pthread_mutex_lock(source->lock);
	overrun = stream->reader.overrun || status.flags & POSIXTRACE_STATUS_OVERRUN;
	stream->reader.overrun = false;
	pthread_mutex_unlock(source->lock);

	memset(info, 0, sizeof(*info));
	info->posix_stream_status = status.flags & POSIXTRACE_STATUS_RUNNING ?
				    POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	info->posix_stream_full_status = status.flags & POSIXTRACE_STATUS_FULL ?
					 POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	info->posix_stream_overrun_status = overrun ? POSIX_TRACE_OVERRUN :
						      POSIX_TRACE_NO_OVERRUN;
	info->posix_stream_flush_status = status.flags & POSIXTRACE_STATUS_FLUSHING ?
					  POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
	info->posix_stream_flush_error = status.flush_error;
	info->posix_log_overrun_status = status.flags & POSIXTRACE_STATUS_LOG_OVERRUN ?
					 POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	info->posix_log_full_status = status.flags & POSIXTRACE_STATUS_LOG_FULL ?
				      POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	return 0;
}

static int stream_get_name(struct pxtu_source *source, trace_event_id_t id, char *name)
{
	struct posixtrace_eventid eventid = { .id = id };
	size_t len;
	int err;

	err = pxtu_stream_ioctl(pxtu_stream_of(source), POSIXTRACE_IOC_EVENT_NAME, &eventid);
	if (err)
		return err;
	len = strnlen(eventid.name, TRACE_EVENT_NAME_MAX);
	memcpy(name, eventid.name, len);
	name[len] = '\0';
	return 0;
}

static int stream_get_description(struct pxtu_source *source, trace_event_id_t id,
				  struct pxtu_text *text)
{
	struct posixtrace_description arg = {
		.text = (uintptr_t)text->to,
		.id = id,
		.size = text->room < POSIXTRACE_DESCRIPTION_SIZE ?
			(__u32)text->room : POSIXTRACE_DESCRIPTION_SIZE,
	};
	int err = pxtu_stream_ioctl(pxtu_stream_of(source), POSIXTRACE_IOC_DESCRIPTION, &arg);

	if (!err)
		text->needed = arg.size;
	return err;
}

/* Fetch the types after those that the program has got. Called with the lock of the source. */
static int fetch_types(struct pxtu_stream *stream)
{
	struct posixtrace_event_types arg = {
		.ids = (uintptr_t)stream->types,
		.first = stream->types_next,
		.count = PXTU_ARRAY_SIZE(stream->types),
	};
	int err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_EVENT_TYPES, &arg);

	if (err < 0)
		return err;
	stream->types_first = stream->types_next;
	stream->types_count = arg.count < PXTU_ARRAY_SIZE(stream->types) ?
			      arg.count : PXTU_ARRAY_SIZE(stream->types);
	return 0;
}

static int stream_next_type(struct pxtu_source *source, trace_event_id_t *id)
{
	struct pxtu_stream *stream = pxtu_stream_of(source);
	int err = 0;

	pthread_mutex_lock(source->lock);
	if (stream->types_next - stream->types_first >= stream->types_count)
		err = fetch_types(stream);
	if (!err) {
		*id = 0;
		if (stream->types_count)
			*id = stream->types[stream->types_next++ - stream->types_first];
	}
	pthread_mutex_unlock(source->lock);
	return err;
}

static int stream_rewind_types(struct pxtu_source *source)
{
	struct pxtu_stream *stream = pxtu_stream_of(source);

	pthread_mutex_lock(source->lock);
	stream->types_next = 0;
	stream->types_first = 0;
	stream->types_count = 0;
	pthread_mutex_unlock(source->lock);
	return stream_alive(source);
}

/* Repeats STATES while it returns no states: it looks at a bounded number of processes per call. */
static int stream_get_states(struct pxtu_source *source, struct posixtrace_state *states,
			     size_t *count, __u64 *next)
{
	struct posixtrace_states arg = {
		.states = (uintptr_t)states,
		.count = *count < UINT32_MAX ? (__u32)*count : UINT32_MAX,
		.next = *next < INT32_MAX ? (__s32)*next : -1,
	};
	const __u32 room = arg.count;
	int err = 0;

	*count = 0;
	while (!err && arg.next >= 0 && !*count) {
		arg.count = room;
		err = pxtu_stream_ioctl(pxtu_stream_of(source), POSIXTRACE_IOC_STATES, &arg);
		if (!err)
			*count = arg.count;
	}
	*next = arg.next >= 0 ? (__u64)arg.next : UINT64_MAX;
	return err;
}

/* @next combines the process id, in the upper half, and the descriptor. */
static int stream_get_files(struct pxtu_source *source, struct posixtrace_file *files,
			    size_t *count, __u64 *next)
{
	struct posixtrace_files arg = {
		.files = (uintptr_t)files,
		.pid = *next != UINT64_MAX ? (__s32)(*next >> 32) : -1,
		.fd = (__u32)*next,
	};
	const __u32 room = *count < UINT32_MAX ? (__u32)*count : UINT32_MAX;
	int err = 0;

	*count = 0;
	while (!err && arg.pid >= 0 && !*count) {
		arg.count = room;
		err = pxtu_stream_ioctl(pxtu_stream_of(source), POSIXTRACE_IOC_FILES, &arg);
		if (!err)
			*count = arg.count;
	}
	*next = arg.pid >= 0 ? (__u64)arg.pid << 32 | arg.fd : UINT64_MAX;
	return err;
}

const struct pxtu_source_ops pxtu_stream_ops = {
	.next = stream_next,
	.next_run = stream_next_run,
	.next_ahead = stream_next_ahead,
	.unread = stream_unread,
	.settle = stream_settle,
	.wait = stream_wait,
	.alive = stream_alive,
	.get_attr = stream_get_attr,
	.get_status = stream_get_status,
	.get_name = stream_get_name,
	.get_description = stream_get_description,
	.get_task = pxtu_stream_get_task,
	.get_life = pxtu_stream_get_life,
	.get_program = pxtu_stream_get_program,
	.get_mapping = pxtu_stream_get_mapping,
	.get_host = pxtu_stream_get_host,
	.get_states = stream_get_states,
	.get_files = stream_get_files,
	.next_type = stream_next_type,
	.rewind_types = stream_rewind_types,
};
