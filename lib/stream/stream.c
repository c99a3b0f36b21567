// SPDX-License-Identifier: MIT
/*
 * Commands to a stream, and which answers to trust.
 */
#include "common/sys.h"
#include "stream/stream.h"

int pxtu_stream_answer(const struct pxtu_stream *stream, int ret)
{
	switch (ret) {
	case -EBADF:
	case -ENOTTY:
	case -EINVAL:
	case -ESTALE:
		/*
		 * Do not look at the mapping: a child that a signal handler made in the
		 * middle of this call has none.
		 */
		return ret;
	case -EINTR:
		return ret;
	default:
		/* Not every wait ends by a signal: a handler may fork after the command. */
		if (pxtu_trid_forked())
			return -ESTALE;
		/* After the end of the stream, another file under its number may have answered. */
		return pxtu_stream_dead(stream) ? -ESHUTDOWN : ret;
	}
}

int pxtu_stream_ioctl(const struct pxtu_stream *stream, unsigned long cmd, void *arg)
{
	return pxtu_stream_answer(stream, pxtu_checked(stream->fd, stream->number, cmd, arg));
}
