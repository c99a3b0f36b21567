/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the commands that a program uses to record through the module. Include it in one file of
 * a program without a door.
 */
#ifndef _COMMANDS_H
#define _COMMANDS_H

#include <linux/posixtrace.h>
#include <sys/syscall.h>

/* Counted for all threads and all processes that share this memory. */
static struct commands {
	int syncs;
	int events;
} commands;

static void note_command(long number, const long *arg)
{
	if (number == SYS_ioctl && (unsigned long)arg[1] == POSIXTRACE_IOC_SYNC)
		__atomic_fetch_add(&commands.syncs, 1, __ATOMIC_RELAXED);
	if (number == SYS_ioctl && (unsigned long)arg[1] == POSIXTRACE_IOC_EVENT)
		__atomic_fetch_add(&commands.events, 1, __ATOMIC_RELAXED);
}

#define NOTE_SYSCALL(number, arg)	note_command(number, arg)

#include "no_door.h"

#endif /* _COMMANDS_H */
