// SPDX-License-Identifier: GPL-2.0
/* Ends logs that a kernel thread writes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include <posixtrace.h>

#include "logends.h"
#include "scale.h"
#include "uapi.h"
#include "withlog.h"

/* So many names that writing the end of a log takes long. */
#define NAMES		4000

int open_names(void)
{
	/* A slow kernel writes fewer names in the time that a user has. */
	const int count = NAMES / pxt_time_scale();
	char name[TRACE_EVENT_NAME_MAX];
	trace_event_id_t id;
	int err = 0;

	for (int i = 0; i < count && !err; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		err = posix_trace_eventid_open(name, &id);
	}
	return err;
}

struct ender {
	pthread_barrier_t began;
	int log;		/* < 0: each log has its own file */
	struct ended *ended;	/* where to count, or NULL */
};

int end_log(int log)
{
	int file = log < 0 ? log_tmpfile() : -1;
	struct stream stream;
	int err;

	stream.fd = device_open();
	create_init(&stream.arg, 0);
	stream.arg.log_fd = log < 0 ? file : log;
	stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	err = command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg);
	if (!err)
		err = stream_start(&stream);
	close(stream.fd);
	if (file >= 0)
		close(file);
	return err;
}

/* Ends logs until the process is killed. */
static void *end_many(void *arg)
{
	struct ender *ender = arg;

	end_log(ender->log);
	pthread_barrier_wait(&ender->began);
	for (;;) {
		int err = end_log(ender->log);

		if (!ender->ended)
			continue;
		if (err == -EINTR)
			__atomic_store_n(&ender->ended->interrupted, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ender->ended->logs, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int end_logs_by(int nr, int log, struct ended *ended, const struct talk *talk)
{
	struct ender ender = { .log = log, .ended = ended };
	int err = open_names();
	pthread_t thread;

	if (!err)
		err = pthread_barrier_init(&ender.began, NULL, nr + 1);
	for (int i = 0; i < nr && !err; i++)
		err = pthread_create(&thread, NULL, end_many, &ender);
	if (!err)
		pthread_barrier_wait(&ender.began);
	say(talk, err);
	if (!err)
		pause();
	return err;
}
