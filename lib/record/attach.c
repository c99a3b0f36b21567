// SPDX-License-Identifier: MIT
/*
 * Attaches this process to the module, so that it learns which streams trace it. Recording
 * is in event.c.
 *
 * All of this may run in a signal handler, in any thread, at any time, so it uses only
 * system calls and atomic operations.
 *
 * The program does not know our descriptor, and may close it: daemons close all descriptors.
 * The process remains a target, because its mapping of the gate holds the file. It only needs
 * another descriptor to send commands. The old number may now belong to a file of the program,
 * which must not be closed or used.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/sys.h"
#include "record/attach.h"
#include "record/door.h"
#include "record/gate.h"

#define TRIES	6	/* per event, in case a thread keeps closing our descriptor */
#define PAUSE	100U	/* pause after a failed try, in milliseconds */

/*
 * Tries of a thread that may wait. Without this limit, it would loop forever if another thread
 * keeps closing the descriptor, or if a filter answers EBADF to everything.
 */
#define WAIT_TRIES	1000

static void begin_pause(struct pxtu_state *state)
{
	pxtu_store(&state->pause, pxtu_coarse_ms() + PAUSE);
}

static bool pausing(const struct pxtu_state *state)
{
	__u32 end = pxtu_load(&state->pause);

	/* The clock wraps around, so an end that is more than PAUSE away has passed. */
	return end && end - pxtu_coarse_ms() - 1 < PAUSE;
}

/*
 * Replace errors to which our callers give another meaning. They come from a filter of the program
 * (seccomp), or from another device with the same path. The module returns none of them to our
 * commands, except EUSERS, which the callers check first.
 */
static int refused(int err)
{
	switch (err) {
	case -EALREADY:
	case -EBADF:
	case -EBUSY:
	case -EINVAL:
	case -ENOTTY:
	case -ESTALE:
	case -EUSERS:
		return -EPROTONOSUPPORT;
	default:
		return err < 0 ? err : -EPROTONOSUPPORT;
	}
}

/* Returns -EBADF if the program closed the descriptor immediately. */
static int open_target(struct posixtrace_attach *attach, __u32 flags)
{
	int fd, err;

	*attach = (struct posixtrace_attach){ .flags = flags };
	fd = pxtu_device_open();
	if (fd < 0)
		return fd == -EBADF ? fd : refused(fd);
	err = pxtu_ioctl(fd, POSIXTRACE_IOC_ATTACH, attach);
	if (!err)
		return fd;
	/*
	 * Check if EBADF came from a filter, which would give the same answer again. Another
	 * answer means that the program closed our descriptor, and that another thread has opened
	 * a file under its number since. Do not close that file.
	 */
	if (err == -EBADF && pxtu_ioctl(fd, POSIXTRACE_IOC_ATTACH, NULL) != -EBADF)
		return -EBADF;
	if (!pxtu_close_new(fd, err))
		return -EBADF;
	return flags & POSIXTRACE_ATTACH_ALONE && err == -EUSERS ? err : refused(err);
}

/*
 * Does MAP fail again with the same error? If not, the first error came from another file under
 * our number, and the number belongs to a third file now. Neither file is ours.
 */
static bool fails_again(int fd, const struct posixtrace_map *map, int err)
{
	void *again;
	int ret = pxtu_map(fd, 0, map, 0, &again);

	if (!ret)
		munmap(again, (size_t)map->size);
	return ret == err;
}

/* Open a target and map its gate. Changes errno. */
static int open_and_map(const struct pxtu_state *state, struct posixtrace_attach *attach)
{
	/*
	 * Set ALONE: another process with this memory would find the descriptor in the state, and
	 * mistake it for its own.
	 */
	int fd = open_target(attach, POSIXTRACE_ATTACH_ALONE);
	int err;

	if (fd == -ENODEV || fd == -EPERM || fd == -EOPNOTSUPP) {
		/* Another process with this memory still has the descriptor, as after vfork(). */
		if (pxtu_load(&state->owner) && pxtu_load(&state->owner) != getpid())
			return -EUSERS;
		/* Shut the gate, so that later events do not try again. If this fails, they do. */
		if (!pxtu_gate_mapped())
			pxtu_gate_shut();
	}
	if (fd < 0 || pxtu_gate_mapped())
		return fd;

	err = pxtu_gate_map(fd, &attach->gate);
	if (!err)
		return fd;
	if (refused(err) != err && err != -EUSERS && !fails_again(fd, &attach->gate, err))
		return -EBADF;
	if (!pxtu_close_ours(fd, 0))
		return -EBADF;
	return err == -EUSERS ? err : refused(err);
}

/* Called with the lock of the state. Changes errno. */
static int attach_locked(struct pxtu_state *state, int bad_fd)
{
	struct posixtrace_attach attach;
	int fd;

	/*
	 * The descriptor may be good. Either another thread has attached since the caller read
	 * bad_fd, and got the same number. Or is_answer() did not recognize the answer, and another
	 * descriptor would not help.
	 */
	if (bad_fd && pxtu_is_ours(bad_fd, 0))
		return bad_fd;
	/* Forget the old descriptor, even if no new one can be opened. */
	pxtu_store(&state->fd, 0);

	fd = open_and_map(state, &attach);
	/*
	 * Restore the old descriptor: it may be bad in this process, but good in the process that
	 * shares our memory after vfork().
	 */
	if (fd == -EUSERS)
		pxtu_store(&state->fd, bad_fd);
	else if (fd < 0 && fd != -EBADF)
		begin_pause(state);
	if (fd < 0)
		return fd;
	pxtu_store(&state->pause, 0);
	/* Threads that record for an earlier target may read this concurrently. */
	pxtu_store(&state->target, attach.target);
	pxtu_store(&state->owner, getpid());
	/* Pair with the loads in pxtu_target_ioctl() and pxtu_event_record(). */
	pxtu_store_release(&state->fd, fd);
	pxtu_store_release(&state->attached, 1);
	return fd;
}

int pxtu_attach(struct pxtu_state *state, int bad_fd)
{
	int saved_errno = errno;
	__u64 signals;
	int fd = -EBUSY;

	if (pausing(state))
		return -EALREADY;
	if (pxtu_state_trylock(state, &signals)) {
		fd = pxtu_load(&state->fd);
		if (!fd || fd == bad_fd)
			fd = attach_locked(state, fd);
		pxtu_state_unlock(state, signals);
	}
	errno = saved_errno;
	return fd;
}

int pxtu_attach_wait(struct pxtu_state *state)
{
	/* Pairs with the store in attach_locked(). */
	int fd = pxtu_load_acquire(&state->fd);
	int held, closed = 0;

	if (fd)
		return fd;
	for (;;) {
		pxtu_store(&state->pause, 0);
		fd = pxtu_attach(state, 0);
		if (fd != -EBUSY && fd != -EALREADY && fd != -EBADF)
			return fd;
		if (fd == -EBADF && ++closed == WAIT_TRIES)
			return -EPROTONOSUPPORT;
		held = pxtu_load(&state->attaching);
		if (held)
			__atomic_compare_exchange_n(&state->attaching, &held,
						    held | PXTU_ATTACHING_WAITED, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		/* Returns immediately if the other thread has finished. */
		pxtu_futex_wait(&state->attaching, held | PXTU_ATTACHING_WAITED);
	}
}

void pxtu_attach_retry(struct pxtu_state *state)
{
	if (pxtu_gate_absent() || pxtu_load(&state->pause))
		pxtu_attach_wait(state);
}

/* Check the role: on a stream, these commands would change the types of another process. */
static int command(int fd, unsigned long cmd, void *arg)
{
	if (cmd == POSIXTRACE_IOC_EVENTID_OPEN || cmd == POSIXTRACE_IOC_DESCRIBE)
		return pxtu_checked_soon(fd, 0, cmd, arg);
	return pxtu_ioctl(fd, cmd, arg);
}

/*
 * Can this answer come from a target? A target never rejects our arguments as invalid. Another file
 * under our number answers ENOTTY, or any other error.
 */
static bool is_answer(int fd, unsigned long cmd, int ret)
{
	if (!ret || ret == -ENOMEM || ret == -EFAULT)
		return true;
	if (cmd != POSIXTRACE_IOC_DESCRIBE && cmd != POSIXTRACE_IOC_EVENTID_OPEN)
		return false;
	return (ret == -ENOENT || ret == -EEXIST || ret == -ENOSPC || ret == -EPERM) &&
	       pxtu_is_ours(fd, 0);
}

static bool change_spare(struct pxtu_state *state, int i, int from, int to)
{
	return __atomic_compare_exchange_n(&state->spare[i], &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void keep_spare(struct pxtu_state *state, int fd)
{
	int i;

	for (i = 0; i < PXTU_SPARES; i++) {
		if (change_spare(state, i, 0, fd))
			return;
	}
	pxtu_close_ours(fd, 0);
}

/* Sends a command with a new descriptor. Returns -EBADF if the program closed it immediately. */
static int command_opened(struct pxtu_state *state, unsigned long cmd, void *arg, bool keep)
{
	struct posixtrace_attach attach;
	int fd, ret;

	fd = open_target(&attach, 0);
	if (fd < 0) {
		ret = fd;
		goto failed;
	}
	ret = command(fd, cmd, arg);
	if (is_answer(fd, cmd, ret)) {
		if (keep)
			keep_spare(state, fd);
		else
			pxtu_close_ours(fd, 0);
		return ret;
	}
	ret = pxtu_close_ours(fd, 0) ? refused(ret) : -EBADF;
failed:
	if (ret != -EBADF)
		begin_pause(state);
	return ret;
}

/*
 * Sends a command with a spare descriptor, while another thread attaches or no thread can.
 * Returns -EBADF if the program closed the spare one immediately.
 */
static int command_aside(struct pxtu_state *state, unsigned long cmd, void *arg, bool keep)
{
	__u64 signals;
	int i, fd, ret;

	for (i = 0; i < PXTU_SPARES; i++) {
		/* Pairs with the compare-and-swap in change_spare(). */
		fd = pxtu_load_acquire(&state->spare[i]);
		if (!fd)
			continue;
		ret = command(fd, cmd, arg);
		if (is_answer(fd, cmd, ret))
			return ret;
		/* No target gives this answer. Forget the descriptor: the program has closed it. */
		if (keep)
			change_spare(state, i, fd, 0);
	}
	/* siglongjmp() and cancellation must not leak the new descriptor. */
	pxtu_signals_block(&signals);
	ret = command_opened(state, cmd, arg, keep);
	pxtu_signals_restore(signals);
	return ret;
}

int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg)
{
	int fd, tries, ret;

	if (pxtu_door(cmd, arg, &ret))
		return ret;
	/* A seccomp filter may kill the thread for the system call, so lose the event instead. */
	if (!state || pxtu_sandboxed())
		return -EBADF;
	/* Pairs with the store in attach_locked(). */
	fd = pxtu_load_acquire(&state->fd);
	for (tries = 0; tries < TRIES; tries++) {
		if (fd > 0) {
			ret = command(fd, cmd, arg);
			if (is_answer(fd, cmd, ret))
				return ret;
		}
		fd = pxtu_attach(state, fd > 0 ? fd : 0);
		if (pxtu_unattached(fd)) {
			/*
			 * Use another descriptor: the one in @state may belong to another process
			 * with this memory, and may not be open here.
			 */
			ret = command_aside(state, cmd, arg, fd == -EBUSY);
			if (ret != -EBADF)
				return ret;
		} else if (fd < 0 && fd != -EBADF) {
			return fd;
		}
	}
	/*
	 * The descriptor is ours, so a filter answers for the module. Pause, so that the next
	 * event tries only once.
	 */
	if (fd > 0 && pxtu_is_ours(fd, 0))
		begin_pause(state);
	return -EBADF;
}

int pxtu_attach_command(unsigned long cmd, void *arg)
{
	struct pxtu_state *state;
	int ret;

	if (pxtu_door(cmd, arg, &ret))
		return ret;
	state = pxtu_state();
	if (!state)
		return -ENOMEM;
	ret = pxtu_attach_wait(state);
	if (ret >= 0 || pxtu_unattached(ret))
		ret = pxtu_target_ioctl(state, cmd, arg);
	return ret;
}
