/* SPDX-License-Identifier: MIT */
/* This process as a target. */
#ifndef PXTU_ATTACH_H
#define PXTU_ATTACH_H

#include "common/state.h"
#include "record/door.h"

/**
 * pxtu_unattached() - check if commands work although the process is not attached
 * @err: result of pxtu_attach()
 *
 * Return: true if each command needs a separate descriptor.
 */
static inline bool pxtu_unattached(int err)
{
	return err == -EBUSY || err == -EUSERS;
}

/**
 * pxtu_attach() - attach this process, if it is not attached
 * @state: state of this process
 * @bad_fd: 0, or a descriptor in @state that is no longer ours
 *
 * Does not close @bad_fd: the program has closed it, and its number belongs to another file, now or
 * soon. Never waits for another thread, nor for the thread that it interrupted.
 * Async-signal-safe.
 *
 * Without access to the module, or if its version differs, this shuts the gate: the process
 * stops recording, and only pxtu_attach_wait() tries again. After most other failures there is a
 * pause, during which this returns immediately, without a system call.
 *
 * Return: a descriptor with the role of a target; -EBUSY while another thread attaches;
 * -EUSERS while another process has the same memory, which has room for one gate only;
 * -ENODEV, -EPERM without access to the module; -EOPNOTSUPP if its version differs;
 * -EPROTONOSUPPORT if a filter of the program answers for the module; -EALREADY during the
 * pause; -EBADF if the program closed the new descriptor immediately; other negative errno.
 */
int pxtu_attach(struct pxtu_state *state, int bad_fd);

/**
 * pxtu_attach_wait() - attach this process, for commands with a lasting effect
 * @state: state of this process
 *
 * Waits for another thread that attaches. The module keeps names while the process is attached,
 * so a spare descriptor, see pxtu_target_ioctl(), is not enough. Ignores the pause.
 *
 * Return: as pxtu_attach(), but never -EBUSY, -EALREADY or -EBADF.
 */
int pxtu_attach_wait(struct pxtu_state *state);

/**
 * pxtu_attach_state() - state of this process, for a thread that records
 *
 * Return: the state; NULL if out of memory, or if a filter of the program forbids the system
 * calls that allocate the state. Without a state, the module records.
 */
static inline struct pxtu_state *pxtu_attach_state(void)
{
	/* Pairs with the compare-and-swap in pxtu_state_make(). */
	struct pxtu_state *state = pxtu_load_acquire(&pxtu_state_page);

	return state || pxtu_sandboxed() ? state : pxtu_state();
}

/**
 * pxtu_attach_command() - send a command of the role target that has a lasting effect
 * @cmd: POSIXTRACE_IOC_EVENTID_OPEN or DESCRIBE
 * @arg: its argument
 *
 * Attaches like pxtu_attach_wait() if there is no door. Not for signal handlers.
 *
 * Return: the result of the command, or negative errno as pxtu_attach_wait().
 */
int pxtu_attach_command(unsigned long cmd, void *arg);

/**
 * pxtu_target_ioctl() - send a command of the role target
 * @state: state of this process, or NULL
 * @cmd: POSIXTRACE_IOC_*
 * @arg: its argument
 *
 * Uses the door, see pxtu_door(), or else a descriptor. Attaches if needed, and again if the
 * answer shows that the program closed our descriptor. If another file has got its number, that
 * file receives at most a command or two, which it does not know. While another thread attaches,
 * this uses a spare descriptor; some spare descriptors stay open. Async-signal-safe.
 *
 * Return: the result of the command, or negative errno.
 */
int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg);

/**
 * pxtu_attach_retry() - attach again after a failure, now that the module can be opened
 * @state: state of this process
 *
 * Not for signal handlers.
 */
void pxtu_attach_retry(struct pxtu_state *state);

#endif /* PXTU_ATTACH_H */
