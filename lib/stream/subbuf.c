// SPDX-License-Identifier: MIT
/*
 * Finds, checks and takes the records of one CPU. reader.c decides which CPU is next.
 *
 * The traced processes can write into the pool and the CPU heads at any time. The reader
 * therefore copies a header once and then checks the copy, and no content of the pool determines
 * where else it reads.
 */
#include "stream/reader.h"
#include "stream/subbuf.h"

/* How often to retry after a change by the kernel, before asking the kernel. */
#define TRIES_MAX	64

/* How often to ask the kernel. Enough unless targets change sub-buffers continuously. */
#define ROUNDS_MAX	16

/* A count at its maximum stays there; its exact value does not matter. */
#define CONSUMED_COUNT_MAX	((1U << POSIXTRACE_CONSUMED_COUNT_BITS) - 1)

/* Result of peek_subbuf(). */
enum found {
	FOUND_NOTHING,
	FOUND_RECORD,
	FOUND_END,	/* closed, and completely read */
	FOUND_CHANGE,	/* the kernel is changing the sub-buffer: look again */
};

/* The consumer position after @count more records. */
static __u64 next_consumed(__u64 consumed, __u64 count, __u32 pos)
{
	count += POSIXTRACE_CONSUMED_COUNT(consumed);
	if (count > CONSUMED_COUNT_MAX)
		count = CONSUMED_COUNT_MAX;
	return POSIXTRACE_CONSUMED(POSIXTRACE_CONSUMED_SEQ(consumed), count, pos);
}

static const struct posixtrace_cpu_head *head_of(const struct pxtu_reader *reader, __u32 cpu)
{
	if (cpu < reader->nr_cpus)
		return &reader->map.heads[cpu];
	return cpu == reader->nr_cpus ? &reader->map.ctrl->system
				      : &reader->kernel_heads[cpu - reader->nr_cpus - 1];
}

/* How many bytes of the sub-buffer hold records; 0 if that is unknown. */
static __u32 subbuf_used(const struct pxtu_reader *reader, __u32 cpu, __u32 idx, __u32 *state,
			 __u64 *head)
{
	const struct posixtrace_subbuf *subbuf = &reader->subbufs[idx];
	__u64 start = (__u64)idx * reader->subbuf_size;
	__u64 pos;
	__u32 used = 0;

	/* Pairs with the releases in the kernel's open_for() and close_open(). */
	*state = pxtu_load_acquire(&subbuf->state);
	if (*state == POSIXTRACE_SUBBUF_OPEN) {
		/* Pairs with the commit of a record, in PXTU_RSEQ_WRITE or pxt_subbuf_commit(). */
		*head = pxtu_load_acquire(&head_of(reader, cpu)->head);
		pos = POSIXTRACE_HEAD_POS(*head);
		if (pos >= start && pos <= start + reader->subbuf_size)
			used = (__u32)(pos - start);
		/*
		 * Read the state again. The kernel closes a sub-buffer before it moves the head
		 * into another one, so if the head was in another sub-buffer, this one is closed
		 * now. A head at the end of this sub-buffer may also be at the start of the next.
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

/* The rest of the sub-buffer has no valid record: make a record that reports the damage. */
static void make_corrupt(struct pxtu_candidate *cand, __u64 timestamp, __u32 used)
{
	cand->corrupt = true;
	pxtu_record_error(&cand->record, timestamp);
	cand->next = next_consumed(cand->consumed, 1, used);
}

/*
 * Parse and check a record. @follows: it comes after the last record taken from its CPU, in the
 * same use of the sub-buffer.
 */
static bool parse(struct pxtu_reader *reader, __u32 cpu, const void *from, __u32 room,
		  bool follows, struct pxtu_record *record)
{
	static const struct pxtu_writer unknown = { .known = false };
	struct pxtu_reader_cpu *last = &reader->cpu[cpu];

	if (last->kernel && !follows)
		pxtu_kernel_begin(last->kernel);
	if (last->kernel)
		return pxtu_kernel_parse(record, from, room, last->kernel, &reader->names);
	return pxtu_record_parse(record, from, room, follows ? &last->writer : &unknown) &&
	       pxtu_record_valid(record, cpu >= reader->nr_cpus, reader->max_data, room);
}

/*
 * Find the record at the consumer position @cand->consumed, where there is a visible record. No
 * visible record is older than @floor.
 */
static void find_record(struct pxtu_reader *reader, __u32 cpu, __u64 floor, bool follows,
			struct pxtu_candidate *cand)
{
	const struct pxtu_view *view = &reader->cpu[cpu].view;
	__u32 pos = POSIXTRACE_CONSUMED_POS(cand->consumed);
	const unsigned char *mem = reader->map.pool + (__u64)view->subbuf * reader->subbuf_size;
	__u32 room = view->used - pos;

	cand->cpu = cpu;
	cand->subbuf = view->subbuf;
	cand->corrupt = false;
	cand->orphan = false;
	if (!parse(reader, cpu, mem + pos, room, follows, &cand->record) ||
	    (!cand->record.writer.known && !(follows && reader->cpu[cpu].damaged))) {
		make_corrupt(cand, floor, view->used);
		return;
	}
	cand->orphan = !cand->record.writer.known;
	/* An orphan is not reported, but needs a time to be ordered. */
	if (cand->orphan)
		cand->record.timestamp = floor;
	if (cand->record.timestamp < floor || cand->record.timestamp > view->ceiling) {
		make_corrupt(cand, floor, view->used);
		return;
	}
	cand->data = mem + pos + cand->record.header;
	cand->next = next_consumed(cand->consumed, 1, pos + cand->record.size);
}

/*
 * Does all that was read belong to one use of the sub-buffer? If not, pxtu_subbuf_take() would
 * fail, but before that, a wrong time could make the reader take a record of another CPU that is
 * not the oldest. Pairs with the exchange in the kernel's end_consumed(), which precedes all other
 * changes.
 */
static bool unchanged(const struct pxtu_reader *reader, __u32 idx, __u64 consumed)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return pxtu_load(&reader->map.shared->consumed[idx].position) == consumed;
}

static enum found peek_subbuf(struct pxtu_reader *reader, __u32 cpu, __u32 idx,
			      struct pxtu_candidate *cand)
{
	const struct posixtrace_subbuf *subbuf = &reader->subbufs[idx];
	struct pxtu_reader_cpu *last = &reader->cpu[cpu];
	struct pxtu_view *view = &last->view;
	bool follows;
	__u64 floor;
	__u32 state;

	/*
	 * Pairs with the release in the kernel's open_for(), which hands out the sub-buffer: the
	 * loads below belong to this use of the sub-buffer or a later one.
	 *
	 * Check oldest[] again. Since the caller loaded it, the kernel may have handed out the
	 * sub-buffer to the same CPU again, and older sub-buffers of this CPU come first now.
	 */
	cand->consumed = pxtu_load_acquire(&reader->map.shared->consumed[idx].position);
	if (pxtu_load_acquire(&reader->oldest[cpu]) != idx ||
	    pxtu_load(&subbuf->cpu) != cpu ||
	    (__u32)pxtu_load(&subbuf->seq) != POSIXTRACE_CONSUMED_SEQ(cand->consumed))
		return FOUND_CHANGE;

	view->subbuf = idx;
	view->consumed = cand->consumed;
	view->used = subbuf_used(reader, cpu, idx, &state, &view->head);
	view->ceiling = ~0ULL;
	view->open = state == POSIXTRACE_SUBBUF_OPEN;
	if (state == POSIXTRACE_SUBBUF_FREE)
		return FOUND_CHANGE;
	if (POSIXTRACE_CONSUMED_POS(cand->consumed) >= view->used)
		return state == POSIXTRACE_SUBBUF_CLOSED ? FOUND_END : FOUND_NOTHING;

	if (state == POSIXTRACE_SUBBUF_CLOSED)
		view->ceiling = pxtu_load(&subbuf->closed);
	floor = pxtu_load(&subbuf->opened);
	/* Does this follow the last record taken, in the same use of the sub-buffer? */
	follows = cand->consumed == last->consumed;
	if (follows && last->timestamp > floor)
		floor = last->timestamp;
	find_record(reader, cpu, floor, follows, cand);
	return FOUND_RECORD;
}

bool pxtu_subbuf_is_quiet(const struct pxtu_reader *reader, __u32 cpu)
{
	const struct pxtu_view *view = &reader->cpu[cpu].view;

	/*
	 * Pairs with the commit of a record, as in subbuf_used(). Each use of a sub-buffer by this
	 * CPU has a different consumer position.
	 */
	return view->open && pxtu_load_acquire(&head_of(reader, cpu)->head) == view->head &&
	       pxtu_load(&reader->oldest[cpu]) == view->subbuf &&
	       pxtu_load(&reader->subbufs[view->subbuf].state) == POSIXTRACE_SUBBUF_OPEN &&
	       pxtu_load(&reader->map.shared->consumed[view->subbuf].position) == view->consumed;
}

bool pxtu_subbuf_following(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand)
{
	const struct pxtu_reader_cpu *last = &reader->cpu[cpu];
	const __u32 use = POSIXTRACE_CONSUMED_SEQ(last->view.consumed);

	/*
	 * False if the last record taken is of another use of the sub-buffer, or was the last
	 * visible one.
	 */
	if (POSIXTRACE_CONSUMED_SEQ(last->consumed) != use ||
	    POSIXTRACE_CONSUMED_POS(last->consumed) >= last->view.used)
		return false;
	cand->consumed = last->consumed;
	find_record(reader, cpu, last->timestamp, true, cand);
	return unchanged(reader, last->view.subbuf, cand->consumed);
}

bool pxtu_subbuf_peek(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand)
{
	__u32 first = 0, end = reader->nr_subbufs, idx;
	unsigned int tries;
	enum found found;

	if (cpu == reader->nr_cpus) {
		first = reader->nr_subbufs;
		end = reader->first_kernel;
	} else if (cpu > reader->nr_cpus) {
		first = reader->first_kernel;
		end = reader->nr_all;
	}
	for (tries = 0; tries < ROUNDS_MAX * TRIES_MAX; tries++) {
		/* Pairs with the release in the kernel's open_for(), for the first sub-buffer. */
		idx = pxtu_load_acquire(&reader->oldest[cpu]);
		if (idx < first || idx >= end)
			return false;
		/*
		 * Do not give up soon: if the CPU counts as empty, younger records of other
		 * CPUs are taken first. The change may take long, because a virtual CPU may
		 * be stopped in the middle. RELEASE waits for the lock that the kernel holds,
		 * and has no other effect on an unread sub-buffer.
		 */
		if (tries && tries % TRIES_MAX == 0)
			reader->release(reader, idx);
		found = peek_subbuf(reader, cpu, idx, cand);
		if (!unchanged(reader, idx, cand->consumed))
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
	/*
	 * The kernel changes sub-buffers faster than we read them. If the caller waits now, the
	 * kernel wakes it up, because there are records.
	 */
	return false;
}

/*
 * Advance the consumer position of a sub-buffer from @consumed to @next. @time: of the last record
 * taken.
 */
static bool take(struct pxtu_reader *reader, __u32 subbuf, __u64 consumed, __u64 next, __u64 time)
{
	struct posixtrace_consumed *place = &reader->map.shared->consumed[subbuf];

	/* Pairs with the load in the kernel's time_at(), which follows end_consumed(). */
	pxtu_store(&place->time, time);
	/*
	 * All copying must be done before the consumer position changes. Pairs with the exchange in
	 * the kernel's end_consumed(): no target can write there before that exchange.
	 */
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	return __atomic_compare_exchange_n(&place->position, &consumed, next, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand)
{
	struct pxtu_reader_cpu *last = &reader->cpu[cand->cpu];

	if (!take(reader, cand->subbuf, cand->consumed, cand->next, cand->record.timestamp))
		return false;
	last->consumed = cand->next;
	last->timestamp = cand->record.timestamp;
	last->writer = cand->record.writer;
	last->damaged = cand->corrupt || cand->orphan;
	if (cand->corrupt) {
		reader->corrupt++;
		reader->overrun = true;
	}
	return true;
}

bool pxtu_subbuf_take_run(struct pxtu_reader *reader, const struct pxtu_candidate *cand,
			  const struct pxtu_run *run)
{
	struct pxtu_reader_cpu *last = &reader->cpu[cand->cpu];
	__u64 next = next_consumed(cand->consumed, run->count, run->pos);

	if (!take(reader, cand->subbuf, cand->consumed, next, run->timestamp))
		return false;
	last->consumed = next;
	last->timestamp = run->timestamp;
	last->writer = run->writer;
	last->damaged = false;
	return true;
}
