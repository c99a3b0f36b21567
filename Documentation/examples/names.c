// SPDX-License-Identifier: MIT
/*
 * Prints which thread of which program recorded each event of a log: the log given as the argument,
 * or one that two threads of this program have recorded.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void *work(void *name)
{
	trace_event_id_t step;

	pthread_setname_np(pthread_self(), name);
	check(posix_trace_eventid_open("names:step", &step), "eventid_open");
	posix_trace_event(step, NULL, 0);
	return NULL;
}

static void make_log(int fd)
{
	const char *const names[] = { "producer", "consumer" };
	pthread_t thread;
	trace_id_t trid;

	check(posix_trace_create_withlog(0, NULL, fd, &trid), "create_withlog");
	check(posix_trace_start(trid), "start");
	for (int i = 0; i < 2; i++) {
		check(pthread_create(&thread, NULL, work, (void *)names[i]), "pthread_create");
		check(pthread_join(thread, NULL), "pthread_join");
	}
	check(posix_trace_shutdown(trid), "shutdown");
}

static void print(trace_id_t trid, const struct posixtrace_batch_event *event)
{
	const struct timespec *time = &event->event.posix_timestamp;
	char thread[POSIXTRACE_THREAD_NAME_SIZE], program[POSIXTRACE_PROGRAM_SIZE];
	pid_t pid = event->event.posix_pid;

	if (posixtrace_get_thread_name(trid, pid, event->tid, time, thread))
		strcpy(thread, "unknown");
	if (posixtrace_get_program(trid, pid, time, program, sizeof(program), NULL))
		strcpy(program, "unknown");
	printf("thread %s of %s\n", thread, basename(program));
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : tmpfile();
	struct posixtrace_batch_event event;
	struct posixtrace_host_info host;
	char data[1024];
	size_t count;
	trace_id_t trid;

	if (!file) {
		perror(argc > 1 ? argv[1] : "tmpfile");
		return 1;
	}
	if (argc <= 1)
		make_log(fileno(file));
	check(posix_trace_open(fileno(file), &trid), "open");
	check(posixtrace_get_host(trid, &host), "get_host");
	printf("recorded on %s\n", host.machine);
	for (;;) {
		check(posixtrace_getevents(trid, &event, 1, data, sizeof(data), &count, 0),
		      "getevents");
		if (!count)
			break;
		if (event.event.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			print(trid, &event);
	}
	check(posix_trace_close(trid), "close");
	fclose(file);
	return 0;
}
