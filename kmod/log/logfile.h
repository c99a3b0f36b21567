/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGFILE_H
#define PXT_LOGFILE_H

#include <linux/cred.h>
#include <linux/fs.h>

/**
 * struct pxt_logfile - the file of a log
 * @file: a reference; NULL when it was closed
 * @cred: of the controller when it created the stream
 * @memcg: its memory cgroup at that time: what the thread allocates is charged to it
 * @limit: RLIMIT_FSIZE of the controller at that time, bytes
 * @regular: a regular file; constant
 * @disk: a regular file on a block device; constant
 * @patient: the kernel itself writes it, and always moves on; constant
 * @seekable: what failed can be written again at the same place; constant
 * @moved: seekable: a write went to another place; nothing is written any more
 * @given_up: a signal came: nothing is written any more that would have to wait
 * @progress: bytes written so far; written by the thread, read by the watch of the log
 * @pos: next byte, if it is written from front to back
 * @rest: not seekable: what is missing of something that was begun
 * @rest_len: bytes of that
 *
 * Used by one task at a time: by who creates the log, then by its thread.
 */
struct pxt_logfile {
	struct file *file;
	const struct cred *cred;
	struct mem_cgroup *memcg;
	u64 limit;
	bool regular;
	bool disk;
	bool patient;
	bool seekable;
	bool moved;
	bool given_up;
	u64 progress;
	loff_t pos;
	void *rest;
	size_t rest_len;
};

int pxt_logfile_open(struct pxt_logfile *lf, int fd, u32 policy);
int pxt_logfile_reserve(struct pxt_logfile *lf, size_t size);
void pxt_logfile_close(struct pxt_logfile *lf);
int pxt_logfile_write(struct pxt_logfile *lf, const void *buf, size_t len, size_t *done);
int pxt_logfile_write_at(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos);
bool pxt_logfile_given_up(struct pxt_logfile *lf);
int pxt_logfile_settle(struct pxt_logfile *lf);
int pxt_logfile_restart(struct pxt_logfile *lf);

#endif /* PXT_LOGFILE_H */
