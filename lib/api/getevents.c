// SPDX-License-Identifier: MIT
/*
 * Reports many events in one call.
 */
#include <posixtrace.h>

#include "api/report.h"
#include "common/sys.h"
#include "common/trid.h"

#define DATA_ALIGN	8

/* Align the rest of the program's buffer. If it is too small for that, set the room to 0. */
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

/* Report as many events as are available and fit. */
static int report_batch(struct pxtu_source *source, struct posixtrace_batch_event *events,
			size_t max_events, struct pxtu_place place, size_t *count)
{
	const struct posixtrace_batch_event *event;
	size_t n = 0, len, run;
	int err = 0;

	pthread_mutex_lock(source->lock);
	while (n < max_events) {
		align(&place);
		run = source->ops->next_run ?
		      source->ops->next_run(source, &events[n], max_events - n, &place) : 0;
		n += run;
		if (run)
			continue;
		err = source->ops->next(source, &place, &event);
		if (!event)
			break;
		if (n && event->data_len > place.room) {
			source->ops->unread(source);
			break;
		}
		events[n] = *event;
		len = pxtu_report_data(&events[n].event, place.at, place.room, event->data,
				       event->data_len);
		events[n].data = place.at;
		events[n].data_len = len;
		place.at = (unsigned char *)place.at + len;
		place.room -= len;
		n++;
	}
	source->ops->settle(source);
	pthread_mutex_unlock(source->lock);
	*count = n;
	/* If there are events, drop the error. If it persists, the next call returns it. */
	return n ? 0 : err;
}

static int get_batch(struct pxtu_source *source, struct posixtrace_batch_event *events,
		     size_t max_events, struct pxtu_place place, size_t *count, bool nowait)
{
	struct posixtrace_wait wait = { 0 };
	int err;

	for (;;) {
		err = report_batch(source, events, max_events, place, count);
		if (err || *count)
			return err;
		if (nowait || !source->ops->wait)
			return source->ops->alive(source);
		err = source->ops->wait(source, &wait);
		if (err)
			return err;
	}
}

/**
 * posixtrace_getevents() - report many events in one call
 * @trid: trace id
 * @events: array for the events
 * @max_events: room there
 * @buffer: buffer for their data; may be NULL if @size is 0
 * @size: bytes there
 * @count: result, number of reported events
 * @flags: POSIXTRACE_NOWAIT not to wait for the first one
 *
 * An extension. If the data of an event does not fit into the rest of @buffer, the event
 * is left for the next call; only the data of the first can be truncated. A cancellation point
 * without POSIXTRACE_NOWAIT; a cancellation loses no event. Never waits on a log: at the end,
 * @count is 0.
 *
 * Return: 0; EINTR if a signal handler ran during the wait; EINVAL if @trid is not a
 * trace stream or log of this process, or is shut down during the call, if a pointer
 * is NULL, @max_events is 0 or @flags has other bits; for a log, also ENOMEM, and ENOTSUP
 * if only a later version can read the rest.
 */
PXTU_API int posixtrace_getevents(trace_id_t trid, struct posixtrace_batch_event *events,
				  size_t max_events, void *buffer, size_t size, size_t *count,
				  int flags)
{
	struct pxtu_source *source;
	int err;

	if (!events || !max_events || (!buffer && size) || !count || flags & ~POSIXTRACE_NOWAIT)
		return EINVAL;
	if (!(flags & POSIXTRACE_NOWAIT))
		pthread_testcancel();
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	/* The events of a stream with log are read from the log. */
	err = !source->readable ? -EINVAL :
	      get_batch(source, events, max_events, (struct pxtu_place){ buffer, size }, count,
			flags & POSIXTRACE_NOWAIT);
	pxtu_trid_put(source);
	return pxtu_error(err);
}
