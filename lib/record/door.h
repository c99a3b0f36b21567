/* SPDX-License-Identifier: MIT */
/* Commands of this process to the module without a system call. */
#ifndef PXTU_DOOR_H
#define PXTU_DOOR_H

#include "common/pxtu.h"

/**
 * pxtu_door() - send a command of the role target
 * @cmd: POSIXTRACE_IOC_EVENT, NEXT, WAKE, EVENTID_OPEN or DESCRIBE
 * @arg: its argument
 * @ret: gets what the command returned: 0 or negative errno
 *
 * The process may have closed all descriptors, and may forbid system calls. Async-signal-safe.
 *
 * Return: false if this process has no door, or if its events belong to another one with the same
 * memory; then the module did nothing.
 */
bool pxtu_door(unsigned long cmd, void *arg, int *ret);

/**
 * pxtu_door_keeps() - do event types that the door gives belong to the memory of this process?
 *
 * They do not if the gate is that of another process with the same memory.
 *
 * Return: yes or no.
 */
bool pxtu_door_keeps(void);

/**
 * pxtu_sandboxed() - may a system call end the calling thread?
 *
 * A filter of the program (seccomp) never goes away, so the answer is kept. Async-signal-safe.
 *
 * Return: true if it has a filter; false if it has none, or if there is no door to ask at.
 */
bool pxtu_sandboxed(void);

#endif /* PXTU_DOOR_H */
