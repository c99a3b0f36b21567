// SPDX-License-Identifier: MIT
/*
 * The streams that trace this process: which there are, and where their memory is
 * mapped. So far that is the heads of the CPUs, where a full stream counts what it
 * drops, without a system call.
 *
 * Threads and signal handlers use these notes in restartable sequences only. To
 * take a mapping away we take the note of it away, make all sequences begin anew,
 * and then nobody can have it.
 */
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "gate.h"
#include "rseq.h"
#include "slots.h"

/* A program may have forbidden it to itself: then do without sequences. */
static int membarrier(struct pxtu_state *state, int cmd)
{
	bool failed = syscall(SYS_membarrier, cmd, 0, 0);

	pxtu_store(&state->sequences, failed ? -1 : 1);
	return failed ? -EPERM : 0;
}

/* Take mappings away whose stream is not in its slot any more. */
static int drop_old(struct pxtu_state *state, const struct posixtrace_slot *slots)
{
	void *old[POSIXTRACE_SLOTS_MAX];
	unsigned int i, count = 0;
	struct pxtu_slot *slot;
	int err;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		slot = &state->slot[i];
		if (!slot->heads || slot->stream == slots[i].stream)
			continue;
		old[count++] = slot->heads;
		pxtu_store(&slot->heads, NULL);
	}
	if (!count)
		return 0;
	/* Every sequence that began before ends, or begins anew and finds NULL. */
	err = membarrier(state, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
	if (err)
		return err;
	while (count--)
		munmap(old[count], state->heads_size);
	return 0;
}

static bool map_new(struct pxtu_state *state, int fd, const struct posixtrace_slot *slots)
{
	struct pxtu_slot *slot;
	unsigned int i;
	void *heads;
	int err;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		slot = &state->slot[i];
		/* They are all of the same size. */
		if (slot->heads || !slots[i].heads.size ||
		    (state->heads_size && state->heads_size != slots[i].heads.size))
			continue;
		err = pxtu_map(fd, 0, &slots[i].heads,
			       POSIXTRACE_MAPPING_WRITE | POSIXTRACE_MAPPING_POPULATE, &heads);
		/* Closed meanwhile? Else the module counts, as if there were no sequences. */
		if (err && !pxtu_is_ours(fd, 0))
			return false;
		if (err)
			continue;
		state->heads_size = slots[i].heads.size;
		pxtu_store(&state->nr_cpus, (__u32)(slots[i].heads.size /
						    sizeof(struct posixtrace_cpu_head)));
		slot->stream = slots[i].stream;
		/* Used by those who see the generation that is stored later. */
		pxtu_store(&slot->heads, heads);
	}
	return true;
}

/* With the lock of the state. Changes errno. */
static void sync_locked(struct pxtu_state *state)
{
	struct posixtrace_sync sync = { .slots = (uintptr_t)state->sync };
	int fd = pxtu_load(&state->fd);

	if (fd <= 0 || state->generation == pxtu_load(&pxtu_gate()->generation))
		return;
	if (!state->sequences &&
	    membarrier(state, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ))
		return;
	if (pxtu_ioctl(fd, POSIXTRACE_IOC_SYNC, &sync) || drop_old(state, state->sync))
		return;
	if (!map_new(state, fd, state->sync))
		return;
	/*
	 * Last. Whoever sees it in a sequence, and the same generation in the gate,
	 * sees the notes that belong to it.
	 */
	pxtu_store_release(&state->generation, sync.generation);
}

static void sync_slots(struct pxtu_state *state)
{
	int saved_errno = errno;
	sigset_t signals;

	/* Closed, and could not be opened again: that costs no system call per event. */
	if (!pxtu_load(&state->fd))
		return;
	if (!pxtu_state_trylock(state, &signals))
		return;
	sync_locked(state);
	pxtu_state_unlock(state, &signals);
	errno = saved_errno;
}

__u32 pxtu_slots_drop(struct pxtu_state *state, __u32 id, __u32 mask)
{
	const struct posixtrace_gate *gate = pxtu_gate();
	__u32 dropped = 0;
	unsigned int slot;

	if (!pxtu_rseq_available() || pxtu_unlikely(pxtu_load(&state->sequences) < 0))
		return 0;
	if (pxtu_unlikely(pxtu_load(&gate->generation) != pxtu_load(&state->generation)))
		sync_slots(state);
	for (; mask; mask &= mask - 1) {
		slot = (unsigned int)__builtin_ctz(mask);
		if (pxtu_rseq_drop(state, gate, id, slot))
			dropped |= 1U << slot;
	}
	return dropped;
}
