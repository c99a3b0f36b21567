// SPDX-License-Identifier: MIT
/*
 * Reporting events to the analyzer, and waiting for them. Which event is the
 * next one is decided in reader.c.
 */
#include <string.h>
#include <time.h>

#include "common/trid.h"
#include "getnext.h"
#include "log/log.h"

#define NSEC_PER_SEC	1000000000ULL

/* Whether, and how long, a call waits for an event. */
enum wait {
	WAIT_NEVER,
	WAIT_FOREVER,
	WAIT_UNTIL,
};

/**
 * struct request - arguments of one call
 * @event: where to write what is known of the event
 * @data: where to write its data
 * @num_bytes: room for it
 * @data_len: where to write how much was written
 * @unavailable: where to write whether there was no event
 * @wait: whether to wait
 * @abstime: until when, with WAIT_UNTIL
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

size_t pxtu_report(const struct pxtu_event *event, struct posix_trace_event_info *info,
		   void *data, size_t room)
{
	size_t len = event->data_len;

	memset(info, 0, sizeof(*info));
	info->posix_event_id = event->id;
	info->posix_pid = event->pid;
	info->posix_prog_address = (void *)(uintptr_t)event->prog_address;
	info->posix_thread_id = (pthread_t)event->thread_id;
	info->posix_timestamp.tv_sec = (time_t)(event->timestamp / NSEC_PER_SEC);
	info->posix_timestamp.tv_nsec = (long)(event->timestamp % NSEC_PER_SEC);
	info->posix_truncation_status = event->truncated ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	if (len > room) {
		len = room;
		info->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
	}
	/* The reader may have put it there. */
	if (len && data != event->data)
		memcpy(data, event->data, len);
	return len;
}

/* Report the next event, if there is one. */
static bool try_report(struct pxtu_stream *stream, const struct request *req)
{
	const struct pxtu_place place = { req->data, req->num_bytes };
	const struct pxtu_event *event;

	pthread_mutex_lock(&stream->lock);
	event = pxtu_reader_next(&stream->reader, &place);
	if (event) {
		*req->data_len = pxtu_report(event, req->event, req->data, req->num_bytes);
		*req->unavailable = 0;
	}
	pxtu_reader_settle(&stream->reader);
	pthread_mutex_unlock(&stream->lock);
	return event;
}

static int deadline_to_uapi(const struct timespec *abstime, struct posixtrace_wait *wait)
{
	if (abstime->tv_nsec < 0 || abstime->tv_nsec >= (long)NSEC_PER_SEC)
		return -EINVAL;
	wait->flags = POSIXTRACE_WAIT_DEADLINE;
	/* Before the Epoch is as past as the Epoch; the year 2262 is never. */
	if (abstime->tv_sec < 0)
		wait->deadline = 0;
	else if ((__u64)abstime->tv_sec >= INT64_MAX / NSEC_PER_SEC)
		wait->deadline = INT64_MAX;
	else
		wait->deadline = (__u64)abstime->tv_sec * NSEC_PER_SEC + (__u64)abstime->tv_nsec;
	return 0;
}

/* Of a thread that is cancelled while it waits. */
struct sleeper {
	struct pxtu_stream *stream;
	__u64 signals;
};

static void leave(void *arg)
{
	struct sleeper *sleeper = arg;

	pxtu_cancel_unblock(sleeper->signals);
	pxtu_trid_put(sleeper->stream);
}

/*
 * A cancellation point, though ioctl() is none: the type is asynchronous round the system
 * call. The cancellation points of glibc before 2.41 do the same, and a signal handler that
 * runs meanwhile is cancelled in its middle. Here the signal that cancels is blocked except
 * while WAIT sleeps, so it cannot interrupt a handler. ppoll() would also ignore SA_RESTART.
 * A cancelled thread holds nothing but a use of the stream, and WAIT takes no event.
 */
int pxtu_wait_event(struct pxtu_stream *stream, struct posixtrace_wait *wait)
{
	struct sleeper sleeper = { .stream = stream };
	int type, err;

	pthread_cleanup_push(leave, &sleeper);
	wait->unblock = pxtu_cancel_block(&sleeper.signals);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	err = pxtu_checked_once(stream->fd, stream->number, POSIXTRACE_IOC_WAIT, wait);
	pthread_setcanceltype(type, NULL);
	pxtu_cancel_unblock(sleeper.signals);
	/* A request that arrived while a handler ran wins over EINTR. */
	if (err)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return pxtu_stream_answer(stream, err);
}

static int get_event(struct pxtu_stream *stream, const struct request *req)
{
	struct posixtrace_wait wait = { 0 };
	int err = 0;

	if (try_report(stream, req))
		return 0;
	if (req->wait == WAIT_UNTIL)
		err = deadline_to_uapi(req->abstime, &wait);
	if (err)
		return err;

	if (req->wait == WAIT_NEVER)
		return pxtu_stream_dead(stream) ? -ESHUTDOWN : 0;
	for (;;) {
		err = pxtu_wait_event(stream, &wait);
		/* An event that came in the last moment is not left lying. */
		if ((!err || err == -ETIMEDOUT) && try_report(stream, req))
			return 0;
		if (err)
			return err;
	}
}

/* A log does not wait: what is not there now comes with a later call, or never. */
static int get_event_of_log(trace_id_t trid, const struct request *req)
{
	struct pxtu_stream *stream = pxtu_trid_get_log(trid);
	const struct pxtu_event *event;
	int err;

	if (!stream)
		return -EINVAL;
	pthread_mutex_lock(&stream->lock);
	err = pxtu_log_next(stream->log, &event);
	if (!err && event) {
		*req->data_len = pxtu_report(event, req->event, req->data, req->num_bytes);
		*req->unavailable = 0;
	}
	pthread_mutex_unlock(&stream->lock);
	pxtu_trid_put(stream);
	return err;
}

static int getnext(trace_id_t trid, const struct request *req)
{
	struct pxtu_stream *stream;
	int err;

	if (!req->event || (!req->data && req->num_bytes) || !req->data_len ||
	    !req->unavailable || (req->wait == WAIT_UNTIL && !req->abstime))
		return EINVAL;
	/* Whatever the call returns with, but an event. */
	*req->unavailable = 1;
	if (req->wait != WAIT_NEVER)
		pthread_testcancel();
	stream = pxtu_trid_get(trid);
	if (!stream)
		return req->wait == WAIT_NEVER ? EINVAL :
		       pxtu_error(get_event_of_log(trid, req));
	/* What a stream with log has recorded is read from the log. */
	err = stream->withlog ? -EINVAL : get_event(stream, req);
	pxtu_trid_put(stream);
	return pxtu_error(err);
}

/**
 * posix_trace_getnext_event() - report the oldest event, wait for one if needed
 * @trid: trace id
 * @event: where to write what is known of the event
 * @data: where to write its data; may be NULL if @num_bytes is 0
 * @num_bytes: room at @data; what does not fit is cut off, and the truncation
 *	status is POSIX_TRACE_TRUNCATED_READ
 * @data_len: where to write how many bytes were written to @data
 * @unavailable: set to 0, or to 1 if no event was reported
 *
 * A cancellation point; no event is lost by it. At the end of a log it does not wait; if
 * more is appended, a later call goes on.
 *
 * Return: 0; EINTR if a signal handler ran while it waited; EINVAL if @trid is
 * no trace stream or log of this process, or gets shut down meanwhile, or a pointer is
 * NULL.
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
 * @abstime: time by CLOCK_REALTIME to wait for, also if that clock is set
 *	meanwhile; not looked at if there is an event
 *
 * A cancellation point; no event is lost by it. On a log it is as
 * posix_trace_getnext_event(), and @abstime is not looked at.
 *
 * Return: 0; EINTR if a signal handler ran while it waited; EINVAL if @trid is
 * no trace stream or log of this process, or gets shut down meanwhile, or a
 * pointer is NULL, or there is no event and @abstime has a bad tv_nsec;
 * ETIMEDOUT.
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
 * Return: 0, also if there is no event; EINVAL if @trid is no active trace
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
