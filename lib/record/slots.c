// SPDX-License-Identifier: MIT
/*
 * Caches the streams that trace this process, and the mappings of their memory, in slots.
 *
 * Threads and signal handlers use the slots in restartable sequences only. To remove a
 * mapping, empty its slot and make all sequences restart. After that, no thread uses it.
 */
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sys.h"
#include "record/attach.h"
#include "record/door.h"
#include "record/gate.h"
#include "record/slots.h"

/* Sequences cannot be used if this fails, for example because the program has forbidden it. */
static int membarrier(struct pxtu_state *state, int cmd)
{
	bool failed = syscall(SYS_membarrier, cmd, 0, 0);

	pxtu_store(&state->sequences, failed ? -1 : 1);
	return failed ? -EPERM : 0;
}

/*
 * Populate only mappings up to this size: populating a larger one would take most of the life of a
 * short-lived process. This is twice the default stream size, because the module grants a little
 * more than requested.
 */
#define POPULATE_MAX	(512U << 10)

/* Mappings of a stream that no longer traces this process. */
struct old {
	void *heads;
	size_t size;
	void *wakeup;
};

/* Remove mappings of streams that are no longer in their slots. */
static int drop_old(struct pxtu_state *state, const struct posixtrace_slot *slots)
{
	struct old old[POSIXTRACE_SLOTS_MAX];
	unsigned int i, count = 0;
	struct pxtu_slot *slot;
	int err;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		slot = &state->slot[i];
		if (!slot->heads || slot->stream == slots[i].stream)
			continue;
		old[count++] = (struct old){
			.heads = slot->heads,
			.size = (size_t)(slot->pool - (unsigned char *)slot->heads) +
				(size_t)slot->pool_size,
			.wakeup = (void *)(uintptr_t)slot->wakeup,
		};
		pxtu_store(&slot->heads, NULL);
	}
	if (!count)
		return 0;
	/* Every sequence that is running ends, or restarts and finds NULL. */
	err = membarrier(state, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
	if (err)
		return err;
	while (count--) {
		munmap(old[count].heads, old[count].size);
		munmap(old[count].wakeup, sizeof(struct posixtrace_wakeup));
	}
	return 0;
}

/* Map heads and sub-buffers together, with one mapping, and need_wakeup with another. */
static int map_stream(struct pxtu_slot *slot, int fd, const struct posixtrace_slot *info)
{
	struct posixtrace_map all = {
		.offset = info->heads.offset,
		.size = info->heads.size + info->pool.size,
	};
	__u32 flags = POSIXTRACE_MAPPING_WRITE;
	void *heads, *wakeup;
	int err;

	if (all.size <= POPULATE_MAX)
		flags |= POSIXTRACE_MAPPING_POPULATE;
	err = pxtu_map(fd, 0, &all, flags, &heads);
	if (err)
		return err;
	err = pxtu_map(fd, 0, &info->wakeup, POSIXTRACE_MAPPING_POPULATE, &wakeup);
	if (err) {
		munmap(heads, (size_t)all.size);
		return err;
	}
	/*
	 * Only threads that see the generation that sync_locked() stores later use these values.
	 * Other threads may read them concurrently, for the stream that had the slot before, but
	 * their sequences fail.
	 */
	pxtu_store(&slot->pool, (unsigned char *)heads + info->heads.size);
	pxtu_store(&slot->pool_size, info->pool.size);
	pxtu_store(&slot->wakeup, (const struct posixtrace_wakeup *)wakeup);
	pxtu_store(&slot->stream, info->stream);
	pxtu_store(&slot->max_data, info->max_data_size);
	pxtu_store(&slot->relaxed, info->flags & POSIXTRACE_SLOT_RELAXED);
	pxtu_store(&slot->heads, (struct posixtrace_cpu_head *)heads);
	return 0;
}

/* Can this process write records without the module? */
static bool is_suitable(const struct posixtrace_slot *info)
{
	return info->heads.size && info->flags & POSIXTRACE_SLOT_SAME_IDS &&
	       info->pool.offset == info->heads.offset + info->heads.size;
}

static bool map_new(struct pxtu_state *state, int fd, const struct posixtrace_slot *slots)
{
	struct pxtu_slot *slot;
	unsigned int i;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		slot = &state->slot[i];
		if (!is_suitable(&slots[i]))
			continue;
		/*
		 * Store the pid even if the slot is mapped. The mapping and the old pid may be of
		 * another process with this memory, which has ended.
		 */
		pxtu_store(&state->pid, slots[i].pid);
		if (slot->heads)
			continue;
		/* The number of CPUs is the same for all streams. */
		pxtu_store(&state->nr_cpus, (__u32)(slots[i].heads.size /
						    sizeof(struct posixtrace_cpu_head)));
		/* Stop if our descriptor was closed. After other errors, the module records. */
		if (map_stream(slot, fd, &slots[i]) && !pxtu_is_ours(fd, 0))
			return false;
	}
	return true;
}

/*
 * Was SYNC refused just now, because another process has this memory? The refusal applies to all
 * processes with this memory, because they share @state; the module records for all of them. A
 * change of the gate ends the refusal. The exit of the other process does not change the gate, so
 * the next tick also ends it.
 */
static bool was_refused(const struct pxtu_state *state, __u64 generation)
{
	return pxtu_load(&state->refused_generation) == generation &&
	       pxtu_load(&state->refused_at) == pxtu_coarse_ms();
}

/* Called with the lock of the state. Changes errno. */
static void sync_locked(struct pxtu_state *state)
{
	struct posixtrace_sync sync = { .slots = (uintptr_t)state->sync };
	/* Read before SYNC: if the gate changes later, the next event calls SYNC again. */
	__u64 generation = pxtu_load(&pxtu_gate()->generation);
	int fd = pxtu_load(&state->fd);
	int err;

	if (fd <= 0 || state->generation == generation)
		return;
	if (!state->sequences &&
	    membarrier(state, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ))
		return;
	err = pxtu_ioctl(fd, POSIXTRACE_IOC_SYNC, &sync);
	if (err == -EUSERS) {
		pxtu_store(&state->refused_generation, generation);
		pxtu_store(&state->refused_at, pxtu_coarse_ms());
	}
	if (err || drop_old(state, state->sync))
		return;
	if (!map_new(state, fd, state->sync))
		return;
	/*
	 * Store the generation last: a sequence that sees it, and the same generation in the gate,
	 * sees the matching slots. Pairs with the load in prepare_ids().
	 */
	pxtu_store_release(&state->generation, sync.generation);
}

static void sync_slots(struct pxtu_state *state)
{
	int saved_errno = errno;
	__u64 signals;

	/* There is no descriptor if the program closed ours and no new one could be opened. */
	if (!pxtu_load(&state->fd))
		return;
	if (!pxtu_state_trylock(state, &signals))
		return;
	sync_locked(state);
	pxtu_state_unlock(state, signals);
	errno = saved_errno;
}

bool pxtu_slots_update(struct pxtu_state *state)
{
	const struct posixtrace_gate *gate = pxtu_gate();
	__u64 generation = pxtu_load(&gate->generation);

	if (pxtu_unlikely(pxtu_load(&state->sequences) < 0))
		return false;
	if (pxtu_likely(generation == pxtu_load(&state->generation)))
		return true;
	if (was_refused(state, generation) || pxtu_sandboxed())
		return false;
	sync_slots(state);
	return pxtu_load(&gate->generation) == pxtu_load(&state->generation);
}
