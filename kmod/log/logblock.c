// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a log: header, names, blocks of events. Documentation/trace-log.rst defines the
 * format; logthread/flush.c decides when to write, and logend.c writes the end.
 */
#include <linux/align.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "log/logblock.h"
#include "ring/clock.h"

/* Metadata about threads and processes may always take up to this many bytes. */
#define METADATA_MAX	(4U << 20)

#define STOP_SIZE	POSIXTRACE_RECORD_SIZE(sizeof(s32))

/* On failure CREATE returns -ENOMEM; no warning in the kernel log is needed. */
#define LOG_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

static u32 crc_of(const void *p, size_t len)
{
	return ~pxt_crc32c(~0U, p, len);
}

static bool is_loop(const struct pxt_logwriter *w)
{
	return w->policy == POSIXTRACE_POLICY_LOOP;
}

/* The names of a LOOP log are outside all blocks, so their checksums include the cookie. */
static u32 crc_of_name(const struct pxt_logwriter *w, const struct posixtrace_log_name *name)
{
	u32 crc = ~0U;

	if (is_loop(w))
		crc = pxt_crc32c(crc, &w->header.cookie, sizeof(w->header.cookie));
	return ~pxt_crc32c(crc, name, sizeof(*name));
}

/*
 * Blocks per write: one if the file is not regular, so that a reader of packets gets one block per
 * packet; one in a ring, because each block holds the offset of the oldest block; otherwise at most
 * an eighth of the pool, because new events cannot use sub-buffers that wait to be written.
 */
static u32 batch_of(const struct pxt_logwriter *w, const struct pxt_pool *pool)
{
	u32 most = min_t(u32, PXT_LOG_BATCH, PXT_LOG_BATCH_SIZE / w->block_room);

	if (!w->file.regular || is_loop(w))
		return 1;
	return clamp_t(u32, pool->nr_user / 8, 1, max_t(u32, most, 1));
}

/*
 * Never grant more than log-max-size; the size of a ring is a multiple of 8. A ring holds at least
 * two blocks, so that one is complete while the other is written. An UNTIL_FULL log holds at least
 * a whole sub-buffer and STOP.
 */
static int grant_size(const struct pxt_logwriter *w, const struct pxt_pool *pool,
		      struct posixtrace_attr *attr)
{
	u64 block = sizeof(struct posixtrace_log_block) + pool->subbuf_size;

	if (is_loop(w)) {
		attr->log_size = ALIGN_DOWN(min_t(u64, attr->log_size, S64_MAX / 2),
					    POSIXTRACE_LOG_ALIGN);
		return attr->log_size < 2 * block ? -EINVAL : 0;
	}
	if (w->policy == POSIXTRACE_POLICY_UNTIL_FULL)
		return attr->log_size < pool->subbuf_size + STOP_SIZE ? -EINVAL : 0;
	return 0;
}

/**
 * pxt_logwriter_init() - prepare to write a log
 * @w: to be initialized
 * @fd: descriptor of the calling process
 * @attr: checked attributes; log_size becomes the granted size, and compression what the kernel has
 * @pool: memory of the stream
 *
 * Context: may sleep.
 * Return: 0; -EBADF or -EINVAL as pxt_logfile_open(); -EINVAL if the log would be too small;
 * -ENOMEM.
 */
int pxt_logwriter_init(struct pxt_logwriter *w, int fd, struct posixtrace_attr *attr,
		       const struct pxt_pool *pool)
{
	/* The largest block of metadata. */
	size_t largest = POSIXTRACE_LOG_PROGRAM_STEP(POSIXTRACE_LOG_PROGRAM_SIZE);
	size_t size;
	int err;

	memset(w, 0, sizeof(*w));
	w->policy = attr->log_policy;
	err = pxt_logfile_open(&w->file, fd, w->policy);
	if (err)
		return err;

	w->block_room = sizeof(struct posixtrace_log_block) +
			max_t(size_t, pool->subbuf_size, largest);
	w->batch = batch_of(w, pool);
	size = w->batch * w->block_room;
	err = grant_size(w, pool, attr);
	if (err)
		goto close_file;
	err = -ENOMEM;
	w->buf = kvmalloc(size, LOG_GFP | __GFP_ZERO);
	if (!w->buf || pxt_logfile_reserve(&w->file, size))
		goto free_buf;
	if (!pxt_pack_available())
		attr->compression = POSIXTRACE_COMPRESS_NONE;
	if (attr->compression && pxt_pack_init(&w->pack, pool->subbuf_size))
		goto free_buf;
	if (pxt_logindex_init(&w->index))
		goto destroy_pack;
	if (is_loop(w) && pxt_logring_init(&w->ring))
		goto destroy_index;
	return 0;

destroy_index:
	pxt_logindex_destroy(&w->index);
destroy_pack:
	pxt_pack_destroy(&w->pack);
free_buf:
	kvfree(w->buf);
close_file:
	pxt_logfile_close(&w->file);
	return err;
}

/**
 * pxt_logwriter_destroy() - undo pxt_logwriter_init()
 * @w: the caller no longer uses it; may be destroyed twice
 *
 * Context: may sleep.
 */
void pxt_logwriter_destroy(struct pxt_logwriter *w)
{
	pxt_logring_destroy(&w->ring);
	pxt_logindex_destroy(&w->index);
	pxt_pack_destroy(&w->pack);
	kvfree(w->buf);
	w->buf = NULL;
	pxt_logfile_close(&w->file);
}

static void begin_metadata(struct pxt_logwriter *w)
{
	w->metadata_pos = w->header.metadata_offset;
	w->described = NULL;
	w->kernel_described = 0;
	w->hosted = false;
	w->metadata_size = 0;
	w->metadata_base = 0;
	pxt_logclocks_rewind(&w->clocks);
}

/* Invalidate the names of an earlier log in the file before the header starts a new one. */
static int write_ring_header(struct pxt_logfile *lf, const struct posixtrace_log_header *header)
{
	static const struct posixtrace_log_name none;
	int err = pxt_logfile_write_at(lf, &none, sizeof(none), header->names_offset);

	return err ? err : pxt_logfile_write_at(lf, header, sizeof(*header), 0);
}

/**
 * pxt_logwriter_put_header() - write a header with a new cookie
 * @w: with the policy of the log
 * @lf: the file
 * @header: complete but for the cookie and the checksum
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_put_header(const struct pxt_logwriter *w, struct pxt_logfile *lf,
			     struct posixtrace_log_header *header)
{
	size_t done;

	/* A new cookie invalidates the blocks that are already in the file. */
	get_random_bytes(&header->cookie, sizeof(header->cookie));
	header->crc = 0;
	header->crc = crc_of(header, sizeof(*header));
	return is_loop(w) ? write_ring_header(lf, header)
			  : pxt_logfile_write(lf, header, sizeof(*header), &done);
}

/**
 * pxt_logwriter_forget() - note that the log has no contents but the header
 * @w: initialized
 */
void pxt_logwriter_forget(struct pxt_logwriter *w)
{
	w->seq = 0;
	w->events = 0;
	w->full = false;
	w->uncleared = false;
	w->eventless = 0;
	pxt_logring_clear(&w->ring);
	pxt_logindex_clear(&w->index);
	pxt_logclocks_restart(&w->clocks);
	/* Metadata in the file has the old cookie, or is gone, so all of it must be written. */
	begin_metadata(w);
	w->metadata_seq = 0;
	if (is_loop(w)) {
		w->file.pos = w->header.data_offset;
		/* Names in the file have the old cookie, so all names must be written. */
		w->names = 0;
	}
}

static int write_header(struct pxt_logwriter *w)
{
	int err;

	pxt_logwriter_forget(w);
	err = pxt_logwriter_put_header(w, &w->file, &w->header);
	w->headless = err;
	return err;
}

static int begin_ring(struct pxt_logwriter *w)
{
	struct posixtrace_log_end end = { 0 };
	int err = write_header(w);

	return err ? err : pxt_logwriter_status(w, &end);
}

/**
 * pxt_logwriter_begin() - write the header
 * @w: initialized
 * @attr: granted attributes
 * @subbuf_size: bytes
 * @nr_cpus: the CPU number of system events
 * @pid: the process that the stream was created for
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_begin(struct pxt_logwriter *w, const struct posixtrace_attr *attr,
			u32 subbuf_size, u32 nr_cpus, pid_t pid)
{
	struct posixtrace_log_header *header = &w->header;
	u64 names = POSIXTRACE_ID_MAX * sizeof(struct posixtrace_log_name);

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
		header->metadata_offset = header->data_offset + header->ring_size;
	}
	w->names = 0;
	return is_loop(w) ? begin_ring(w) : write_header(w);
}

/* Fill in the fields common to all blocks. */
static void finish_header(struct pxt_logwriter *w, struct posixtrace_log_block *block, u32 type,
			  u64 seq)
{
	block->magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	block->cookie = w->header.cookie;
	block->seq = seq;
	block->epoch = w->epoch;
	block->type = type;
	block->metadata = w->eventless;
	block->crc = 0;
	block->crc = crc_of(block, sizeof(*block));
}

/*
 * Mark the log as cleared when the file cannot be truncated. Leaves the buffer alone: it may hold
 * the next block.
 */
static int write_reset(struct pxt_logwriter *w)
{
	/* The checksum of an empty payload is 0. */
	struct posixtrace_log_block block = { 0 };
	size_t done;
	int err;

	finish_header(w, &block, POSIXTRACE_LOG_RESET, w->seq + 1);
	err = pxt_logfile_write(&w->file, &block, sizeof(block), &done);
	if (!err) {
		w->seq++;
		w->eventless = w->file.pos - sizeof(block);
		pxt_logindex_clear(&w->index);
	}
	w->uncleared = err;
	return err;
}

/* Retry a header or RESET that could not be written: it must precede the next block. */
static int write_missing(struct pxt_logwriter *w)
{
	if (w->headless)
		return write_header(w);
	return w->uncleared ? write_reset(w) : 0;
}

/**
 * pxt_logwriter_append() - write a block after the others, not in a LOOP log
 * @w: started; no blocks are queued, and @w->buf has the header and the payload
 * @type: POSIXTRACE_LOG_*
 * @size: bytes of the payload
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_append(struct pxt_logwriter *w, u32 type, u32 size)
{
	struct posixtrace_log_block *block = w->buf;
	int err = write_missing(w);
	size_t done;

	if (err)
		return err;
	block->size = size;
	block->payload_crc = crc_of(block + 1, size);
	finish_header(w, block, type, w->seq + 1);
	err = pxt_logfile_write(&w->file, block, sizeof(*block) + size, &done);
	if (!err) {
		w->seq++;
		w->eventless = w->file.pos - sizeof(*block) - size;
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Names								*/

/*
 * Write names to a LOOP log, followed by a zeroed entry at which readers stop. The file has room
 * for it, because it has more entries than there are name ids. The first name is written last, over
 * the previous stop entry: until then, readers do not see the entries after it, which may be names
 * of an earlier log.
 */
static int write_fixed_names(struct pxt_logwriter *w, u32 count, u64 pos)
{
	struct posixtrace_log_name *names = pxt_logwriter_payload(w);
	int err;

	memset(&names[count], 0, sizeof(*names));
	err = pxt_logfile_write_at(&w->file, names + 1, count * sizeof(*names),
				   pos + sizeof(*names));
	return err ? err : pxt_logfile_write_at(&w->file, names, sizeof(*names), pos);
}

/* Write the next @count names; they are in the payload of the next block. */
static int write_names(struct pxt_logwriter *w, u32 count)
{
	struct posixtrace_log_name *names = pxt_logwriter_payload(w);
	struct posixtrace_log_block *block = w->buf;
	u64 pos = w->header.names_offset + w->names * sizeof(*names);
	u32 i;

	for (i = 0; i < count; i++)
		names[i].crc = crc_of_name(w, &names[i]);
	if (is_loop(w))
		return write_fixed_names(w, count, pos);
	memset(block, 0, sizeof(*block));
	block->count = count;
	return pxt_logwriter_append(w, POSIXTRACE_LOG_NAMES, count * sizeof(*names));
}

/**
 * pxt_logwriter_names() - write the names missing from the log
 * @w: started; no blocks are queued
 * @count: number of names, at most PXT_LOG_NAMES_MAX; they are in pxt_logwriter_payload(), with a
 *	checksum of 0
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_names(struct pxt_logwriter *w, u32 count)
{
	int err = write_names(w, count);

	if (!err)
		w->names += count;
	return err;
}

/* ------------------------------------------------------------------ */
/* Metadata								*/

/* Write one block after the ring and the existing metadata; its payload is in the buffer. */
static int write_metadata(struct pxt_logwriter *w, u32 type, u32 size)
{
	struct posixtrace_log_block *block = w->buf;
	int err = write_missing(w);

	if (err)
		return err;
	block->size = size;
	block->payload_crc = crc_of(block + 1, size);
	finish_header(w, block, type, w->metadata_seq + 1);
	err = pxt_logfile_write_at(&w->file, block, sizeof(*block) + size, w->metadata_pos);
	if (!err) {
		w->metadata_pos += sizeof(*block) + size;
		w->metadata_seq++;
	}
	return err;
}

/**
 * pxt_logwriter_metadata() - write a block that readers can skip
 * @w: started; no blocks are queued
 * @type: POSIXTRACE_LOG_*
 * @size: bytes in pxt_logwriter_payload(): a multiple of 8, at most pxt_logwriter_room()
 * @count: for posixtrace_log_block.count
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_metadata(struct pxt_logwriter *w, u32 type, u32 size, u32 count)
{
	struct posixtrace_log_block *block = w->buf;
	int err;

	memset(block, 0, sizeof(*block));
	block->count = count;
	block->flags = POSIXTRACE_LOG_BLOCK_OPTIONAL;
	err = is_loop(w) ? write_metadata(w, type, size) : pxt_logwriter_append(w, type, size);
	if (!err)
		w->metadata_size += sizeof(*block) + size;
	return err;
}

/* Bytes that a log may use for metadata, however many threads and processes there are. */
static u64 metadata_limit(const struct pxt_logwriter *w)
{
	return max_t(u64, METADATA_MAX, w->header.attr.log_size / 8);
}

/**
 * pxt_logwriter_begins_metadata() - check if all metadata must be written now
 * @w: started; no blocks are queued
 *
 * Restarts the metadata of a LOOP log if there is too much of it: most describes threads that are
 * long gone.
 *
 * Return: true if so.
 */
bool pxt_logwriter_begins_metadata(struct pxt_logwriter *w)
{
	if (is_loop(w) && w->metadata_size > metadata_limit(w) + 2 * w->metadata_base)
		begin_metadata(w);
	return !w->hosted;
}

/**
 * pxt_logwriter_takes_metadata() - check for room for metadata about threads and processes
 * @w: started
 *
 * Return: true if so.
 */
bool pxt_logwriter_takes_metadata(const struct pxt_logwriter *w)
{
	return w->policy != POSIXTRACE_POLICY_UNTIL_FULL ||
	       (!w->full && w->metadata_size < metadata_limit(w));
}

/**
 * pxt_logwriter_host() - write the block about the host, unless already written
 * @w: started; no blocks are queued
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_host(struct pxt_logwriter *w)
{
	int err;

	if (w->hosted)
		return 0;
	memcpy(pxt_logwriter_payload(w), &w->host, sizeof(w->host));
	err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_HOST, sizeof(w->host), 1);
	w->hosted = !err;
	return err;
}

/**
 * pxt_logwriter_metadata_done() - note that all metadata is written
 * @w: started
 */
void pxt_logwriter_metadata_done(struct pxt_logwriter *w)
{
	if (!w->metadata_base)
		w->metadata_base = w->metadata_size;
}

/* ------------------------------------------------------------------ */
/* The ring of a LOOP log						*/

/* Write the only queued block into the ring. */
static int write_ring(struct pxt_logwriter *w, u64 events)
{
	static const u32 no_magic;
	struct posixtrace_log_block *block = w->buf;
	u64 data = w->header.data_offset, pos;
	const struct pxt_log_run *oldest;
	int err = write_missing(w);
	size_t done;

	if (err)
		return err;
	pos = pxt_logring_make_room(&w->ring, w->file.pos - data, w->waiting_size,
				    w->header.ring_size);
	oldest = pxt_logring_oldest(&w->ring);
	block->tail = data + (oldest ? oldest->start : pos);
	finish_header(w, block, block->type, w->seq + 1);
	w->file.pos = data + pos;
	err = pxt_logfile_write(&w->file, block, w->waiting_size, &done);
	if (err) {
		/* Remove the magic: readers would see the written part as a damaged block. */
		if (done)
			pxt_logfile_write_at(&w->file, &no_magic, sizeof(no_magic), data + pos);
		return err;
	}
	w->seq++;
	pxt_logring_add(&w->ring, pos, w->seq, events);
	pxt_logindex_add(&w->index, block, data + pos, w->header.nr_cpus, pxt_logwriter_oldest(w));
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static struct posixtrace_log_block *block_at(const struct pxt_logwriter *w, size_t offset)
{
	return w->buf + offset;
}

static size_t whole_size(const struct posixtrace_log_block *block)
{
	return sizeof(*block) + block->size;
}

/* Count the whole blocks in the first @done bytes. The next block is written after them. */
static u32 keep_whole(struct pxt_logwriter *w, size_t done)
{
	size_t offset = 0;
	u32 count = 0;

	while (count < w->waiting && offset + whole_size(block_at(w, offset)) <= done) {
		offset += whole_size(block_at(w, offset));
		count++;
	}
	w->file.pos += offset;
	return count;
}

/* Append the waiting blocks to the file. Stores the number of written blocks in @written. */
static int append_waiting(struct pxt_logwriter *w, u32 *written)
{
	int err = write_missing(w);
	size_t offset = 0, done;
	u64 pos;
	u32 i;

	if (err)
		return err;
	for (i = 0; i < w->waiting; i++) {
		finish_header(w, block_at(w, offset), block_at(w, offset)->type, w->seq + 1 + i);
		offset += whole_size(block_at(w, offset));
	}
	pos = w->file.pos;
	err = pxt_logfile_write(&w->file, w->buf, w->waiting_size, &done);
	*written = err ? keep_whole(w, done) : w->waiting;
	w->seq += *written;
	for (i = 0, offset = 0; i < *written; i++) {
		pxt_logindex_add(&w->index, block_at(w, offset), pos + offset, w->header.nr_cpus,
				 1);
		offset += whole_size(block_at(w, offset));
	}
	return err;
}

/**
 * pxt_logwriter_events() - queue a block of events
 * @w: started; pxt_logwriter_payload() holds the records
 * @block: from pxt_pack_block(), with cpu, count and the fields after count set by the caller;
 *	written with the other fields filled in
 *
 * At most pxt_logwriter.batch blocks wait for pxt_logwriter_write().
 *
 * Return: 0; -EXFULL if the log has no room for the block and is not marked full yet.
 */
int pxt_logwriter_events(struct pxt_logwriter *w, const struct posixtrace_log_block *block)
{
	/* A full log ends with STOP: keep room for it. */
	if (w->policy == POSIXTRACE_POLICY_UNTIL_FULL && !w->full &&
	    w->events + block->size + STOP_SIZE > w->header.attr.log_size)
		return -EXFULL;
	*block_at(w, w->waiting_size) = *block;
	w->events += block->size;
	w->waiting++;
	w->waiting_size += whole_size(block);
	return 0;
}

/**
 * pxt_logwriter_write() - write the queued blocks of events
 * @w: started
 * @events: number of user events among the records
 * @written: result: number of blocks at the start of the queue that are now in the log
 *
 * The queue is empty afterwards. Context: may sleep.
 *
 * Return: 0 or negative errno.
 */
int pxt_logwriter_write(struct pxt_logwriter *w, u64 events, u32 *written)
{
	size_t offset = 0;
	int err = 0;
	u32 i;

	*written = 0;
	if (is_loop(w) && w->waiting) {
		err = write_ring(w, events);
		*written = !err;
	} else if (w->waiting) {
		err = append_waiting(w, written);
	}
	for (i = 0; i < w->waiting; i++) {
		if (i >= *written)
			w->events -= block_at(w, offset)->size;
		offset += whole_size(block_at(w, offset));
	}
	w->waiting = 0;
	w->waiting_size = 0;
	return err;
}

/**
 * pxt_logwriter_status() - write the status of the log, without what precedes the last one
 * @w: started
 * @end: flags, error, lost; the other fields are filled in
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_status(struct pxt_logwriter *w, const struct posixtrace_log_end *end)
{
	struct posixtrace_log_end *payload = pxt_logwriter_payload(w);
	int err = write_missing(w);

	if (err)
		return err;
	*payload = *end;
	payload->cookie = w->header.cookie;
	payload->overwritten = w->ring.overwritten;
	payload->seq = w->seq;
	payload->names = is_loop(w) ? w->names : 0;
	payload->metadata = w->metadata_seq;
	if (w->full)
		payload->flags |= POSIXTRACE_LOG_END_FULL;
	if (w->ring.overwritten)
		payload->flags |= POSIXTRACE_LOG_END_OVERRUN;
	payload->time = pxt_clock_now();
	payload->crc = crc_of(payload, sizeof(*payload));
	if (is_loop(w))
		return pxt_logfile_write_at(&w->file, payload, sizeof(*payload),
					    w->header.end_offset);
	memset(w->buf, 0, sizeof(struct posixtrace_log_block));
	return pxt_logwriter_append(w, POSIXTRACE_LOG_END, sizeof(*payload));
}

/**
 * pxt_logwriter_catch_up() - retry to write a missing header or RESET
 * @w: started; no blocks are queued
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logwriter_catch_up(struct pxt_logwriter *w)
{
	return write_missing(w);
}

/**
 * pxt_logwriter_clear() - restart the log
 * @w: started
 * @gap_generation: generation of the last gap so far
 *
 * The event types stay: their names are written with the next events. Context: may sleep.
 *
 * Return: 0; on a negative errno the next write retries.
 */
int pxt_logwriter_clear(struct pxt_logwriter *w, u64 gap_generation)
{
	int err = -ESPIPE;

	/* CLEAR has reset the counts of the stream. */
	w->lost = 0;
	w->lost_base = 0;
	if (is_loop(w)) {
		/* The new cookie invalidates the blocks in the file. */
		w->gap_base = gap_generation;
		return begin_ring(w);
	}
	if (w->file.seekable)
		err = pxt_logfile_restart(&w->file);
	if (err == -ERESTARTSYS)
		return err;
	if (!err) {
		w->names = 0;
		w->gap_base = gap_generation;
		return write_header(w);
	}
	/* Keep gap_base: a reader continues from the gaps before RESET. */
	w->events = 0;
	w->full = false;
	return write_reset(w);
}
