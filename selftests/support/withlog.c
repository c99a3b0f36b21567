// SPDX-License-Identifier: GPL-2.0
/* Streams with log, and the numbers in their logs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <posixtrace.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "withlog.h"

int log_worker(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], name[32];
	struct dirent *entry;
	int found = 0;
	FILE *comm;

	while (tasks && !found && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		comm = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		if (!comm)
			continue;
		if (fgets(name, sizeof(name), comm) && !strcmp(name, "posixtrace-log\n"))
			found = atoi(entry->d_name);
		fclose(comm);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

int withlog_attr(const struct log_kind *kind, trace_attr_t *attr)
{
	int err = posix_trace_attr_init(attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(attr, LOG_STREAM_SIZE);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(attr, LOG_DATA_SIZE);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(attr, kind->stream_policy);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, kind->log_policy);
	if (!err && kind->log_size)
		err = posix_trace_attr_setlogsize(attr, kind->log_size);
	if (!err)
		err = posix_trace_attr_setname(attr, "withlog");
	return err;
}

int withlog_create_patiently(pid_t pid, const trace_attr_t *attr, int fd, trace_id_t *trid)
{
	int err;

	do {
		err = posix_trace_create_withlog(pid, attr, fd, trid);
	} while (err == EAGAIN);
	return err;
}

int withlog_new(pid_t pid, const struct log_kind *kind, int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = withlog_attr(kind, &attr);

	return err ? err : posix_trace_create_withlog(pid, &attr, fd, trid);
}

int withlog_start(const struct log_kind *kind, int fd, trace_id_t *trid)
{
	int err = withlog_new(0, kind, fd, trid);

	return err ? err : posix_trace_start(*trid);
}

int withlog_start_compressed(const struct log_kind *kind, int compression, int fd,
			     trace_id_t *trid)
{
	trace_attr_t attr;
	int err = withlog_attr(kind, &attr);

	if (!err)
		err = posixtrace_attr_setcompression(&attr, compression);
	if (!err)
		err = posix_trace_create_withlog(0, &attr, fd, trid);
	return err ? err : posix_trace_start(*trid);
}

int withlog_begin(pid_t pid, int fd, int policy, trace_id_t *trid)
{
	trace_attr_t attr;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	posix_trace_attr_setlogfullpolicy(&attr, policy);
	err = posix_trace_create_withlog(pid, &attr, fd, trid);
	posix_trace_attr_destroy(&attr);
	return err ? err : posix_trace_start(*trid);
}

trace_event_id_t withlog_type(void)
{
	static trace_event_id_t id;

	if (!id && posix_trace_eventid_open("number", &id))
		abort();
	return id;
}

void withlog_record(int first, int count)
{
	trace_event_id_t id = withlog_type();

	for (long long i = first; i < first + count; i++)
		posix_trace_event(id, &i, sizeof(i));
}

int withlog_wait(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int err, error = 0;

	do {
		sched_yield();
		err = posix_trace_get_status(trid, &status);
		/* The error is reported only once, possibly before the flush has ended. */
		if (!err && !error)
			error = status.posix_stream_flush_error;
	} while (!err && status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	return err ? err : error;
}

int withlog_flush(trace_id_t trid)
{
	int err = posix_trace_flush(trid);

	return err ? err : withlog_wait(trid);
}

static void log_content_add(struct log_content *content, const struct event *event)
{
	int number = event_number(event);

	content->last_id = event->info.posix_event_id;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_ERROR:
		content->errors++;
		return;
	case POSIX_TRACE_OVERFLOW:
		content->gaps++;
		return;
	case POSIX_TRACE_START:
		content->starts++;
		return;
	case POSIX_TRACE_STOP:
		content->stops++;
		content->stops_auto += number != 0;
		return;
	case POSIX_TRACE_FLUSH_START:
		content->flush_starts++;
		return;
	case POSIX_TRACE_FLUSH_STOP:
		content->flush_stops++;
		return;
	}
	if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	if (!content->numbers++)
		content->first = number;
	else if (number <= content->last)
		content->disorder++;
	else if (number != content->last + 1)
		content->holes++;
	content->last = number;
}

void log_content_rest(trace_id_t trid, struct log_content *content)
{
	struct event event;

	*content = (struct log_content){ .first = -1, .last = -1 };
	for (;;) {
		content->err = posix_trace_getnext_event(trid, &event.info, event.data,
							 sizeof(event.data), &event.len,
							 &event.unavailable);
		if (content->err || event.unavailable)
			break;
		log_content_add(content, &event);
	}
	if (!content->err)
		content->err = posix_trace_get_status(trid, &content->status);
}

void log_content_fd(int fd, struct log_content *content)
{
	trace_id_t trid;
	int err;

	*content = (struct log_content){ .first = -1, .last = -1 };
	content->err = posix_trace_open(fd, &trid);
	if (content->err)
		return;
	log_content_rest(trid, content);
	err = posix_trace_close(trid);
	if (!content->err)
		content->err = err;
}

bool log_content_is(const struct log_content *content, int count)
{
	return !content->err && content->numbers == count && content->first == (count ? 0 : -1) &&
	       content->last == count - 1 && !content->holes && !content->disorder &&
	       !content->errors && !content->gaps;
}

int log_has_number(int fd, int number)
{
	struct event event;
	int count = 0, err;
	trace_id_t trid;

	err = posix_trace_open(fd, &trid);
	if (err)
		return -err;
	for (;;) {
		err = posix_trace_getnext_event(trid, &event.info, event.data,
						sizeof(event.data), &event.len,
						&event.unavailable);
		if (err || event.unavailable)
			break;
		count += event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT &&
			 event_number(&event) == number;
	}
	posix_trace_close(trid);
	return err ? -err : count;
}

int withlog_fill(int log_policy, int count, int fd, struct log_content *content)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, log_policy, 32 << 10 };
	trace_id_t trid;
	int err, end;

	err = withlog_new(0, &kind, fd, &trid);
	if (err)
		return err;
	err = posix_trace_start(trid);
	for (int i = 0; !err && i < count; i += 200) {
		withlog_record(i, 200);
		err = withlog_flush(trid);
	}
	end = posix_trace_shutdown(trid);
	log_content_fd(fd, content);
	if (!err)
		err = end;
	return err ? err : content->err;
}

int withlog_open_empty(trace_id_t *log)
{
	int fd = log_tmpfile(), err;
	trace_id_t trid;

	err = posix_trace_create_withlog(0, NULL, fd, &trid);
	if (!err)
		err = posix_trace_shutdown(trid);
	if (!err)
		err = posix_trace_open(fd, log);
	close(fd);
	return err;
}

void log_wait_number(int fd, int number)
{
	struct log_content content;

	do {
		sched_yield();
		log_content_fd(fd, &content);
	} while (content.last < number);
}

int withlog_readable(trace_id_t trid)
{
	const struct timespec epoch = { 0, 0 };
	struct event e;
	int count = 0;

	count += posix_trace_getnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
					   &e.unavailable) != EINVAL;
	count += posix_trace_trygetnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
					      &e.unavailable) != EINVAL;
	count += posix_trace_timedgetnext_event(trid, &e.info, e.data, sizeof(e.data), &e.len,
						&e.unavailable, &epoch) != EINVAL;
	return count;
}

off_t log_file_size(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) ? -1 : stat.st_size;
}

bool log_file_has(int fd, const char *text)
{
	off_t size = log_file_size(fd);
	char *bytes = malloc(size);
	bool found = bytes && pread(fd, bytes, size, 0) == size &&
		     memmem(bytes, size, text, strlen(text));

	free(bytes);
	return found;
}
