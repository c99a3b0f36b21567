/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGBLOCK_H
#define PXT_LOGBLOCK_H

#include <linux/posixtrace_log.h>

#include "log/logclocks.h"
#include "log/logfile.h"
#include "log/logindex.h"
#include "log/logring.h"
#include "log/pack.h"
#include "ring/pool.h"

/*
 * Bytes of events per write. Fewer writes are cheaper, and part of a page costs nearly as much as
 * the whole page.
 */
#define PXT_LOG_BATCH_SIZE	(64U << 10)
/* Blocks per write. */
#define PXT_LOG_BATCH		16
/* Names in one block. */
#define PXT_LOG_NAMES_MAX	32

/* pxt_logwriter_payload() has room for the names and a terminating entry. */
static_assert((PXT_LOG_NAMES_MAX + 1) * sizeof(struct posixtrace_log_name) <=
	      POSIXTRACE_LOG_PROGRAM_SIZE);

struct pxt_description;

/**
 * struct pxt_logwriter - writer of the contents of a log
 *
 * Used by one task at a time.
 */
struct pxt_logwriter {
	/** @file: the file of the log */
	struct pxt_logfile file;
	/** @header: the header as written */
	struct posixtrace_log_header header;
	/** @policy: log-full-policy; constant */
	u32 policy;
	/** @seq: number of the last block */
	u64 seq;
	/** @epoch: epoch of the current flush */
	u64 epoch;
	/** @names: number of names written */
	u32 names;
	/** @described: the last description written, or NULL */
	const struct pxt_description *described;
	/** @host: contents of the first metadata block; constant once the thread runs */
	struct posixtrace_log_host host;
	/** @hosted: @host was written */
	bool hosted;
	/** @metadata_size: bytes of metadata */
	u64 metadata_size;
	/** @metadata_base: LOOP: bytes of metadata after all of it was first written */
	u64 metadata_base;
	/** @kernel_described: the descriptions of kernel types with smaller ids are written */
	u32 kernel_described;
	/** @gap_base: generation of the last gap before the log began; the log counts from it */
	u64 gap_base;
	/** @lost: events the stream had lost before the last block in the log */
	u64 lost;
	/** @lost_base: events the stream had lost before the log began; the log counts from it */
	u64 lost_base;
	/** @headless: the header could not be written, and must precede the next block */
	bool headless;
	/** @uncleared: RESET could not be written, and must precede the next block */
	bool uncleared;

	/* UNTIL_FULL: */
	/** @events: bytes of records so far */
	u64 events;
	/** @full: only STOP and the status may still be written */
	bool full;

	/* LOOP: */
	/** @metadata_pos: offset after the last block of metadata */
	u64 metadata_pos;
	/** @metadata_seq: number of the last block of metadata */
	u64 metadata_seq;
	/** @ring: the blocks in the ring */
	struct pxt_logring ring;

	/** @index: where blocks of events are; written before the last status */
	struct pxt_logindex index;
	/** @eventless: offset of the last block without events, 0 if there is none; LOOP: 0 */
	u64 eventless;

	/** @clocks: pairs of clocks */
	struct pxt_logclocks clocks;

	/** @pack: compresses the blocks of events */
	struct pxt_pack pack;

	/* Blocks waiting to be written: */
	/** @buf: the blocks; room for at least one */
	void *buf;
	/** @block_room: bytes for each block in @buf; constant */
	size_t block_room;
	/** @batch: number of blocks that fit into @buf; constant */
	u32 batch;
	/** @waiting: number of waiting blocks */
	u32 waiting;
	/** @waiting_size: bytes of the waiting blocks */
	size_t waiting_size;
};

/* Payload of the next block. Called only while fewer than @batch blocks are waiting. */
static inline void *pxt_logwriter_payload(struct pxt_logwriter *w)
{
	return w->buf + w->waiting_size + sizeof(struct posixtrace_log_block);
}

/* Maximum payload of a block, in bytes. */
static inline size_t pxt_logwriter_room(const struct pxt_logwriter *w)
{
	return w->block_room - sizeof(struct posixtrace_log_block);
}

/* Number of the oldest block in the log. */
static inline u64 pxt_logwriter_oldest(const struct pxt_logwriter *w)
{
	const struct pxt_log_run *oldest = pxt_logring_oldest(&w->ring);

	return oldest ? oldest->seq : 1;
}

int pxt_logwriter_init(struct pxt_logwriter *w, int fd, struct posixtrace_attr *attr,
		       const struct pxt_pool *pool);
void pxt_logwriter_destroy(struct pxt_logwriter *w);
int pxt_logwriter_begin(struct pxt_logwriter *w, const struct posixtrace_attr *attr,
			u32 subbuf_size, u32 nr_cpus, pid_t pid);
int pxt_logwriter_names(struct pxt_logwriter *w, u32 count);
bool pxt_logwriter_begins_metadata(struct pxt_logwriter *w);
bool pxt_logwriter_takes_metadata(const struct pxt_logwriter *w);
int pxt_logwriter_host(struct pxt_logwriter *w);
void pxt_logwriter_metadata_done(struct pxt_logwriter *w);
int pxt_logwriter_metadata(struct pxt_logwriter *w, u32 type, u32 size, u32 count);
int pxt_logwriter_events(struct pxt_logwriter *w, const struct posixtrace_log_block *block);
int pxt_logwriter_write(struct pxt_logwriter *w, u64 events, u32 *written);
int pxt_logwriter_append(struct pxt_logwriter *w, u32 type, u32 size);
int pxt_logwriter_status(struct pxt_logwriter *w, const struct posixtrace_log_end *end);
int pxt_logwriter_end(struct pxt_logwriter *w, const struct posixtrace_log_end *end,
		      const struct pxt_clock_error *error);
int pxt_logwriter_catch_up(struct pxt_logwriter *w);
int pxt_logwriter_put_header(const struct pxt_logwriter *w, struct pxt_logfile *lf,
			     struct posixtrace_log_header *header);
void pxt_logwriter_forget(struct pxt_logwriter *w);
int pxt_logwriter_clear(struct pxt_logwriter *w, u64 gap_generation);

#endif /* PXT_LOGBLOCK_H */
