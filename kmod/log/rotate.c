// SPDX-License-Identifier: GPL-2.0
/*
 * ROTATE: the request, and the change to the next file. The caller passes a file and waits. The
 * task that serves the log writes the rest of the events and the end to the old file, and continues
 * in the new one: see rotate() in logthread/logserve.c.
 */
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "log/log.h"
#include "log/logturn.h"
#include "log/rotate.h"

static void free_rotation(struct pxt_rotation *rotation)
{
	pxt_logfile_close(&rotation->file);
	kfree(rotation);
}

static struct pxt_rotation *new_rotation(struct pxt_log *log, int fd)
{
	const struct pxt_logwriter *w = &log->writer;
	struct pxt_rotation *rotation = kzalloc(sizeof(*rotation), GFP_KERNEL_ACCOUNT);
	int err;

	if (!rotation)
		return ERR_PTR(-ENOMEM);
	err = pxt_logfile_open(&rotation->file, fd, w->policy);
	if (err)
		goto free;
	err = -EXDEV;
	if (!pxt_logfile_is_alike(&w->file, &rotation->file))
		goto close;
	rotation->file.limit = min(rotation->file.limit, READ_ONCE(w->file.limit));
	err = pxt_logfile_reserve(&rotation->file, w->batch * w->block_room);
	if (err)
		goto close;
	rotation->awaited = true;
	return rotation;

close:
	pxt_logfile_close(&rotation->file);
free:
	kfree(rotation);
	return ERR_PTR(err);
}

static bool is_rotating(struct pxt_log *log)
{
	bool ret;

	spin_lock(&log->lock);
	ret = log->rotation;
	spin_unlock(&log->lock);
	return ret;
}

/* Request the rotation. Afterwards it belongs to the log until it is done. */
static int request(struct pxt_log *log, struct pxt_rotation *rotation)
{
	int err = 0;

	spin_lock(&log->lock);
	if (log->finished) {
		err = -ESHUTDOWN;
	} else if (log->rotation) {
		err = -EBUSY;
	} else {
		log->rotation = rotation;
		set_bit(PXT_LOG_ROTATE, &log->wanted);
	}
	spin_unlock(&log->lock);
	return err;
}

/* Returns true if the rotation is done and belongs to the caller. */
static bool stop_waiting(struct pxt_log *log, struct pxt_rotation *rotation)
{
	bool done;

	spin_lock(&log->lock);
	rotation->awaited = false;
	done = rotation->done;
	spin_unlock(&log->lock);
	return done;
}

/**
 * pxt_log_rotate() - ROTATE: continue the log in another file
 * @stream: not locked
 * @fd: descriptor of the calling process
 * @end_error: receives the error number with which the old log ended, or 0
 *
 * Waits until the old log is complete and the new one in use. Context: may sleep. Can be killed and
 * frozen.
 *
 * Return: 0; -EINVAL without a log, for one that ends when it is full, or if @fd is the current
 * file; -EBADF and -EINVAL as for CREATE; -EXDEV if the new file is of another kind; -EBUSY while
 * another ROTATE is in progress; -EINTR after a fatal signal; -ESHUTDOWN; -ENOMEM; the error of
 * writing to the new file, after which the old log is still in use.
 */
int pxt_log_rotate(struct pxt_stream *stream, int fd, u32 *end_error)
{
	struct pxt_log *log = stream->log;
	struct pxt_rotation *rotation;
	int err;

	if (!log || log->writer.policy == POSIXTRACE_POLICY_UNTIL_FULL)
		return -EINVAL;
	/* Fail before memory is allocated; request() repeats the check under the lock. */
	if (is_rotating(log))
		return -EBUSY;
	rotation = new_rotation(log, fd);
	if (IS_ERR(rotation))
		return PTR_ERR(rotation);
	err = request(log, rotation);
	if (err)
		goto free;
	pxt_log_wake(log);
	/* Pairs with the release in pxt_log_rotated(): the results are set. */
	err = wait_event_state(log->done, smp_load_acquire(&rotation->done) ||
			       READ_ONCE(stream->dead), (TASK_KILLABLE | TASK_FREEZABLE));
	if (!stop_waiting(log, rotation))
		return err ? -EINTR : -ESHUTDOWN;
	err = rotation->error;
	*end_error = rotation->end_error;
free:
	free_rotation(rotation);
	return err;
}

/**
 * pxt_log_rotated() - end a rotation
 * @log: served by the caller, or finished
 * @error: negative errno if the old log is still in use, or 0
 *
 * Does nothing if there is no rotation. Context: may sleep.
 */
void pxt_log_rotated(struct pxt_log *log, int error)
{
	struct pxt_rotation *rotation;
	bool awaited = true;

	spin_lock(&log->lock);
	rotation = log->rotation;
	log->rotation = NULL;
	clear_bit(PXT_LOG_ROTATE, &log->wanted);
	if (rotation) {
		rotation->error = error;
		awaited = rotation->awaited;
		/* Pairs with the acquire in pxt_log_rotate(). */
		smp_store_release(&rotation->done, true);
	}
	spin_unlock(&log->lock);
	wake_up_all(&log->done);
	/* The caller of ROTATE was killed. */
	if (!awaited)
		free_rotation(rotation);
}

/**
 * pxt_log_prepare_next() - write the header of the next log
 * @log: served by the caller, with a rotation
 *
 * If the header of the old log is missing, writes that first. May be called again. Context: may
 * sleep.
 *
 * Return: 0; -EINVAL if the next file is the file of the old log; negative errno.
 */
int pxt_log_prepare_next(struct pxt_log *log)
{
	const struct posixtrace_log_header *old = &log->writer.header;
	struct pxt_rotation *rotation = log->rotation;
	struct posixtrace_log_header *header = &rotation->header;
	struct pxt_logfile *file = &log->writer.file;
	int err = pxt_logwriter_catch_up(&log->writer);

	if (err == -ERESTARTSYS)
		return err;
	/* The next log would overwrite the old one. */
	if (file_inode(file->file) == file_inode(rotation->file.file))
		return -EINVAL;
	*header = *old;
	header->series = old->series ? old->series : old->cookie;
	header->previous = old->cookie;
	header->part = old->part ? old->part + 1 : 2;
	rotation->file.server = file->server;
	rotation->file.given_up = file->given_up;
	/* Overwrite the header of an earlier call: the old log may have a new cookie since then. */
	if (rotation->file.seekable)
		rotation->file.pos = 0;
	err = pxt_logwriter_put_header(&log->writer, &rotation->file, header);
	/* Without its header, the next log does not continue the old one: see write_end(). */
	if (err)
		header->previous = 0;
	/*
	 * The write may have consumed the signal that tells the kernel thread to give up. Then give
	 * up the old file as well, unless the stream is dead: the watch sends another signal for
	 * the old file.
	 */
	if (rotation->file.given_up && !READ_ONCE(log->stream->dead))
		WRITE_ONCE(file->given_up, true);
	return err;
}

/**
 * pxt_log_switch() - change to the next file
 * @log: served by the caller; its end is written, and pxt_log_prepare_next() has succeeded
 *
 * Context: may sleep.
 */
void pxt_log_switch(struct pxt_log *log)
{
	struct pxt_rotation *rotation = log->rotation;
	struct pxt_logwriter *w = &log->writer;
	struct posixtrace_log_end end = { 0 };
	int err = 0;

	pxt_logfile_swap(&w->file, &rotation->file);
	w->header = rotation->header;
	w->headless = false;
	/* Open sub-buffers belong to an epoch that has already begun: epoch 1 of the next log. */
	w->epoch = 1;
	w->names = 0;
	w->gap_base = log->stream->pool.gaps.logged;
	w->lost_base = w->lost;
	pxt_logwriter_forget(w);
	if (w->policy == POSIXTRACE_POLICY_LOOP)
		err = pxt_logwriter_end(w, &end, NULL);

	spin_lock(&log->lock);
	log->overrun |= log->overwritten != log->overwritten_seen;
	log->overwritten = 0;
	log->overwritten_seen = 0;
	WRITE_ONCE(log->error, err == -ERESTARTSYS ? 0 : err);
	spin_unlock(&log->lock);
}
