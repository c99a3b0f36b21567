// SPDX-License-Identifier: MIT
/*
 * The pages with the state of this process. Their contents belong to record/attach.c,
 * record/slots.c and trid.c.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/state.h"
#include "common/sys.h"

struct pxtu_state *pxtu_state_page;

struct pxtu_state *pxtu_state_make(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (sizeof(struct pxtu_state) + page - 1) & ~(page - 1);
	struct pxtu_state *mine, *found = NULL;
	int saved_errno = errno;

	mine = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mine == MAP_FAILED)
		goto out;
	/*
	 * If this fails, as before Linux 4.14, tracing is not possible: a child would mistake its
	 * parent's descriptors for its own.
	 */
	if (madvise(mine, size, MADV_WIPEONFORK))
		goto unmap;
	/* Pairs with the load in pxtu_state(). */
	if (__atomic_compare_exchange_n(&pxtu_state_page, &found, mine, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		found = mine;
		goto out;
	}
unmap:
	munmap(mine, size);
out:
	errno = saved_errno;
	return found;
}

static bool change_holder(struct pxtu_state *state, int *from, int to)
{
	return __atomic_compare_exchange_n(&state->attaching, from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Time, in ms, after which a thread that wants the lock checks if the holder has ended. */
#define LONG	1000U

/*
 * Take the lock from a thread that has ended. A thread can be killed while others continue: by a
 * filter (seccomp), or as a child of vfork(). Unfinished work has no effect until its last step, so
 * another thread can start over.
 */
static bool take_over(struct pxtu_state *state, int held, int me)
{
	if (pxtu_coarse_ms() - pxtu_load(&state->attaching_since) < LONG ||
	    !pxtu_thread_ended(held & ~PXTU_ATTACHING_WAITED))
		return false;
	return change_holder(state, &held, me | (held & PXTU_ATTACHING_WAITED));
}

static bool try_lock(struct pxtu_state *state)
{
	int me = pxtu_thread(), held = 0;

	/* Only a filter (seccomp) returns such an id. Use the id of a thread that never ends. */
	if (me <= 0)
		me = 1;
	if (!change_holder(state, &held, me) && !take_over(state, held, me))
		return false;
	pxtu_store(&state->attaching_since, pxtu_coarse_ms());
	return true;
}

bool pxtu_state_trylock(struct pxtu_state *state, __u64 *signals)
{
	/*
	 * Block signals: a signal handler that leaves by siglongjmp(), or a cancellation, would
	 * leave the lock held forever.
	 */
	pxtu_signals_block(signals);
	if (try_lock(state))
		return true;
	pxtu_signals_restore(*signals);
	return false;
}

void pxtu_state_unlock(struct pxtu_state *state, __u64 signals)
{
	if (__atomic_exchange_n(&state->attaching, 0, __ATOMIC_RELEASE) & PXTU_ATTACHING_WAITED)
		pxtu_futex_wake(&state->attaching);
	pxtu_signals_restore(signals);
}
