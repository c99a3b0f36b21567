/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGBLOCK_H
#define PXT_LOGBLOCK_H

#include <linux/posixtrace_log.h>

#include "log/logfile.h"
#include "ring/pool.h"

/* Blocks of a LOOP log that are told apart; with more, neighbours go together. */
#define PXT_LOG_RUNS	1024

/*
 * Bytes of events that are written at once: the less often, the cheaper, and part of a
 * page is not much cheaper than all of it.
 */
#define PXT_LOG_BATCH_SIZE	(64U << 10)
/* Blocks that are written at once. */
#define PXT_LOG_BATCH		16
/* Names in one block. */
#define PXT_LOG_NAMES_MAX	32

/**
 * struct pxt_log_run - blocks in a ring, one behind the other
 * @start: where the first one begins
 * @events: user events in them
 */
struct pxt_log_run {
	u64 start;
	u64 events;
};

/**
 * struct pxt_logwriter - the contents of a log
 * @file: where it goes
 * @header: as it was written
 * @policy: log-full-policy
 * @seq: of the last block
 * @epoch: of the flush that is writing
 * @names: id of the next name to be written
 * @events: UNTIL_FULL: bytes of records so far
 * @overwritten: LOOP: user events that were
 * @full: UNTIL_FULL: nothing but STOP and the status is written any more
 * @headless: the header has to be written first, for that failed
 * @run: LOOP: what is in the ring, oldest first, as a queue
 * @first: LOOP: first of @run
 * @runs: LOOP: how many
 * @run_blocks: LOOP: blocks that a run gets
 * @last_blocks: LOOP: blocks that the last one has
 * @buf: blocks that wait to be written, at least one has room
 * @block_room: bytes of each in @buf
 * @batch: how many have room in @buf; constant
 * @waiting: how many wait
 * @waiting_size: bytes of those
 *
 * Used by one task at a time.
 */
struct pxt_logwriter {
	struct pxt_logfile file;
	struct posixtrace_log_header header;
	u32 policy;
	u64 seq;
	u64 epoch;
	u32 names;
	u64 events;
	u64 overwritten;
	bool full;
	bool headless;
	struct pxt_log_run *run;
	u32 first;
	u32 runs;
	u32 run_blocks;
	u32 last_blocks;
	void *buf;
	size_t block_room;
	u32 batch;
	u32 waiting;
	size_t waiting_size;
};

/* Where the payload of the next block has to be put, if less than @batch wait. */
static inline void *pxt_logwriter_payload(struct pxt_logwriter *w)
{
	return w->buf + w->waiting_size + sizeof(struct posixtrace_log_block);
}

int pxt_logwriter_init(struct pxt_logwriter *w, int fd, struct posixtrace_attr *attr,
		       const struct pxt_pool *pool);
void pxt_logwriter_destroy(struct pxt_logwriter *w);
int pxt_logwriter_begin(struct pxt_logwriter *w, const struct posixtrace_attr *attr,
			u32 subbuf_size, u32 nr_cpus, pid_t pid);
int pxt_logwriter_names(struct pxt_logwriter *w, u32 count);
int pxt_logwriter_events(struct pxt_logwriter *w, const struct posixtrace_log_block *block);
int pxt_logwriter_write(struct pxt_logwriter *w, u64 events, u32 *written);
int pxt_logwriter_end(struct pxt_logwriter *w, const struct posixtrace_log_end *end);
int pxt_logwriter_clear(struct pxt_logwriter *w);

/* crc32c.c */
void pxt_crc32c_init(void);
u32 pxt_crc32c_copy(void *to, const void *from, size_t len);

#endif /* PXT_LOGBLOCK_H */
