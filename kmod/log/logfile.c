// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a log: checking it, and writing to it, from a kernel thread on behalf of the
 * controller or from a thread of the controller. logblock.c makes the contents.
 */
#include <linux/file.h>
#include <linux/lockdep.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/resource.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/uio.h>

#include <linux/posixtrace.h>

#include "compat.h"
#include "log/logfile.h"

/*
 * A socket of another family may tell its peer which task wrote, and with which credentials
 * (SCM_CREDENTIALS). The task may be a kernel thread, and programs such as journald believe it.
 */
static bool is_anonymous(struct file *file)
{
	const struct socket *sock = sock_from_file(file);
	int family = sock ? READ_ONCE(sock->ops)->family : AF_UNSPEC;

	return sock && sock->type == SOCK_STREAM &&
	       (family == AF_INET || family == AF_INET6 || family == AF_VSOCK);
}

static int check(struct file *file, u32 policy)
{
	bool regular = S_ISREG(file_inode(file)->i_mode);
	bool pseudo = file_inode(file)->i_sb->s_iflags & SB_I_NOEXEC;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	/* It must accept data from any address in kernel memory. */
	if (!file->f_op->write_iter || file->f_flags & O_DIRECT)
		return -EINVAL;
	/* As in kernel_write(): if a file has both, write() may mean something else. */
	if (regular && file->f_op->write)
		return -EINVAL;
	/*
	 * Writing to a file in /proc or /sys is a command to the kernel. It may affect the
	 * writing task, which is not the controller.
	 */
	if (regular && pseudo)
		return -EINVAL;
	if (S_ISSOCK(file_inode(file)->i_mode) && !is_anonymous(file))
		return -EINVAL;
	if (policy == POSIXTRACE_POLICY_APPEND)
		return 0;
	if (!regular || (policy == POSIXTRACE_POLICY_LOOP && file->f_flags & O_APPEND))
		return -EINVAL;
	return 0;
}

/*
 * Does the kernel write the files by itself? A server writes the files of a network or of FUSE, and
 * may write those below a stacked file system.
 */
static bool kernel_writes(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	case FUSE_SUPER_MAGIC:
		/* A process serves it, whatever is below. */
		return false;
	default:
		return sb->s_bdev;
	}
}

/* btrfs has several devices, and names none of them. */
static bool is_on_disk(const struct super_block *sb)
{
	return sb->s_bdev || sb->s_magic == BTRFS_SUPER_MAGIC;
}

/**
 * pxt_logfile_open() - take a file of the calling process for a log
 * @lf: to be initialized
 * @fd: descriptor
 * @policy: log-full-policy
 *
 * Return: 0; -EBADF if it is not open for writing; -EINVAL if it cannot be the log of a
 * stream with that policy, as a socket that carries credentials.
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
	lf->memcg = get_mem_cgroup_from_mm(current->mm);
	lf->limit = rlimit(RLIMIT_FSIZE);
	lf->regular = S_ISREG(file_inode(file)->i_mode);
	lf->patient = lf->regular && kernel_writes(file_inode(file)->i_sb);
	lf->disk = lf->patient && is_on_disk(file_inode(file)->i_sb);
	lf->stream = S_ISFIFO(file_inode(file)->i_mode) || S_ISSOCK(file_inode(file)->i_mode);
	lf->seekable = lf->regular && !(file->f_flags & O_APPEND);
	return 0;
}

/**
 * pxt_logfile_reserve() - allocate memory for the rest of a partial write
 * @lf: open
 * @size: bytes of the largest write
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_logfile_reserve(struct pxt_logfile *lf, size_t size)
{
	if (lf->seekable)
		return 0;
	lf->rest = kvmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return lf->rest ? 0 : -ENOMEM;
}

/**
 * pxt_logfile_close() - give the file back
 * @lf: open, or closed already
 *
 * If a kernel thread calls this, the file is closed when it returns: the file system can be
 * unmounted, and the reader of a pipe sees its end. Context: may sleep.
 */
void pxt_logfile_close(struct pxt_logfile *lf)
{
	struct mem_cgroup *old;

	if (!lf->file)
		return;
	kvfree(lf->rest);
	old = set_active_memcg(lf->memcg);
	if (current->flags & PF_KTHREAD)
		__fput_sync(lf->file);
	else
		fput(lf->file);
	set_active_memcg(old);
	put_cred(lf->cred);
	mem_cgroup_put(lf->memcg);
	lf->file = NULL;
}

/*
 * F_SETFL may change the flags of the file at any time; this uses the flags of CREATE. If a file
 * system appends nevertheless, as overlayfs does, the log is lost, but the file cannot grow
 * without limit.
 */
static ssize_t write_regular(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	struct kvec vec = { .iov_base = (void *)buf };
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t ret;

	if (lf->moved)
		return -EIO;
	if (!lf->seekable)
		pos = i_size_read(file_inode(lf->file));
	/* The controller's limit, not that of this thread. */
	if (lf->seekable && pos < lf->limit)
		len = min_t(u64, len, lf->limit - pos);
	if (pos + len > lf->limit)
		return -EFBIG;
	vec.iov_len = min_t(size_t, len, MAX_RW_COUNT);
	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, vec.iov_len);
	init_sync_kiocb(&iocb, lf->file);
	iocb.ki_flags &= ~(IOCB_APPEND | IOCB_DIRECT);
	if (!lf->seekable)
		iocb.ki_flags |= IOCB_APPEND;
	iocb.ki_pos = pos;
	ret = pxt_file_write_iter(&iocb, &iter);
	lf->moved = ret > 0 && lf->seekable && iocb.ki_pos != pos + ret;
	return lf->moved ? -EIO : ret;
}

/* A write would not have to wait. */
#define WRITABLE	(EPOLLOUT | EPOLLWRNORM)
#define READY		(WRITABLE | EPOLLERR | EPOLLHUP)

/* The longest pause before a retry of a write that failed although the file was ready. */
#define PAUSE_MAX	HZ

/*
 * Waits until a non-blocking file can be written again, or a signal comes. Some files report that
 * they are ready but are not: a socket whose error queue is not empty, or one that is
 * connected to itself and full.
 */
static void wait_for_room(struct file *file, unsigned int *pause)
{
	struct poll_wqueues queues;

	if (vfs_poll(file, NULL) & READY) {
		*pause = clamp(2 * *pause, 1U, (unsigned int)PAUSE_MAX);
		schedule_timeout_interruptible(*pause);
		return;
	}
	poll_initwait(&queues);
	queues.pt._key = READY;
	/* In state running: the driver may sleep in poll(). */
	if (!(vfs_poll(file, &queues.pt) & READY)) {
		/* Many drivers wake only interruptible sleepers. */
		set_current_state(TASK_INTERRUPTIBLE);
		/* Pairs with the barrier in the wake-up of poll(), which sets it. */
		if (!READ_ONCE(queues.triggered) && !signal_pending(current))
			schedule();
		__set_current_state(TASK_RUNNING);
	}
	poll_freewait(&queues);
}

static ssize_t write_other(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	unsigned int pause = 0;
	struct iov_iter iter;
	ssize_t ret;

	if (!(lf->file->f_mode & FMODE_LSEEK))
		pos = 0;
	for (;;) {
		iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, len);
		ret = vfs_iter_write(lf->file, &iter, &pos, 0);
		if (ret != -EAGAIN || READ_ONCE(lf->given_up) || signal_pending(current))
			return ret;
		wait_for_room(lf->file, &pause);
	}
}

/**
 * pxt_logfile_given_up() - has a signal made the kernel thread give up?
 * @lf: open
 *
 * In that thread, consumes the signal, so that the next one can interrupt a later attempt.
 *
 * Return: yes or no.
 */
bool pxt_logfile_given_up(struct pxt_logfile *lf)
{
	if (current->flags & PF_KTHREAD && signal_pending(current)) {
		flush_signals(current);
		WRITE_ONCE(lf->given_up, true);
	}
	return READ_ONCE(lf->given_up);
}

/**
 * pxt_logfile_allows() - may the calling task of the controller write it?
 * @lf: open
 * @server: as what
 *
 * The end of the controller must not wait for a server of the file, nor exec for any file that a
 * signal does not interrupt. And the task must not have a smaller RLIMIT_FSIZE than at CREATE.
 *
 * Return: yes or no.
 */
bool pxt_logfile_allows(const struct pxt_logfile *lf, enum pxt_logfile_server server)
{
	if (lf->regular)
		return lf->patient && rlimit(RLIMIT_FSIZE) >= lf->limit;
	return server == PXT_BY_WORKER && lf->stream;
}

static bool is_interrupted(const struct pxt_logfile *lf)
{
	return lf->server == PXT_BY_CLOSER ? fatal_signal_pending(current)
					   : signal_pending(current);
}

/* Leave the wait for a file system that is frozen (FIFREEZE) to the kernel thread. */
static bool is_frozen(const struct pxt_logfile *lf)
{
	return lf->regular &&
	       READ_ONCE(file_inode(lf->file)->i_sb->s_writers.frozen) != SB_UNFROZEN;
}

/*
 * What a task of the controller could not write: another task continues if a signal is the cause,
 * or a limit that was lowered.
 */
static int error_of(const struct pxt_logfile *lf, ssize_t err)
{
	if (lf->server == PXT_BY_THREAD)
		return err;
	if (err == -EINTR || err == -ERESTARTSYS)
		return -ERESTARTSYS;
	if (err == -EFBIG && !pxt_logfile_allows(lf, lf->server))
		return -ERESTARTSYS;
	return err;
}

/* After a signal, the end of the log is still written if that does not have to wait. */
static bool writes_at_once(struct pxt_logfile *lf)
{
	if (lf->regular)
		return lf->patient;
	return (vfs_poll(lf->file, NULL) & (READY | EPOLLNVAL)) == WRITABLE;
}

/* Puts the number of written bytes into @done. */
static int write_all(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos,
		     size_t *done)
{
	const struct cred *old;
	ssize_t ret = 0;

	*done = 0;
	/* The owner of a file decides how long a write takes. */
	lockdep_assert_none_held_once();
	if (pxt_logfile_given_up(lf) && !writes_at_once(lf))
		return -ECANCELED;
	if (lf->server != PXT_BY_THREAD && (is_interrupted(lf) || is_frozen(lf)))
		return -ERESTARTSYS;
	old = override_creds(lf->cred);
	while (*done < len) {
		if (lf->regular)
			ret = write_regular(lf, buf + *done, len - *done, pos + *done);
		else
			ret = write_other(lf, buf + *done, len - *done, pos + *done);
		if (ret == 0)
			ret = -EIO;
		if (ret > 0) {
			*done += ret;
			WRITE_ONCE(lf->progress, lf->progress + ret);
		}
		if (*done < len && is_interrupted(lf))
			ret = lf->server == PXT_BY_THREAD ? -ECANCELED : -ERESTARTSYS;
		if (ret < 0)
			break;
		cond_resched();
	}
	revert_creds(old);
	pxt_logfile_given_up(lf);
	return ret < 0 ? error_of(lf, ret) : 0;
}

/**
 * pxt_logfile_settle() - write the missing part of a write that was begun
 * @lf: open
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logfile_settle(struct pxt_logfile *lf)
{
	size_t done;
	int err;

	if (!lf->rest_len)
		return 0;
	err = write_all(lf, lf->rest, lf->rest_len, lf->pos - lf->rest_len, &done);
	lf->rest_len -= done;
	memmove(lf->rest, lf->rest + done, lf->rest_len);
	return err;
}

/**
 * pxt_logfile_write() - write behind the last write
 * @lf: open
 * @buf: the data
 * @len: bytes, no more than were reserved
 * @done: gets the number of written bytes, also if it fails
 *
 * After a failure, the next write goes to the same place, unless the caller moves lf->pos. If
 * part of the data has gone through a pipe already, the write counts as done: the rest is
 * written before the next write. Context: may sleep.
 *
 * Return: 0 or negative errno.
 */
int pxt_logfile_write(struct pxt_logfile *lf, const void *buf, size_t len, size_t *done)
{
	int err;

	*done = 0;
	err = pxt_logfile_settle(lf);
	if (err)
		return err;
	err = write_all(lf, buf, len, lf->pos, done);
	if (err && *done && !lf->seekable) {
		lf->rest_len = len - *done;
		memcpy(lf->rest, buf + *done, lf->rest_len);
		err = 0;
	}
	if (!err)
		lf->pos += len;
	return err;
}

/**
 * pxt_logfile_write_at() - write at a position
 * @lf: open, seekable
 * @buf: the data
 * @len: bytes
 * @pos: offset in the file
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_logfile_write_at(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos)
{
	size_t done;

	return write_all(lf, buf, len, pos, &done);
}

/**
 * pxt_logfile_restart() - truncate a regular file
 * @lf: open, seekable
 *
 * Context: may sleep.
 * Return: 0 or negative errno, then the file is unchanged.
 */
int pxt_logfile_restart(struct pxt_logfile *lf)
{
	const struct cred *old;
	int err;

	lockdep_assert_none_held_once();
	if (lf->server != PXT_BY_THREAD && is_frozen(lf))
		return -ERESTARTSYS;
	old = override_creds(lf->cred);
	err = vfs_truncate(&lf->file->f_path, 0);
	revert_creds(old);
	if (!err)
		lf->pos = 0;
	return err;
}
