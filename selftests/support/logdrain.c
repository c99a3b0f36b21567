// SPDX-License-Identifier: GPL-2.0
/* Copies the data of a log that is a pipe or a socket. */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "logdrain.h"

int copy_once(int from, int to)
{
	/* A packet that does not fit into the buffer would be truncated. */
	static __thread char buf[128 << 10];
	ssize_t n, done, ret;

	do {
		n = read(from, buf, sizeof(buf));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	for (done = 0; done < n; done += ret) {
		ret = write(to, buf + done, n - done);
		if (ret <= 0)
			return -EIO;
	}
	return 1;
}

/* Copies until end of file or an error. Returns 0, or minus an error number. */
static int copy_all(int from, int to)
{
	int ret;

	do {
		ret = copy_once(from, to);
	} while (ret > 0);
	return ret;
}

static void *drain_thread(void *arg)
{
	struct drain *drain = arg;

	drain->err = copy_all(drain->from, drain->to);
	return NULL;
}

int drain_start(struct drain *drain, int from, int to)
{
	*drain = (struct drain){ .from = from, .to = to, .err = -1 };
	return pthread_create(&drain->thread, NULL, drain_thread, drain);
}

int drain_end(struct drain *drain)
{
	pthread_join(drain->thread, NULL);
	return drain->err;
}
