// SPDX-License-Identifier: MIT
/*
 * Sends commands to a stream, and decides which answers to trust.
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
		 * Do not look at the mapping: it does not exist in a child that a signal
		 * handler forked in the middle of this call.
		 */
		return ret;
	case -EINTR:
		return ret;
	default:
		/*
		 * A signal handler may have forked after the command. In the child, there is no
		 * mapping to look at.
		 */
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
