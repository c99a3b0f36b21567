// SPDX-License-Identifier: MIT
/*
 * Writes the records of events that the fast path in fast.h does not take, of any size and for any
 * number of streams, with restartable sequences. Where this fails, the module records, by the EVENT
 * command.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sys.h"
#include "record/attach.h"
#include "record/cache.h"
#include "record/clock.h"
#include "record/door.h"
#include "record/gate.h"
#include "record/rseq.h"
#include "record/slots.h"
#include "record/write.h"

/*
 * Number of tries. They suffice unless reading the clock is a system call on a CPU with many
 * threads, or a process that shares the stream corrupts it.
 */
#define TRIES	4

/* Tries to count a drop. They suffice unless a debugger steps through the sequence. */
#define DROP_TRIES	16

/*
 * The ids of this thread. They are valid if @target is the target of this process: a child inherits
 * the ids of the thread that forked, with the target of the parent.
 */
static __thread struct {
	__u64 target;
	pthread_t thread;
	pid_t tid;
	bool unable;		/* the CPU in its struct rseq is stale, or cannot be checked */
} myself __attribute__((__tls_model__("initial-exec")));

/*
 * A signal handler that interrupts this stores the same values. The process id is already known: it
 * comes with the slots.
 */
static void know_myself(const struct pxtu_state *state)
{
	bool unable = pxtu_sandboxed();

	if (!unable) {
		pxtu_store(&myself.tid, (pid_t)syscall(SYS_gettid));
		unable = pxtu_rseq_forgotten();
	}
	pxtu_store(&myself.thread, pthread_self());
	pxtu_store(&myself.unable, unable);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pxtu_store(&myself.target, pxtu_load(&state->target));
}

/* Copy fewer than 16 bytes into two words, padded with zeros. */
static void copy_rest(__u64 rest[2], const unsigned char *data, unsigned int len)
{
	unsigned char *to = (unsigned char *)rest;

	rest[0] = 0;
	rest[1] = 0;
	if (len & 8) {
		memcpy(to, data, 8);
		to += 8;
		data += 8;
	}
	if (len & 4) {
		memcpy(to, data, 4);
		to += 4;
		data += 4;
	}
	if (len & 2) {
		memcpy(to, data, 2);
		to += 2;
		data += 2;
	}
	if (len & 1)
		*to = *data;
}

/*
 * Combine the lower half of the address and the first bytes of the data into one word. Returns how
 * many bytes of data are left.
 */
static __u32 pack(struct pxtu_entry *entry, __u32 len)
{
	const __u32 first = len < sizeof(__u32) ? len : (__u32)sizeof(__u32);
	__u32 data = 0;

	memcpy(&data, entry->data, first);
	entry->prog_address = pxtu_pair((__u32)entry->prog_address, data);
	entry->data = (const unsigned char *)entry->data + first;
	return len - first;
}

/*
 * Prepare the part that depends on the event, with the first @len bytes of its data. Not inlined:
 * otherwise pxtu_write() would save more registers.
 */
static __attribute__((__noinline__))
void prepare(struct pxtu_entry *entry, const struct pxtu_call *call, __u32 len)
{
	bool truncated = len < call->len || call->truncated;
	__u32 flags = truncated ? POSIXTRACE_RECORD_TRUNCATED : 0;
	const unsigned char *rest;

	entry->enable = &pxtu_gate()->enable[call->id];
	entry->prog_address = (uintptr_t)call->prog_address;
	entry->data = call->data;
	if (POSIXTRACE_RECORD_PACKS(len) && entry->prog_address >> 32 == entry->writer >> 32) {
		entry->header = pxtu_header(len, call->id, flags | POSIXTRACE_RECORD_PACKED);
		entry->step = POSIXTRACE_HEAD(POSIXTRACE_RECORD_PACKED_STEP((__u64)len), 1);
		len = pack(entry, len);
	} else {
		entry->header = pxtu_header(len, call->id, flags);
		entry->step = POSIXTRACE_HEAD(POSIXTRACE_RECORD_STEP((__u64)len), 1);
	}
	entry->pieces = len / PXTU_PIECE;
	entry->rest_words = 0;
	if (len % PXTU_PIECE) {
		entry->rest_words = (len % PXTU_PIECE + 7) / 8;
		rest = (const unsigned char *)entry->data + (len - len % PXTU_PIECE);
		copy_rest(entry->rest, rest, len % PXTU_PIECE);
	}
}

/* Prepare the part that depends on the thread. */
static void prepare_ids(struct pxtu_entry *entry, const struct pxtu_state *state)
{
	/*
	 * Pairs with the store in sync_locked(): the slots, and all that is loaded below, belong to
	 * this generation or a later one.
	 */
	entry->generation = pxtu_load_acquire(&state->generation);
	if (pxtu_unlikely(myself.target != pxtu_load(&state->target)))
		know_myself(state);
	entry->nr_cpus = pxtu_load(&state->nr_cpus);
	entry->writer = (__u64)pxtu_load(&pxtu_gate()->address_high) << 32;
	entry->ids = pxtu_pair((__u32)pxtu_load(&state->pid), (__u32)pxtu_load(&myself.tid));
	entry->thread_id = (uintptr_t)pxtu_load(&myself.thread);
	entry->area = pxtu_rseq_area();
}

/* Ask the module for room. Returns true if the module counted the event as lost. */
static bool make_room(struct pxtu_state *state, const struct pxtu_slot *slot, __u32 size,
		      int *err)
{
	struct posixtrace_next next = {
		.slot = (__u32)(slot - state->slot),
		.size = size,
		.stream = pxtu_load(&slot->stream),
	};
	int fd = pxtu_load(&state->fd);

	if (pxtu_door(POSIXTRACE_IOC_NEXT, &next, err))
		return *err == -ENOSPC;
	*err = -EBADF;
	if (fd > 0 && !pxtu_sandboxed())
		*err = pxtu_ioctl(fd, POSIXTRACE_IOC_NEXT, &next);
	return *err == -ENOSPC;
}

/*
 * If the stream is full, first try to count the drop: that needs neither clock nor record.
 * Retry if the sequence was aborted: the process may have disabled RDTSC.
 */
static bool drop_one(struct pxtu_state *state, const struct pxtu_slot *slot,
		     struct pxtu_entry *entry)
{
	enum pxtu_written written;
	int tries = 0;

	entry->time = 0;
	do {
		written = pxtu_rseq_drop(pxtu_gate(), slot, entry);
	} while (written == PXTU_WRITTEN_AGAIN && ++tries < DROP_TRIES);
	if (written == PXTU_WRITTEN && !(pxtu_load(&state->full) & entry->bit))
		__atomic_fetch_or(&state->full, entry->bit, __ATOMIC_RELAXED);
	else if (written == PXTU_WRITTEN_NO && pxtu_load(&state->full) & entry->bit)
		__atomic_fetch_and(&state->full, ~entry->bit, __ATOMIC_RELAXED);
	return written == PXTU_WRITTEN;
}

/* Take the time before the sequence. Then clear it, so that the next stream takes it again. */
static enum pxtu_written record_at(const struct pxtu_slot *slot, struct pxtu_entry *entry)
{
	const struct posixtrace_gate *gate = pxtu_gate();
	enum pxtu_written written = PXTU_WRITTEN_AGAIN;

	pxtu_rseq_arm();
	if (pxtu_clock_now(&gate->clock, &entry->time))
		written = pxtu_rseq_record(gate, slot, entry);
	entry->written = written <= PXTU_WRITTEN_WAKE ? entry->time : 0;
	entry->time = 0;
	return written;
}

/* The first attempt failed: try a few more times. */
static __attribute__((__noinline__)) enum pxtu_written
try_again(struct pxtu_state *state, const struct pxtu_slot *slot, struct pxtu_entry *entry,
	  enum pxtu_written written)
{
	int tries, err;
	__u64 len;

	for (tries = 1; ; tries++) {
		switch (written) {
		case PXTU_WRITTEN_NO_ROOM:
			/* There may be no room because the stream is full. */
			if (drop_one(state, slot, entry))
				return PXTU_WRITTEN;
			pxtu_rseq_disarm();
			/*
			 * Request room for the record and its writer. The step is the aligned size
			 * of the record, perhaps packed, without the writer.
			 */
			len = POSIXTRACE_HEAD_POS(entry->step) - sizeof(struct posixtrace_record);
			if (make_room(state, slot, (__u32)POSIXTRACE_RECORD_SIZE(len), &err))
				return PXTU_WRITTEN;
			if (err && err != -EAGAIN)
				return PXTU_WRITTEN_NO;
			break;
		case PXTU_WRITTEN_AGAIN:
		case PXTU_WRITTEN_NO_COUNTER:
			break;
		default:
			return written;
		}
		if (tries == TRIES)
			return PXTU_WRITTEN_NO;
		written = record_at(slot, entry);
	}
}

/* Let the next event of this thread take the fast path, unless that would fail. */
static void keep_note(const struct pxtu_state *state, const struct pxtu_slot *slot,
		      const struct pxtu_entry *entry)
{
	if (pxtu_load(&state->full) & entry->bit ||
	    pxtu_load(&pxtu_gate()->clock.counter) == POSIXTRACE_COUNTER_NONE)
		pxtu_cache_drop();
	else
		pxtu_cache_fill(slot, entry);
}

__u32 pxtu_write(struct pxtu_state *state, const struct pxtu_call *call, __u32 mask)
{
	const __u32 full = pxtu_load(&state->full);
	const size_t call_len = call->len;
	__u32 done = 0, wakeups = 0, len = ~0U, wanted, bit;
	const struct pxtu_slot *slot = NULL;
	enum pxtu_written written;
	struct pxtu_entry entry;
	__u32 left = mask;

	/* No stream wants the event, or there are no sequences. */
	if (pxtu_unlikely(!mask) || !pxtu_rseq_available())
		return 0;
	if (pxtu_unlikely(pxtu_load(&pxtu_gate()->generation) != pxtu_load(&state->generation)) &&
	    !pxtu_slots_update(state))
		return 0;
	prepare_ids(&entry, state);
	if (pxtu_unlikely(pxtu_load(&myself.unable)))
		return 0;
	/* Without a counter, reading the clock may be a system call. */
	if (pxtu_unlikely(pxtu_load(&pxtu_gate()->clock.counter) == POSIXTRACE_COUNTER_NONE) &&
	    pxtu_sandboxed())
		return 0;
	entry.time = 0;
	entry.written = 0;
	for (; left; left -= bit) {
		bit = left & -left;
		entry.bit = bit;
		slot = &state->slot[(unsigned int)__builtin_ctz(left)];
		wanted = pxtu_load(&slot->max_data);
		if (pxtu_likely(call_len < wanted))
			wanted = (__u32)call_len;
		/*
		 * Streams that record the same number of bytes, below 4 GiB, share the prepared
		 * entry.
		 */
		if (pxtu_unlikely(len != wanted)) {
			len = wanted;
			prepare(&entry, call, len);
		}
		if (pxtu_unlikely(full & bit) && drop_one(state, slot, &entry)) {
			done |= bit;
			continue;
		}
		written = pxtu_rseq_record_now(pxtu_gate(), slot, &entry);
		if (pxtu_unlikely(written > PXTU_WRITTEN_WAKE))
			written = try_again(state, slot, &entry, written);
		if (written <= PXTU_WRITTEN_WAKE)
			done |= bit;
		if (pxtu_unlikely(written == PXTU_WRITTEN_WAKE))
			wakeups |= bit;
	}
	if (pxtu_unlikely(call->time))
		*call->time = done ? entry.written ?: entry.time : 0;
	if (done == mask && !(mask & (mask - 1)))
		keep_note(state, slot, &entry);
	pxtu_rseq_disarm();
	if (pxtu_unlikely(wakeups))
		pxtu_target_ioctl(state, POSIXTRACE_IOC_WAKE, &wakeups);
	return done;
}
