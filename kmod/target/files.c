// SPDX-License-Identifier: GPL-2.0
/*
 * Lists the open files of traced processes, for descriptors that were opened before the stream
 * started.
 *
 * Everything is read with the lock of the table held, so that each open file keeps the reference of
 * its descriptor. An additional reference might become the last one, and putting that would close
 * the file, which may have to wait for a socket or a FUSE server. The lock keeps the process from
 * opening files, so it is released after a few rows, and its holder never sleeps.
 */
#include <linux/bitmap.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "compat.h"
#include "ring/clock.h"
#include "target/files.h"
#include "target/sockname.h"
#include "target/target.h"
#include "target/traced.h"
#include "target/walk.h"

/* Rows per time that the lock is held: a long path takes a microsecond. */
#define BATCH		8
/* Descriptors to look at, open or not, per time that the lock is held. */
#define WINDOW		4096U
/* Descriptors from this one on are only counted. */
#define FDS_MAX		8192U
/* Process ids to look at per call. */
#define IDS_MAX		4096

static_assert(BATCH + 2 <= PXT_FILES_MIN && PXT_FILES_MIN == POSIXTRACE_FILES_MIN);

/**
 * struct table - the table of descriptors of a process
 * @task: a thread with this table; holds a reference
 * @target: the process; holds a reference
 * @pid: its id in the namespace of the controller
 * @files: address of the table, only for comparison
 * @users: number of threads of the process with this table
 * @unsure: other threads have other tables, or work for an io_uring
 */
struct table {
	struct task_struct *task;
	struct pxt_target *target;
	pid_t pid;
	const struct files_struct *files;
	int users;
	bool unsure;
};

/* ------------------------------------------------------------------ */
/* The table								*/

static const struct files_struct *files_of(const struct task_struct *thread)
{
	/* An exiting thread clears the pointer with a plain store. */
	return data_race(READ_ONCE(thread->files));
}

static bool take_user(struct task_struct *thread, void *arg)
{
	struct table *table = arg;

	table->files = files_of(thread);
	if (!table->files || thread->flags & PXT_PF_KERNEL)
		return false;
	table->task = thread;
	get_task_struct(thread);
	return true;
}

static bool count_user(struct task_struct *thread, void *arg)
{
	const struct files_struct *files = files_of(thread);
	struct table *table = arg;

	if (files == table->files)
		table->users++;
	else if (files)
		table->unsure = true;
	/* A worker of io_uring closes and opens files without system calls. */
	if (thread->flags & PF_IO_WORKER)
		table->unsure = true;
	return false;
}

/* Returns false if no thread of the process has a table. */
static bool open_table(struct task_struct *process, struct table *table)
{
	if (pxt_walk_threads(process, take_user, table) <= 0)
		return false;
	/* If threads end all the time, the users cannot be counted, so the table is unsure. */
	if (pxt_walk_threads(process, count_user, table) < 0)
		table->unsure = true;
	return true;
}

/* A function that with_table() calls with the lock of the table. */
typedef void (*table_fn)(const struct table *table, struct files_struct *files, void *arg);

/* Call @fn with the table, if the stream may still see it. Returns false otherwise. */
static bool with_table(const struct pxt_link *link, const struct table *table, table_fn fn,
		       void *arg)
{
	struct files_struct *files;
	bool traced = false;

	task_lock(table->task);
	files = table->task->files;
	if (files && files == table->files) {
		spin_lock(&files->file_lock);
		/*
		 * Check this with the lock held. A process that executes a program is marked before
		 * the program opens files, and opening a file takes this lock.
		 */
		rcu_read_lock();
		traced = pxt_traced_by(link, table->target);
		rcu_read_unlock();
		if (traced)
			fn(table, files, arg);
		spin_unlock(&files->file_lock);
	}
	task_unlock(table->task);
	return traced;
}

/*
 * Might another process change the table? Also true while a thread is created: it counts as a user
 * of the table before it is in the list of threads.
 */
static bool is_unsure(const struct table *table, const struct files_struct *files)
{
	return table->unsure || atomic_read(&files->count) > table->users;
}

/* ------------------------------------------------------------------ */
/* A row								*/

static struct posixtrace_file *begin_row(struct posixtrace_file *to, const struct table *table,
					 const struct files_struct *files, u32 kind)
{
	memset(to, 0, sizeof(*to));
	to->time = pxt_clock_now();
	to->pid = table->pid;
	to->fd = -1;
	to->kind = kind;
	if (is_unsure(table, files))
		to->flags = POSIXTRACE_FILE_UNSURE;
	return to;
}

static u32 kind_of(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (S_ISSOCK(inode->i_mode))
		return POSIXTRACE_FILE_SOCKET;
	if (S_ISFIFO(inode->i_mode) && inode->i_sb->s_magic == PIPEFS_MAGIC)
		return POSIXTRACE_FILE_PIPE;
	return POSIXTRACE_FILE_PATH;
}

static void put_path(struct posixtrace_file *to, struct file *file)
{
	const char *path = d_path(pxt_file_user_path(file), to->text, sizeof(to->text));

	/* A truncated path would be useless. */
	if (IS_ERR(path)) {
		to->text[0] = '\0';
		return;
	}
	/* d_path() puts the path at the end of the buffer. */
	memmove(to->text, path, strlen(path) + 1);
	memset(to->text + strlen(to->text), 0, sizeof(to->text) - strlen(to->text));
	/* Files without a path have texts such as "anon_inode:[eventfd]". */
	if (to->text[0] != '/')
		to->kind = POSIXTRACE_FILE_OTHER;
}

static void put_file(struct posixtrace_file *to, struct file *file, struct pid_namespace *ns)
{
	const struct socket *socket;

	to->inode = file_inode(file)->i_ino;
	to->kind = kind_of(file);
	if (file->f_mode & FMODE_READ)
		to->flags |= POSIXTRACE_FILE_READS;
	if (file->f_mode & FMODE_WRITE)
		to->flags |= POSIXTRACE_FILE_WRITES;
	socket = to->kind == POSIXTRACE_FILE_SOCKET ? sock_from_file(file) : NULL;
	if (socket)
		pxt_sockname_put(socket, ns, to->text, sizeof(to->text));
	else if (to->kind == POSIXTRACE_FILE_PIPE)
		strscpy(to->text, "pipe", sizeof(to->text));
	else
		put_path(to, file);
}

/* ------------------------------------------------------------------ */
/* All rows								*/

/**
 * struct rows - the rows of a process that are being filled
 * @ns: pid namespace of the controller
 * @to: where the next row goes
 * @count: number of rows so far
 * @fd: the next descriptor
 * @end: descriptors from this one on do not exist, or have no row
 * @max: size of the table
 */
struct rows {
	struct pid_namespace *ns;
	struct posixtrace_file *to;
	u32 count;
	u32 fd;
	u32 end;
	u32 max;
};

static struct posixtrace_file *next_row(struct rows *rows, const struct table *table,
					const struct files_struct *files, u32 kind)
{
	rows->count++;
	return begin_row(rows->to++, table, files, kind);
}

/* Fill up to BATCH rows, and one for the table before the first descriptor. */
static void fill_batch(const struct table *table, struct files_struct *files, void *arg)
{
	const struct fdtable *fdt = files_fdtable(files);
	struct rows *rows = arg;
	struct posixtrace_file *to;
	struct file *file;
	u32 end, count = 0;

	if (!rows->fd)
		next_row(rows, table, files, POSIXTRACE_FILE_TABLE);
	rows->max = fdt->max_fds;
	rows->end = min(rows->max, FDS_MAX);
	end = min(rows->end, rows->fd + WINDOW);
	while (count < BATCH) {
		rows->fd = find_next_bit(fdt->open_fds, end, rows->fd);
		if (rows->fd >= end)
			break;
		file = rcu_dereference_check(fdt->fd[rows->fd],
					     lockdep_is_held(&files->file_lock));
		/* A descriptor may be reserved for a file that is being opened. */
		if (file) {
			to = next_row(rows, table, files, POSIXTRACE_FILE_PATH);
			to->fd = rows->fd;
			if (test_bit(rows->fd, fdt->close_on_exec))
				to->flags |= POSIXTRACE_FILE_CLOEXEC;
			put_file(to, file, rows->ns);
			count++;
		}
		rows->fd++;
	}
}

/**
 * struct rest - descriptors without a row
 * @fd: the next one
 * @max: size of the table
 * @open: number of open ones so far
 * @to: row for them
 */
struct rest {
	u32 fd;
	u32 max;
	u64 open;
	struct posixtrace_file *to;
};

/* Count the open descriptors in a part of the table, and fill their row after the last part. */
static void count_part(const struct table *table, struct files_struct *files, void *arg)
{
	const struct fdtable *fdt = files_fdtable(files);
	struct rest *rest = arg;
	u32 words;

	rest->max = fdt->max_fds;
	if (rest->fd < rest->max) {
		words = min_t(u32, WINDOW, (rest->max - rest->fd) / BITS_PER_LONG);
		rest->open += bitmap_weight(fdt->open_fds + rest->fd / BITS_PER_LONG,
					    words * BITS_PER_LONG);
		rest->fd += words * BITS_PER_LONG;
	}
	if (rest->fd >= rest->max && rest->open)
		begin_row(rest->to, table, files, POSIXTRACE_FILE_MORE)->inode = rest->open;
}

/* Fill a row that says how many further descriptors have no row. Returns the number of rows. */
static u32 fill_more(const struct pxt_link *link, const struct table *table,
		     struct posixtrace_file *to)
{
	struct rest rest = { .fd = FDS_MAX, .to = to };

	do {
		if (!with_table(link, table, count_part, &rest))
			return 0;
		cond_resched();
	} while (rest.fd < rest.max && !fatal_signal_pending(current));
	return rest.open && rest.fd >= rest.max;
}

/* Fill rows of one process from *@fd on; *@fd becomes 0 after its last one. */
static u32 fill_process(const struct pxt_link *link, const struct table *table,
			struct pid_namespace *ns, struct posixtrace_file *to, u32 room, u32 *fd)
{
	struct rows rows = { .ns = ns, .to = to, .fd = *fd };

	do {
		if (!with_table(link, table, fill_batch, &rows))
			goto end;
		cond_resched();
		if (fatal_signal_pending(current))
			break;
	} while (rows.fd < rows.end && room - rows.count >= BATCH + 2);
	if (rows.fd < rows.end) {
		*fd = rows.fd;
		return rows.count;
	}
	if (rows.max > FDS_MAX)
		rows.count += fill_more(link, table, rows.to);
end:
	*fd = 0;
	return rows.count;
}

/**
 * pxt_files_fill() - get the open files of traced processes
 * @link: link of a stream with kernel events
 * @ns: pid namespace of its controller
 * @to: result
 * @room: number of rows at @to, at least PXT_FILES_MIN
 * @cursor: where to start; advances
 *
 * Each row is correct for the time in it. Looks at a bounded number of processes, so there may be
 * further rows even if @room is not used up. Paths are relative to the root of the caller.
 *
 * Context: may sleep.
 * Return: number of rows.
 */
u32 pxt_files_fill(const struct pxt_link *link, struct pid_namespace *ns,
		   struct posixtrace_file *to, u32 room, struct pxt_files_cursor *cursor)
{
	struct task_struct *process;
	u32 count = 0, i;
	pid_t next;

	for (i = 0; i < IDS_MAX && cursor->pid >= 0 && room - count >= PXT_FILES_MIN; i++) {
		struct table table = { };

		cond_resched();
		if (fatal_signal_pending(current))
			break;
		next = cursor->pid;
		process = pxt_traced_next(link, ns, PIDTYPE_TGID, &next, &table.target);
		/* The process at cursor->pid has ended: start the next one with its first row. */
		if (next != cursor->pid + 1)
			cursor->fd = 0;
		if (process) {
			table.pid = task_tgid_nr_ns(process, ns);
			if (open_table(process, &table)) {
				count += fill_process(link, &table, ns, to + count, room - count,
						      &cursor->fd);
				put_task_struct(table.task);
			} else {
				cursor->fd = 0;
			}
			pxt_target_put(table.target);
			put_task_struct(process);
		}
		if (!cursor->fd)
			cursor->pid = next;
		else
			cursor->pid = next - 1;
	}
	return count;
}
