// SPDX-License-Identifier: MIT
/*
 * Records by restartable sequences: the common case of posix_trace_event(). All else
 * is left to the module, which does the same by the EVENT command.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "clock.h"
#include "gate.h"
#include "rseq.h"
#include "slots.h"
#include "write.h"

/*
 * How often to try: more than anybody needs but those whose clock is a system call on a
 * CPU with many threads, or who share a stream with one that scribbles into it.
 */
#define TRIES	4

_Static_assert(PXTU_DRAFT_SMALL % POSIXTRACE_RECORD_ALIGN == 0 &&
	       offsetof(struct pxtu_draft, record) == sizeof(struct posixtrace_writer) &&
	       offsetof(struct pxtu_draft, small) == sizeof(struct posixtrace_writer) +
						     sizeof(struct posixtrace_record),
	       "writer, header and data are copied together");

/*
 * The thread id, with the number of the process that it is in: in a child the
 * memory of the thread that has forked says what that was.
 */
static __thread struct {
	__u64 target;
	pid_t tid;
} myself __attribute__((__tls_model__("initial-exec")));

static pid_t own_tid(const struct pxtu_state *state)
{
	/*
	 * A signal handler that comes in between stores the same. The number is there: it
	 * comes with the notes of the slots, which were found.
	 */
	if (pxtu_unlikely(myself.target != state->target)) {
		pxtu_store(&myself.tid, (pid_t)syscall(SYS_gettid));
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		pxtu_store(&myself.target, state->target);
	}
	return pxtu_load(&myself.tid);
}

static void prepare(struct pxtu_draft *draft, const struct pxtu_state *state,
		    const struct pxtu_slot *slot, const struct posixtrace_event *event)
{
	__u64 len = event->data_len, size;
	__u16 flags = 0;

	/* Pairs with the store in sync_locked(): the notes are those of it, or younger. */
	draft->generation = pxtu_load_acquire(&state->generation);
	if (len > slot->max_data) {
		len = slot->max_data;
		flags = POSIXTRACE_RECORD_TRUNCATED;
	}
	draft->writer = (struct posixtrace_writer){
		.pid = slot->pid,
		.tid = own_tid(state),
		.thread_id = event->thread_id,
	};
	draft->record.data_len = (__u32)len;
	draft->record.event_id = (__u16)event->event_id;
	draft->record.flags = flags;
	draft->record.prog_address = event->prog_address;
	size = POSIXTRACE_RECORD_STEP(len);
	draft->step = POSIXTRACE_HEAD(size, 1);
	draft->data = (const void *)(uintptr_t)event->data;
	if (len <= sizeof(draft->small)) {
		draft->end = (const unsigned char *)&draft->record + size;
		draft->rest = 0;
		/* What fills it up is written, too. */
		if (len % sizeof(__u64))
			memset(draft->small + (len & ~7ULL), 0, sizeof(__u64));
		if (len)
			memcpy(draft->small, draft->data, len);
	} else {
		draft->end = draft->small;
		draft->rest = len;
	}
}

/* Is the event in the stream, or counted as lost? */
static bool make_room(struct pxtu_state *state, unsigned int slot, __u32 size, int *err)
{
	struct posixtrace_next next = {
		.slot = slot,
		.size = size,
		.stream = pxtu_load(&state->slot[slot].stream),
	};
	int fd = pxtu_load(&state->fd);

	*err = fd > 0 ? pxtu_ioctl(fd, POSIXTRACE_IOC_NEXT, &next) : -EBADF;
	return *err == -ENOSPC;
}

/* Full streams are counted in first: that takes no clock, and no record. */
static bool drop_one(struct pxtu_state *state, const struct posixtrace_event *event,
		     unsigned int slot)
{
	bool dropped = pxtu_rseq_drop(state, pxtu_gate(), event->event_id, slot);
	__u32 bit = 1U << slot;

	if (dropped && !(pxtu_load(&state->full) & bit))
		__atomic_fetch_or(&state->full, bit, __ATOMIC_RELAXED);
	else if (!dropped && pxtu_load(&state->full) & bit)
		__atomic_fetch_and(&state->full, ~bit, __ATOMIC_RELAXED);
	return dropped;
}

/* Whether a record is in the stream, or counted as lost; and whether somebody sleeps. */
static bool write_one(struct pxtu_state *state, const struct posixtrace_event *event,
		      unsigned int slot, bool *kick)
{
	const struct posixtrace_gate *gate = pxtu_gate();
	struct pxtu_draft draft;
	int tries, err;
	__u32 size;

	/* Only a hint as to whether it is worth while. */
	if (!pxtu_load(&state->slot[slot].heads))
		return false;
	if (pxtu_unlikely(pxtu_load(&state->full) & 1U << slot) && drop_one(state, event, slot))
		return true;
	prepare(&draft, state, &state->slot[slot], event);
	for (tries = 0; tries < TRIES; tries++) {
		pxtu_rseq_arm();
		draft.record.timestamp = pxtu_clock_now(state, &gate->clock);
		switch (pxtu_rseq_record(state, gate, event->event_id, slot, &draft)) {
		case PXTU_WRITTEN_KICK:
			*kick = true;
			return true;
		case PXTU_WRITTEN:
			return true;
		case PXTU_WRITTEN_FULL:
			if (drop_one(state, event, slot))
				return true;
			break;
		case PXTU_WRITTEN_NO_ROOM:
			pxtu_rseq_disarm();
			size = (__u32)POSIXTRACE_RECORD_SIZE(draft.record.data_len);
			if (make_room(state, slot, size, &err))
				return true;
			if (err && err != -EAGAIN)
				return false;
			break;
		case PXTU_WRITTEN_AGAIN:
			break;
		case PXTU_WRITTEN_NO:
			return false;
		}
	}
	return false;
}

__u32 pxtu_write(struct pxtu_state *state, const struct posixtrace_event *event, __u32 mask)
{
	__u32 done = 0, kicks = 0;
	unsigned int slot;
	bool kick;

	if (!pxtu_rseq_available() || !pxtu_slots_update(state))
		return 0;
	for (; mask; mask &= mask - 1) {
		slot = (unsigned int)__builtin_ctz(mask);
		kick = false;
		if (write_one(state, event, slot, &kick))
			done |= 1U << slot;
		if (pxtu_unlikely(kick))
			kicks |= 1U << slot;
	}
	pxtu_rseq_disarm();
	if (pxtu_unlikely(kicks))
		pxtu_target_ioctl(state, POSIXTRACE_IOC_KICK, &kicks);
	return done;
}
