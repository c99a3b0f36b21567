// SPDX-License-Identifier: MIT
/*
 * Traces its child process, and reads the events as they happen.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* Waits for a byte before doing anything. */
static void run_child(int go)
{
	trace_event_id_t step, done;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	check(posix_trace_eventid_open("getnext:step", &step), "eventid_open");
	check(posix_trace_eventid_open("getnext:done", &done), "eventid_open");
	posix_trace_event(step, "first", strlen("first"));
	posix_trace_event(step, "second", strlen("second"));
	posix_trace_event(done, NULL, 0);
	_exit(0);
}

/* Reads events up to the first one of the type @last. */
static void print_events(trace_id_t trid, trace_event_id_t last)
{
	char name[TRACE_EVENT_NAME_MAX + 1], data[64];
	struct posix_trace_event_info info;
	int unavailable, err;
	size_t len;

	do {
		do {
			err = posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
							&unavailable);
		} while (err == EINTR);
		check(err, "getnext_event");
		check(posix_trace_eventid_get_name(trid, info.posix_event_id, name),
		      "eventid_get_name");
		printf("%s by the %s", name, info.posix_pid == getpid() ? "parent" : "child");
		/* The data of system events is binary. */
		if (info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			printf(" \"%.*s\"", (int)len, data);
		putchar('\n');
	} while (info.posix_event_id != last);
}

int main(void)
{
	struct posix_trace_event_info info;
	trace_event_id_t done;
	int go[2], unavailable;
	struct timespec until;
	trace_id_t trid;
	size_t len;
	pid_t child;

	if (pipe(go)) {
		perror("pipe");
		return 1;
	}
	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		/* Otherwise the child would not notice the end of its parent. */
		close(go[1]);
		run_child(go[0]);
	}
	check(posix_trace_create(child, NULL, &trid), "create");
	check(posix_trace_trid_eventid_open(trid, "getnext:done", &done), "trid_eventid_open");
	check(posix_trace_start(trid), "start");
	if (write(go[1], "", 1) != 1) {
		perror("write");
		return 1;
	}
	print_events(trid, done);

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable,
					   &until) == ETIMEDOUT)
		puts("nothing more within a second");
	check(posix_trace_shutdown(trid), "shutdown");
	waitpid(child, NULL, 0);
	return 0;
}
