// SPDX-License-Identifier: MIT
/*
 * Attaches this process to the module, so that it learns which streams trace it. Recording
 * is in event.c.
 *
 * All of this may run in a signal handler, in any thread, at any time. So it uses only
 * system calls and atomic operations.
 *
 * The program does not know our descriptor, and may close it: daemons close all descriptors.
 * The process remains a target, because its mapping of the gate holds the file. It only lost
 * the way to send commands, and another descriptor will do. The number of the old one may
 * belong to a file of the program now, which must be neither closed nor used.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "record/attach.h"
#include "record/gate.h"

#define TRIES	6	/* for one event, against a thread that closes and closes */
#define PAUSE	100U	/* milliseconds after a failed try */

/* For threads that wait: against the same, and a filter that answers EBADF to all. */
#define WAIT_TRIES	1000

static void begin_pause(struct pxtu_state *state)
{
	pxtu_store(&state->pause, pxtu_coarse_ms() + PAUSE);
}

static bool pausing(const struct pxtu_state *state)
{
	__u32 end = pxtu_load(&state->pause);

	/* The clock wraps around. An end further away than a pause is long over. */
	return end && end - pxtu_coarse_ms() - 1 < PAUSE;
}

/*
 * The module never gives these answers to our commands, and to our callers the numbers mean
 * other things. They come from a filter of the program (seccomp), or from another device of
 * that name.
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

/* Returns -EBADF if the program closed the descriptor at once. */
static int open_target(struct posixtrace_attach *attach)
{
	int fd, err;

	*attach = (struct posixtrace_attach){ 0 };
	fd = pxtu_device_open();
	if (fd < 0)
		return fd == -EBADF ? fd : refused(fd);
	err = pxtu_ioctl(fd, POSIXTRACE_IOC_ATTACH, attach);
	if (!err)
		return fd;
	/*
	 * Was the number free, and has another thread the device open under it by now?
	 * A filter would give the same answer again.
	 */
	if (err == -EBADF && pxtu_ioctl(fd, POSIXTRACE_IOC_ATTACH, NULL) != -EBADF)
		return -EBADF;
	return pxtu_close_new(fd, err) ? refused(err) : -EBADF;
}

/*
 * Does MAP fail permanently? If not, another file had the number, and a third file has it now,
 * which is not ours either.
 */
static bool fails_again(int fd, const struct posixtrace_map *map, int err)
{
	void *again;
	int ret = pxtu_map(fd, 0, map, 0, &again);

	if (!ret)
		munmap(again, (size_t)map->size);
	return ret == err;
}

static int map_gate(struct pxtu_state *state, int fd, const struct posixtrace_attach *attach)
{
	int err;

	/*
	 * The program closed our descriptor, and the gate of this target is in its place: there may
	 * be no memory for it a second time. No target has the number 0, but a filter that answers
	 * for the module leaves it.
	 */
	if (attach->target && pxtu_load(&state->gate) == attach->target)
		return 0;
	err = pxtu_gate_map(fd, &attach->gate);
	/* The memory is shared: the gate in place stays, and may be that of another process. */
	if (err == -EUSERS)
		return err;
	pxtu_store(&state->owner, getpid());
	pxtu_store(&state->gate, err ? 0 : attach->target);
	return err;
}

/* A target and its gate. Changes errno. */
static int open_and_map(struct pxtu_state *state, struct posixtrace_attach *attach)
{
	int fd = open_target(attach);
	int err;

	if (fd == -ENODEV || fd == -EPERM || fd == -EOPNOTSUPP) {
		/* Another process shares the memory, as after vfork(), and needs the gate. */
		if (pxtu_load(&state->gate) && pxtu_load(&state->owner) != getpid())
			return -EUSERS;
		pxtu_store(&state->absent, 1);
		/* Events need not ask again. If this fails, each one will. */
		pxtu_store(&state->gate, 0);
		pxtu_gate_shut();
	}
	if (fd < 0)
		return fd;

	err = map_gate(state, fd, attach);
	if (!err) {
		pxtu_store(&state->absent, 0);
		return fd;
	}
	if (refused(err) != err && err != -EUSERS && !fails_again(fd, &attach->gate, err))
		return -EBADF;
	if (!pxtu_close_ours(fd, 0))
		return -EBADF;
	return err == -EUSERS ? err : refused(err);
}

/* With the lock of the state. Changes errno. */
static int attach_locked(struct pxtu_state *state, int bad_fd)
{
	struct posixtrace_attach attach;
	int fd;

	/*
	 * Another thread may have attached meanwhile, and got the number that we found
	 * bad before. Or we did not know the answer: then another descriptor does not help.
	 */
	if (bad_fd && pxtu_is_ours(bad_fd, 0))
		return bad_fd;
	/* Forget the old one, even if there will be no other. */
	pxtu_store(&state->fd, 0);

	fd = open_and_map(state, &attach);
	/* It may be bad in this process, but good in the other, as after vfork(). */
	if (fd == -EUSERS)
		pxtu_store(&state->fd, bad_fd);
	else if (fd < 0 && fd != -EBADF)
		begin_pause(state);
	if (fd < 0)
		return fd;
	pxtu_store(&state->pause, 0);
	/* Other threads may write meanwhile, for another target of the same process. */
	pxtu_store(&state->target, attach.target);
	/* Pair with the loads in pxtu_target_ioctl() and pxtu_event_record(). */
	pxtu_store_release(&state->fd, fd);
	pxtu_store_release(&state->attached, 1);
	return fd;
}

int pxtu_attach(struct pxtu_state *state, int bad_fd)
{
	int saved_errno = errno;
	sigset_t signals;
	int fd = -EBUSY;

	if (pausing(state))
		return -EALREADY;
	if (pxtu_state_trylock(state, &signals)) {
		fd = pxtu_load(&state->fd);
		if (!fd || fd == bad_fd)
			fd = attach_locked(state, fd);
		pxtu_state_unlock(state, &signals);
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
		/* Returns at once if the other thread has finished meanwhile. */
		pxtu_futex_wait(&state->attaching, held | PXTU_ATTACHING_WAITED);
	}
}

void pxtu_attach_retry(struct pxtu_state *state)
{
	if (pxtu_load(&state->absent) || pxtu_load(&state->pause))
		pxtu_attach_wait(state);
}

/* The other role knows these, too, and would open or describe a type of another process. */
static int command(int fd, unsigned long cmd, void *arg)
{
	if (cmd == POSIXTRACE_IOC_EVENTID_OPEN || cmd == POSIXTRACE_IOC_DESCRIBE)
		return pxtu_checked_soon(fd, 0, cmd, arg);
	return pxtu_ioctl(fd, cmd, arg);
}

/*
 * Can a target have given this answer? It finds nothing invalid in our commands. Other files
 * answer ENOTTY, or any other error.
 */
static bool is_answer(int fd, unsigned long cmd, int ret)
{
	if (!ret || ret == -ENOMEM || ret == -EFAULT)
		return true;
	return cmd == POSIXTRACE_IOC_DESCRIBE &&
	       (ret == -ENOENT || ret == -EEXIST || ret == -ENOSPC) && pxtu_is_ours(fd, 0);
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

/*
 * Sends a command while another thread attaches, or while no thread can: with a spare
 * descriptor. Returns -EBADF if the program closed that at once.
 */
static int command_aside(struct pxtu_state *state, unsigned long cmd, void *arg, bool keep)
{
	struct posixtrace_attach attach;
	int i, fd, ret;

	for (i = 0; i < PXTU_SPARES; i++) {
		/* Pairs with the compare-and-swap in change_spare(). */
		fd = pxtu_load_acquire(&state->spare[i]);
		if (!fd)
			continue;
		ret = command(fd, cmd, arg);
		if (is_answer(fd, cmd, ret))
			return ret;
		/* As above: the program closed it, so forget it. */
		if (keep)
			change_spare(state, i, fd, 0);
	}

	fd = open_target(&attach);
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

int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg)
{
	/* Pairs with the store in attach_locked(). */
	int fd = pxtu_load_acquire(&state->fd);
	int tries, ret;

	for (tries = 0; tries < TRIES; tries++) {
		if (fd > 0) {
			ret = command(fd, cmd, arg);
			if (is_answer(fd, cmd, ret))
				return ret;
		}
		fd = pxtu_attach(state, fd > 0 ? fd : 0);
		if (pxtu_unattached(fd)) {
			/* A descriptor of one process is not open in another. */
			ret = command_aside(state, cmd, arg, fd == -EBUSY);
			if (ret != -EBADF)
				return ret;
		} else if (fd < 0 && fd != -EBADF) {
			return fd;
		}
	}
	/* It is ours, and a filter answers for it: the next event tries only once. */
	if (fd > 0 && pxtu_is_ours(fd, 0))
		begin_pause(state);
	return -EBADF;
}
