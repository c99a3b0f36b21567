/* SPDX-License-Identifier: MIT */
/* This process as one that may be traced. */
#ifndef PXTU_ATTACH_H
#define PXTU_ATTACH_H

#include "common/state.h"

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
 * The descriptor that the program has closed is not closed again, since another
 * file has its number by now, or soon. Never waits: not for another thread, nor for
 * the thread that it interrupted. Async-signal-safe.
 *
 * Without access to the module, or with one of another version, the gate is shut: the
 * process records nothing any more, and only pxtu_attach_wait() tries again. After most
 * other failures there is a pause: meanwhile this returns at once, without a system call.
 *
 * Return: a descriptor that has the role of a target; -EBUSY while another
 * thread attaches; -EUSERS while another process has the same memory, where there
 * is place for one gate; -ENODEV, -EPERM without access to the module; -EOPNOTSUPP with
 * one of another version; -EPROTONOSUPPORT if a filter of the program answers in its
 * place; -EALREADY during the pause; -EBADF if the program closed the new descriptor at
 * once; other negative errno.
 */
int pxtu_attach(struct pxtu_state *state, int bad_fd);

/**
 * pxtu_attach_wait() - attach this process, for what has to outlive the call
 * @state: state of this process
 *
 * Waits for another thread that attaches. What a command leaves behind in the
 * module (names) is kept as long as the process is attached: a descriptor on the
 * side, see pxtu_target_ioctl(), would not do. Respects no pause.
 *
 * Return: as pxtu_attach(), but never -EBUSY, -EALREADY or -EBADF.
 */
int pxtu_attach_wait(struct pxtu_state *state);

/**
 * pxtu_target_ioctl() - a command of the role target
 * @state: state of this process
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Attaches if needed, and again if the program closed our descriptor behind our
 * back: as long as it has not, that costs nothing. A file that has its number now is
 * sent a command or two, which it does not know, and is then left alone. While another
 * thread attaches, a descriptor on the side serves; some of these stay open.
 * Async-signal-safe.
 *
 * Return: what the command returned, or negative errno.
 */
int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg);

/**
 * pxtu_attach_retry() - the module can be opened: try what has failed before
 * @state: state of this process
 *
 * Not for signal handlers.
 */
void pxtu_attach_retry(struct pxtu_state *state);

#endif /* PXTU_ATTACH_H */
