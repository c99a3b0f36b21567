// SPDX-License-Identifier: GPL-2.0
/*
 * A flush writes all events recorded before it starts to the log, while recording continues. Runs
 * in the task that serves the log. If that task is interrupted, the next one continues the flush.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "compat.h"
#include "log/crc32c.h"
#include "log/log.h"
#include "log/logblock.h"
#include "log/logturn.h"
#include "logthread/flush.h"
#include "logthread/metadata.h"
#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/subbuf.h"
#include "stream/state.h"
#include "stream/stream.h"

/* Runs with interrupts off on a CPU that may be running a writer: the writer restarts. */
static void close_cpu(void *pool)
{
	pxt_rseq_abort_current();
	pxt_subbuf_close_cpu(pool, smp_processor_id());
}

/* Find the CPUs with an open sub-buffer. Sub-buffers opened later are not part of this flush. */
static void find_open(const struct pxt_pool *pool, struct cpumask *mask)
{
	u32 cpu;

	for (cpu = 0; cpu < pool->nr_cpus; cpu++) {
		if (READ_ONCE(pool->cpu[cpu].open) != POSIXTRACE_NONE)
			cpumask_set_cpu(cpu, mask);
	}
}

/*
 * Make each CPU close its open sub-buffer. close_cpu() runs on the CPU itself because a writer may
 * start there at any time: either the writer has committed to the sub-buffer before the kernel
 * measures it, or the writer sees that it is no longer open. While cpus_read_lock() is held, no CPU
 * goes offline, so each offline CPU runs no writer and has orphaned its sub-buffer.
 */
static void close_all(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;
	cpumask_var_t mask;
	bool all = !zalloc_cpumask_var(&mask, GFP_KERNEL_ACCOUNT);

	cpus_read_lock();
	if (!all)
		find_open(pool, mask);
	on_each_cpu_mask(all ? cpu_online_mask : mask, close_cpu, pool, true);
	pxt_subbuf_close_orphaned(pool);
	cpus_read_unlock();
	free_cpumask_var(mask);
	pxt_subbuf_close_kernel(pool);
	/* If this fails, the sub-buffer stays open, and its events are part of the next flush. */
	if (stream->running)
		pxt_subbuf_turn_sys(pool);
	else
		pxt_subbuf_close_cpu(pool, pool->nr_cpus);
}

/*
 * Queue a copy of a sub-buffer: targets may still write to the original, and the checksum must
 * match.
 */
static int add_subbuf(struct pxt_log *log, struct pxt_taken *taken)
{
	const struct pxt_pool *pool = &log->stream->pool;
	const struct pxt_subbuf *subbuf = taken->subbuf;
	struct posixtrace_log_block block = taken->gap;

	block.type = POSIXTRACE_LOG_EVENTS;
	block.size = subbuf->used;
	block.cpu = subbuf->cpu;
	if (subbuf->cpu > pool->nr_cpus) {
		block.type = POSIXTRACE_LOG_KERNEL;
		block.flags = POSIXTRACE_LOG_BLOCK_OPTIONAL;
		block.cpu = subbuf->cpu - pool->nr_cpus - 1;
	}
	block.count = subbuf->count;
	block.opened = subbuf->opened;
	block.closed = subbuf->closed;
	block.gap_generation -= log->writer.gap_base;
	taken->lost = block.lost + pxt_pool_dropped(pool) + log->dropped;
	block.lost = taken->lost - log->writer.lost_base;
	pxt_pack_block(&log->writer.pack, &block, pxt_logwriter_payload(&log->writer),
		       pxt_pool_subbuf(pool, subbuf - pool->subbuf));
	return pxt_logwriter_events(&log->writer, &block);
}

/* Take as many due sub-buffers as fit into one write. */
static u32 take_subbufs(struct pxt_log *log)
{
	struct pxt_pool *pool = &log->stream->pool;
	struct pxt_taken *taken = log->taken;
	u32 n;

	for (n = 0; n < log->writer.batch; n++, taken++) {
		memset(&taken->gap, 0, sizeof(taken->gap));
		taken->subbuf = pxt_reclaim_take(pool, &taken->gap);
		if (!taken->subbuf)
			break;
	}
	return n;
}

static u64 user_events(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf)
{
	return subbuf->cpu < pool->nr_cpus ? subbuf->count : 0;
}

/* Write the first @count taken sub-buffers. Stores the number written in @written. */
static int write_taken(struct pxt_log *log, u32 count, u32 *written)
{
	u64 events = 0;
	int err, ret;
	u32 i;

	*written = 0;
	/* A sub-buffer closed just now may contain event types that the log does not name yet. */
	err = pxt_metadata_write(log);
	if (err)
		return err;
	for (i = 0; i < count && !err; i++) {
		err = add_subbuf(log, &log->taken[i]);
		if (!err)
			events += user_events(&log->stream->pool, log->taken[i].subbuf);
	}
	ret = pxt_logwriter_write(&log->writer, events, written);
	return ret ? ret : err;
}

/* Write all due sub-buffers. */
static int write_subbufs(struct pxt_log *log)
{
	struct pxt_pool *pool = &log->stream->pool;
	struct pxt_taken *taken = log->taken;
	u32 count, written, i;
	int err = 0;

	while (!err && (count = take_subbufs(log))) {
		err = pxt_log_pauses(log) ? -ERESTARTSYS : 0;
		written = 0;
		if (!err)
			err = write_taken(log, count, &written);
		for (i = 0; i < written; i++) {
			log->writer.lost = taken[i].lost;
			pxt_reclaim_done(pool, taken[i].subbuf, &taken[i].gap);
		}
		/*
		 * pxt_reclaim_untake() makes a sub-buffer the oldest one: start with the youngest.
		 */
		while (count-- > written)
			pxt_reclaim_untake(pool, taken[count].subbuf, &taken[count].gap);
	}
	return err;
}

/*
 * Free the sub-buffers that do not go into the log. Returns the number of user and kernel events.
 */
static u64 discard(struct pxt_pool *pool)
{
	struct posixtrace_log_block block;
	struct pxt_subbuf *subbuf;
	u64 events = 0;

	pxt_reclaim_begin_epoch(pool);
	while ((subbuf = pxt_reclaim_take(pool, &block))) {
		events += subbuf->cpu != pool->nr_cpus ? subbuf->count : 0;
		pxt_reclaim_done(pool, subbuf, &block);
	}
	return events;
}

/* Write the last event of a full log; it is not recorded in the stream. */
static int write_stop(struct pxt_log *log)
{
	const u64 now = pxt_clock_now();
	struct {
		struct posixtrace_writer writer;
		struct posixtrace_record record;
		s32 automatic;
		s32 zero;
	} stop = {
		.writer.time = now,
		.record = {
			.data_len = sizeof(s32),
			.type = POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_STOP, 0),
			.time = lower_32_bits(now),
		},
		.automatic = 1,
	};
	struct posixtrace_log_block block = {
		.type = POSIXTRACE_LOG_EVENTS,
		.size = sizeof(stop),
		.cpu = log->stream->pool.nr_cpus,
		.count = 1,
		.opened = now,
		.closed = now,
	};
	u32 written;
	int err;

	block.payload_crc = pxt_crc32c_copy(pxt_logwriter_payload(&log->writer), &stop,
					    sizeof(stop));
	err = pxt_logwriter_events(&log->writer, &block);
	if (!err)
		err = pxt_logwriter_write(&log->writer, 0, &written);
	log->unstopped = err;
	return err;
}

/* Drop all recorded events. */
static void drop(struct pxt_log *log)
{
	u64 dropped = discard(&log->stream->pool);

	spin_lock(&log->lock);
	log->dropped += dropped;
	spin_unlock(&log->lock);
}

/*
 * The log is full. Called with the stream's lock unless the stream is dead. The caller writes STOP
 * after it drops that lock.
 */
static void become_full(struct pxt_log *log)
{
	pxt_log_note_lost(log, true);
	drop(log);
	spin_lock(&log->lock);
	log->full = true;
	spin_unlock(&log->lock);
	log->writer.full = true;
}

static void note_result(struct pxt_log *log, int err)
{
	pxt_log_note_lost(log, err || log->full);
	spin_lock(&log->lock);
	WRITE_ONCE(log->error, err);
	if (err && !log->flush_error)
		log->flush_error = -err;
	log->overwritten = log->writer.ring.overwritten;
	spin_unlock(&log->lock);
}

/* Events that the stream has lost so far. */
static u64 lost_events(const struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;

	return READ_ONCE(pool->gaps.lost) + pxt_pool_dropped(pool) + log->dropped;
}

static int write_status(struct pxt_log *log, u32 flags, int error, u64 lost)
{
	struct posixtrace_log_end end = {
		.flags = flags,
		.error = -error,
		.lost = lost - log->writer.lost_base,
	};
	struct pxt_clock_error clock_error;
	bool noted = false;

	if (flags & POSIXTRACE_LOG_END_FINAL)
		noted = pxt_log_take_clock_error(log, &clock_error);
	return pxt_logwriter_end(&log->writer, &end, noted ? &clock_error : NULL);
}

static int write_events(struct pxt_log *log)
{
	int err;

	/* Nothing may follow STOP in a full log. */
	if (log->full) {
		drop(log);
		return log->unstopped ? write_stop(log) : 0;
	}
	/*
	 * An interrupted flush continues in the epoch that it has begun. It must not begin another
	 * one: sub-buffers may have been opened again.
	 */
	if (log->phase == PXT_LOG_EVENTS)
		return write_subbufs(log);
	/*
	 * First write the rest of the last epoch: sub-buffers that were handed out before it began
	 * but not written because of an error or because they were open. All of them are closed
	 * now, so sub-buffers handed out from now on are younger. Therefore the records of an epoch
	 * are older than the records of the next epoch but one.
	 */
	err = write_subbufs(log);
	if (err)
		return err;
	log->writer.epoch++;
	pxt_reclaim_begin_epoch(&log->stream->pool);
	/*
	 * The last flush does not set the phase. It may begin more epochs, because no sub-buffer is
	 * open then.
	 */
	if (log->phase == PXT_LOG_LAST_EPOCH)
		WRITE_ONCE(log->phase, PXT_LOG_EVENTS);
	return write_subbufs(log);
}

static int write_all(struct pxt_log *log)
{
	int err = pxt_logwriter_catch_up(&log->writer);

	if (!err)
		err = pxt_metadata_write(log);
	if (!err)
		err = write_events(log);
	return err ? err : pxt_logfile_settle(&log->writer.file);
}

/* Called with the stream's lock. Sets @stop if the log is full and STOP must be written. */
static int finish_locked(struct pxt_log *log, int err, bool *stop)
{
	struct pxt_stream *stream = log->stream;

	*stop = false;
	if (stream->dead)
		return err;
	if (err == -EXFULL) {
		pxt_state_log_full(stream);
		become_full(log);
		*stop = true;
		return 0;
	}
	/* All events are in the log, so a full stream can be restarted. */
	if (!err && stream->full && !log->full)
		pxt_state_restart(stream);
	return err;
}

static const struct pxt_caller *flush_caller(const struct pxt_log *log)
{
	return log->flush_self ? NULL : &log->flush_caller;
}

/* Start a flush. Returns false if the stream is dead; pxt_flush_last() then follows. */
static bool begin(struct pxt_log *log)
{
	struct pxt_stream *stream = log->stream;
	bool dead;

	mutex_lock(&stream->lock);
	dead = stream->dead;
	if (!dead) {
		pxt_logclocks_mark(&log->writer.clocks);
		pxt_sysevent_flush(stream, POSIXTRACE_ID_FLUSH_START, flush_caller(log));
		close_all(stream);
		log->flush_last = stream->pool.ctrl->system.last;
	}
	mutex_unlock(&stream->lock);
	return !dead;
}

/* Called when the events are written, or after an error. */
static void end(struct pxt_log *log, int err)
{
	struct pxt_stream *stream = log->stream;
	bool all_seen, stop;

	mutex_lock(&stream->lock);
	err = finish_locked(log, err, &stop);
	all_seen = !err && !stream->dead && stream->pool.ctrl->system.last == log->flush_last;
	if (!stream->dead)
		pxt_sysevent_flush(stream, POSIXTRACE_ID_FLUSH_STOP, flush_caller(log));
	/* FLUSH_STOP alone must not trigger another flush. */
	if (all_seen)
		log->seen = stream->pool.ctrl->system.last;
	mutex_unlock(&stream->lock);
	if (stop)
		log->unstopped = true;
	log->flush_result = err;
}

/* Write STOP and the status after the events. */
static int write_rest(struct pxt_log *log)
{
	int err = log->flush_result;

	if (!err && log->full && log->unstopped)
		err = write_stop(log);
	if (log->writer.policy == POSIXTRACE_POLICY_LOOP && !err)
		err = write_status(log, 0, 0, lost_events(log));
	return err;
}

/**
 * pxt_flush() - write all recorded events
 * @log: log of a stream that is not locked; flush_caller and flush_self are set, or an interrupted
 *	flush continues
 *
 * Context: may sleep.
 * Return: 0, also after an error, which is noted; -ERESTARTSYS if the caller was interrupted.
 */
int pxt_flush(struct pxt_log *log)
{
	int err;

	if (log->phase == PXT_LOG_NO_FLUSH) {
		if (!begin(log))
			return 0;
		WRITE_ONCE(log->phase, PXT_LOG_LAST_EPOCH);
	}
	if (log->phase < PXT_LOG_STATUS) {
		err = write_all(log);
		if (err == -ERESTARTSYS)
			return err;
		end(log, err);
		WRITE_ONCE(log->phase, PXT_LOG_STATUS);
	}
	err = write_rest(log);
	if (err == -ERESTARTSYS)
		return err;
	WRITE_ONCE(log->phase, PXT_LOG_NO_FLUSH);
	note_result(log, err);
	return 0;
}

/**
 * pxt_flush_last() - write the remaining events and the end of the log
 * @log: log of a stream that is dead, without open sub-buffers
 *
 * Context: may sleep.
 * Return: 0, also after an error, which is noted; -ERESTARTSYS if the caller was interrupted, so
 * that the next task must start over.
 */
int pxt_flush_last(struct pxt_log *log)
{
	struct pxt_logfile *file = &log->writer.file;
	int err = pxt_logfile_given_up(file) ? -ECANCELED : write_all(log), end;

	if (err == -EXFULL) {
		become_full(log);
		err = write_stop(log);
	}
	if (err == -ERESTARTSYS)
		return err;
	if (!log->end_error)
		log->end_error = err;
	/* Events that could not be written are lost. */
	drop(log);
	end = write_status(log, POSIXTRACE_LOG_END_FINAL, log->end_error, lost_events(log));
	if (!end)
		end = pxt_logfile_settle(file);
	if (end == -ERESTARTSYS)
		return end;
	note_result(log, log->end_error ? log->end_error : end);
	return 0;
}

/**
 * pxt_flush_file() - write the end of a log that continues in another file
 * @log: after pxt_flush(); the caller settles the file
 *
 * Losses after the last block belong to the next log, which has the gap.
 *
 * Context: may sleep.
 * Return: 0; negative errno; -ERESTARTSYS if the caller was interrupted.
 */
int pxt_flush_file(struct pxt_log *log)
{
	const u32 flags = POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_CONTINUED;
	int flushed = READ_ONCE(log->error);
	int err = write_status(log, flags, flushed, log->writer.lost);

	return flushed && err != -ERESTARTSYS ? flushed : err;
}

/**
 * pxt_flush_pending() - check if a flush has anything to write
 * @log: served by the caller
 *
 * Return: true if so.
 */
bool pxt_flush_pending(const struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;

	/* Retry writes that failed when the log became full or was cleared. */
	if (log->unstopped || log->writer.headless || log->writer.uncleared)
		return true;
	/* A stream that became full during the last flush can be restarted. */
	if (READ_ONCE(log->stream->full) && !READ_ONCE(log->full))
		return true;
	return READ_ONCE(pool->used) || READ_ONCE(pool->kernel_used) ||
	       READ_ONCE(pool->ctrl->system.last) != log->seen;
}
