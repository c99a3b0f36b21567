/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the WAKE commands of a program, and can intercept them. Include it in one file of
 * a program: from selftests/support, the linker would take syscall() for all programs.
 */
#ifndef _SELFTESTS_WAKEUPS_H
#define _SELFTESTS_WAKEUPS_H

#include <errno.h>
#include <linux/posixtrace.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* WAKE commands of all threads of this program. */
static unsigned long wakeups;

/* Called instead, if not NULL: the record is committed, but unreported. */
static void (*wakeups_instead)(void);

/* Replaces the C library's function, which the library calls; supports only what is needed. */
long syscall(long number, ...)
{
	long arg[6], ret;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_ioctl && (unsigned long)arg[1] == POSIXTRACE_IOC_WAKE) {
		__atomic_fetch_add(&wakeups, 1, __ATOMIC_RELAXED);
		if (wakeups_instead)
			wakeups_instead();
	}
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
	if (ret >= -4095 && ret < 0) {
		errno = -ret;
		ret = -1;
	}
	return ret;
}

#endif /* _SELFTESTS_WAKEUPS_H */
