// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a log: header, names, blocks of events, end. The format is in
 * Documentation/trace-log.rst. When something is written is decided in flush.c.
 */
#include <linux/align.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "clock.h"
#include "compat.h"
#include "logblock.h"

#define STOP_SIZE	POSIXTRACE_RECORD_SIZE(sizeof(s32))

/* Names in one block. */
#define NAMES_MAX	32

static u32 crc_of(const void *p, size_t len)
{
	return ~pxt_crc32c(~0U, p, len);
}

static bool is_loop(const struct pxt_logwriter *w)
{
	return w->policy == POSIXTRACE_POLICY_LOOP;
}

/**
 * pxt_logwriter_init() - make ready to write a log
 * @w: to be initialized
 * @fd: descriptor of the calling process
 * @attr: checked attributes; log_size becomes what is granted
 * @subbuf_size: bytes
 *
 * Context: may sleep.
 * Return: 0; -EBADF, -EINVAL as pxt_logfile_open(); -ENOMEM.
 */
int pxt_logwriter_init(struct pxt_logwriter *w, int fd, struct posixtrace_attr *attr,
		       u32 subbuf_size)
{
	size_t names = NAMES_MAX * sizeof(struct posixtrace_log_name), payload;
	u64 block;
	int err;

	memset(w, 0, sizeof(*w));
	w->policy = attr->log_policy;
	w->run_blocks = 1;
	err = pxt_logfile_open(&w->file, fd, w->policy);
	if (err)
		return err;

	payload = max_t(size_t, subbuf_size, names);
	w->buf_size = sizeof(struct posixtrace_log_block) + payload;
	block = w->buf_size;
	err = -ENOMEM;
	w->buf = kvmalloc(w->buf_size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!w->buf || pxt_logfile_reserve(&w->file, w->buf_size))
		goto free_buf;
	if (is_loop(w)) {
		/* While one is written, there is another one. */
		attr->log_size = ALIGN(clamp_t(u64, attr->log_size, 2 * block, S64_MAX / 2),
				       POSIXTRACE_LOG_ALIGN);
		w->run = kvcalloc(PXT_LOG_RUNS, sizeof(*w->run), GFP_KERNEL_ACCOUNT);
		if (!w->run)
			goto free_buf;
	} else if (w->policy == POSIXTRACE_POLICY_UNTIL_FULL) {
		attr->log_size = max_t(u64, attr->log_size, subbuf_size + STOP_SIZE);
	}
	return 0;

free_buf:
	kvfree(w->buf);
	pxt_logfile_close(&w->file);
	return err;
}

/**
 * pxt_logwriter_destroy() - end of pxt_logwriter_init()
 * @w: not used any more; once or twice
 *
 * Context: may sleep.
 */
void pxt_logwriter_destroy(struct pxt_logwriter *w)
{
	kvfree(w->run);
	w->run = NULL;
	kvfree(w->buf);
	w->buf = NULL;
	pxt_logfile_close(&w->file);
}

static int write_header(struct pxt_logwriter *w)
{
	struct posixtrace_log_header *header = &w->header;
	int err;

	/* What was in the file before has another one. */
	get_random_bytes(&header->cookie, sizeof(header->cookie));
	header->crc = 0;
	header->crc = crc_of(header, sizeof(*header));
	w->seq = 0;
	w->events = 0;
	w->overwritten = 0;
	w->full = false;
	w->runs = 0;
	if (is_loop(w)) {
		w->file.pos = header->data_offset;
		err = pxt_logfile_write_at(&w->file, header, sizeof(*header), 0);
	} else {
		err = pxt_logfile_write(&w->file, header, sizeof(*header));
	}
	w->headless = err;
	return err;
}

/**
 * pxt_logwriter_begin() - write the header
 * @w: initialized
 * @attr: as granted
 * @subbuf_size: bytes
 * @nr_cpus: number of the "CPU" of system events
 * @pid: the process that is traced first
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_begin(struct pxt_logwriter *w, const struct posixtrace_attr *attr,
			u32 subbuf_size, u32 nr_cpus, pid_t pid)
{
	struct posixtrace_log_header *header = &w->header;
	struct posixtrace_log_end end = { 0 };
	u64 names = POSIXTRACE_ID_MAX * sizeof(struct posixtrace_log_name);
	int err;

	memcpy(header->magic, POSIXTRACE_LOG_MAGIC, sizeof(header->magic));
	header->order = POSIXTRACE_LOG_ORDER;
	header->version = POSIXTRACE_LOG_VERSION;
	header->size = sizeof(*header);
	header->block_size = sizeof(struct posixtrace_log_block);
	header->subbuf_size = subbuf_size;
	header->nr_cpus = nr_cpus;
	header->pid = pid;
	header->data_offset = sizeof(*header);
	header->attr = *attr;
	if (is_loop(w)) {
		header->end_offset = sizeof(*header);
		header->names_offset = header->end_offset + sizeof(struct posixtrace_log_end);
		header->data_offset = ALIGN(header->names_offset + names, PAGE_SIZE);
		header->ring_size = attr->log_size;
	}
	w->names = POSIXTRACE_ID_UNNAMED + 1;
	err = write_header(w);
	return !err && is_loop(w) ? pxt_logwriter_end(w, &end) : err;
}

/* The header of a block; its payload is behind. */
static size_t finish_block(struct pxt_logwriter *w, u32 type, u32 size)
{
	struct posixtrace_log_block *block = w->buf;

	block->magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	block->cookie = w->header.cookie;
	block->seq = w->seq + 1;
	block->epoch = w->epoch;
	block->type = type;
	block->size = size;
	block->payload_crc = crc_of(block + 1, size);
	block->crc = 0;
	block->crc = crc_of(block, sizeof(*block));
	return sizeof(*block) + size;
}

static int append_block(struct pxt_logwriter *w, u32 type, u32 size)
{
	int err = w->headless ? write_header(w) : 0;

	if (!err)
		err = pxt_logfile_write(&w->file, w->buf, finish_block(w, type, size));
	if (!err)
		w->seq++;
	return err;
}

/* ------------------------------------------------------------------ */
/* Names								*/

static void fill_name(struct posixtrace_log_name *name, struct pxt_table *table, u32 id)
{
	struct posixtrace_eventid arg = { .id = id };

	memset(name, 0, sizeof(*name));
	/* Types never go: there is one with this id. */
	pxt_eventid_name(table, &arg);
	name->id = id;
	strscpy(name->name, arg.name, sizeof(name->name));
	name->crc = crc_of(name, sizeof(*name));
}

static int write_names(struct pxt_logwriter *w, struct pxt_table *table, u32 count)
{
	struct posixtrace_log_name *names = pxt_logwriter_payload(w);
	struct posixtrace_log_block *block = w->buf;
	u32 first = w->names - (POSIXTRACE_ID_UNNAMED + 1), i;

	for (i = 0; i < count; i++)
		fill_name(&names[i], table, w->names + i);
	if (is_loop(w))
		return pxt_logfile_write_at(&w->file, names, count * sizeof(*names),
					    w->header.names_offset + first * sizeof(*names));
	memset(block, 0, sizeof(*block));
	block->count = count;
	return append_block(w, POSIXTRACE_LOG_NAMES, count * sizeof(*names));
}

/**
 * pxt_logwriter_names() - write the names that are not in the log
 * @w: begun
 * @table: event types of the stream; not locked
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_names(struct pxt_logwriter *w, struct pxt_table *table)
{
	u32 end = pxt_table_end(table), count;
	int err;

	while (w->names < end) {
		count = min_t(u32, end - w->names, NAMES_MAX);
		err = write_names(w, table, count);
		if (err)
			return err;
		w->names += count;
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* The ring of a LOOP log						*/

static struct pxt_log_run *run_at(struct pxt_logwriter *w, u32 i)
{
	return &w->run[(w->first + i) % PXT_LOG_RUNS];
}

static void forget_oldest(struct pxt_logwriter *w)
{
	w->overwritten += run_at(w, 0)->events;
	w->first = (w->first + 1) % PXT_LOG_RUNS;
	w->runs--;
}

/* Neighbours become one, for there is no room for more. */
static void merge_runs(struct pxt_logwriter *w)
{
	struct pxt_log_run run;
	u32 i = 0, kept = 0;

	while (i < w->runs) {
		run = *run_at(w, i++);
		/* Across the end of the ring they are no neighbours. */
		if (i < w->runs && run_at(w, i)->start > run.start)
			run.events += run_at(w, i++)->events;
		*run_at(w, kept++) = run;
	}
	w->runs = kept;
	w->run_blocks *= 2;
	w->last_blocks = w->run_blocks;
}

static void remember(struct pxt_logwriter *w, u64 start, u64 events)
{
	if (w->runs && w->last_blocks < w->run_blocks && start) {
		run_at(w, w->runs - 1)->events += events;
		w->last_blocks++;
		return;
	}
	if (w->runs == PXT_LOG_RUNS)
		merge_runs(w);
	*run_at(w, w->runs) = (struct pxt_log_run){ .start = start, .events = events };
	w->runs++;
	w->last_blocks = 1;
}

/* Where a block goes; what lies there is gone. */
static u64 make_room(struct pxt_logwriter *w, u64 size)
{
	u64 pos = w->file.pos - w->header.data_offset;

	if (pos + size > w->header.ring_size) {
		while (w->runs && run_at(w, 0)->start >= pos)
			forget_oldest(w);
		pos = 0;
	}
	while (w->runs && run_at(w, 0)->start >= pos && run_at(w, 0)->start < pos + size)
		forget_oldest(w);
	return pos;
}

static int write_ring(struct pxt_logwriter *w, u32 size, u64 events)
{
	struct posixtrace_log_block *block = w->buf;
	u64 data = w->header.data_offset, pos;
	int err = w->headless ? write_header(w) : 0;

	if (err)
		return err;
	pos = make_room(w, sizeof(*block) + size);
	block->tail = data + (w->runs ? run_at(w, 0)->start : pos);
	finish_block(w, POSIXTRACE_LOG_EVENTS, size);
	w->file.pos = data + pos;
	err = pxt_logfile_write(&w->file, block, sizeof(*block) + size);
	if (err)
		return err;
	w->seq++;
	remember(w, pos, events);
	return 0;
}

/* ------------------------------------------------------------------ */

/**
 * pxt_logwriter_events() - write a block of events
 * @w: begun; what pxt_logwriter_payload() told holds the records
 * @block: size, cpu, count, and what follows; the rest is filled in
 * @events: how many of the records are user events
 *
 * Context: may sleep.
 * Return: 0; -EXFULL if the log is full now, then nothing was written; other
 * negative errno.
 */
int pxt_logwriter_events(struct pxt_logwriter *w, const struct posixtrace_log_block *block,
			 u64 events)
{
	int err;

	*(struct posixtrace_log_block *)w->buf = *block;
	if (is_loop(w))
		return write_ring(w, block->size, events);
	/* A log that is full ends with STOP: there is always room for that. */
	if (w->policy == POSIXTRACE_POLICY_UNTIL_FULL && !w->full &&
	    w->events + block->size + STOP_SIZE > w->header.attr.log_size) {
		w->full = true;
		return -EXFULL;
	}
	err = append_block(w, POSIXTRACE_LOG_EVENTS, block->size);
	if (!err)
		w->events += block->size;
	return err;
}

/**
 * pxt_logwriter_end() - write the status of the log
 * @w: begun
 * @end: flags, error, lost; the rest is filled in
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_end(struct pxt_logwriter *w, const struct posixtrace_log_end *end)
{
	struct posixtrace_log_end *payload = pxt_logwriter_payload(w);

	*payload = *end;
	payload->cookie = w->header.cookie;
	payload->overwritten = w->overwritten;
	payload->seq = w->seq;
	if (w->full)
		payload->flags |= POSIXTRACE_LOG_END_FULL;
	if (w->overwritten)
		payload->flags |= POSIXTRACE_LOG_END_OVERRUN;
	payload->time = pxt_clock_now();
	payload->crc = crc_of(payload, sizeof(*payload));
	if (is_loop(w))
		return pxt_logfile_write_at(&w->file, payload, sizeof(*payload),
					    w->header.end_offset);
	memset(w->buf, 0, sizeof(struct posixtrace_log_block));
	return append_block(w, POSIXTRACE_LOG_END, sizeof(*payload));
}

/**
 * pxt_logwriter_clear() - begin anew
 * @w: begun
 *
 * The names stay, for the event types do. Context: may sleep.
 *
 * Return: 0 or negative errno.
 */
int pxt_logwriter_clear(struct pxt_logwriter *w)
{
	struct posixtrace_log_end end = { 0 };
	int err;

	if (is_loop(w)) {
		/* All blocks that are there have another cookie then. */
		err = write_header(w);
		return err ? err : pxt_logwriter_end(w, &end);
	}
	if (w->file.seekable && !pxt_logfile_restart(&w->file)) {
		w->names = POSIXTRACE_ID_UNNAMED + 1;
		return write_header(w);
	}
	w->events = 0;
	w->full = false;
	memset(w->buf, 0, sizeof(struct posixtrace_log_block));
	return append_block(w, POSIXTRACE_LOG_RESET, 0);
}
