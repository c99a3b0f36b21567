// SPDX-License-Identifier: MIT
/*
 * Commands to a stream, and whose answers to them may be believed.
 */
#include "stream/stream.h"

int pxtu_stream_answer(const struct pxtu_stream *stream, int ret)
{
	switch (ret) {
	case -EBADF:
	case -ENOTTY:
	case -EINVAL:
	case -ESTALE:
		/*
		 * Also in a child that a signal handler made in the middle of this
		 * call: it has no mapping to look at.
		 */
		return ret;
	case -EINTR:
		return ret;
	default:
		/* A file under its number may say anything, when the stream is no more. */
		return pxtu_stream_dead(stream) ? -ESHUTDOWN : ret;
	}
}

int pxtu_stream_ioctl(const struct pxtu_stream *stream, unsigned long cmd, void *arg)
{
	return pxtu_stream_answer(stream, pxtu_checked(stream->fd, stream->number, cmd, arg));
}
