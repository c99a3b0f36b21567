// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE: checks the arguments, finds the process, and creates the stream. stream/stream.c handles
 * streams; target/rights.c checks the right to trace a process.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "version.h"
#include "device/create.h"
#include "kevent/kevent.h"
#include "kevent/permission.h"
#include "kevent/tracepoints.h"
#include "log/log.h"
#include "logthread/logthread.h"
#include "target/attachment.h"
#include "target/logtasks.h"
#include "target/memory.h"
#include "target/rights.h"
#include "target/target.h"
#include "task/end.h"
#include "task/fork.h"
#include "task/process.h"
#include "teardown/mmap.h"

/* Additional entries for the names of threads that the process creates during CREATE. */
#define NEW_THREADS	8

static bool zero(const void *p, size_t size)
{
	return !memchr_inv(p, 0, size);
}

static bool maps_zero(const struct posixtrace_create *arg)
{
	return zero(&arg->reader, sizeof(arg->reader)) && zero(&arg->ctrl, sizeof(arg->ctrl)) &&
	       zero(&arg->heads, sizeof(arg->heads)) && zero(&arg->pool, sizeof(arg->pool));
}

static bool name_valid(const struct posixtrace_attr *attr)
{
	size_t len = strnlen(attr->name, sizeof(attr->name));

	return len < sizeof(attr->name) &&
	       zero(attr->name + len, sizeof(attr->name) - len);
}

/* FLUSH needs a log. */
static bool policy_valid(u32 policy, bool log)
{
	return policy == POSIXTRACE_POLICY_LOOP || policy == POSIXTRACE_POLICY_UNTIL_FULL ||
	       (log && policy == POSIXTRACE_POLICY_FLUSH);
}

static int check_attr(const struct posixtrace_attr *attr, bool log)
{
	if (attr->clock_resolution || attr->creation_time ||
	    !zero(attr->version, sizeof(attr->version)) ||
	    !zero(attr->reserved, sizeof(attr->reserved)) || !name_valid(attr))
		return -EINVAL;
	if (attr->inherited > POSIXTRACE_INHERITED)
		return -EINVAL;
	if (!policy_valid(attr->stream_policy, log))
		return -EINVAL;
	if (attr->log_policy != POSIXTRACE_POLICY_LOOP &&
	    attr->log_policy != POSIXTRACE_POLICY_UNTIL_FULL &&
	    attr->log_policy != POSIXTRACE_POLICY_APPEND)
		return -EINVAL;
	if (attr->max_data_size > POSIXTRACE_DATA_SIZE_MAX ||
	    attr->stream_size > POSIXTRACE_STREAM_SIZE_MAX)
		return -EINVAL;
	/* The unread events of a stream can fill at most its size. */
	if (attr->wakeup_bytes > max_t(u64, attr->stream_size, POSIXTRACE_STREAM_SIZE_MIN) ||
	    attr->wakeup_ns > POSIXTRACE_WAKEUP_NS_MAX)
		return -EINVAL;
	if (attr->order > POSIXTRACE_ORDER_RELAXED ||
	    attr->classes & ~(u64)POSIXTRACE_CLASS_VALID ||
	    attr->compression > POSIXTRACE_COMPRESS_LZ4)
		return -EINVAL;
	return 0;
}

static int check_args(const struct posixtrace_create *arg)
{
	int err;

	if (arg->flags || arg->slot || arg->stream || !maps_zero(arg) ||
	    !zero(arg->reserved, sizeof(arg->reserved)))
		return -EINVAL;
	err = check_attr(&arg->attr, arg->log_fd != -1);
	if (err)
		return err;
	if (arg->attr.classes & ~pxt_permission_classes())
		return -EPERM;
	return arg->attr.classes & ~pxt_tracepoints_classes() ? -EOPNOTSUPP : 0;
}

/**
 * pxt_create_find() - find a process that has not ended
 * @nr: its id in the namespace of the caller; 0 is the caller
 *
 * Return: a reference to its leader; -ESRCH.
 */
struct task_struct *pxt_create_find(pid_t nr)
{
	struct task_struct *task;

	if (!nr)
		return get_task_struct(current->group_leader);
	rcu_read_lock();
	task = pid_task(find_vpid(nr), PIDTYPE_TGID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return ERR_PTR(-ESRCH);
	/* All threads have exited: a zombie. */
	if (!atomic_read(&task->signal->live)) {
		put_task_struct(task);
		return ERR_PTR(-ESRCH);
	}
	return task;
}

/**
 * pxt_create_target() - make a process a target that has a gate
 * @task: from pxt_create_find()
 * @table: event types of a new target; NULL: a new table
 *
 * Context: may sleep.
 * Return: a reference, see pxt_target_make(); -EPERM; -ESRCH; -ERESTARTSYS; -ENOMEM.
 */
struct pxt_target *pxt_create_target(struct task_struct *task, struct pxt_table *table)
{
	struct pxt_target *target;
	int err;

	if (task->flags & PF_KTHREAD)
		return ERR_PTR(-EPERM);
	err = pxt_rights_create(task);
	if (!err)
		err = pxt_fork_wait(task);
	if (err)
		return ERR_PTR(err);
	target = pxt_target_make(task, table);
	if (IS_ERR(target) || !pxt_gate_make(target))
		return target;
	pxt_target_put(target);
	return ERR_PTR(-ENOMEM);
}

static int begin_log(struct pxt_stream *stream, struct pxt_target *target, const u8 *boot_id)
{
	if (!stream->log)
		return 0;
	return pxt_log_begin(stream->log, pid_nr_ns(target->pid, stream->ns), boot_id);
}

/**
 * pxt_create_link() - let a stream trace a process
 * @stream: the stream
 * @target: from pxt_create_target()
 * @task: its process
 * @link: ties the stream to the target, see pxt_stream_publish()
 *
 * Checks the rights a second time: since the first check the process may have executed a
 * set-user-ID program while memory was allocated. exec_update_lock prevents an exec during this
 * check. After a later exec, task/process.c finds the stream and checks again.
 *
 * Context: may sleep.
 * Return: 0; -EPERM; -ERESTARTSYS; or the result of @link.
 */
int pxt_create_link(struct pxt_stream *stream, struct pxt_target *target, struct task_struct *task,
		    int (*link)(struct pxt_stream *stream, struct pxt_target *target,
				struct hlist_head *memory))
{
	HLIST_HEAD(memory);
	int err;

	/*
	 * Allocate before taking the locks, with spare entries for threads that are created before
	 * @link runs. Threads created afterwards are entered when they are created.
	 */
	if (stream->log)
		pxt_logtasks_prepare(&memory, get_nr_threads(task) + NEW_THREADS);
	err = down_read_killable(&task->signal->exec_update_lock);
	if (err)
		goto unprepare;
	err = pxt_rights_create(task);
	if (!err) {
		pxt_target_note_memory(target, task);
		err = link(stream, target, &memory);
	}
	up_read(&task->signal->exec_update_lock);
unprepare:
	pxt_logtasks_unprepare(&memory);
	return err;
}

static struct pxt_stream *make_stream(const struct posixtrace_create *arg,
				      const struct posixtrace_attr *attr,
				      struct pxt_target *target, struct task_struct *task,
				      struct file *file)
{
	struct pxt_stream *stream;
	int err;

	stream = pxt_stream_new(attr, target->table, file, arg->log_fd);
	if (IS_ERR(stream))
		return stream;
	pxt_kevent_init(stream);
	err = pxt_mmap_make_file(stream, file);
	if (!err)
		err = pxt_create_link(stream, target, task, pxt_stream_publish);
	if (!err) {
		pxt_attachment_found(target);
		err = begin_log(stream, target, arg->boot_id);
	}
	if (err) {
		pxt_stream_abort(stream);
		return ERR_PTR(err);
	}
	if (stream->log)
		pxt_process_look(target, task);
	return stream;
}

/* Get the handlers of tracepoints, and keep them until the memory of the stream is freed. */
static int get_handlers(struct pxt_stream *stream)
{
	int err = pxt_tracepoints_get(stream->attr.classes);

	if (!err)
		stream->handled = stream->attr.classes;
	return err;
}

/* The last steps of CREATE. No task can end the stream yet: its file has no role. */
static int finish(struct pxt_stream *stream, struct pxt_target *target, struct task_struct *task)
{
	/* Threads created before the stream was linked added no entry: see add_target(). */
	int err = pxt_fork_pool_reserve(&target->forks, get_nr_threads(task));

	/* Only after all checks that may refuse the stream, because this interrupts all CPUs. */
	return err ? err : get_handlers(stream);
}

/* Returns -ESTALE if the process executed another program during the call. */
static struct pxt_stream *trace_process(const struct posixtrace_create *arg,
					const struct posixtrace_attr *attr,
					struct task_struct *task, struct file *file)
{
	struct pxt_target *target = pxt_create_target(task, NULL);
	struct pxt_stream *stream;
	int err;

	if (IS_ERR(target))
		return ERR_CAST(target);
	stream = make_stream(arg, attr, target, task, file);
	err = IS_ERR(stream) ? 0 : finish(stream, target, task);
	if (err) {
		pxt_stream_abort(stream);
		stream = ERR_PTR(err);
	}
	pxt_target_put(target);
	return stream;
}

/**
 * pxt_create() - CREATE: create a stream
 * @arg: private copy of the argument
 * @file: will own the stream
 *
 * POSIX: posix_trace_create(). The target can see the stream on return.
 * Context: may sleep.
 *
 * Return: one reference, to be released with pxt_stream_shutdown() and pxt_stream_put(); or the
 * first that applies: -EINVAL; -EPERM, -EOPNOTSUPP for classes of kernel events; -ESRCH if there is
 * no such process; -EPERM; -ESRCH if it exited during the call; -ERESTARTSYS; -EAGAIN if there are
 * too many streams of this user or on the system; -ENOMEM; -EBADF, -EINVAL if the file cannot be a
 * log, or the error of the file system when the header is written; -EAGAIN if the process has too
 * many streams; what pxt_log_begin() returns.
 */
struct pxt_stream *pxt_create(const struct posixtrace_create *arg, struct file *file)
{
	struct posixtrace_attr attr = arg->attr;
	struct pxt_stream *stream;
	struct task_struct *task;
	int err;

	err = check_args(arg);
	if (err)
		return ERR_PTR(err);
	strscpy(attr.version, "posixtrace " PXT_VERSION, sizeof(attr.version));
	if (arg->log_fd == -1)
		attr.compression = POSIXTRACE_COMPRESS_NONE;
	task = pxt_create_find(arg->pid);
	if (IS_ERR(task))
		return ERR_CAST(task);
	do {
		stream = trace_process(arg, &attr, task, file);
	} while (stream == ERR_PTR(-ESTALE) && !signal_pending(current));
	put_task_struct(task);
	/* A process that keeps executing programs must not trap its controller in the loop. */
	if (stream == ERR_PTR(-ESTALE))
		stream = ERR_PTR(-ERESTARTSYS);
	return stream;
}

/**
 * pxt_create_result() - fill in the result of CREATE
 * @stream: new
 * @arg: slot, number and mappings are stored there
 */
void pxt_create_result(const struct pxt_stream *stream, struct posixtrace_create *arg)
{
	const struct pxt_pool *pool = &stream->pool;
	u64 base = pxt_stream_map_base(stream);

	arg->slot = stream->link.slot;
	arg->stream = stream->number;
	arg->reader.offset = base;
	arg->reader.size = pool->map.reader_size;
	arg->ctrl.offset = base + pxt_pool_ctrl_offset(pool);
	arg->ctrl.size = pool->map.ctrl_size;
	arg->heads.offset = base + pxt_pool_heads_offset(pool);
	arg->heads.size = pool->map.heads_size;
	arg->pool.offset = base + pxt_pool_mem_offset(pool);
	arg->pool.size = pxt_pool_mem_size(pool);
}
