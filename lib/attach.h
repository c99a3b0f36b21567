/* SPDX-License-Identifier: MIT */
/* This process as one that may be traced. */
#ifndef PXTU_ATTACH_H
#define PXTU_ATTACH_H

#include "state.h"

/**
 * pxtu_unattached() - not attached, and yet the module takes commands?
 * @err: what pxtu_attach() returned
 *
 * Return: yes if each command needs a descriptor of its own.
 */
static inline bool pxtu_unattached(int err)
{
	return err == -EBUSY || err == -EUSERS;
}

/**
 * pxtu_attach() - attach this process, if it is not attached
 * @state: state of this process
 * @bad_fd: 0, or a descriptor found in @state that is not ours any more
 *
 * Never waits: not for another thread, nor for the thread that it interrupted.
 * Async-signal-safe.
 *
 * Return: a descriptor that has the role of a target; -EBUSY while another
 * thread attaches; -EUSERS while another process has the same memory, where there
 * is place for one gate; -ENODEV, -EPERM without access to the module; other
 * negative errno.
 */
int pxtu_attach(struct pxtu_state *state, int bad_fd);

/**
 * pxtu_attach_wait() - attach this process, for what has to outlive the call
 * @state: state of this process
 *
 * Waits for another thread that attaches. What a command leaves behind in the
 * module (names) is kept as long as the process is attached: the descriptor for
 * one command that pxtu_target_ioctl() opens meanwhile would not do.
 *
 * Return: as pxtu_attach(), but never -EBUSY.
 */
int pxtu_attach_wait(struct pxtu_state *state);

/**
 * pxtu_target_ioctl() - a command of the role target
 * @state: state of this process
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Attaches if needed, and again if the program closed our descriptor behind our
 * back. While another thread attaches, a descriptor of its own serves this one
 * command. Async-signal-safe.
 *
 * Return: what the command returned, or negative errno.
 */
int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg);

/**
 * pxtu_attach_forget() - a descriptor was opened for something else
 * @state: state of this process
 * @fd: the descriptor, just returned by the kernel
 *
 * If it has the number of the one that attached us, then the program must have
 * closed that. Other numbers are noticed by the errors of the commands; but
 * another file of the module would take some of them.
 */
void pxtu_attach_forget(struct pxtu_state *state, int fd);

#endif /* PXTU_ATTACH_H */
