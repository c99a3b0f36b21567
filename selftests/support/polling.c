// SPDX-License-Identifier: GPL-2.0
/* What poll(), select() and epoll report, and threads that wait in them. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/select.h>
#include <unistd.h>

#include "polling.h"

int poll_say(int fd, int timeout)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, timeout) < 0 ? -errno : pollfd.revents;
}

int select_say(int fd, int timeout)
{
	struct timeval time = { timeout / 1000, timeout % 1000 * 1000 };
	fd_set set;
	int ret;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	ret = select(fd + 1, &set, NULL, NULL, timeout < 0 ? NULL : &time);
	if (ret < 0)
		return -errno;
	return ret && FD_ISSET(fd, &set) ? POLLIN : 0;
}

int epoll_with(int fd, unsigned int events)
{
	struct epoll_event event = { .events = events };
	int epfd = epoll_create1(EPOLL_CLOEXEC), err;

	if (epfd < 0)
		return -errno;
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event)) {
		err = -errno;
		close(epfd);
		return err;
	}
	return epfd;
}

int epoll_say(int epfd, int timeout)
{
	struct epoll_event event;
	int ret = epoll_wait(epfd, &event, 1, timeout);

	return ret < 0 ? -errno : ret ? (int)event.events : 0;
}

static void *polling(void *arg)
{
	struct poller *poller = arg;

	__atomic_store_n(&poller->tid, gettid(), __ATOMIC_RELEASE);
	poller->ret = poller->say(poller->fd, -1);
	__atomic_store_n(&poller->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

int poller_start(struct poller *poller, int (*say)(int fd, int timeout), int fd)
{
	int err;

	*poller = (struct poller){ .say = say, .fd = fd };
	err = pthread_create(&poller->thread, NULL, polling, poller);
	if (err)
		return err;
	return falls_asleep(&poller->tid, &poller->done) ? 0 : EAGAIN;
}

int poller_end(struct poller *poller)
{
	pthread_join(poller->thread, NULL);
	return poller->ret;
}
