// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for a program that starts: see awaited.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/awaited.h"
#include "session/exec_events.h"
#include "session/whom.h"

/* Looking at all processes takes at most 1/SHARE of the time of one processor. */
#define SHARE		20
#define NSEC		1000000000L
#define NSEC_PER_MSEC	1000000L

/* Flags in /proc/PID/stat, see include/linux/sched.h. */
#define PF_FORKNOEXEC	0x40U

bool awaited_name_is_valid(const char *name)
{
	return *name && !strchr(name, '/') && strlen(name) <= NAME_MAX;
}

/* Reads the start time of a process. Fails if it has ended, unless it is a zombie. */
static bool read_stat(int proc, struct awaited_process *process, char *state, unsigned int *flags)
{
	static const char format[] =
		" %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
	char text[1024];
	const char *end;

	if (!whom_read_file(proc, process->pid, "stat", text, sizeof(text)))
		return false;
	/* The program name is in parentheses and may contain any characters. */
	end = strrchr(text, ')');
	return end && sscanf(end + 1, format, state, flags, &process->start) == 3;
}

/* Does the process run the program, and has it executed it? Sets its start time. */
static bool runs_it(const struct awaited *awaited, int proc, struct awaited_process *process)
{
	unsigned int flags;
	char state;

	return whom_has_name(proc, process->pid, awaited->name) &&
	       read_stat(proc, process, &state, &flags) && state != 'Z' && state != 'X' &&
	       !(flags & PF_FORKNOEXEC);
}

static bool is_known(const struct awaited *awaited, const struct awaited_process *process)
{
	for (size_t i = 0; i < awaited->nr_known; i++) {
		if (awaited->known[i].pid == process->pid &&
		    awaited->known[i].start == process->start)
			return true;
	}
	return false;
}

static int add(struct awaited *awaited, const struct awaited_process *process)
{
	struct awaited_process *more =
		reallocarray(awaited->known, awaited->nr_known + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	awaited->known = more;
	more[awaited->nr_known++] = *process;
	return 0;
}

/* ------------------------------------------------------------------ */
/* All processes							*/

static long thread_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/*
 * Replaces the known processes in @now by those that have the name. The oldest one that was not
 * known becomes *found, and is known from then on; later calls find the others. With @all, all of
 * them become known, and none is returned.
 */
static int look_at_all(struct awaited *now, DIR *proc, bool all, struct awaited_process *found)
{
	struct awaited before = *now;
	struct dirent *entry;
	int err = 0;

	now->known = NULL;
	now->nr_known = 0;
	while (!err && (entry = readdir(proc))) {
		struct awaited_process process = {
			.pid = (pid_t)strtol(entry->d_name, NULL, 10),
		};

		if (process.pid <= 0 || !runs_it(now, dirfd(proc), &process))
			continue;
		if (all || is_known(&before, &process))
			err = add(now, &process);
		else if (!found->pid || process.start < found->start)
			*found = process;
	}
	if (!err && found->pid)
		err = add(now, found);
	free(before.known);
	return err;
}

/* Returns the id of a process that has got the name since the last call, 0, or an error. */
static pid_t look(struct awaited *awaited, bool all)
{
	struct awaited_process found = { 0 };
	long began = thread_time();
	DIR *proc = opendir("/proc");
	int err;

	if (!proc)
		return -errno;
	err = look_at_all(awaited, proc, all, &found);
	closedir(proc);
	awaited->cost_ns = thread_time() - began;
	if (found.pid)
		awaited->found = found;
	return err ? err : found.pid;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Has the process of an event started the program? */
static bool is_start(struct awaited *awaited, const struct exec_event *event)
{
	struct awaited_process process = { .pid = event->pid };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ret;

	if (proc < 0)
		return false;
	ret = runs_it(awaited, proc, &process) &&
	      (event->kind == EXEC_EVENT_EXEC || !is_known(awaited, &process));
	if (ret)
		awaited->found = process;
	close(proc);
	return ret;
}

/* Returns the id of a process that has started the program, 0 if there is none, or an error. */
static pid_t read_events(struct awaited *awaited)
{
	struct exec_event event;
	int ret;

	while ((ret = exec_events_next(awaited->events, &event)) > 0) {
		if (is_start(awaited, &event))
			return event.pid;
	}
	return ret == -ENOBUFS ? look(awaited, false) : ret;
}

int awaited_begin(struct awaited *awaited, const char *name, struct process *process)
{
	*awaited = (struct awaited){
		.name = name, .process = process, .events = exec_events_open(),
	};
	sigprocmask(SIG_BLOCK, &process->signals, &awaited->mask);
	return look(awaited, true);
}

/* Milliseconds until the next look at all processes. */
static int pause_of(const struct awaited *awaited)
{
	long long ms = awaited->cost_ns * (SHARE - 1LL) / NSEC_PER_MSEC;

	return ms > AWAITED_LOOK_MS ? (int)ms : AWAITED_LOOK_MS;
}

pid_t awaited_next(struct awaited *awaited)
{
	struct pollfd fds[] = {
		{ .fd = awaited->process->sigfd, .events = POLLIN },
		{ .fd = awaited->events, .events = POLLIN },
	};
	const bool has_events = awaited->events >= 0;
	pid_t pid = 0;

	sigprocmask(SIG_BLOCK, &awaited->process->signals, NULL);
	while (!pid) {
		if (poll(fds, 2, has_events ? -1 : pause_of(awaited)) < 0 && errno != EINTR)
			pid = -errno;
		else if (fds[0].revents && process_signal(awaited->process))
			pid = -EINTR;
		else
			pid = has_events ? read_events(awaited) : look(awaited, false);
	}
	sigprocmask(SIG_SETMASK, &awaited->mask, NULL);
	return pid;
}

bool awaited_was_replaced(const struct awaited *awaited)
{
	struct awaited_process process = { .pid = awaited->found.pid };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned int flags;
	bool replaced;
	char state;

	if (proc < 0)
		return false;
	replaced = read_stat(proc, &process, &state, &flags) &&
		   process.start != awaited->found.start;
	close(proc);
	return replaced;
}

void awaited_end(struct awaited *awaited)
{
	if (awaited->events >= 0)
		exec_events_close(awaited->events);
	free(awaited->known);
	sigprocmask(SIG_SETMASK, &awaited->mask, NULL);
}
