/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the WAKE commands of a program, and can intercept them. Include this header in only one
 * file of a program that has no door.
 */
#ifndef _SELFTESTS_WAKEUPS_H
#define _SELFTESTS_WAKEUPS_H

#include <linux/posixtrace.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Number of WAKE commands of all threads in this program. */
static unsigned long wakeups;

/*
 * If not NULL, called instead of WAKE. The record is then committed, but the reader is not woken.
 */
static void (*wakeups_instead)(void);

static void note_wakeup(long number, const long *arg)
{
	if (number != SYS_ioctl || (unsigned long)arg[1] != POSIXTRACE_IOC_WAKE)
		return;
	__atomic_fetch_add(&wakeups, 1, __ATOMIC_RELAXED);
	if (wakeups_instead)
		wakeups_instead();
}

#define NOTE_SYSCALL(number, arg)	note_wakeup(number, arg)

#include "no_door.h"

#endif /* _SELFTESTS_WAKEUPS_H */
