/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of programs that did not attach before main() and have no door, for example in
 * valgrind. Include it in one file of a program: as a part of selftests/support, its syscall()
 * would replace that of all programs.
 *
 * Define NOTE_SYSCALL(number, arg) first to see each call of the library.
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

/* Reads without a command. After that, the page is ordinary memory for this process. */
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
		/* This mapping would attach the process. */
		ret = -EINVAL;
	} else {
		/*
		 * The library makes a system call after it has mapped a gate, before it uses the
		 * gate.
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
