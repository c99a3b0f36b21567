/* SPDX-License-Identifier: MIT */
/* Commands of this process to the module without a system call. */
#ifndef PXTU_DOOR_H
#define PXTU_DOOR_H

#include "common/pxtu.h"

/**
 * pxtu_door() - send a command of the role target
 * @cmd: POSIXTRACE_IOC_EVENT, NEXT, WAKE, EVENTID_OPEN or DESCRIBE
 * @arg: its argument
 * @ret: result of the command: 0 or negative errno
 *
 * Works even if the process has closed all descriptors or forbids system calls. Async-signal-safe.
 *
 * Return: false if this process has no door, or if its events belong to another process with the
 * same memory; then the module did nothing.
 */
bool pxtu_door(unsigned long cmd, void *arg, int *ret);

/**
 * pxtu_door_keeps() - check if event types opened by the door belong to this memory
 *
 * They do not if the gate belongs to another process with the same memory.
 *
 * Return: true if they do.
 */
bool pxtu_door_keeps(void);

/**
 * pxtu_sandboxed() - check if a system call may kill the calling thread
 *
 * A filter of the program (seccomp) is permanent, so the answer is cached. Async-signal-safe.
 *
 * Return: true if the thread has a filter; false if it has no filter, or if there is no door.
 */
bool pxtu_sandboxed(void);

#endif /* PXTU_DOOR_H */
