// SPDX-License-Identifier: MIT
/*
 * One CPU's records in the shared memory: what is there, whether it can be
 * trusted, and taking it. Which CPU's turn it is, is decided in reader.c.
 *
 * The traced processes can write into the pool and the CPU heads at any time.
 * So a header is copied once and then checked, and nothing in the pool decides
 * where else we look.
 */
#include "stream/reader.h"

/* How often to look again when the kernel has just moved things, before asking it. */
#define TRIES_MAX	64

/* How often to ask: more than anybody needs but targets that move things all the time. */
#define ROUNDS_MAX	16

/* One that is larger stays as it is: nothing is decided by it. */
#define CLAIM_COUNT_MAX	((1U << POSIXTRACE_CONSUMED_COUNT_BITS) - 1)

#define HEADER_WORDS	(PXTU_HEADER_MAX / sizeof(__u64))

/* What peek_subbuf() found. */
enum found {
	FOUND_NOTHING,
	FOUND_RECORD,
	FOUND_END,	/* closed, and read to its end */
	FOUND_CHANGE,	/* the kernel is changing it: look again */
};

static __u64 next_consumed(__u64 consumed, __u32 pos)
{
	__u32 count = POSIXTRACE_CONSUMED_COUNT(consumed);

	if (count < CLAIM_COUNT_MAX)
		count++;
	return POSIXTRACE_CONSUMED(POSIXTRACE_CONSUMED_SEQ(consumed), count, pos);
}

/* What may be the header of a record. One read of each word, whatever the compiler would like. */
static void copy_header(__u64 *to, const unsigned char *from, __u32 room)
{
	const __u64 *src = (const __u64 *)(const void *)from;
	unsigned int i;

	for (i = 0; i < HEADER_WORDS && i < room / sizeof(__u64); i++)
		to[i] = pxtu_load(&src[i]);
}

/* How many bytes of the sub-buffer hold records; 0 if it can not be told. */
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
		 * The kernel closes the sub-buffer before it moves the head into
		 * another: if that is where the head was, it is closed now. (The
		 * end of this one may be the start of the next.)
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

/* Something at @pos is no record: instead of all that is filled, an event that says so. */
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
	 * Pairs with the kernel's release when it hands out the sub-buffer: what
	 * is read below belongs to this use of it or a later one.
	 *
	 * It may have been handed out to the same CPU again since its number was
	 * read: then this CPU has older ones now, and it is not the turn of this.
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
	/* The same use of the sub-buffer, and after what was taken last? */
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
		 * Not empty because it can not be seen: what is younger on other CPUs
		 * would be taken first. The kernel's CPU may be stopped in the middle,
		 * where it is a virtual one. RELEASE waits for the lock that it holds,
		 * and does nothing else to what is not read to its end.
		 */
		if (tries && tries % TRIES_MAX == 0)
			reader->release(reader, idx);
		found = peek_subbuf(reader, cpu, idx, cand);
		/*
		 * Was all of that one use of the sub-buffer? Taking the record
		 * would tell; but if it looks young, then another one is taken
		 * that may not be the oldest. Pairs with the kernel's exchange,
		 * which comes before all other changes.
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
	/* The kernel outran us; if we get to wait for it, it knows better. */
	return false;
}

bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand)
{
	__u64 *shared = &reader->map.shared->consumed[cand->subbuf];
	__u64 consumed = cand->consumed;

	/*
	 * All copying is done before the consumer position changes. Pairs with the kernel's
	 * exchange: it lets nobody write there before it has changed the consumer position.
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
