// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is its own flight recorder, in which something happens during a system call of the
 * library. The first argument says what: one of the functions below. The exit status is 0 if all
 * was as expected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <linux/posixtrace.h>
#include <posixtrace.h>

#include "call_kernel.h"
#include "flight.h"
#include "withlog.h"

#define NO_CALL		-1

/* What happens at the next system call of a kind. */
static struct {
	long number;
	unsigned long cmd;		/* of an ioctl(): the command inside CHECKED */
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
