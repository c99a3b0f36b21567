// SPDX-License-Identifier: GPL-2.0
/*
 * Shows output with a pager: see pager.h. The pager is the child process, so that the shell gets
 * the exit status of this command.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/message.h"
#include "util/pager.h"

static pid_t pager;	/* process id; 0: no pager */
static bool with_errors;

/*
 * Checks if the first word of a command is a program in PATH. Paths and shell syntax are not
 * checked.
 */
static bool is_program(const char *command)
{
	size_t len = strcspn(command, " \t"), dir_len;
	const char *dirs = getenv("PATH");
	char path[PATH_MAX];

	if (strpbrk(command, "/$'\"\\;&|<>()`="))
		return true;
	for (; dirs && *dirs; dirs += dir_len + (dirs[dir_len] == ':')) {
		dir_len = strcspn(dirs, ":");
		if (snprintf(path, sizeof(path), "%.*s/%.*s", (int)dir_len, dirs, (int)len,
			     command) < (int)sizeof(path) && !access(path, X_OK))
			return true;
	}
	return false;
}

/* Returns the command of the pager; NULL for none. */
static const char *choose(void)
{
	const char *command = getenv("POSIXTRACE_PAGER"), *term = getenv("TERM");

	if (!command)
		command = getenv("PAGER");
	if (!command && term && strcmp(term, "dumb") != 0)
		command = is_program("less") ? "less" : is_program("more") ? "more" : NULL;
	if (!command || !*command || !strcmp(command, "cat"))
		return NULL;
	if (is_program(command))
		return command;
	tell("PAGER: %s: no such program", command);
	return NULL;
}

/* Executes the pager in the child process. Does not return. */
static void become_pager(const char *command, const int pipe[2])
{
	if (dup2(pipe[0], STDIN_FILENO) < 0)
		_exit(126);
	close(pipe[0]);
	close(pipe[1]);
	/*
	 * Same default as git: quit if the text fits on one screen, show colours, do not clear the
	 * screen.
	 */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

/* Closes the output and waits for the pager. Async-signal-safe. */
static void leave(void)
{
	int saved_errno = errno;

	close(STDOUT_FILENO);
	if (with_errors)
		close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	errno = saved_errno;
}

/* Wait for the pager before ending, because it may still use the terminal. */
static void on_signal(int number)
{
	leave();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };
	struct sigaction old;
	const struct sigaction new = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &new, NULL);
	}
}

void pager_begin(void)
{
	const char *command = pager || !isatty(STDOUT_FILENO) ? NULL : choose();
	int ends[2];

	if (!command || pipe(ends))
		return;
	fflush(stdout);
	pager = fork();
	if (!pager)
		become_pager(command, ends);
	close(ends[0]);
	if (pager < 0) {
		pager = 0;
	} else {
		with_errors = isatty(STDERR_FILENO);
		catch_signals();
		dup2(ends[1], STDOUT_FILENO);
		if (with_errors)
			dup2(ends[1], STDERR_FILENO);
	}
	close(ends[1]);
}

bool pager_shows(void)
{
	return pager || isatty(STDOUT_FILENO);
}

void pager_end(void)
{
	if (!pager)
		return;
	fflush(stderr);
	leave();
	pager = 0;
}
