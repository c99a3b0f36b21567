// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a log: what may be one, and writing to it, from a kernel thread on
 * behalf of the controller. What is written is the matter of logblock.c.
 */
#include <linux/file.h>
#include <linux/namei.h>
#include <linux/poll.h>
#include <linux/resource.h>
#include <linux/sched/signal.h>
#include <linux/stat.h>
#include <linux/uio.h>

#include <linux/posixtrace.h>

#include "logfile.h"

/**
 * pxt_logfile_regular() - is it a regular file?
 * @lf: open
 *
 * Return: yes or no.
 */
bool pxt_logfile_regular(const struct pxt_logfile *lf)
{
	return S_ISREG(file_inode(lf->file)->i_mode);
}

static int check(const struct file *file, u32 policy)
{
	bool regular = S_ISREG(file_inode(file)->i_mode);

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	/* What can be written from kernel memory. */
	if (!file->f_op->write_iter)
		return -EINVAL;
	if (policy == POSIXTRACE_POLICY_APPEND)
		return 0;
	if (!regular || (policy == POSIXTRACE_POLICY_LOOP && file->f_flags & O_APPEND))
		return -EINVAL;
	return 0;
}

/**
 * pxt_logfile_open() - take a file of the calling process for a log
 * @lf: to be initialized
 * @fd: descriptor
 * @policy: log-full-policy
 *
 * Return: 0; -EBADF if it is not open for writing; -EINVAL if it can not be the log
 * of a stream with that policy.
 */
int pxt_logfile_open(struct pxt_logfile *lf, int fd, u32 policy)
{
	struct file *file = fget(fd);
	int err;

	if (!file)
		return -EBADF;
	err = check(file, policy);
	if (err) {
		fput(file);
		return err;
	}
	*lf = (struct pxt_logfile){ .file = file };
	lf->cred = get_current_cred();
	lf->limit = rlimit(RLIMIT_FSIZE);
	lf->seekable = pxt_logfile_regular(lf) && !(file->f_flags & O_APPEND);
	return 0;
}

/**
 * pxt_logfile_close() - give the file back
 * @lf: open
 */
void pxt_logfile_close(struct pxt_logfile *lf)
{
	put_cred(lf->cred);
	fput(lf->file);
}

static ssize_t write_regular(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	/* The limit of the thread that writes is another one. */
	if (pos + len > lf->limit)
		return -EFBIG;
	return kernel_write(lf->file, buf, len, &pos);
}

/* Until a file that is not to block can be written again. */
static void wait_for_room(struct file *file)
{
	struct poll_wqueues queues;

	poll_initwait(&queues);
	vfs_poll(file, &queues.pt);
	for (;;) {
		set_current_state(TASK_IDLE);
		if (vfs_poll(file, NULL) & (EPOLLOUT | EPOLLERR | EPOLLHUP))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	poll_freewait(&queues);
}

static ssize_t write_other(struct pxt_logfile *lf, const void *buf, size_t len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct kiocb kiocb;
	struct iov_iter iter;
	ssize_t ret;

	for (;;) {
		init_sync_kiocb(&kiocb, lf->file);
		iov_iter_kvec(&iter, WRITE, &vec, 1, len);
		ret = call_write_iter(lf->file, &kiocb, &iter);
		if (ret != -EAGAIN)
			return ret;
		/* Only a thread can wait for ever; who creates the log is told. */
		if (!(current->flags & PF_KTHREAD))
			return ret;
		wait_for_room(lf->file);
	}
}

static int write_all(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	const struct cred *old = override_creds(lf->cred);
	size_t done = lf->seekable ? 0 : lf->done;
	ssize_t ret = 0;

	while (done < len) {
		if (pxt_logfile_regular(lf))
			ret = write_regular(lf, buf + done, len - done, pos + done);
		else
			ret = write_other(lf, buf + done, len - done);
		if (ret == 0)
			ret = -EIO;
		if (ret < 0)
			break;
		done += ret;
		cond_resched();
	}
	lf->done = done < len ? done : 0;
	revert_creds(old);
	return ret < 0 ? ret : 0;
}

/**
 * pxt_logfile_write() - write behind what was written last
 * @lf: open
 * @buf: what to write
 * @len: bytes
 *
 * What failed can be tried again, with the same arguments; nothing else can be
 * written before, unless the file is seekable. Context: may sleep.
 *
 * Return: 0 or negative errno.
 */
int pxt_logfile_write(struct pxt_logfile *lf, const void *buf, size_t len)
{
	int err = write_all(lf, buf, len, lf->pos);

	if (!err)
		lf->pos += len;
	return err;
}

/**
 * pxt_logfile_write_at() - write at some place
 * @lf: open, seekable
 * @buf: what to write
 * @len: bytes
 * @pos: where
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logfile_write_at(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	return write_all(lf, buf, len, pos);
}

/**
 * pxt_logfile_restart() - throw away what is in a regular file
 * @lf: open, seekable
 *
 * Context: may sleep.
 * Return: 0 or negative errno; then it is as it was.
 */
int pxt_logfile_restart(struct pxt_logfile *lf)
{
	const struct cred *old = override_creds(lf->cred);
	int err = vfs_truncate(&lf->file->f_path, 0);

	revert_creds(old);
	if (!err)
		lf->pos = 0;
	return err;
}
