// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a log: checks, and writes by a kernel thread on behalf of the controller or by a
 * thread of the controller. logblock.c produces the contents.
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
 * Sockets of other families may tell the peer which task wrote, and its credentials
 * (SCM_CREDENTIALS). That task may be a kernel thread, which programs such as journald trust.
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
	/* The file must accept data from any kernel address. */
	if (!file->f_op->write_iter || file->f_flags & O_DIRECT)
		return -EINVAL;
	/* Like kernel_write(), refuse a file that also has write(): it may have another meaning. */
	if (regular && file->f_op->write)
		return -EINVAL;
	/*
	 * A write to a file in /proc or /sys is a command to the kernel. It may affect the writing
	 * task, which is not the controller.
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
 * Does the kernel itself write the files? Network file systems and FUSE depend on a server, and
 * stacked file systems may depend on one below.
 */
static bool kernel_writes(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	case FUSE_SUPER_MAGIC:
		/* A process serves the files of FUSE, even if s_bdev is set (fuseblk). */
		return false;
	default:
		return sb->s_bdev;
	}
}

/* btrfs has several devices and sets no s_bdev. */
static bool is_on_disk(const struct super_block *sb)
{
	return sb->s_bdev || sb->s_magic == BTRFS_SUPER_MAGIC;
}

/**
 * pxt_logfile_open() - open a file of the calling process for a log
 * @lf: to be initialized
 * @fd: descriptor
 * @policy: log-full-policy
 *
 * Return: 0; -EBADF if it is not open for writing; -EINVAL if it cannot be the log of a stream with
 * that policy, such as a socket that carries credentials.
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
 * pxt_logfile_is_alike() - check if a file can replace another one
 * @lf: open
 * @other: open
 *
 * Tasks that do not serve the log rely on the kind of its file, see pxt_logfile_allows().
 *
 * Return: true if so.
 */
bool pxt_logfile_is_alike(const struct pxt_logfile *lf, const struct pxt_logfile *other)
{
	return lf->regular == other->regular && lf->patient == other->patient &&
	       lf->disk == other->disk && lf->stream == other->stream &&
	       lf->seekable == other->seekable;
}

/**
 * pxt_logfile_swap() - exchange the files of two logs
 * @lf: open, of the log that the caller serves; keeps the memory cgroup
 * @next: alike
 */
void pxt_logfile_swap(struct pxt_logfile *lf, struct pxt_logfile *next)
{
	swap(lf->file, next->file);
	swap(lf->cred, next->cred);
	WRITE_ONCE(lf->limit, next->limit);
	swap(lf->moved, next->moved);
	swap(lf->pos, next->pos);
	swap(lf->rest, next->rest);
	swap(lf->rest_len, next->rest_len);
}

/**
 * pxt_logfile_close() - release the file
 * @lf: open, or already closed
 *
 * When called by a kernel thread, the file is closed on return: the file system can be unmounted,
 * and the reader of a pipe sees end of file. Context: may sleep.
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
 * Use the flags that the file had at CREATE: F_SETFL may change them at any time, including
 * O_APPEND. If the file system appends nevertheless, as overlayfs does, the log is lost, but the
 * file cannot grow without limit.
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
	/* Apply the limit of the controller, not of this thread. */
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

/* Poll events: a write would not block. */
#define WRITABLE	(EPOLLOUT | EPOLLWRNORM)
#define READY		(WRITABLE | EPOLLERR | EPOLLHUP)

/* Longest pause before retrying a write that failed although the file was ready. */
#define PAUSE_MAX	HZ

/*
 * Wait until a non-blocking file can be written again, or for a signal. Some files report that they
 * are ready but are not: a socket with a non-empty error queue, or a full socket that is connected
 * to itself.
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
	/* Stay in TASK_RUNNING here, because the driver may sleep in poll(). */
	if (!(vfs_poll(file, &queues.pt) & READY)) {
		/* Many drivers wake only interruptible sleepers. */
		set_current_state(TASK_INTERRUPTIBLE);
		/* Pairs with the barrier in the wake-up of poll(), which sets triggered. */
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
 * pxt_logfile_given_up() - check if a signal has made the kernel thread give up
 * @lf: open
 *
 * If the caller is that thread, consumes the signal, so that the next one can interrupt a write.
 *
 * Return: true if so.
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
 * pxt_logfile_allows() - check if the calling controller task may write the file
 * @lf: open
 * @server: role of the task
 *
 * The exit of the controller must not wait for a server of the file. An exec by the controller must
 * not wait for a file that ignores signals. The task must not have a lower RLIMIT_FSIZE than the
 * log.
 *
 * Return: true if so.
 */
bool pxt_logfile_allows(const struct pxt_logfile *lf, enum pxt_logfile_server server)
{
	if (lf->regular)
		return lf->patient && rlimit(RLIMIT_FSIZE) >= READ_ONCE(lf->limit);
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
 * Convert an error of a controller task. If a signal or a lowered limit stopped the task,
 * -ERESTARTSYS makes another task continue.
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

/* Can a write complete without waiting? If so, a thread writes the end although it has given up. */
static bool can_write_now(struct pxt_logfile *lf)
{
	if (lf->regular)
		return lf->patient;
	return (vfs_poll(lf->file, NULL) & (READY | EPOLLNVAL)) == WRITABLE;
}

/* Write @len bytes. Stores the number of bytes written in @done. */
static int write_all(struct pxt_logfile *lf, const void *buf, size_t len, loff_t pos,
		     size_t *done)
{
	const struct cred *old;
	ssize_t ret = 0;

	*done = 0;
	/* No lock may be held: the owner of the file determines how long a write takes. */
	lockdep_assert_none_held_once();
	if (pxt_logfile_given_up(lf) && !can_write_now(lf))
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
 * pxt_logfile_settle() - complete a partial write
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
 * pxt_logfile_write() - write after the last write
 * @lf: open
 * @buf: the data
 * @len: bytes, at most the reserved size
 * @done: number of written bytes, even on failure
 *
 * After a failure, the next write goes to the same place unless the caller moves lf->pos. If part
 * of the data has already gone through a pipe, the write counts as done: the rest is written before
 * the next write. Context: may sleep.
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
 * Return: 0; on a negative errno the file is unchanged.
 */
int pxt_logfile_restart(struct pxt_logfile *lf)
{
	struct inode *inode = file_inode(lf->file);
	const struct cred *old;
	int err;

	lockdep_assert_none_held_once();
	if (lf->server != PXT_BY_THREAD && is_frozen(lf))
		return -ERESTARTSYS;
	/* vfs_truncate() would wait for the owner of a lease. Write access prevents new leases. */
	err = get_write_access(inode);
	if (err)
		return err;
	err = break_lease(inode, O_WRONLY | O_NONBLOCK);
	if (err)
		goto put_access;
	old = override_creds(lf->cred);
	err = vfs_truncate(&lf->file->f_path, 0);
	revert_creds(old);
put_access:
	put_write_access(inode);
	if (!err)
		lf->pos = 0;
	return err;
}
