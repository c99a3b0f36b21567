// SPDX-License-Identifier: MIT
/*
 * Reporting many events at once.
 */
#include <posixtrace.h>
#include <string.h>

#include "common/trid.h"
#include "getnext.h"
#include "log/log.h"

#define DATA_ALIGN	8

/* What is left of the program's buffer: aligned, or nothing. */
static void align(struct pxtu_place *place)
{
	size_t pad = -(uintptr_t)place->at % DATA_ALIGN;

	if (pad > place->room) {
		place->room = 0;
		return;
	}
	place->at = (unsigned char *)place->at + pad;
	place->room -= pad;
}

static const struct pxtu_event *next_event(struct pxtu_stream *stream,
					   const struct pxtu_place *place, int *err)
{
	const struct pxtu_event *event;

	if (!stream->log)
		return pxtu_reader_next(&stream->reader, place);
	*err = pxtu_log_next(stream->log, &event);
	return event;
}

static void unread(struct pxtu_stream *stream)
{
	if (stream->log)
		pxtu_log_unread(stream->log);
	else
		pxtu_reader_unread(&stream->reader);
}

/* As many as there are and fit. */
static size_t report_batch(struct pxtu_stream *stream, struct posixtrace_batch_event *events,
			   size_t max_events, struct pxtu_place place, int *err)
{
	const struct pxtu_event *event;
	size_t count = 0, len;

	pthread_mutex_lock(&stream->lock);
	while (count < max_events) {
		align(&place);
		event = next_event(stream, &place, err);
		if (!event)
			break;
		if (count && event->data_len > place.room) {
			unread(stream);
			break;
		}
		len = pxtu_report(event, &events[count].event, place.at, place.room);
		events[count].data = place.at;
		events[count].data_len = len;
		events[count].lost = event->lost;
		events[count].cpu = event->cpu;
		memset(events[count].__reserved, 0, sizeof(events[count].__reserved));
		place.at = (unsigned char *)place.at + len;
		place.room -= len;
		count++;
	}
	if (!stream->log)
		pxtu_reader_settle(&stream->reader);
	pthread_mutex_unlock(&stream->lock);
	return count;
}

static int get_batch(struct pxtu_stream *stream, struct posixtrace_batch_event *events,
		     size_t max_events, struct pxtu_place place, size_t *count, bool nowait)
{
	struct posixtrace_wait wait = { 0 };
	int err = 0;

	for (;;) {
		*count = report_batch(stream, events, max_events, place, &err);
		/* A log: what has failed now fails again with the next call, or does not. */
		if (stream->log)
			return *count ? 0 : err;
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
 * without POSIXTRACE_NOWAIT; no event is lost by it. On a log it does not wait: at the
 * end @count is 0.
 *
 * Return: 0; EINTR if a signal handler ran while it waited; EINVAL if @trid is no
 * trace stream or log of this process, or gets shut down meanwhile, if a pointer
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
	if (!(flags & POSIXTRACE_NOWAIT))
		pthread_testcancel();
	stream = pxtu_trid_get(trid);
	if (!stream)
		stream = pxtu_trid_get_log(trid);
	if (!stream)
		return EINVAL;
	/* What a stream with log has recorded is read from the log. */
	err = stream->withlog ? -EINVAL :
	      get_batch(stream, events, max_events, (struct pxtu_place){ buffer, size }, count,
			flags & POSIXTRACE_NOWAIT);
	pxtu_trid_put(stream);
	return pxtu_error(err);
}
