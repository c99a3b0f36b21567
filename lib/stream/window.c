// SPDX-License-Identifier: MIT
/*
 * The window: the reader reports a record only when it has reached a certain age. By then, another
 * CPU that was delayed between reading the clock and the commit has made its older record visible.
 *
 * The kernel decides, because it has the clock and knows when the last process has stopped
 * recording. While the oldest record is too young, the kernel lets threads that wait or poll sleep.
 */
#include "stream/reader.h"
#include "stream/window.h"

/* Ask the kernel, which defers the records if the oldest one is too young. */
static bool ask(struct pxtu_reader *reader, __u64 timestamp, struct posixtrace_defer *arg)
{
	*arg = (struct posixtrace_defer){ .time = timestamp, .window = reader->window };
	if (reader->defer(reader, arg) < 0)
		return false;
	if (arg->settled > reader->settled)
		reader->settled = arg->settled;
	return true;
}

bool pxtu_window_holds(struct pxtu_reader *reader, __u64 timestamp)
{
	struct posixtrace_defer arg;

	/* DEFER fails after the end of the stream: then there is no reason to wait. */
	if (!ask(reader, timestamp, &arg))
		return false;
	/* Scan again: older records may have become visible before the kernel read the clock. */
	reader->news = true;
	/* A record in the future has a forged time, so do not wait for it. */
	return timestamp > reader->settled && timestamp <= arg.now;
}

int pxtu_window_set(struct pxtu_reader *reader, __u64 window)
{
	struct posixtrace_defer arg = { .time = 0 };

	/* Wake up threads that wait for the end of the old window, so that they use the new one. */
	int err = reader->defer(reader, &arg);

	if (err < 0)
		return err;
	reader->window = window;
	reader->settled = window ? 0 : ~0ULL;
	return 0;
}
