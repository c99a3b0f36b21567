/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the commands by which a program records with the help of the module. Include it in one
 * file of a program.
 */
#ifndef _COMMANDS_H
#define _COMMANDS_H

#include <dlfcn.h>
#include <linux/posixtrace.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* Of all threads, and of all processes with this memory. */
static struct commands {
	int syncs;
	int events;
} commands;

/* Replaces the C library's function, which the library calls. */
long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long arg[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_ioctl && (unsigned long)arg[1] == POSIXTRACE_IOC_SYNC)
		__atomic_fetch_add(&commands.syncs, 1, __ATOMIC_RELAXED);
	if (number == SYS_ioctl && (unsigned long)arg[1] == POSIXTRACE_IOC_EVENT)
		__atomic_fetch_add(&commands.events, 1, __ATOMIC_RELAXED);
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

#endif /* _COMMANDS_H */
