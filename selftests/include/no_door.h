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

#ifndef NOTE_SYSCALL
#define NOTE_SYSCALL(number, arg)	do { } while (0)
#endif

/* Reads the door without a command. After that, its page is ordinary memory for this process. */
static void shut_door(void)
{
	const struct posixtrace_gate *gate = (const void *)__posix_trace_gate;

	(void)__atomic_load_n(gate->door, __ATOMIC_RELAXED);
}

static long call_kernel(long number, const long arg[6])
{
	long ret;

#if defined(__x86_64__)
	{
		register long r10 __asm__("r10") = arg[3];
		register long r8 __asm__("r8") = arg[4];
		register long r9 __asm__("r9") = arg[5];

		__asm__ volatile ("syscall"
				  : "=a" (ret)
				  : "a" (number), "D" (arg[0]), "S" (arg[1]), "d" (arg[2]),
				    "r" (r10), "r" (r8), "r" (r9)
				  : "rcx", "r11", "memory");
	}
#elif defined(__aarch64__)
	{
		register long x8 __asm__("x8") = number;
		register long x0 __asm__("x0") = arg[0];
		register long x1 __asm__("x1") = arg[1];
		register long x2 __asm__("x2") = arg[2];
		register long x3 __asm__("x3") = arg[3];
		register long x4 __asm__("x4") = arg[4];
		register long x5 __asm__("x5") = arg[5];

		__asm__ volatile ("svc #0"
				  : "+r" (x0)
				  : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5)
				  : "memory");
		ret = x0;
	}
#else
#error "how are system calls made here?"
#endif
	return ret;
}

/* Replaces the function of the C library, which our library calls. Supports only what is needed. */
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
