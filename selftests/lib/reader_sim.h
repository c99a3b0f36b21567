/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream in plain memory. A few functions, which take a lock, simulate the kernel's part of the
 * protocol with lib/stream/reader.c. After each mapping there is a page that faults.
 *
 * At most one thread per CPU may write at a time, as in a real stream. Stream-full policies: LOOP
 * with any number of threads, UNTIL_FULL with one thread for everything.
 */
#ifndef READER_SIM_H
#define READER_SIM_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/stream/reader.h"
#include "record.h"

#define SIM_CPUS_MAX	63	/* one word of holders, including the system's bit */
#define SIM_SUBBUFS_MAX	160
#define SIM_SUBBUF_SIZE	4096U
#define SIM_MAX_DATA	464U

/* Time starts here, so that no time is 0 by accident. */
#define SIM_EPOCH	1000

/**
 * struct sim - a stream and its simulated kernel
 */
struct sim {
	/** @reader: the reader under test */
	struct pxtu_reader reader;
	/** @lock: guards all members below except @clock and atomic ones */
	pthread_mutex_t lock;
	/** @clock: time of the last event; no two events have the same time */
	__u64 clock;
	/**
	 * @at: time of the next record, which its CPU has read earlier; 0: use the current time
	 */
	__u64 at;
	/** @address: address in the next records */
	__u64 address;
	/** @packs: pack records if that makes them smaller */
	bool packs;
	/** @ended: no traced process is left */
	bool ended;
	/** @loop: stream-full policy */
	bool loop;
	/**
	 * @full: recording has stopped, if not @loop
	 */
	bool full;
	/** @no_stop: the stream filters STOP */
	bool no_stop;
	/**
	 * @slow: delay sim_fill_up() until later, because the module first synchronizes with
	 *	writers
	 */
	bool slow;
	/**
	 * @filling: recording has stopped, but sim_fill_up() was not called yet
	 */
	bool filling;
	/** @nr_cpus: number of CPUs */
	__u32 nr_cpus;
	/**
	 * @nr_subbufs: number of sub-buffers for targets; there are as many for system events
	 */
	__u32 nr_subbufs;
	/**
	 * @seq: number of sub-buffers handed out so far
	 */
	__u64 seq;
	/**
	 * @map: the memory as the reader sees it; the following pointers are used to write to it
	 */
	struct pxtu_map map;
	/**
	 * @ctrl: part of @map
	 */
	struct posixtrace_ctrl *ctrl;
	/**
	 * @heads: part of @map
	 */
	struct posixtrace_cpu_head *heads;
	/**
	 * @oldest: part of @map
	 */
	__u32 *oldest;
	/**
	 * @holders: part of @map
	 */
	__u64 *holders;
	/**
	 * @subbufs: part of @map
	 */
	struct posixtrace_subbuf *subbufs;
	/**
	 * @pool: part of @map
	 */
	unsigned char *pool;
	/**
	 * @shared: part of @map
	 */
	struct posixtrace_reader *shared;
	/**
	 * @next: for each sub-buffer: next one on the same CPU
	 */
	__u32 next[SIM_SUBBUFS_MAX];
	/** @open: open sub-buffer of each CPU, and of the system */
	__u32 open[SIM_CPUS_MAX + 1];
	/**
	 * @writer: id of the thread that writes the next record on a CPU
	 */
	__u64 writer[SIM_CPUS_MAX + 1];
	/** @dropped: events lost while full */
	__u64 dropped;
	/**
	 * @releases: number of sub-buffers that the reader has given back
	 */
	unsigned int releases;
	/**
	 * @defers: number of DEFER calls of the reader
	 */
	unsigned int defers;
};

static inline __u64 sim_now(struct sim *sim)
{
	return __atomic_add_fetch(&sim->clock, 1, __ATOMIC_SEQ_CST);
}

static inline struct posixtrace_cpu_head *sim_head(struct sim *sim, __u32 cpu)
{
	return cpu == sim->nr_cpus ? &sim->ctrl->system : &sim->heads[cpu];
}

/* Allocates memory that ends just before a page that faults. */
static inline void *sim_alloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	unsigned char *p = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	if (p == MAP_FAILED || mprotect(p + page, room, PROT_READ | PROT_WRITE))
		return NULL;
	return p + page + (room - size);
}

static inline void sim_close(struct sim *sim, __u32 cpu)
{
	struct posixtrace_cpu_head *head = sim_head(sim, cpu);
	__u32 idx = sim->open[cpu];
	struct posixtrace_subbuf *subbuf = &sim->subbufs[idx];
	__u64 value = pxtu_load(&head->head);
	__u32 used = POSIXTRACE_HEAD_POS(value) - idx * SIM_SUBBUF_SIZE;

	/* Limit the value, because a test may have overwritten the head. */
	pxtu_store(&subbuf->used, used > SIM_SUBBUF_SIZE ? SIM_SUBBUF_SIZE : used);
	pxtu_store(&subbuf->count, POSIXTRACE_HEAD_COUNT(value));
	pxtu_store(&subbuf->closed, sim_now(sim));
	pxtu_store_release(&subbuf->state, POSIXTRACE_SUBBUF_CLOSED);
	sim->open[cpu] = POSIXTRACE_NONE;
	pxtu_store(&head->limit, 0);
}

static inline void sim_set_oldest(struct sim *sim, __u32 cpu, __u32 idx)
{
	__u64 bit = 1ULL << cpu;

	pxtu_store_release(&sim->oldest[cpu], idx);
	/* Pairs with the load in scan(). */
	pxtu_store_release(sim->holders,
			   idx == POSIXTRACE_NONE ? *sim->holders & ~bit : *sim->holders | bit);
}

/* Removes the first sub-buffer from the list of its CPU. */
static inline void sim_unlink(struct sim *sim, __u32 idx)
{
	__u32 cpu = sim->subbufs[idx].cpu;

	sim_set_oldest(sim, cpu, sim->next[idx]);
}

/* Returns the time of the first unread record. */
static inline __u64 sim_unread_time(const struct sim *sim, __u32 idx, __u64 consumed)
{
	/* The record may be before the time that the reader has stored. */
	struct record record = {
		.named = pxtu_load(&sim->shared->consumed[idx].time) - POSIXTRACE_WRITER_SPAN,
	};

	record_parse(&record,
		     sim->pool + (size_t)idx * SIM_SUBBUF_SIZE + POSIXTRACE_CONSUMED_POS(consumed));
	return record.timestamp;
}

/* Reports lost events to the reader; ctrl->gap_lock is odd. */
static inline void sim_lose(struct sim *sim, __u64 first, __u64 watermark)
{
	struct posixtrace_ctrl *ctrl = sim->ctrl;

	/* Pairs with the fence in gap_acknowledge(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (pxtu_load(&sim->shared->gap_ack) == ctrl->gap_generation) {
		pxtu_store(&ctrl->gap_generation, ctrl->gap_generation + 1);
		pxtu_store(&ctrl->previous_first, ctrl->gap_first);
		pxtu_store(&ctrl->gap_first, first);
	} else if (first < ctrl->gap_first) {
		pxtu_store(&ctrl->gap_first, first);
	}
	if (watermark > ctrl->overwrite_watermark)
		pxtu_store(&ctrl->overwrite_watermark, watermark);
}

static inline void sim_gap_lock(struct sim *sim)
{
	pxtu_store(&sim->ctrl->gap_lock, sim->ctrl->gap_lock + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void sim_gap_unlock(struct sim *sim)
{
	pxtu_store_release(&sim->ctrl->gap_lock, sim->ctrl->gap_lock + 1);
}

/* Returns the oldest closed sub-buffer of targets, which is at the head of its CPU's list. */
static inline __u32 sim_oldest_closed(const struct sim *sim)
{
	__u32 cpu, idx, found = POSIXTRACE_NONE;

	for (cpu = 0; cpu < sim->nr_cpus; cpu++) {
		idx = sim->oldest[cpu];
		if (idx == POSIXTRACE_NONE || sim->subbufs[idx].state != POSIXTRACE_SUBBUF_CLOSED)
			continue;
		if (found == POSIXTRACE_NONE || sim->subbufs[idx].seq < sim->subbufs[found].seq)
			found = idx;
	}
	return found;
}

static inline void sim_recycle(struct sim *sim, __u32 idx)
{
	struct posixtrace_subbuf *subbuf = &sim->subbufs[idx];
	__u64 consumed, first = 0;
	__u32 lost;

	sim_gap_lock(sim);
	consumed = __atomic_exchange_n(&sim->shared->consumed[idx].position, 0, __ATOMIC_SEQ_CST);
	lost = subbuf->count - POSIXTRACE_CONSUMED_COUNT(consumed);
	if (lost) {
		first = sim_unread_time(sim, idx, consumed);
		sim_lose(sim, first, subbuf->closed);
		pxtu_store(&sim->ctrl->lost, sim->ctrl->lost + lost);
	}
	sim_unlink(sim, idx);
	sim_gap_unlock(sim);
}

static inline __u32 sim_find_free(const struct sim *sim, __u32 cpu)
{
	__u32 first = cpu == sim->nr_cpus ? sim->nr_subbufs : 0, idx;

	for (idx = first; idx < first + sim->nr_subbufs; idx++)
		if (sim->subbufs[idx].state == POSIXTRACE_SUBBUF_FREE)
			return idx;
	return POSIXTRACE_NONE;
}

/* NEXT: gives another sub-buffer to this CPU. Returns false if the stream is full. */
static inline bool sim_next(struct sim *sim, __u32 cpu)
{
	struct posixtrace_cpu_head *head = sim_head(sim, cpu);
	struct posixtrace_subbuf *subbuf;
	bool system = cpu == sim->nr_cpus;
	__u32 idx, tail;

	if (sim->open[cpu] != POSIXTRACE_NONE)
		sim_close(sim, cpu);
	idx = sim_find_free(sim, cpu);
	if (idx == POSIXTRACE_NONE && sim->loop && !system) {
		idx = sim_oldest_closed(sim);
		if (idx != POSIXTRACE_NONE)
			sim_recycle(sim, idx);
	}
	if (idx == POSIXTRACE_NONE)
		return false;

	subbuf = &sim->subbufs[idx];
	pxtu_store(&subbuf->state, POSIXTRACE_SUBBUF_FREE);
	pxtu_store(&subbuf->seq, ++sim->seq);
	pxtu_store(&subbuf->cpu, cpu);
	pxtu_store(&subbuf->opened, sim_now(sim));
	sim->next[idx] = POSIXTRACE_NONE;
	sim->open[cpu] = idx;
	pxtu_store_release(&subbuf->state, POSIXTRACE_SUBBUF_OPEN);
	pxtu_store_release(&sim->shared->consumed[idx].position,
			   POSIXTRACE_CONSUMED(subbuf->seq, 0, 0));
	pxtu_store_release(&head->head, POSIXTRACE_HEAD(idx * SIM_SUBBUF_SIZE, 0));
	pxtu_store(&head->limit, (idx + 1) * SIM_SUBBUF_SIZE);

	tail = sim->oldest[cpu];
	if (tail == POSIXTRACE_NONE) {
		sim_set_oldest(sim, cpu, idx);
		return true;
	}
	while (sim->next[tail] != POSIXTRACE_NONE)
		tail = sim->next[tail];
	sim->next[tail] = idx;
	return true;
}

/* Stores words, as the sequences do, because the reader may be looking at the old contents. */
static inline void sim_store(unsigned char *to, const void *from, size_t size)
{
	__u64 *place = (__u64 *)(void *)to;
	size_t part;
	__u64 word;

	for (size_t i = 0; i < size; i += part) {
		part = size - i < sizeof(word) ? size - i : sizeof(word);
		word = 0;
		memcpy(&word, (const unsigned char *)from + i, part);
		pxtu_store(place++, word);
	}
}

/* Writes a record; takes no lock if there is space. Returns its time, or 0 if it was dropped. */
static inline __u64 sim_write_locked(struct sim *sim, __u32 cpu, __u32 id, const void *data,
				     __u32 len)
{
	struct posixtrace_cpu_head *head = sim_head(sim, cpu);
	struct record record = {
		.data_len = len,
		.event_id = id,
		.flags = sim->packs && POSIXTRACE_RECORD_PACKS(len) ? POSIXTRACE_RECORD_PACKED : 0,
		.prog_address = sim->address,
		.thread_id = sim->writer[cpu],
		.pid = 17,
		.tid = 18,
	};
	const struct record before = {
		.thread_id = head->thread_id,
		.address_high = head->address_high,
		.pid = 17,
		.tid = 18,
		.named = head->time_end - POSIXTRACE_WRITER_SPAN,
	};
	unsigned char header[PXTU_HEADER_MAX], record_bytes[PXTU_HEADER_MAX + SIM_MAX_DATA];
	__u64 value = pxtu_load(&head->head);
	__u32 pos = POSIXTRACE_HEAD_POS(value);
	size_t size;

	if (!head->limit || pos + POSIXTRACE_RECORD_SIZE(len) > head->limit) {
		if (!sim_next(sim, cpu))
			return 0;
		value = pxtu_load(&head->head);
		pos = POSIXTRACE_HEAD_POS(value);
	}
	record.timestamp = sim->at ? sim->at : sim_now(sim);
	sim->at = 0;
	size = record_format(&record, POSIXTRACE_HEAD_COUNT(value) ? &before : NULL, header);
	head->thread_id = record.thread_id;
	head->address_high = record.address_high;
	head->time_end = record.named + POSIXTRACE_WRITER_SPAN;
	memcpy(record_bytes, header, size);
	memcpy(record_bytes + size, data, len);
	sim_store(sim->pool + pos, record_bytes, size + len);
	/* Commits the record. Pairs with the load in subbuf_used(). */
	pxtu_store_release(&head->head,
			   POSIXTRACE_HEAD(pos + (__u32)POSIXTRACE_RECORD_ALIGNED(size + len),
					   POSIXTRACE_HEAD_COUNT(value) + 1));
	return record.timestamp;
}

static inline void sim_system(struct sim *sim, __u32 id)
{
	int zero = 0;

	sim_write_locked(sim, sim->nr_cpus, id, &zero, sizeof(zero));
}

/* Makes the stream full. Called with the lock held. */
static inline void sim_fill_up(struct sim *sim)
{
	sim_gap_lock(sim);
	sim_lose(sim, sim_now(sim), 0);
	sim_gap_unlock(sim);
	if (!sim->no_stop)
		sim_system(sim, POSIXTRACE_ID_STOP);
	sim->filling = false;
	sim->full = true;
	pxtu_store(&sim->ctrl->flags, POSIXTRACE_CTRL_FULL);
}

/* Records a user event of one thread. Returns its time, or 0 if it was dropped. */
static inline __u64 sim_write(struct sim *sim, __u32 cpu, const void *data, __u32 len)
{
	__u64 time = 0;

	pthread_mutex_lock(&sim->lock);
	if (!sim->full && !sim->filling)
		time = sim_write_locked(sim, cpu, POSIXTRACE_ID_UNNAMED, data, len);
	if (!time) {
		sim->dropped++;
		sim->filling = !sim->full;
		if (sim->filling && !sim->slow)
			sim_fill_up(sim);
	}
	pthread_mutex_unlock(&sim->lock);
	return time;
}

static inline bool sim_all_read(const struct sim *sim)
{
	__u32 cpu, idx, used;

	for (cpu = 0; cpu <= sim->nr_cpus; cpu++) {
		for (idx = sim->oldest[cpu]; idx != POSIXTRACE_NONE; idx = sim->next[idx]) {
			used = sim->subbufs[idx].used;
			if (sim->subbufs[idx].state == POSIXTRACE_SUBBUF_OPEN)
				used = POSIXTRACE_HEAD_POS(cpu == sim->nr_cpus ?
					sim->ctrl->system.head : sim->heads[cpu].head) -
				       idx * SIM_SUBBUF_SIZE;
			if (POSIXTRACE_CONSUMED_POS(sim->shared->consumed[idx].position) < used)
				return false;
		}
	}
	return true;
}

/* RELEASE as in the module: refuses a sub-buffer that was not read to its end. */
static inline int sim_release(struct pxtu_reader *reader, __u32 idx)
{
	struct sim *sim = (struct sim *)reader;
	struct posixtrace_subbuf *subbuf;
	int err = -EINVAL;

	pthread_mutex_lock(&sim->lock);
	if (idx == POSIXTRACE_NONE) {
		if (sim->full && sim_all_read(sim)) {
			sim->full = false;
			pxtu_store(&sim->ctrl->flags, 0);
			sim_system(sim, POSIXTRACE_ID_START);
		}
		err = 0;
		goto unlock;
	}
	subbuf = &sim->subbufs[idx];
	if (subbuf->state != POSIXTRACE_SUBBUF_CLOSED || sim->oldest[subbuf->cpu] != idx ||
	    POSIXTRACE_CONSUMED_POS(sim->shared->consumed[idx].position) < subbuf->used)
		goto unlock;
	sim_unlink(sim, idx);
	pxtu_store(&subbuf->state, POSIXTRACE_SUBBUF_FREE);
	sim->releases++;
	err = 0;
unlock:
	pthread_mutex_unlock(&sim->lock);
	return err;
}

/* DEFER as in the module, without a timer. */
static inline int sim_defer(struct pxtu_reader *reader, struct posixtrace_defer *arg)
{
	struct sim *sim = (struct sim *)reader;

	sim->defers++;
	arg->now = sim_now(sim);
	arg->settled = sim->ended ? arg->now : arg->now - arg->window;
	return 0;
}

/* Creates a stream. Returns 0 or negative errno. */
static inline int sim_init(struct sim *sim, __u32 nr_cpus, __u32 nr_subbufs, bool loop)
{
	struct posixtrace_attr attr = {
		.stream_policy = loop ? POSIXTRACE_POLICY_LOOP : POSIXTRACE_POLICY_UNTIL_FULL,
		.max_data_size = SIM_MAX_DATA,
	};
	size_t oldest = sizeof(*sim->ctrl);
	size_t holders = (oldest + (nr_cpus + 1) * sizeof(__u32) + 7) / 8 * 8;
	size_t subbufs = (holders + sizeof(*sim->holders) + 63) / 64 * 64;
	__u32 cpu, nr_all = 2 * nr_subbufs;

	memset(sim, 0, sizeof(*sim));
	pthread_mutex_init(&sim->lock, NULL);
	sim->clock = SIM_EPOCH;
	sim->address = 0x1234;
	sim->loop = loop;
	sim->nr_cpus = nr_cpus;
	sim->nr_subbufs = nr_subbufs;

	sim->map.ctrl_size = subbufs + nr_all * sizeof(*sim->subbufs);
	sim->map.heads_size = nr_cpus * sizeof(*sim->heads);
	sim->map.pool_size = (size_t)nr_all * SIM_SUBBUF_SIZE;
	sim->map.shared_size = sizeof(*sim->shared) + nr_all * sizeof(sim->shared->consumed[0]);
	sim->ctrl = sim_alloc(sim->map.ctrl_size);
	sim->heads = sim_alloc(sim->map.heads_size);
	sim->pool = sim_alloc(sim->map.pool_size);
	sim->shared = sim_alloc(sim->map.shared_size);
	if (!sim->ctrl || !sim->heads || !sim->pool || !sim->shared)
		return -ENOMEM;
	sim->map.ctrl = sim->ctrl;
	sim->map.heads = sim->heads;
	sim->map.pool = sim->pool;
	sim->map.shared = sim->shared;

	sim->ctrl->size = sizeof(*sim->ctrl);
	sim->ctrl->nr_cpus = nr_cpus;
	sim->ctrl->nr_subbufs = nr_subbufs;
	sim->ctrl->nr_sys_subbufs = nr_subbufs;
	sim->ctrl->subbuf_size = SIM_SUBBUF_SIZE;
	sim->ctrl->oldest_offset = (__u32)oldest;
	sim->ctrl->holders_offset = (__u32)holders;
	sim->ctrl->subbuf_offset = (__u32)subbufs;
	sim->oldest = (__u32 *)(void *)((char *)sim->ctrl + oldest);
	sim->holders = (__u64 *)(void *)((char *)sim->ctrl + holders);
	sim->subbufs = (struct posixtrace_subbuf *)(void *)((char *)sim->ctrl + subbufs);
	for (cpu = 0; cpu <= nr_cpus; cpu++) {
		sim->oldest[cpu] = POSIXTRACE_NONE;
		sim->open[cpu] = POSIXTRACE_NONE;
		sim->writer[cpu] = cpu;
	}
	return pxtu_reader_init(&sim->reader, &sim->map, &attr, sim_release, sim_defer);
}

static inline bool is_late(const struct posixtrace_batch_event *event)
{
	return event->flags & POSIXTRACE_EVENT_LATE;
}

/* Returns the number in the data of an event. */
static inline __u64 payload(const struct posixtrace_batch_event *event)
{
	__u64 value = 0;

	memcpy(&value, event->data, event->data_len < sizeof(value) ? event->data_len : 8);
	return value;
}

#endif /* READER_SIM_H */
