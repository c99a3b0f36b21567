/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulates a program that did not attach before main() and therefore has no door, as in valgrind.
 * Include this header in only one file of a program. It is not in selftests/support, because its
 * syscall() would then replace that of all test programs.
 *
 * To see each system call of the library, define NOTE_SYSCALL(number, arg) before the include.
 */
#ifndef _SELFTESTS_NO_DOOR_H
#define _SELFTESTS_NO_DOOR_H

#include <errno.h>
#include <linux/posixtrace.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <trace.h>

#include "call_kernel.h"

#ifndef NOTE_SYSCALL
#define NOTE_SYSCALL(number, arg)	do { } while (0)
#endif

/* Reads the door without a command. After that, its page is ordinary memory for this process. */
static void shut_door(void)
{
	const struct posixtrace_gate *gate = (const void *)__posix_trace_gate;

	(void)__atomic_load_n(gate->door, __ATOMIC_RELAXED);
}

/* Replaces the C library's function, which the library calls. Supports only what is needed. */
long syscall(long number, ...)
{
	long arg[6], ret;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	NOTE_SYSCALL(number, arg);
	if (number == SYS_mmap && arg[5] < 0) {
		/* Fail, because this mapping would attach the process. */
		ret = -EINVAL;
	} else {
		/*
		 * The library makes a system call between mapping the gate and using it: shut the
		 * door at that point.
		 */
		shut_door();
		ret = call_kernel(number, arg);
	}
	if (ret >= -4095 && ret < 0) {
		errno = -ret;
		ret = -1;
	}
	return ret;
}

#endif /* _SELFTESTS_NO_DOOR_H */
