// SPDX-License-Identifier: MIT
/*
 * Runs a program and prints the events of the program and of all its children, from the
 * first event on.
 *
 *	controller PROGRAM [ARGUMENT...]
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_MAX	64

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* The child waits for a byte before exec: events before the stream exists would be lost. */
static pid_t prepare(char **argv, int *go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		check(errno, "pipe");
	pid = fork();
	if (pid < 0)
		check(errno, "fork");
	if (!pid) {
		close(ends[1]);
		/* End of file: the controller has failed with a message. */
		if (read(ends[0], &byte, 1) != 1)
			_exit(127);
		close(ends[0]);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static trace_id_t create(pid_t pid)
{
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "posix_trace_attr_init");
	check(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED),
	      "posix_trace_attr_setinherited");
	check(posix_trace_attr_setstreamsize(&attr, 1 << 20), "posix_trace_attr_setstreamsize");
	check(posix_trace_create(pid, &attr, &trid), "posix_trace_create");
	check(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
	return trid;
}

/* The data comes from another process, and may contain any bytes. */
static void print_data(const unsigned char *data, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++) {
		if (isprint(data[i]) && data[i] != '"' && data[i] != '\\')
			putchar(data[i]);
		else
			printf("\\x%02x", data[i]);
	}
	puts("\"");
}

/* Returns the number of events. */
static size_t print_events(trace_id_t trid)
{
	struct posixtrace_batch_event events[EVENTS_MAX];
	char name[TRACE_EVENT_NAME_MAX + 1];
	static char buffer[65536];
	size_t count;

	check(posixtrace_getevents(trid, events, EVENTS_MAX, buffer, sizeof(buffer), &count,
				   POSIXTRACE_NOWAIT), "posixtrace_getevents");
	for (size_t i = 0; i < count; i++) {
		trace_event_id_t type = events[i].event.posix_event_id;

		check(posix_trace_eventid_get_name(trid, type, name),
		      "posix_trace_eventid_get_name");
		printf("%s ", name);
		print_data(events[i].data, events[i].data_len);
	}
	return count;
}

int main(int argc, char **argv)
{
	struct posixtrace_stats_info stats;
	struct pollfd pollfd;
	int status, go;
	trace_id_t trid;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: controller PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	pid = prepare(argv + 1, &go);
	trid = create(pid);
	check(posix_trace_start(trid), "posix_trace_start");
	if (write(go, "", 1) != 1)
		check(errno, "write");
	close(go);

	pollfd = (struct pollfd){ .fd = posixtrace_fd(trid), .events = POLLIN };
	do {
		poll(&pollfd, 1, -1);
		while (print_events(trid))
			;
		/* Hung up: all processes have ended, and all events have been read. */
	} while (!(pollfd.revents & (POLLHUP | POLLERR)));

	check(posixtrace_get_stats(trid, &stats), "posixtrace_get_stats");
	printf("%llu events recorded, %llu read\n", stats.recorded, stats.read);
	check(posix_trace_shutdown(trid), "posix_trace_shutdown");
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
