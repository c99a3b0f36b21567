// SPDX-License-Identifier: MIT
/*
 * Waits for events of an active stream.
 */
#include "common/sys.h"
#include "stream/stream.h"
#include "stream/wait.h"

/* What to clean up if a thread is cancelled while it waits. */
struct sleeper {
	struct pxtu_stream *stream;
	__u64 signals;
};

static void leave(void *arg)
{
	struct sleeper *sleeper = arg;

	pxtu_cancel_unblock(sleeper->signals);
	pxtu_stream_put(sleeper->stream);
}

/*
 * A cancellation point, although ioctl() is not one: the cancel type is asynchronous around the
 * system call. The cancellation points of glibc before 2.41 do the same, and may cancel a signal
 * handler in the middle. Here the cancel signal is blocked except while WAIT sleeps, so it
 * cannot interrupt a handler. ppoll() cannot be used, because it also ignores SA_RESTART. A
 * cancelled thread loses no event, because WAIT takes none; it only has to put the stream.
 */
int pxtu_stream_wait(struct pxtu_stream *stream, struct posixtrace_wait *wait)
{
	struct sleeper sleeper = { .stream = stream };
	int type, err;

	pthread_cleanup_push(leave, &sleeper);
	wait->unblock = pxtu_cancel_block(&sleeper.signals);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	err = pxtu_checked_once(stream->fd, stream->number, POSIXTRACE_IOC_WAIT, wait);
	pthread_setcanceltype(type, NULL);
	pxtu_cancel_unblock(sleeper.signals);
	/* A cancellation that was requested while a handler ran takes precedence over EINTR. */
	if (err)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return pxtu_stream_answer(stream, err);
}
