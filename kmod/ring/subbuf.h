/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SUBBUF_H
#define PXT_SUBBUF_H

#include <linux/string.h>

#include "ring/pool.h"

/**
 * struct pxt_entry - a record before it is written
 * @writer: the thread that records it, and the time
 * @record: header of the record; follows @writer
 * @header: bytes of the header, set by pxt_entry_pack(), which may pack the record
 */
struct pxt_entry {
	struct posixtrace_writer writer;
	struct posixtrace_record record;
	u32 header;
};

/**
 * struct pxt_reservation - room for a record
 * @mem: its first byte
 * @room: bytes from there to the end of the sub-buffer
 * @head: write position of the CPU
 * @pos: position in the pool
 * @count: records before it in the sub-buffer
 * @same: the record does not need a struct posixtrace_writer
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
 * @entry: the record
 * @time: nanoseconds since the Epoch
 */
static inline void pxt_entry_set_time(struct pxt_entry *entry, u64 time)
{
	entry->writer.time = time;
	entry->record.time = lower_32_bits(time);
}

/**
 * pxt_entry_pack() - choose the header of a record: packed if that makes it smaller
 * @entry: complete except for the time
 */
static inline void pxt_entry_pack(struct pxt_entry *entry)
{
	entry->header = sizeof(struct posixtrace_record);
	if (POSIXTRACE_RECORD_PACKS(entry->record.data_len) &&
	    upper_32_bits(entry->record.prog_address) == entry->writer.address_high) {
		entry->header = sizeof(struct posixtrace_packed_record);
		entry->record.type |= POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_PACKED);
	}
}

/**
 * pxt_entry_size() - compute the size of a record
 * @entry: complete except for the time
 * @same: without its struct posixtrace_writer
 *
 * Return: bytes, including padding.
 */
static inline u32 pxt_entry_size(const struct pxt_entry *entry, bool same)
{
	return (same ? 0 : sizeof(entry->writer)) +
	       POSIXTRACE_RECORD_ALIGNED(entry->header + entry->record.data_len);
}

/**
 * pxt_entry_write() - write a record
 * @entry: complete
 * @data: entry->record.data_len bytes
 * @same: without its struct posixtrace_writer
 * @to: destination; has room for pxt_entry_size()
 */
static inline void pxt_entry_write(const struct pxt_entry *entry, const void *data, bool same,
				   void *to)
{
	if (!same) {
		*(struct posixtrace_writer *)to = entry->writer;
		to += sizeof(entry->writer);
	}
	/* A packed record starts like a full one; with its data, it has room for a full header. */
	*(struct posixtrace_record *)to = entry->record;
	memcpy(to + entry->header, data, entry->record.data_len);
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
