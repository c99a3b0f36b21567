// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is traced until it gets a signal. It records "begin" and writes to the FIFO
 * READY. For each SIGINT and SIGTERM it records "signal N". The first signal ends it, unless it
 * is stubborn: then it writes to READY again. If it is "renamed", it is stubborn, and names itself
 * "name N" before it records "signal N".
 *
 * usage: steady_helper [stubborn|renamed] [READY]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <trace.h>
#include <unistd.h>

static trace_event_id_t steady;

static void record(const char *text)
{
	posix_trace_event(steady, text, strlen(text) + 1);
}

static int say_ready(const char *path)
{
	int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;

	if (!path)
		return 0;
	if (fd < 0 || write(fd, "ready\n", 6) != 6)
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	int signal, renamed = argc > 1 && !strcmp(argv[1], "renamed");
	int stubborn = renamed || (argc > 1 && !strcmp(argv[1], "stubborn"));
	const char *ready = argc > 1 + stubborn ? argv[1 + stubborn] : NULL;
	char text[32];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (posix_trace_eventid_open("steady", &steady))
		return 101;
	record("begin");
	if (say_ready(ready))
		return 102;
	do {
		if (sigwait(&set, &signal))
			return 103;
		snprintf(text, sizeof(text), "name %d", signal);
		if (renamed)
			prctl(PR_SET_NAME, text);
		snprintf(text, sizeof(text), "signal %d", signal);
		record(text);
		if (stubborn && say_ready(ready))
			return 104;
	} while (stubborn);
	return 5;
}
