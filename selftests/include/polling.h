/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polls streams with poll(), select() and epoll, also in threads that wait there.
 */
#ifndef _SELFTESTS_POLLING_H
#define _SELFTESTS_POLLING_H

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "process.h"

/* Returns the poll() bits of a descriptor, or minus an error number. @timeout is in ms. */
int poll_say(int fd, int timeout);

/* Polls with select(). Returns POLLIN or 0, because select() cannot report more. */
int select_say(int fd, int timeout);

/*
 * Creates an epoll instance with one descriptor. Returns its descriptor, or minus an error number.
 */
int epoll_with(int fd, unsigned int events);

/*
 * Returns what an epoll instance reports for its descriptor, with POLLIN and POLLHUP for EPOLLIN
 * and EPOLLHUP.
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

/*
 * Starts a poller. Returns 0 once it is asleep, EAGAIN if it need not wait, or another error
 * number.
 */
int poller_start(struct poller *poller, int (*say)(int fd, int timeout), int fd);

/* Waits for the end of a poller. Returns the result of its @say. */
int poller_end(struct poller *poller);

#endif /* _SELFTESTS_POLLING_H */
