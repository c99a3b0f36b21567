// SPDX-License-Identifier: MIT
/*
 * Reads the streams of several processes in one epoll loop, as a server does next to its
 * other descriptors.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES	3
#define EVENTS_MAX	16

struct traced {
	pid_t pid;
	trace_id_t trid;
	unsigned int events;
};

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* When the pipe is closed, the process records the given number of events. */
static pid_t start_process(int events, const int *go)
{
	trace_event_id_t tick;
	char byte;
	pid_t pid = fork();

	if (pid < 0)
		check(errno, "fork");
	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &byte, 1) != 0 || posix_trace_eventid_open("epoll:tick", &tick))
		_exit(1);
	for (int i = 0; i < events; i++)
		posix_trace_event(tick, &i, sizeof(i));
	_exit(0);
}

static void read_events(struct traced *traced)
{
	struct posixtrace_batch_event events[EVENTS_MAX];
	char buffer[1024];
	size_t count;

	do {
		check(posixtrace_getevents(traced->trid, events, EVENTS_MAX, buffer,
					   sizeof(buffer), &count, POSIXTRACE_NOWAIT),
		      "posixtrace_getevents");
		for (size_t i = 0; i < count; i++)
			traced->events += events[i].event.posix_event_id >=
					  POSIX_TRACE_UNNAMED_USEREVENT;
	} while (count);
}

int main(void)
{
	struct epoll_event ready[PROCESSES], wanted = { .events = EPOLLIN };
	struct traced traced[PROCESSES] = { { 0 } };
	int epoll = epoll_create1(EPOLL_CLOEXEC), go[2], left = PROCESSES, count;

	if (epoll < 0 || pipe(go))
		check(errno, "epoll_create1 or pipe");
	for (int i = 0; i < PROCESSES; i++) {
		traced[i].pid = start_process(100 * (i + 1), go);
		check(posix_trace_create(traced[i].pid, NULL, &traced[i].trid),
		      "posix_trace_create");
		check(posix_trace_start(traced[i].trid), "posix_trace_start");
		wanted.data.ptr = &traced[i];
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, posixtrace_fd(traced[i].trid), &wanted))
			check(errno, "epoll_ctl");
	}
	close(go[1]);

	while (left > 0) {
		count = epoll_wait(epoll, ready, PROCESSES, -1);
		for (int i = 0; i < count; i++) {
			struct traced *it = ready[i].data.ptr;

			read_events(it);
			if (!(ready[i].events & (EPOLLHUP | EPOLLERR)))
				continue;
			/*
			 * The process ended before its events were read; there are no more.
			 * Remove the descriptor from epoll: shutdown closes it, but the
			 * processes that were started later have duplicates of it.
			 */
			epoll_ctl(epoll, EPOLL_CTL_DEL, posixtrace_fd(it->trid), NULL);
			check(posix_trace_shutdown(it->trid), "posix_trace_shutdown");
			waitpid(it->pid, NULL, 0);
			left--;
		}
	}
	for (int i = 0; i < PROCESSES; i++)
		printf("process %d: %u events\n", i + 1, traced[i].events);
	close(epoll);
	return 0;
}
