// SPDX-License-Identifier: MIT
/*
 * The list of a stream's event types, from the first to the last. The module
 * gives it its order: predefined types first, new ones last.
 */
#include "common/trid.h"
#include "log/log.h"

/* Fetch types behind those that were told. With the stream's lock held. */
static int fetch(struct pxtu_stream *stream)
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

/**
 * posix_trace_eventtypelist_getnext_id() - next event type of a stream
 * @trid: trace id; the position in the list belongs to it
 * @event: where to write the event type
 * @unavailable: set to 0, or to 1 if all types were told; types that are
 *	defined later can still be got then
 *
 * Return: 0; EINVAL if @trid is no trace stream of this process or a pointer is
 * NULL.
 */
PXTU_API int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						  trace_event_id_t *restrict event,
						  int *restrict unavailable)
{
	struct pxtu_stream *stream;
	int err = 0;

	if (!event || !unavailable)
		return EINVAL;
	stream = pxtu_trid_get(trid);
	if (!stream)
		return pxtu_log_typelist_next(trid, event, unavailable);

	pthread_mutex_lock(&stream->lock);
	if (stream->types_next - stream->types_first >= stream->types_count)
		err = fetch(stream);
	if (err)
		goto unlock;
	*unavailable = !stream->types_count;
	if (stream->types_count) {
		*event = stream->types[stream->types_next - stream->types_first];
		stream->types_next++;
	}
unlock:
	pthread_mutex_unlock(&stream->lock);
	pxtu_trid_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_eventtypelist_rewind() - back to the first event type
 * @trid: trace id
 *
 * Return: 0; EINVAL if @trid is no trace stream of this process.
 */
PXTU_API int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct pxtu_stream *stream = pxtu_trid_get(trid);
	bool dead;

	if (!stream)
		return pxtu_log_typelist_rewind(trid);
	pthread_mutex_lock(&stream->lock);
	stream->types_next = 0;
	stream->types_first = 0;
	stream->types_count = 0;
	pthread_mutex_unlock(&stream->lock);
	dead = pxtu_stream_dead(stream);
	pxtu_trid_put(stream);
	return dead ? EINVAL : 0;
}
