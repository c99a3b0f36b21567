/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGFILE_H
#define PXT_LOGFILE_H

#include <linux/cred.h>
#include <linux/fs.h>

/**
 * enum pxt_logfile_server - the task that writes
 * @PXT_BY_THREAD: the kernel thread of the log; a signal makes it give up
 * @PXT_BY_WORKER: a thread of the controller, in WRITE_LOG; any signal interrupts it
 * @PXT_BY_CLOSER: a controller task that ends the stream; a fatal signal interrupts it
 */
enum pxt_logfile_server {
	PXT_BY_THREAD,
	PXT_BY_WORKER,
	PXT_BY_CLOSER,
};

/**
 * struct pxt_logfile - the file of a log
 *
 * Used by one task at a time: the creator of the log, then the task that serves it.
 */
struct pxt_logfile {
	/* Replaced by ROTATE: */
	/** @file: a reference; NULL once closed */
	struct file *file;
	/** @cred: credentials that the controller had when it passed the file */
	const struct cred *cred;

	/**
	 * @limit: the lowest RLIMIT_FSIZE that the controller had at CREATE and each ROTATE, bytes;
	 * written by the serving task, read by tasks that want to serve
	 */
	u64 limit;

	/* Constant since CREATE: */
	/** @memcg: memory cgroup of the controller, charged for allocations of the serving task */
	struct mem_cgroup *memcg;
	/** @regular: a regular file */
	bool regular;
	/** @disk: a regular file on block devices, written by the kernel itself */
	bool disk;
	/** @patient: written by the kernel itself, so writes always make progress */
	bool patient;
	/** @stream: a pipe or a socket, so a signal ends a wait for it */
	bool stream;
	/** @seekable: a failed write can be repeated at the same place */
	bool seekable;

	/** @server: the task that writes; set by pxt_log_take() */
	enum pxt_logfile_server server;
	/** @moved: a write to a seekable file went to another place, so do not write again */
	bool moved;
	/**
	 * @given_up: the kernel thread got a signal: no more writes that would have to wait;
	 * written by that thread
	 */
	bool given_up;
	/** @progress: bytes written so far; read by the watch of the log */
	u64 progress;
	/** @pos: offset of the next byte of a file written from start to end */
	loff_t pos;
	/** @rest: not seekable: the missing part of a partial write */
	void *rest;
	/** @rest_len: bytes in @rest */
	size_t rest_len;
};

int pxt_logfile_open(struct pxt_logfile *lf, int fd, u32 policy);
int pxt_logfile_reserve(struct pxt_logfile *lf, size_t size);
bool pxt_logfile_is_alike(const struct pxt_logfile *lf, const struct pxt_logfile *other);
void pxt_logfile_swap(struct pxt_logfile *lf, struct pxt_logfile *next);
void pxt_logfile_close(struct pxt_logfile *lf);
int pxt_logfile_write(struct pxt_logfile *lf, const void *buf, size_t len, size_t *done);
int pxt_logfile_write_at(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos);
bool pxt_logfile_given_up(struct pxt_logfile *lf);
bool pxt_logfile_allows(const struct pxt_logfile *lf, enum pxt_logfile_server server);
int pxt_logfile_settle(struct pxt_logfile *lf);
int pxt_logfile_restart(struct pxt_logfile *lf);

#endif /* PXT_LOGFILE_H */
