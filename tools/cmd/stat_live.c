// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace stat PID": counts the events of a running process.
 */
#include <errno.h>
#include <poll.h>
#include <posixtrace.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "cmd/stat_live.h"
#include "session/session.h"
#include "util/message.h"

/* Large enough for the events that are recorded while this command is not scheduled. */
#define STREAM_SIZE	(4U << 20)

/* Check the clock and signals after this many events. */
#define BATCH		4096

/*
 * Reads the available events, but at most a batch: if the writers are faster than this command,
 * events never run out. Returns their number, or a negative error number.
 */
static int take_events(const struct stat_live *live, struct source *source, bool *stopped)
{
	int ret = 0, err, count = 0;
	struct event event;

	while (count < BATCH && (ret = source_try(source, &event)) > 0) {
		err = live->take(live->arg, &event);
		if (err)
			return err;
		*stopped |= event.type == POSIX_TRACE_STOP;
		count++;
	}
	return ret < 0 ? ret : count;
}

/* Returns the milliseconds until @end, rounded up; -1 if @end is NULL. */
static int time_left(const struct timespec *end)
{
	struct timespec now;
	long long ms;

	if (!end->tv_sec)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec + 999999) / 1000000;
	return ms < 0 ? 0 : (int)ms;
}

static int follow(const struct stat_live *live, trace_id_t trid, struct source *source,
		  int signals)
{
	struct pollfd fds[] = {
		{ .fd = posixtrace_fd(trid), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct timespec end = { 0 };
	bool stopped = false;	/* not used */
	int left, count = 0;

	if (live->seconds) {
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += live->seconds;
	}
	for (;;) {
		left = time_left(&end);
		/* Do not wait after a full batch: the stream may have more events. */
		if (poll(fds, 2, count < BATCH ? left : 0) < 0 && errno != EINTR)
			return -errno;
		count = take_events(live, source, &stopped);
		if (count < 0)
			return count;
		/* A signal, a timeout, or the end of all traced processes. */
		if (fds[1].revents || !left || fds[0].revents & (POLLHUP | POLLERR))
			return 0;
	}
}

static int finish(const struct stat_live *live, trace_id_t trid, struct source *source)
{
	int err = posix_trace_stop(trid), count = 0;
	bool stopped = false;

	if (err)
		return -err;
	while (count >= 0 && !stopped)
		count = take_events(live, source, &stopped);
	return count < 0 ? count : 0;
}

/*
 * Discards the signals that ended the count, so that they do not terminate the command when it
 * unblocks them. Later signals can terminate it: its output may be a blocked pipe.
 */
static void take_signals(int signals, const sigset_t *old_mask)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		;
	sigprocmask(SIG_SETMASK, old_mask, NULL);
}

static int count_events(const struct stat_live *live, const struct session *session, int signals,
			const sigset_t *old_mask)
{
	const trace_id_t trid = session->trid;
	struct posixtrace_stats_info numbers;
	struct source *source;
	int err = source_from_stream(trid, &source);

	if (err)
		return err;
	err = -posix_trace_start(trid);
	if (err)
		goto close;
	if (!live->seconds)
		tell("counting the events of process %d; press Ctrl-C to stop", (int)live->pid);
	if (live->start)
		err = live->start(live->arg, source);
	if (!err)
		err = follow(live, trid, source, signals);
	if (!err)
		err = finish(live, trid, source);
	if (!err && !session_stats(session, &numbers))
		*live->lost = numbers.dropped + numbers.overwritten + numbers.skipped;
	take_signals(signals, old_mask);
	if (!err)
		live->end(live->arg, source);
close:
	source_close(source);
	return err;
}

static int run_stream(const struct stat_live *live, int signals, const sigset_t *old_mask)
{
	struct session session = {
		.process.pid = live->pid,
		.stream_size = STREAM_SIZE,
		.kernel = live->kernel,
		.data_size = live->data ? SESSION_DEFAULT : 0,
	};
	int err = -session_create_plain(&session, "posixtrace stat");

	if (err)
		return err;
	err = count_events(live, &session, signals, old_mask);
	if (err)
		complain("counting events", -err);
	posix_trace_shutdown(session.trid);
	return err;
}

int stat_live(const struct stat_live *live)
{
	sigset_t mask, old_mask;
	int err, signals;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &old_mask);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0) {
		err = -errno;
		complain("signals", errno);
	} else {
		err = run_stream(live, signals, &old_mask);
		close(signals);
	}
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	return err;
}
