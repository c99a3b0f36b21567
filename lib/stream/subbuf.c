// SPDX-License-Identifier: MIT
/*
 * Finds, checks and takes the records of one CPU. reader.c decides which CPU is next.
 *
 * The traced processes can write into the pool and the CPU heads at any time. So the reader
 * copies a header once and then checks the copy, and no content of the pool decides where
 * else it reads.
 */
#include "stream/reader.h"

/* How often to look again after a change by the kernel, before asking the kernel. */
#define TRIES_MAX	64

/* How often to ask. Too few only if targets change sub-buffers all the time. */
#define ROUNDS_MAX	16

/* A count at its maximum stays: nothing depends on it. */
#define CONSUMED_COUNT_MAX	((1U << POSIXTRACE_CONSUMED_COUNT_BITS) - 1)

#define HEADER_WORDS	(PXTU_HEADER_MAX / sizeof(__u64))

/* Result of peek_subbuf(). */
enum found {
	FOUND_NOTHING,
	FOUND_RECORD,
	FOUND_END,	/* closed, and read to the end */
	FOUND_CHANGE,	/* the kernel is changing it: look again */
};

static __u64 next_consumed(__u64 consumed, __u32 pos)
{
	__u32 count = POSIXTRACE_CONSUMED_COUNT(consumed);

	if (count < CONSUMED_COUNT_MAX)
		count++;
	return POSIXTRACE_CONSUMED(POSIXTRACE_CONSUMED_SEQ(consumed), count, pos);
}

/* Copy the possible header of a record. Each word is read once. */
static void copy_header(__u64 *to, const unsigned char *from, __u32 room)
{
	const __u64 *src = (const __u64 *)(const void *)from;
	unsigned int i;

	for (i = 0; i < HEADER_WORDS && i < room / sizeof(__u64); i++)
		to[i] = pxtu_load(&src[i]);
}

/* How many bytes of the sub-buffer hold records; 0 if we cannot tell. */
static __u32 subbuf_used(const struct pxtu_reader *reader, __u32 cpu, __u32 idx, __u32 *state)
{
	const struct posixtrace_subbuf *subbuf = &reader->subbufs[idx];
	const struct posixtrace_cpu_head *head = &reader->map.heads[cpu];
	__u64 start = (__u64)idx * reader->subbuf_size;
	__u64 pos;
	__u32 used = 0;

	if (cpu == reader->nr_cpus)
		head = &reader->map.ctrl->system;
	/* Pairs with the kernel's release when it opens or closes a sub-buffer. */
	*state = pxtu_load_acquire(&subbuf->state);
	if (*state == POSIXTRACE_SUBBUF_OPEN) {
		/* Pairs with the store that commits a record. */
		pos = POSIXTRACE_HEAD_POS(pxtu_load_acquire(&head->head));
		if (pos >= start && pos <= start + reader->subbuf_size)
			used = (__u32)(pos - start);
		/*
		 * The kernel closes the sub-buffer before it moves the head into another
		 * one. So if the head was in another one already, this one is closed now.
		 * (The end of this one may be the start of the next.)
		 */
		*state = pxtu_load_acquire(&subbuf->state);
	}
	if (*state == POSIXTRACE_SUBBUF_CLOSED)
		used = pxtu_load(&subbuf->used);
	else if (*state != POSIXTRACE_SUBBUF_OPEN)
		used = 0;
	if (used > reader->subbuf_size)
		used = reader->subbuf_size;
	return used & ~(POSIXTRACE_RECORD_ALIGN - 1U);
}

/* The rest of the sub-buffer has no valid record: make one event that reports the damage. */
static void make_corrupt(struct pxtu_candidate *cand, __u64 timestamp, __u32 used)
{
	cand->corrupt = true;
	pxtu_record_error(&cand->record, timestamp);
	cand->next = next_consumed(cand->consumed, used);
}

static enum found peek_subbuf(const struct pxtu_reader *reader, __u32 cpu, __u32 idx,
			      struct pxtu_candidate *cand)
{
	const struct posixtrace_subbuf *subbuf = &reader->subbufs[idx];
	const struct pxtu_reader_cpu *last = &reader->cpu[cpu];
	const unsigned char *mem = reader->map.pool + (__u64)idx * reader->subbuf_size;
	struct pxtu_writer writer = { .known = false };
	__u64 raw[HEADER_WORDS], floor, ceiling = ~0ULL;
	__u32 pos, used, state;
	bool damaged = false;

	/*
	 * Pairs with the kernel's release when it hands out the sub-buffer: the reads
	 * below belong to this use of it or a later one.
	 *
	 * The kernel may have handed it out to the same CPU again since its number was
	 * read: then this CPU has older sub-buffers now, which come first.
	 */
	cand->consumed = pxtu_load_acquire(&reader->map.shared->consumed[idx]);
	if (pxtu_load_acquire(&reader->oldest[cpu]) != idx ||
	    pxtu_load(&subbuf->cpu) != cpu ||
	    (__u32)pxtu_load(&subbuf->seq) != POSIXTRACE_CONSUMED_SEQ(cand->consumed))
		return FOUND_CHANGE;

	used = subbuf_used(reader, cpu, idx, &state);
	if (state == POSIXTRACE_SUBBUF_FREE)
		return FOUND_CHANGE;
	pos = POSIXTRACE_CONSUMED_POS(cand->consumed);
	if (pos >= used)
		return state == POSIXTRACE_SUBBUF_CLOSED ? FOUND_END : FOUND_NOTHING;

	floor = pxtu_load(&subbuf->opened);
	/* Is this right after the last record taken, in the same use of the sub-buffer? */
	if (cand->consumed == last->consumed) {
		if (last->timestamp > floor)
			floor = last->timestamp;
		writer = last->writer;
		damaged = last->damaged;
	}
	if (state == POSIXTRACE_SUBBUF_CLOSED)
		ceiling = pxtu_load(&subbuf->closed);

	cand->cpu = cpu;
	cand->subbuf = idx;
	cand->corrupt = false;
	cand->orphan = false;
	copy_header(raw, mem + pos, used - pos);
	if (!pxtu_record_parse(&cand->record, raw, used - pos, &writer) ||
	    !pxtu_record_valid(&cand->record, cpu == reader->nr_cpus, reader->max_data,
			       used - pos) ||
	    cand->record.timestamp < floor || cand->record.timestamp > ceiling ||
	    (!cand->record.writer.known && !damaged)) {
		make_corrupt(cand, floor, used);
		return FOUND_RECORD;
	}
	cand->orphan = !cand->record.writer.known;
	cand->data = mem + pos + cand->record.header;
	cand->next = next_consumed(cand->consumed, pos + cand->record.size);
	return FOUND_RECORD;
}

bool pxtu_subbuf_peek(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand)
{
	__u32 first = cpu == reader->nr_cpus ? reader->nr_subbufs : 0;
	__u32 end = cpu == reader->nr_cpus ? reader->nr_all : reader->nr_subbufs;
	unsigned int tries;
	enum found found;
	__u32 idx;

	for (tries = 0; tries < ROUNDS_MAX * TRIES_MAX; tries++) {
		/* Pairs with the kernel's release when the CPU gets its first sub-buffer. */
		idx = pxtu_load_acquire(&reader->oldest[cpu]);
		if (idx < first || idx >= end)
			return false;
		/*
		 * The CPU is not empty just because we cannot see its records: younger
		 * ones of other CPUs would be taken first. The kernel may be stopped in
		 * the middle of a change, if its CPU is virtual. RELEASE waits for the
		 * lock that the kernel holds, and leaves unread sub-buffers alone.
		 */
		if (tries && tries % TRIES_MAX == 0)
			reader->release(reader, idx);
		found = peek_subbuf(reader, cpu, idx, cand);
		/*
		 * Was all of that one use of the sub-buffer? pxtu_subbuf_take() would
		 * notice; but if this record only looks young, choose() would prefer
		 * one that is not the oldest. Pairs with the kernel's exchange, which
		 * comes before all other changes.
		 */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (pxtu_load(&reader->map.shared->consumed[idx]) != cand->consumed)
			continue;
		switch (found) {
		case FOUND_NOTHING:
			return false;
		case FOUND_RECORD:
			return true;
		case FOUND_END:
			reader->release(reader, idx);
			break;
		case FOUND_CHANGE:
			break;
		}
	}
	/* The kernel outran us. If the caller waits now, the kernel wakes it up. */
	return false;
}

bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand)
{
	__u64 *shared = &reader->map.shared->consumed[cand->subbuf];
	__u64 consumed = cand->consumed;

	/*
	 * All copying is done before the consumer position changes. Pairs with the kernel's
	 * exchange: no target can write there before it has changed the consumer position.
	 */
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	if (!__atomic_compare_exchange_n(shared, &consumed, cand->next, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;

	reader->cpu[cand->cpu].consumed = cand->next;
	reader->cpu[cand->cpu].timestamp = cand->record.timestamp;
	reader->cpu[cand->cpu].writer = cand->record.writer;
	reader->cpu[cand->cpu].damaged = cand->corrupt || cand->orphan;
	if (cand->corrupt) {
		reader->corrupt++;
		reader->overrun = true;
	}
	return true;
}
