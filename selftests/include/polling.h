/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polls streams: what poll(), select() and epoll report, and threads that wait in them.
 */
#ifndef _SELFTESTS_POLLING_H
#define _SELFTESTS_POLLING_H

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "process.h"

/* The state of a descriptor in poll() bits, or minus an error number; @timeout is in ms. */
int poll_say(int fd, int timeout);

/* Returns POLLIN or 0, because select() cannot report more. */
int select_say(int fd, int timeout);

/* A new epoll instance with one descriptor, or minus an error number. */
int epoll_with(int fd, unsigned int events);

/*
 * What an epoll instance reports for its descriptor: EPOLLIN and EPOLLHUP are POLLIN and POLLHUP.
 */
int epoll_say(int epfd, int timeout);

/* A thread that waits for a descriptor to become ready. */
struct poller {
	int (*say)(int fd, int timeout);
	int fd;
	int ret;
	int tid;
	int done;
	pthread_t thread;
};

/* Returns 0 once the poller is asleep, EAGAIN if it need not wait, or another error number. */
int poller_start(struct poller *poller, int (*say)(int fd, int timeout), int fd);

/* The result of @say. */
int poller_end(struct poller *poller);

#endif /* _SELFTESTS_POLLING_H */
