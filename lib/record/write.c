// SPDX-License-Identifier: MIT
/*
 * Records by restartable sequences: the common case of posix_trace_event(). The module does
 * all other cases, by the EVENT command.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/attach.h"
#include "record/clock.h"
#include "record/gate.h"
#include "record/rseq.h"
#include "record/slots.h"
#include "record/write.h"

/*
 * Number of tries. Too few only if the clock is a system call on a CPU with many threads, or
 * if a process that shares the stream scribbles into it.
 */
#define TRIES	4

/* Too few only if a debugger steps. */
#define DROP_TRIES	16

/*
 * The ids of this thread, and the number of its process: a child inherits the memory of the
 * thread that has forked, with the number of the parent.
 */
static __thread struct {
	__u64 target;
	pthread_t thread;
	pid_t tid;
} myself __attribute__((__tls_model__("initial-exec")));

/*
 * A signal handler that interrupts this stores the same. The number of the process is known
 * already: it comes with the notes of the slots.
 */
static void know_myself(const struct pxtu_state *state)
{
	pxtu_store(&myself.tid, (pid_t)syscall(SYS_gettid));
	pxtu_store(&myself.thread, pthread_self());
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pxtu_store(&myself.target, pxtu_load(&state->target));
}

/* Copy less than a piece into two words, padded with zeros. */
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

/* Combine two 32-bit numbers, in their order in memory. */
static __u64 pair(__u32 first, __u32 second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return first | (__u64)second << 32;
#else
	return (__u64)first << 32 | second;
#endif
}

/* Combine event_id and flags, which follow data_len in struct posixtrace_record. */
static __u32 id_and_flags(__u32 id, __u32 flags)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return id | flags << 16;
#else
	return id << 16 | flags;
#endif
}

_Static_assert(offsetof(struct posixtrace_record, data_len) == 0 &&
	       offsetof(struct posixtrace_record, event_id) == 4 &&
	       offsetof(struct posixtrace_record, flags) == 6 &&
	       offsetof(struct posixtrace_record, timestamp) == 8 &&
	       offsetof(struct posixtrace_record, prog_address) == 16 &&
	       offsetof(struct posixtrace_writer, pid) == 8 &&
	       offsetof(struct posixtrace_writer, tid) == 12 &&
	       offsetof(struct posixtrace_writer, thread_id) == 16, "as the entry has it");

/* Prepare all of the entry but the time. */
static void prepare(struct pxtu_entry *entry, const struct pxtu_state *state,
		    const struct pxtu_slot *slot, const struct pxtu_call *call, __u32 bit)
{
	__u64 len = call->len;
	__u32 flags = 0;
	__u32 max_data;

	if (pxtu_unlikely(myself.target != pxtu_load(&state->target)))
		know_myself(state);
	/* Pairs with the store in sync_locked(): the notes are of this generation or later. */
	entry->generation = pxtu_load_acquire(&state->generation);
	entry->enable = &pxtu_gate()->enable[call->id];
	entry->bit = bit;
	/* Read once: the slot may get another stream now; then the sequence fails. */
	max_data = pxtu_load(&slot->max_data);
	if (pxtu_unlikely(len > max_data)) {
		len = max_data;
		flags = POSIXTRACE_RECORD_TRUNCATED;
	}
	entry->writer.header = 0;
	entry->writer.ids = pair((__u32)pxtu_load(&slot->pid), (__u32)pxtu_load(&myself.tid));
	entry->writer.thread_id = (uintptr_t)pxtu_load(&myself.thread);
	entry->header = pair((__u32)len, id_and_flags(call->id, flags));
	entry->prog_address = (uintptr_t)call->prog_address;
	entry->data = call->data;
	entry->step = POSIXTRACE_HEAD(POSIXTRACE_RECORD_STEP(len), 1);
	entry->pieces = (__u32)len / PXTU_PIECE;
	entry->rest_words = 0;
	if (len % PXTU_PIECE) {
		entry->rest_words = ((__u32)len % PXTU_PIECE + 7) / 8;
		copy_rest(entry->rest, (const unsigned char *)call->data + (len - len % PXTU_PIECE),
			  len % PXTU_PIECE);
	}
}

/* Ask the module for room. True if it counted the event as lost. */
static bool make_room(struct pxtu_state *state, const struct pxtu_slot *slot, __u32 size,
		      int *err)
{
	struct posixtrace_next next = {
		.slot = (__u32)(slot - state->slot),
		.size = size,
		.stream = pxtu_load(&slot->stream),
	};
	int fd = pxtu_load(&state->fd);

	*err = fd > 0 ? pxtu_ioctl(fd, POSIXTRACE_IOC_NEXT, &next) : -EBADF;
	return *err == -ENOSPC;
}

/*
 * If the stream is full, first try to count the drop: that needs neither clock nor record.
 * Retry if the sequence was aborted: the process may have disabled RDTSC.
 */
static bool drop_one(struct pxtu_state *state, const struct pxtu_slot *slot,
		     const struct pxtu_entry *entry)
{
	enum pxtu_written written;
	int tries = 0;

	do {
		written = pxtu_rseq_drop(state, pxtu_gate(), slot, entry);
	} while (written == PXTU_WRITTEN_AGAIN && ++tries < DROP_TRIES);
	if (written == PXTU_WRITTEN && !(pxtu_load(&state->full) & entry->bit))
		__atomic_fetch_or(&state->full, entry->bit, __ATOMIC_RELAXED);
	else if (written == PXTU_WRITTEN_NO && pxtu_load(&state->full) & entry->bit)
		__atomic_fetch_and(&state->full, ~entry->bit, __ATOMIC_RELAXED);
	return written == PXTU_WRITTEN;
}

/* Take the time before the sequence: it has no counter. */
static enum pxtu_written record_at(struct pxtu_state *state, const struct pxtu_slot *slot,
				   struct pxtu_entry *entry)
{
	const struct posixtrace_gate *gate = pxtu_gate();

	pxtu_rseq_arm();
	if (!pxtu_clock_now(&gate->clock, &entry->time))
		return PXTU_WRITTEN_AGAIN;
	return pxtu_rseq_record(state, gate, slot, entry);
}

/* The first try failed: try some more. */
static __attribute__((__noinline__)) enum pxtu_written
try_again(struct pxtu_state *state, const struct pxtu_slot *slot, struct pxtu_entry *entry,
	  enum pxtu_written written)
{
	int tries, err;
	__u64 len;

	for (tries = 1; ; tries++) {
		switch (written) {
		case PXTU_WRITTEN_FULL:
			if (drop_one(state, slot, entry))
				return PXTU_WRITTEN;
			break;
		case PXTU_WRITTEN_NO_ROOM:
			pxtu_rseq_disarm();
			/* The step is aligned, and without the writer. */
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
		written = record_at(state, slot, entry);
	}
}

static enum pxtu_written write_one(struct pxtu_state *state, const struct pxtu_call *call,
				   unsigned int number, __u32 bit)
{
	const struct pxtu_slot *slot = &state->slot[number];
	enum pxtu_written written;
	struct pxtu_entry entry;

	/* A hint: the sequence checks again. */
	if (pxtu_unlikely(!pxtu_load(&slot->heads)))
		return PXTU_WRITTEN_NO;
	prepare(&entry, state, slot, call, bit);
	if (pxtu_unlikely(pxtu_load(&state->full) & bit) && drop_one(state, slot, &entry))
		return PXTU_WRITTEN;
	written = pxtu_rseq_record_now(state, pxtu_gate(), slot, &entry);
	if (pxtu_likely(written == PXTU_WRITTEN || written == PXTU_WRITTEN_WAKE))
		return written;
	return try_again(state, slot, &entry, written);
}

__u32 pxtu_write(struct pxtu_state *state, const struct pxtu_call *call, __u32 mask)
{
	__u32 done = 0, wakeups = 0, bit;

	if (!pxtu_rseq_available())
		return 0;
	if (pxtu_unlikely(pxtu_load(&pxtu_gate()->generation) != pxtu_load(&state->generation)) &&
	    !pxtu_slots_update(state))
		return 0;
	for (; mask; mask -= bit) {
		bit = mask & -mask;
		switch (write_one(state, call, (unsigned int)__builtin_ctz(mask), bit)) {
		case PXTU_WRITTEN_WAKE:
			wakeups |= bit;
			done |= bit;
			break;
		case PXTU_WRITTEN:
			done |= bit;
			break;
		default:
			break;
		}
	}
	pxtu_rseq_disarm();
	if (pxtu_unlikely(wakeups))
		pxtu_target_ioctl(state, POSIXTRACE_IOC_WAKE, &wakeups);
	return done;
}
