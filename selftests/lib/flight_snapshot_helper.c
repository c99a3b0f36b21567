// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is its own flight recorder, in which something happens during a system call of the
 * library. The first argument says what: one of the functions below. The exit status is 0 if all
 * was as expected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <linux/posixtrace.h>
#include <posixtrace.h>

#include "call_kernel.h"
#include "flight.h"
#include "withlog.h"

#define CHILD_SECONDS	20	/* for a child that does not return */
#define NO_CALL		-1

/* What happens at the next system call of a kind. */
static struct {
	long number;
	unsigned long cmd;		/* for ioctl(): the command inside CHECKED */
	void (*before)(const long arg[6]);
	void (*after)(const long arg[6]);
} hook = { .number = NO_CALL };

static void hook_call(long number, void (*before)(const long arg[6]),
		      void (*after)(const long arg[6]))
{
	hook.before = before;
	hook.after = after;
	__atomic_store_n(&hook.number, number, __ATOMIC_RELEASE);
}

static void hook_command(unsigned long cmd, void (*before)(const long arg[6]),
			 void (*after)(const long arg[6]))
{
	hook.cmd = cmd;
	hook_call(SYS_ioctl, before, after);
}

static bool is_hooked(long number, const long arg[6])
{
	const struct posixtrace_checked *checked = (const void *)arg[2];

	if (number != __atomic_load_n(&hook.number, __ATOMIC_ACQUIRE))
		return false;
	return number != SYS_ioctl || ((unsigned long)arg[1] == POSIXTRACE_IOC_CHECKED &&
				       checked && checked->cmd == hook.cmd);
}

/* Replaces the C library's function, which the library calls. */
long syscall(long number, ...)
{
	long arg[6], ret;
	va_list list;
	bool hooked;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	hooked = is_hooked(number, arg);
	if (hooked)
		__atomic_store_n(&hook.number, NO_CALL, __ATOMIC_RELEASE);
	if (hooked && hook.before)
		hook.before(arg);
	ret = call_kernel(number, arg);
	if (hooked && hook.after)
		hook.after(arg);
	if (ret >= -4095 && ret < 0) {
		errno = -ret;
		ret = -1;
	}
	return ret;
}

/* ------------------------------------------------------------------ */
/* A signal handler that forks						*/

static bool is_child;
static pid_t child;
static int child_status = -1;

/* The child returns from the interrupted function, and ends before its parent continues. */
static void fork_here(int signal)
{
	(void)signal;
	child = fork();
	is_child = !child;
	if (is_child)
		alarm(CHILD_SECONDS);
	else if (child < 0 || waitpid(child, &child_status, 0) != child)
		child_status = -1;
}

static void raise_here(const long arg[6])
{
	(void)arg;
	raise(SIGUSR1);
}

static int fork_in_snapshot(void)
{
	int err;

	signal(SIGUSR1, fork_here);
	err = posixtrace_snapshot(NULL, 0);
	if (is_child)
		_exit(err == EINVAL ? 0 : 1);
	withlog_record(10, 10);
	return err ? 1 : child_status ? 2 : 0;
}

static int do_fork_before_rotate(void)
{
	withlog_record(0, 10);
	hook_command(POSIXTRACE_IOC_ROTATE, raise_here, NULL);
	return fork_in_snapshot();
}

static int do_fork_after_rotate(void)
{
	withlog_record(0, 10);
	hook_command(POSIXTRACE_IOC_ROTATE, NULL, raise_here);
	return fork_in_snapshot();
}

static int do_fork_before_open(void)
{
	trace_id_t trid;

	withlog_record(0, 10);
	if (posixtrace_get_recorder(&trid))
		return 3;
	hook_call(SYS_openat, raise_here, NULL);
	return fork_in_snapshot();
}

/* Checks that the child has no recorder or, with the option "children", a separate one. */
static void check_child(int err, trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	if (!getenv("POSIXTRACE_RECORD_OPTIONS"))
		_exit(err == EINVAL && posixtrace_get_recorder(&trid) == EINVAL ? 0 : 1);
	withlog_record(20, 5);
	_exit(err || posixtrace_get_stats(trid, &stats) || stats.recorded != 5 ? 1 : 0);
}

static int do_fork_in_share(void)
{
	trace_id_t trid = 0;
	int err;

	withlog_record(0, 10);
	signal(SIGUSR1, fork_here);
	hook_command(POSIXTRACE_IOC_MAP, NULL, raise_here);
	err = posixtrace_get_recorder(&trid);
	if (is_child)
		check_child(err, trid);
	if (err || posixtrace_snapshot(NULL, 0))
		return 1;
	withlog_record(10, 10);
	printf("%d\n", (int)child);
	return child_status ? 2 : 0;
}

/* ------------------------------------------------------------------ */
/* Other threads							*/

/* Simulates another thread that calls posix_trace_shutdown(). */
static void shut_down(const long arg[6])
{
	withlog_record(10, 10);
	if (ioctl((int)arg[0], POSIXTRACE_IOC_SHUTDOWN))
		_exit(2);
}

static int do_end(void)
{
	withlog_record(0, 10);
	hook_command(POSIXTRACE_IOC_ROTATE, NULL, shut_down);
	return posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 1;
}

static int do_end_early(void)
{
	withlog_record(0, 10);
	hook_command(POSIXTRACE_IOC_ROTATE, shut_down, NULL);
	return posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 1;
}

static trace_id_t recorder;
static int rotate_err = -1;

static void rotate_here(const long arg[6])
{
	int fd = log_tmpfile();

	(void)arg;
	rotate_err = posixtrace_rotate(recorder, fd, NULL);
	close(fd);
}

static int do_rotate(void)
{
	withlog_record(0, 10);
	if (posixtrace_get_recorder(&recorder))
		return 1;
	hook_command(POSIXTRACE_IOC_ROTATE, rotate_here, NULL);
	if (posixtrace_snapshot(NULL, 0))
		return 2;
	withlog_record(10, 10);
	return rotate_err == EBUSY ? 0 : 3;
}

/* Writes to standard error, which is closed. */
static void complain(const long arg[6])
{
	char text[4096];

	(void)arg;
	memset(text, 'x', sizeof(text));
	if (write(STDERR_FILENO, text, sizeof(text)) != -1 || errno != EBADF)
		_exit(2);
}

static int do_complain(void)
{
	withlog_record(0, 10);
	close(STDERR_FILENO);
	hook_command(POSIXTRACE_IOC_ROTATE, NULL, complain);
	if (posixtrace_snapshot(NULL, 0))
		return 1;
	withlog_record(10, 10);
	return 0;
}

/* Only the number of standard error is free, and no log may have it. */
static int do_limit(void)
{
	const struct rlimit limit = { 3, 3 };
	trace_id_t trid;

	withlog_record(0, 10);
	if (posixtrace_get_recorder(&trid) || setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	close(STDERR_FILENO);
	if (posixtrace_snapshot(NULL, 0) != EMFILE)
		return 2;
	withlog_record(10, 10);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} actions[] = {
	{ "fork before ROTATE", do_fork_before_rotate },
	{ "fork after ROTATE", do_fork_after_rotate },
	{ "fork before open", do_fork_before_open },
	{ "fork in share", do_fork_in_share },
	{ "end", do_end },
	{ "early end", do_end_early },
	{ "rotate", do_rotate },
	{ "complain", do_complain },
	{ "limit", do_limit },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].run();
	}
	return 100;
}
