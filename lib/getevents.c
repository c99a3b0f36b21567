// SPDX-License-Identifier: MIT
/*
 * Reporting many events at once.
 */
#include <posixtrace.h>

#include "getnext.h"
#include "trid.h"

#define DATA_ALIGN	8

/* What is left of the program's buffer. */
struct buffer {
	unsigned char *next;
	size_t room;
};

static bool buffer_align(struct buffer *buffer)
{
	size_t pad = -(uintptr_t)buffer->next % DATA_ALIGN;

	if (pad > buffer->room)
		return false;
	buffer->next += pad;
	buffer->room -= pad;
	return true;
}

/* As many as there are and fit. */
static size_t report_batch(struct pxtu_stream *stream, struct posixtrace_batch_event *events,
			   size_t max_events, struct buffer buffer)
{
	const struct pxtu_event *event;
	size_t count = 0, len;

	pthread_mutex_lock(&stream->lock);
	while (count < max_events) {
		event = pxtu_reader_next(&stream->reader);
		if (!event)
			break;
		if (!buffer_align(&buffer))
			buffer.room = 0;
		if (count && event->data_len > buffer.room) {
			pxtu_reader_unread(&stream->reader);
			break;
		}
		len = pxtu_report(event, &events[count].event, buffer.next, buffer.room);
		events[count].data = buffer.next;
		events[count].data_len = len;
		buffer.next += len;
		buffer.room -= len;
		count++;
	}
	pxtu_reader_settle(&stream->reader);
	pthread_mutex_unlock(&stream->lock);
	return count;
}

static int get_batch(struct pxtu_stream *stream, struct posixtrace_batch_event *events,
		     size_t max_events, struct buffer buffer, size_t *count, bool nowait)
{
	struct posixtrace_wait wait = { 0 };
	int err;

	for (;;) {
		*count = report_batch(stream, events, max_events, buffer);
		if (*count)
			return 0;
		if (nowait)
			return pxtu_stream_dead(stream) ? -ESHUTDOWN : 0;
		err = pxtu_wait_event(stream, &wait);
		if (err)
			return err;
	}
}

/**
 * posixtrace_getevents() - report many events at once
 * @trid: trace id
 * @events: where to write what is known of them
 * @max_events: room there
 * @buffer: where to write their data; may be NULL if @size is 0
 * @size: bytes there
 * @count: where to write how many events were reported
 * @flags: POSIXTRACE_NOWAIT not to wait for the first one
 *
 * An extension. An event whose data does not fit into the rest of @buffer is left
 * for the next call; only the data of the first can be cut. A cancellation point
 * if it has to wait; no event is lost by it.
 *
 * Return: 0; EINTR if a signal handler ran while it waited; EINVAL if @trid is no
 * active trace stream of this process, or gets shut down meanwhile, if a pointer
 * is NULL, @max_events is 0 or @flags has others.
 */
PXTU_API int posixtrace_getevents(trace_id_t trid, struct posixtrace_batch_event *events,
				  size_t max_events, void *buffer, size_t size, size_t *count,
				  int flags)
{
	struct pxtu_stream *stream;
	int err;

	if (!events || !max_events || (!buffer && size) || !count || flags & ~POSIXTRACE_NOWAIT)
		return EINVAL;
	stream = pxtu_trid_get(trid);
	if (!stream)
		return EINVAL;
	err = get_batch(stream, events, max_events, (struct buffer){ buffer, size }, count,
			flags & POSIXTRACE_NOWAIT);
	pxtu_trid_put(stream);
	return pxtu_error(err);
}
