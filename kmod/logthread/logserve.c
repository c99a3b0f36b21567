// SPDX-License-Identifier: GPL-2.0
/*
 * Serves a log: flushes, clears, and the end. Runs in the task that took the log with
 * pxt_log_take(): see log/logturn.c.
 */
#include <linux/wait.h>

#include "log/log.h"
#include "log/logturn.h"
#include "log/rotate.h"
#include "logthread/flush.h"
#include "logthread/logserve.h"
#include "logthread/metadata.h"
#include "stream/clear.h"
#include "stream/stream.h"
#include "target/logtasks.h"

static int flush(struct pxt_log *log)
{
	int err;

	spin_lock(&log->lock);
	log->flushing = true;
	spin_unlock(&log->lock);
	err = pxt_flush(log);
	if (err)
		return err;
	spin_lock(&log->lock);
	/* Another FLUSH may have been requested while the lock was dropped. */
	log->flushing = test_bit(PXT_LOG_FLUSH, &log->wanted);
	spin_unlock(&log->lock);
	return 0;
}

/* Restart the log after the stream was cleared. If this fails, the next write retries. */
static int clear_log(struct pxt_log *log)
{
	int err = pxt_logwriter_clear(&log->writer, log->stream->pool.gaps.logged);

	if (err == -ERESTARTSYS)
		return err;
	log->unstopped = false;
	pxt_log_make_states_due(log);
	spin_lock(&log->lock);
	log->full = false;
	log->overwritten = 0;
	log->overwritten_seen = 0;
	log->dropped = 0;
	log->refuses = false;
	log->overrun = false;
	WRITE_ONCE(log->error, err);
	spin_unlock(&log->lock);
	return err;
}

/* Serve all CLEARs so far. If interrupted, the next task clears again. */
static int clear(struct pxt_log *log)
{
	u64 number;
	int err;

	spin_lock(&log->lock);
	number = log->clear_wanted;
	/* A CLEAR that was requested since the bit was taken is served here, and only once. */
	clear_bit(PXT_LOG_CLEAR, &log->wanted);
	spin_unlock(&log->lock);
	err = pxt_clear_logged(log->stream);
	/* If the stream ended after it was cleared, the log has to be cleared all the same. */
	if (!err || log->half_cleared)
		err = clear_log(log);
	log->half_cleared = err == -ERESTARTSYS;
	if (err == -ERESTARTSYS) {
		pxt_log_want(log, PXT_LOG_CLEAR);
		return err;
	}
	spin_lock(&log->lock);
	WRITE_ONCE(log->clear_error, err);
	/* Pairs with the acquire in pxt_log_clear(): clear_error is set. */
	smp_store_release(&log->clear_done, number);
	spin_unlock(&log->lock);
	wake_up_all(&log->done);
	return 0;
}

/*
 * Write the states of threads soon after START: the later, the fewer threads still have the state
 * that they had then. After errors other than -ERESTARTSYS, the next flush retries.
 */
static int write_states(struct pxt_log *log)
{
	int err = pxt_logwriter_catch_up(&log->writer);

	if (!err)
		err = pxt_metadata_write(log);
	if (err != -ERESTARTSYS)
		return 0;
	pxt_log_want(log, PXT_LOG_MORE_STATES);
	return err;
}

/*
 * Write the end of the old log after its last flush. A log without a header gets no end.
 *
 * Returns 0, and rotation->end_error is set; -ERESTARTSYS; or another negative errno if the next
 * log has no header.
 */
static int write_end(struct pxt_log *log)
{
	struct pxt_rotation *rotation = log->rotation;
	int missing = pxt_logwriter_catch_up(&log->writer), err = 0;

	if (missing == -ERESTARTSYS)
		return missing;
	/* The old log has a new cookie since CLEAR, or since its missing header was written. */
	if (rotation->header.previous != log->writer.header.cookie) {
		err = pxt_log_prepare_next(log);
		if (err)
			return err;
		rotation->phase = PXT_ROTATION_FLUSHING;
		rotation->end_error = 0;
	}
	/* The names of threads that ended at the end of the flush may be missing. */
	if (!missing && rotation->phase < PXT_ROTATION_ENDING && !READ_ONCE(log->error))
		err = pxt_metadata_write(log);
	if (err == -ERESTARTSYS)
		return err;
	/* Keep the error: if writing the end is interrupted, these steps are not repeated. */
	if (missing || err)
		rotation->end_error = -(missing ? missing : err);
	rotation->phase = PXT_ROTATION_ENDING;
	err = missing ? 0 : pxt_flush_file(log);
	if (err == -ERESTARTSYS)
		return err;
	if (!rotation->end_error)
		rotation->end_error = -err;
	rotation->phase = PXT_ROTATION_ENDED;
	return 0;
}

/*
 * Complete the old log. If interrupted, the next call continues; pxt_log_serve() completes an
 * interrupted flush before that. Nothing may be written between the index and the end.
 *
 * Returns 0, and rotation->end_error is set; -ERESTARTSYS; or another negative errno if the old log
 * stays in use.
 */
static int end_old_log(struct pxt_log *log)
{
	struct pxt_rotation *rotation = log->rotation;
	int err;

	if (rotation->phase < PXT_ROTATION_ENDING && READ_ONCE(log->stream->dead))
		return -ESHUTDOWN;
	if (rotation->phase == PXT_ROTATION_NEW) {
		err = pxt_log_prepare_next(log);
		if (err)
			return err;
		rotation->phase = PXT_ROTATION_FLUSHING;
		/*
		 * A thread that ends from now on may have events in the next file: keep its names.
		 */
		pxt_logtasks_keep_ended(log->stream->link.logtasks, true);
		log->flush_self = true;
		err = flush(log);
		if (err)
			return err;
		if (READ_ONCE(log->stream->dead))
			return -ESHUTDOWN;
	}
	if (rotation->phase < PXT_ROTATION_ENDED) {
		err = write_end(log);
		if (err)
			return err;
	}
	err = pxt_logfile_settle(&log->writer.file);
	if (err == -ERESTARTSYS)
		return err;
	if (err && !rotation->end_error)
		rotation->end_error = -err;
	return 0;
}

/* Has an interrupted ROTATE written the end of the old log? */
static bool is_ended(struct pxt_log *log)
{
	bool ended;

	spin_lock(&log->lock);
	ended = log->rotation && log->rotation->phase == PXT_ROTATION_ENDED;
	spin_unlock(&log->lock);
	return ended;
}

/* Serve a ROTATE. If interrupted, the next task continues. */
static int rotate(struct pxt_log *log)
{
	int err = end_old_log(log);

	if (err == -ERESTARTSYS) {
		pxt_log_want(log, PXT_LOG_ROTATE);
		return err;
	}
	if (!err) {
		pxt_log_switch(log);
		/* The next file begins with metadata, even if no event follows soon. */
		pxt_log_want(log, PXT_LOG_STATES);
	}
	pxt_logtasks_keep_ended(log->stream->link.logtasks, false);
	pxt_log_rotated(log, err);
	return 0;
}

/**
 * pxt_log_serve() - process all requests of the log
 * @log: served by the caller
 *
 * Context: may sleep; no lock is held.
 *
 * Return: 1 if the end is written: the caller frees the memory of the stream and calls
 * pxt_log_finish(); 0; -ERESTARTSYS if the caller was interrupted or must pause.
 */
int pxt_log_serve(struct pxt_log *log)
{
	bool more;
	int err = 0;

	if (log->phase != PXT_LOG_NO_FLUSH)
		err = flush(log);
	/* Once it has its end, the old file may only get the rest of a partial write. */
	if (!err && is_ended(log) && pxt_log_take_request(log, PXT_LOG_ROTATE))
		err = rotate(log);
	if (!err && pxt_log_take_request(log, PXT_LOG_CLEAR))
		err = clear(log);
	if (!err && pxt_log_take_request(log, PXT_LOG_ROTATE))
		err = rotate(log);
	if (err)
		return err;
	more = pxt_log_take_request(log, PXT_LOG_MORE_STATES);
	if (pxt_log_take_request(log, PXT_LOG_STATES)) {
		pxt_log_make_states_due(log);
		more = true;
	}
	if (more)
		err = write_states(log);
	if (err)
		return err;
	pxt_log_take_request(log, PXT_LOG_USED);
	log->flush_self = true;
	if (pxt_log_take_request(log, PXT_LOG_FLUSH) ||
	    (pxt_log_flushes_itself(log) && pxt_flush_pending(log)))
		err = flush(log);
	if (err || !test_bit(PXT_LOG_END, &log->wanted))
		return err;
	err = pxt_flush_last(log);
	return err ? err : 1;
}
