// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a child process with a temporary directory: see isolate.h. If a large library crashes or
 * runs out of memory, only the child ends.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/isolate.h"
#include "util/message.h"
#include "util/pager.h"

#define DESCRIPTORS	16	/* descriptors that nftw() may use to remove the directory */

struct isolate {
	const char *user;
	int (*run)(void *arg, const char *folder);
	void *arg;
	char folder[PATH_MAX];
	sigset_t signals;	/* SIGCHLD and the signals that end the command */
	sigset_t before;	/* the signal mask of the caller */
	int ended_by;		/* the signal that ended this process, or 0 */
};

static int make_folder(struct isolate *isolate)
{
	const char *parent = getenv("TMPDIR");
	int len;

	if (!parent || !*parent)
		parent = "/var/tmp";
	len = snprintf(isolate->folder, sizeof(isolate->folder), "%s/posixtrace-%s-XXXXXX",
		       parent, isolate->user);
	if (len >= (int)sizeof(isolate->folder)) {
		complain("TMPDIR", ENAMETOOLONG);
		return -ENAMETOOLONG;
	}
	/* mkdtemp() gives access only to the user. */
	if (mkdtemp(isolate->folder))
		return 0;
	len = errno;
	complain(parent, len);
	return -len;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static void remove_folder(const struct isolate *isolate)
{
	nftw(isolate->folder, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

/*
 * Blocks the signals that this process waits for, so that none can be missed. Ignored ones stay
 * ignored.
 */
static void block_signals(struct isolate *isolate)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction old;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&isolate->signals);
	sigaddset(&isolate->signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaddset(&isolate->signals, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &isolate->signals, &isolate->before);
}

/* Runs the function in the child process. Does not return. */
static void run_child(const struct isolate *isolate, pid_t parent)
{
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, &isolate->before, NULL);
	status = isolate->run(isolate->arg, isolate->folder);
	fflush(stdout);
	fflush(stderr);
	pager_end();
	/* Skip the destructors of libraries, because their threads may still run. */
	_exit(status);
}

static int wait_for(struct isolate *isolate, pid_t child)
{
	int status, number;

	for (;;) {
		number = sigwaitinfo(&isolate->signals, NULL);
		if (number > 0 && number != SIGCHLD) {
			isolate->ended_by = number;
			kill(child, number);
		} else if (waitpid(child, &status, WNOHANG) == child &&
			   (WIFEXITED(status) || WIFSIGNALED(status))) {
			return status;
		}
	}
}

static int exit_status(struct isolate *isolate, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* The reader of the output has gone: end like a command without a child. */
	if (WTERMSIG(status) == SIGPIPE)
		isolate->ended_by = SIGPIPE;
	else if (!isolate->ended_by)
		tell("%s: ended by signal %d (%s)", isolate->user, WTERMSIG(status),
		     strsignal(WTERMSIG(status)));
	return 1;
}

int isolate_run(const char *user, int (*run)(void *arg, const char *folder), void *arg)
{
	struct isolate isolate = { .user = user, .run = run, .arg = arg };
	const pid_t parent = getpid();
	int status = 1;
	pid_t child;

	fflush(stdout);
	block_signals(&isolate);
	if (!make_folder(&isolate)) {
		child = fork();
		if (!child)
			run_child(&isolate, parent);
		if (child < 0)
			complain(user, errno);
		else
			status = exit_status(&isolate, wait_for(&isolate, child));
		remove_folder(&isolate);
	}
	if (isolate.ended_by) {
		signal(isolate.ended_by, SIG_DFL);
		raise(isolate.ended_by);
	}
	sigprocmask(SIG_SETMASK, &isolate.before, NULL);
	return status;
}
