// SPDX-License-Identifier: MIT
/*
 * Attaching this process to the module, so that it finds out who traces it. What
 * is recorded then is up to event.c.
 *
 * All of this may run in a signal handler, in any thread, at any time: only
 * system calls and atomic operations.
 */
#include "attach.h"
#include "gate.h"

static int open_target(struct posixtrace_attach *attach)
{
	int fd = pxtu_device_open();
	int err;

	if (fd < 0)
		return fd;
	*attach = (struct posixtrace_attach){ 0 };
	err = pxtu_ioctl(fd, POSIXTRACE_IOC_ATTACH, attach);
	if (err < 0) {
		pxtu_close(fd);
		return err;
	}
	return fd;
}

/* With the lock of the state. Changes errno. */
static int attach_locked(struct pxtu_state *state)
{
	struct posixtrace_attach attach;
	int fd, err;

	fd = open_target(&attach);
	if (fd == -ENODEV || fd == -EPERM) {
		pxtu_store(&state->absent, 1);
		/* Nobody has to ask again. Or everybody will, if that fails. */
		pxtu_gate_shut();
	}
	if (fd < 0)
		return fd;

	err = -EPROTO;
	if (attach.gate.size == sizeof(struct posixtrace_gate))
		err = pxtu_gate_map(fd, attach.gate.offset);
	if (err) {
		pxtu_close(fd);
		return err;
	}
	pxtu_store(&state->absent, 0);
	/* Pair with the loads in pxtu_target_ioctl() and posix_trace_event(). */
	pxtu_store_release(&state->fd, fd);
	pxtu_store_release(&state->attached, 1);
	return fd;
}

int pxtu_attach(struct pxtu_state *state, int bad_fd)
{
	int saved_errno = errno;
	sigset_t signals;
	int fd = -EBUSY;

	if (pxtu_state_trylock(state, &signals)) {
		fd = pxtu_load(&state->fd);
		if (!fd || fd == bad_fd)
			fd = attach_locked(state);
		pxtu_state_unlock(state, &signals);
	}
	errno = saved_errno;
	return fd;
}

int pxtu_attach_wait(struct pxtu_state *state)
{
	/* Pairs with the store in attach_locked(). */
	int fd = pxtu_load_acquire(&state->fd);
	int held;

	if (fd)
		return fd;
	while ((fd = pxtu_attach(state, 0)) == -EBUSY) {
		held = PXTU_ATTACHING;
		__atomic_compare_exchange_n(&state->attaching, &held, PXTU_ATTACHING_WAITED,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		/* Returns at once if it has ended meanwhile. */
		pxtu_futex_wait(&state->attaching, PXTU_ATTACHING_WAITED);
	}
	return fd;
}

/* Is this the answer of a file that is no target of the module? */
static bool foreign(int err)
{
	return err == -EBADF || err == -ENOTTY || err == -EINVAL;
}

int pxtu_target_ioctl(struct pxtu_state *state, unsigned long cmd, void *arg)
{
	/* Pairs with the store in attach_locked(). */
	int fd = pxtu_load_acquire(&state->fd);
	struct posixtrace_attach attach;
	int ret;

	if (!fd)
		fd = pxtu_attach(state, 0);
	if (fd > 0) {
		ret = pxtu_ioctl(fd, cmd, arg);
		if (!foreign(ret))
			return ret;
		fd = pxtu_attach(state, fd);
	}
	if (fd > 0)
		return pxtu_ioctl(fd, cmd, arg);
	if (!pxtu_unattached(fd))
		return fd;

	fd = open_target(&attach);
	if (fd < 0)
		return fd;
	ret = pxtu_ioctl(fd, cmd, arg);
	pxtu_close(fd);
	return ret;
}

void pxtu_attach_forget(struct pxtu_state *state, int fd)
{
	__atomic_compare_exchange_n(&state->fd, &fd, 0, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}
