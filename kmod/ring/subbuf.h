/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SUBBUF_H
#define PXT_SUBBUF_H

#include "ring/pool.h"

/**
 * struct pxt_entry - a record before it is written
 * @writer: the thread that records it, and the time
 * @record: the header of the record, which follows @writer
 */
struct pxt_entry {
	struct posixtrace_writer writer;
	struct posixtrace_record record;
};

/**
 * struct pxt_reservation - the place of a record
 * @mem: its first byte
 * @room: bytes from there to the end of the sub-buffer
 * @head: of the CPU
 * @pos: position in the pool
 * @count: records before it in the sub-buffer
 * @same: it needs no struct posixtrace_writer
 */
struct pxt_reservation {
	void *mem;
	u32 room;
	struct posixtrace_cpu_head *head;
	u32 pos;
	u32 count;
	bool same;
};

/**
 * pxt_entry_set_time() - set the time of a record
 * @entry: gets it
 * @time: nanoseconds since the Epoch
 */
static inline void pxt_entry_set_time(struct pxt_entry *entry, u64 time)
{
	entry->writer.time = time;
	entry->record.time = lower_32_bits(time);
}

bool pxt_subbuf_reserve(const struct pxt_pool *pool, u32 cpu, const struct pxt_entry *entry,
			struct pxt_reservation *res);
void pxt_subbuf_commit(const struct pxt_reservation *res, const struct pxt_entry *entry,
		       const void *data);
int pxt_subbuf_next(struct pxt_pool *pool, u32 size);
int pxt_subbuf_next_kernel(struct pxt_pool *pool, u32 cpu);
int pxt_subbuf_release(struct pxt_pool *pool, u32 i);
int pxt_subbuf_next_sys(struct pxt_pool *pool, u32 size);
int pxt_subbuf_turn_sys(struct pxt_pool *pool);
void pxt_subbuf_renew_sys(struct pxt_pool *pool);
bool pxt_subbuf_set_full(struct pxt_pool *pool, bool forced);
void pxt_subbuf_close_kernel(struct pxt_pool *pool);
void pxt_subbuf_close_all(struct pxt_pool *pool);
void pxt_subbuf_not_before(struct pxt_pool *pool, u64 time);
void pxt_subbuf_close_cpu(struct pxt_pool *pool, u32 cpu);
void pxt_subbuf_close_orphaned(struct pxt_pool *pool);
void pxt_subbuf_clear_full(struct pxt_pool *pool);
void pxt_subbuf_leave(struct pxt_pool *pool, u32 cpu);
void pxt_subbuf_return(struct pxt_pool *pool, u32 cpu);
void pxt_subbuf_count(struct pxt_pool *pool, struct posixtrace_stats *stats);

#endif /* PXT_SUBBUF_H */
