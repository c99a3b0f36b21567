// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points for a server, loaded with LD_PRELOAD: one for each read() and one for each write().
 * A request to redis makes one call of each.
 */
#include <posixtrace/points.h>
#include <unistd.h>

POSIXTRACE_POINT(request, (i32, fd), (i32, bytes));
POSIXTRACE_POINT(reply, (i32, fd), (i32, bytes));

/* The C library's own names of read() and write(), which this file replaces. */
__typeof__(read) __read;
__typeof__(write) __write;

ssize_t read(int fd, void *to, size_t room)
{
	ssize_t len = __read(fd, to, room);

	posixtrace_point_request(fd, (int)len);
	return len;
}

ssize_t write(int fd, const void *from, size_t len)
{
	ssize_t written = __write(fd, from, len);

	posixtrace_point_reply(fd, (int)written);
	return written;
}
