// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the threads of an active stream: see live_names.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/live_names.h"

/* Number of slots. A thread replaces the thread that used its slot before. */
#define THREADS		256

/**
 * struct live_name - the name of a thread
 * @pid: process id
 * @tid: thread id; 0: empty slot
 * @fd: open file /proc/PID/task/TID/comm, or -1; even if the ids are reused, it never shows the
 *	name of another thread
 * @batch: number of the last batch for which the name was read
 * @shown: the name is valid for the events of that batch
 * @changed: the name has changed since the first batch
 * @name: the name that was read last
 */
struct live_name {
	pid_t pid;
	pid_t tid;
	int fd;
	uint64_t batch;
	bool shown;
	bool changed;
	char name[POSIXTRACE_THREAD_NAME_SIZE];
};

struct live_names {
	trace_id_t trid;
	struct live_name threads[THREADS];
};

struct live_names *live_names_new(trace_id_t trid)
{
	struct live_names *names = calloc(1, sizeof(*names));

	if (names)
		names->trid = trid;
	return names;
}

static void forget(struct live_name *thread)
{
	if (thread->tid && thread->fd >= 0)
		close(thread->fd);
	*thread = (struct live_name){ .fd = -1 };
}

void live_names_free(struct live_names *names)
{
	for (size_t i = 0; names && i < THREADS; i++)
		forget(&names->threads[i]);
	free(names);
}

/* Reads the name of a thread from its open file in /proc. Returns false if the thread has ended. */
static bool read_name(int fd, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	ssize_t len = pread(fd, name, POSIXTRACE_THREAD_NAME_SIZE, 0);

	/* The file ends with a newline, which is not part of the name. */
	if (len > 0)
		name[len - 1] = '\0';
	return len > 0;
}

/*
 * Asks the library for the name, and compares it. The library checks that the thread that has the
 * ids now can have recorded the event.
 */
static bool is_thread(trace_id_t trid, const struct event *event, const char *name)
{
	const struct timespec time = {
		.tv_sec = (time_t)(event->time / NSEC_PER_SEC),
		.tv_nsec = (long)(event->time % NSEC_PER_SEC),
	};
	char now[POSIXTRACE_THREAD_NAME_SIZE];

	return !posixtrace_get_thread_name(trid, event->pid, event->tid, &time, now) &&
	       !strcmp(now, name);
}

static void begin(const struct live_names *names, struct live_name *thread,
		  const struct event *event)
{
	char path[64], name[POSIXTRACE_THREAD_NAME_SIZE];

	forget(thread);
	thread->pid = event->pid;
	thread->tid = event->tid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)event->pid, (int)event->tid);
	thread->fd = open(path, O_RDONLY | O_CLOEXEC);
	/*
	 * Read the name a second time: if this succeeds, the thread of @fd still existed while the
	 * library looked at the ids, so both refer to the same thread.
	 */
	thread->shown = thread->fd >= 0 && read_name(thread->fd, thread->name) &&
			is_thread(names->trid, event, thread->name) &&
			read_name(thread->fd, name) && !strcmp(name, thread->name);
	if (!thread->shown && thread->fd >= 0) {
		close(thread->fd);
		thread->fd = -1;
	}
}

static void look_again(const struct live_names *names, struct live_name *thread,
		       const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	if (thread->fd < 0 || !read_name(thread->fd, name)) {
		begin(names, thread, event);
		return;
	}
	thread->shown = !strcmp(name, thread->name);
	thread->changed |= !thread->shown;
	strcpy(thread->name, name);
}

bool live_names_get(struct live_names *names, const struct event *event, uint64_t batch,
		    char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	struct live_name *thread = &names->threads[(unsigned int)event->tid % THREADS];

	if (thread->pid != event->pid || thread->tid != event->tid)
		begin(names, thread, event);
	else if (thread->batch != batch)
		look_again(names, thread, event);
	thread->batch = batch;
	/* After a change of the name, a late event may be older than the change. */
	if (!thread->shown || (thread->changed && event->late))
		return false;
	strcpy(name, thread->name);
	return true;
}
