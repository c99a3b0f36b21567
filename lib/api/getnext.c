// SPDX-License-Identifier: MIT
/*
 * Reports events to the analyzer, and waits for them. stream/reader.c and log/logmerge.c
 * choose the next event.
 */
#include <time.h>

#include "api/report.h"
#include "common/sys.h"
#include "common/trid.h"
#include "stream/ahead.h"
#include "stream/stream.h"

/* Whether a call waits for an event, and how long. */
enum wait {
	WAIT_NEVER,
	WAIT_FOREVER,
	WAIT_UNTIL,
};

/**
 * struct request - arguments of one call
 * @event: buffer for the event
 * @data: buffer for its data
 * @num_bytes: room for the data
 * @data_len: result, bytes written to @data
 * @unavailable: result: 0 if there is an event, or else 1
 * @wait: whether to wait
 * @abstime: deadline, with WAIT_UNTIL
 */
struct request {
	struct posix_trace_event_info *event;
	void *data;
	size_t num_bytes;
	size_t *data_len;
	int *unavailable;
	enum wait wait;
	const struct timespec *abstime;
};

static int deadline_to_uapi(const struct timespec *abstime, struct posixtrace_wait *wait)
{
	if (abstime->tv_nsec < 0 || abstime->tv_nsec >= (long)PXTU_NSEC_PER_SEC)
		return -EINVAL;
	wait->flags = POSIXTRACE_WAIT_DEADLINE;
	/* A time before the Epoch counts as the Epoch, a time after the year 2262 as never. */
	if (abstime->tv_sec < 0)
		wait->deadline = 0;
	else if ((__u64)abstime->tv_sec >= INT64_MAX / PXTU_NSEC_PER_SEC)
		wait->deadline = INT64_MAX;
	else
		wait->deadline = (__u64)abstime->tv_sec * PXTU_NSEC_PER_SEC +
				 (__u64)abstime->tv_nsec;
	return 0;
}

static inline void report(const struct posixtrace_batch_event *event, const struct request *req)
{
	*req->event = event->event;
	*req->data_len = pxtu_report_data(req->event, req->data, req->num_bytes, event->data,
					  event->data_len);
	*req->unavailable = 0;
}

/* Report the next event if the source has read ahead. False if there is no such event. */
static bool report_ahead(struct pxtu_source *source, const struct request *req)
{
	const struct posixtrace_batch_event *ahead;

	ahead = source->ops->next_ahead ? source->ops->next_ahead(source) : NULL;
	if (!ahead)
		return false;
	report(ahead, req);
	return true;
}

/* Report the next event of any kind. False if there is no event. */
static bool report_any(struct pxtu_source *source, const struct request *req, int *err)
{
	const struct pxtu_place place = { req->data, req->num_bytes };
	const struct posixtrace_batch_event *event;

	*err = source->ops->next(source, &place, &event);
	if (!event)
		return false;
	report(event, req);
	return true;
}

/* Report the next event, if there is one. */
static int report_next(struct pxtu_source *source, const struct request *req, bool *found)
{
	int err = 0;

	pthread_mutex_lock(source->lock);
	*found = report_ahead(source, req) || report_any(source, req, &err);
	source->ops->settle(source);
	pthread_mutex_unlock(source->lock);
	return err;
}

/* Report the next event, and wait for it if the caller wants that. On a log, never wait. */
static int get_event(struct pxtu_source *source, const struct request *req)
{
	struct posixtrace_wait wait = { 0 };
	bool found, timed_out = false;
	int err;

	for (;;) {
		err = report_next(source, req, &found);
		if (err || found)
			return err;
		if (timed_out)
			return -ETIMEDOUT;
		if (req->wait == WAIT_NEVER || !source->ops->wait)
			return source->ops->alive(source);
		if (req->wait == WAIT_UNTIL)
			err = deadline_to_uapi(req->abstime, &wait);
		if (!err)
			err = source->ops->wait(source, &wait);
		/* After a timeout, look once more: an event may have arrived at the last moment. */
		timed_out = err == -ETIMEDOUT;
		if (err && !timed_out)
			return err;
	}
}

/*
 * Report the next event if the stream has read ahead and no other thread uses it. Inlined, so that
 * the request stays in registers.
 */
static inline __attribute__((__always_inline__)) bool
report_if_ahead(trace_id_t trid, const struct request *req)
{
	struct pxtu_source *source = pxtu_trid_lock(trid, &pxtu_stream_ops);
	const struct posixtrace_batch_event *ahead;
	bool found = false;

	if (!source)
		return false;
	if (source->readable) {
		ahead = pxtu_ahead_take(&pxtu_stream_of(source)->reader);
		if (pxtu_likely(ahead)) {
			report(ahead, req);
			found = true;
		} else if (report_ahead(source, req)) {
			source->ops->settle(source);
			found = true;
		}
	}
	pthread_mutex_unlock(source->lock);
	return found;
}

static __attribute__((__noinline__)) int getnext_source(trace_id_t trid, const struct request *req)
{
	struct pxtu_source *source;
	int err;

	source = pxtu_trid_get(trid, req->wait == WAIT_NEVER ? &pxtu_stream_ops : NULL);
	if (!source)
		return EINVAL;
	/* The events of a stream with log are read from the log. */
	err = source->readable ? get_event(source, req) : -EINVAL;
	pxtu_trid_put(source);
	return pxtu_error(err);
}

static inline __attribute__((__always_inline__)) int
getnext(trace_id_t trid, const struct request *req)
{
	if (!req->event || (!req->data && req->num_bytes) || !req->data_len ||
	    !req->unavailable || (req->wait == WAIT_UNTIL && !req->abstime))
		return EINVAL;
	/* Set this first, because it has to be set on errors as well. */
	*req->unavailable = 1;
	if (req->wait != WAIT_NEVER)
		pthread_testcancel();
	return report_if_ahead(trid, req) ? 0 : getnext_source(trid, req);
}

/**
 * posix_trace_getnext_event() - report the oldest event, wait for one if needed
 * @trid: trace id
 * @event: result, the event
 * @data: buffer for its data; may be NULL if @num_bytes is 0
 * @num_bytes: room at @data; data that does not fit is truncated, and the truncation
 *	status is POSIX_TRACE_TRUNCATED_READ
 * @data_len: result, bytes written to @data
 * @unavailable: set to 0, or to 1 if no event was reported
 *
 * A cancellation point; a cancellation loses no event. Does not wait at the end of a log;
 * if the writer appends more, a later call continues.
 *
 * Return: 0; EINTR if a signal handler ran during the wait; EINVAL if @trid is not a trace stream
 * or log of this process, or is shut down during the call, or a pointer is NULL; for a log, also
 * ENOMEM, and ENOTSUP if only a later version can read the rest.
 */
PXTU_API int posix_trace_getnext_event(trace_id_t trid,
				       struct posix_trace_event_info *restrict event,
				       void *restrict data, size_t num_bytes,
				       size_t *restrict data_len, int *restrict unavailable)
{
	const struct request req = { event, data, num_bytes, data_len, unavailable,
				     WAIT_FOREVER, NULL };

	return getnext(trid, &req);
}

/**
 * posix_trace_timedgetnext_event() - report the oldest event, wait some time
 * @trid: trace id
 * @event: as in posix_trace_getnext_event()
 * @data: as in posix_trace_getnext_event()
 * @num_bytes: as in posix_trace_getnext_event()
 * @data_len: as in posix_trace_getnext_event()
 * @unavailable: as in posix_trace_getnext_event()
 * @abstime: deadline in CLOCK_REALTIME, follows changes of that clock; ignored if
 *	there is an event
 *
 * A cancellation point; a cancellation loses no event. On a log, this is the same as
 * posix_trace_getnext_event(), and @abstime is ignored.
 *
 * Return: 0; EINTR if a signal handler ran during the wait; EINVAL if @trid is not a trace stream
 * or log of this process, is shut down during the call, or a pointer is NULL, or there is no event
 * and @abstime has a bad tv_nsec; ETIMEDOUT; for a log, also ENOMEM, and ENOTSUP if only a later
 * version can read the rest.
 */
PXTU_API int posix_trace_timedgetnext_event(trace_id_t trid,
					    struct posix_trace_event_info *restrict event,
					    void *restrict data, size_t num_bytes,
					    size_t *restrict data_len, int *restrict unavailable,
					    const struct timespec *restrict abstime)
{
	const struct request req = { event, data, num_bytes, data_len, unavailable,
				     WAIT_UNTIL, abstime };

	return getnext(trid, &req);
}

/**
 * posix_trace_trygetnext_event() - report the oldest event, if there is one
 * @trid: trace id
 * @event: as in posix_trace_getnext_event()
 * @data: as in posix_trace_getnext_event()
 * @num_bytes: as in posix_trace_getnext_event()
 * @data_len: as in posix_trace_getnext_event()
 * @unavailable: set to 0, or to 1 if no event was reported
 *
 * Return: 0, also if there is no event; EINVAL if @trid is not an active trace
 * stream of this process or a pointer is NULL.
 */
PXTU_API int posix_trace_trygetnext_event(trace_id_t trid,
					  struct posix_trace_event_info *restrict event,
					  void *restrict data, size_t num_bytes,
					  size_t *restrict data_len, int *restrict unavailable)
{
	const struct request req = { event, data, num_bytes, data_len, unavailable,
				     WAIT_NEVER, NULL };

	return getnext(trid, &req);
}
