// SPDX-License-Identifier: GPL-2.0
/* Reads logs with the public functions. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "log_reading.h"

int log_take(trace_id_t trid, struct event *event)
{
	int err = posix_trace_getnext_event(trid, &event->info, event->data,
					    sizeof(event->data), &event->len,
					    &event->unavailable);

	return err ? -err : !event->unavailable;
}

int log_take_id(trace_id_t trid, struct event *event)
{
	int ret = log_take(trid, event);

	return ret == 1 ? (int)event->info.posix_event_id : ret;
}

void log_count(struct log_sum *sum, const struct event *event)
{
	__u64 time = log_time(event), data = 0;

	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		sum->errors++;
		return;
	case POSIX_TRACE_OVERFLOW:
		sum->gaps++;
		return;
	}
	if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT) {
		sum->others++;
		return;
	}
	memcpy(&data, event->data, event->len < sizeof(data) ? event->len : sizeof(data));
	sum->wrong += data != time || event->info.posix_pid != 4711;
	if (!sum->events++)
		sum->first = time;
	else if (time < sum->last)
		sum->disorder++;
	sum->last = time;
	sum->sum += time;
}

void log_sum_rest(trace_id_t trid, struct log_sum *sum)
{
	struct event event;
	int ret;

	memset(sum, 0, sizeof(*sum));
	while ((ret = log_take(trid, &event)) == 1)
		log_count(sum, &event);
	sum->err = -ret;
	if (!sum->err)
		sum->err = posix_trace_get_status(trid, &sum->status);
}

void log_sum_fd(int fd, struct log_sum *sum)
{
	trace_id_t trid;
	int err;

	memset(sum, 0, sizeof(*sum));
	sum->err = posix_trace_open(fd, &trid);
	if (sum->err)
		return;
	log_sum_rest(trid, sum);
	err = posix_trace_close(trid);
	if (!sum->err)
		sum->err = err;
}

void log_sum_bytes(const void *data, size_t len, struct log_sum *sum)
{
	int fd = log_bytes_file(data, len);

	log_sum_fd(fd, sum);
	close(fd);
}

void log_sum_log(const struct log_writer *log, struct log_sum *sum)
{
	log_sum_bytes(log->data, log->len, sum);
}

int log_open(const struct log_writer *log, trace_id_t *trid)
{
	int fd = log_file(log), err;

	err = posix_trace_open(fd, trid);
	close(fd);
	return err;
}

int log_open_events(int events, trace_id_t *trid)
{
	struct log_writer log;
	int err;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED, "named");
	log_epochs(&log, 0, 1, events / 2);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	err = log_open(&log, trid);
	log_free(&log);
	return err;
}
