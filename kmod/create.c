// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE: which arguments are accepted, and who may trace whom. What a stream
 * consists of is in stream.c.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "create.h"
#include "version.h"

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

static int check_attr(const struct posixtrace_attr *attr)
{
	if (attr->clock_resolution || attr->creation_time ||
	    !zero(attr->version, sizeof(attr->version)) ||
	    !zero(attr->reserved, sizeof(attr->reserved)) || !name_valid(attr))
		return -EINVAL;
	if (attr->inherited > POSIXTRACE_INHERITED)
		return -EINVAL;
	/* FLUSH needs a log. */
	if (attr->stream_policy != POSIXTRACE_POLICY_LOOP &&
	    attr->stream_policy != POSIXTRACE_POLICY_UNTIL_FULL)
		return -EINVAL;
	if (attr->log_policy != POSIXTRACE_POLICY_LOOP &&
	    attr->log_policy != POSIXTRACE_POLICY_UNTIL_FULL &&
	    attr->log_policy != POSIXTRACE_POLICY_APPEND)
		return -EINVAL;
	if (attr->max_data_size > POSIXTRACE_DATA_SIZE_MAX ||
	    !pxt_pool_size_valid(attr->stream_size, attr->max_data_size))
		return -EINVAL;
	return 0;
}

static int check_args(const struct posixtrace_create *arg)
{
	int err;

	if (arg->flags || arg->slot || !maps_zero(arg) ||
	    !zero(arg->reserved, sizeof(arg->reserved)))
		return -EINVAL;
	err = check_attr(&arg->attr);
	if (err)
		return err;
	/* Not yet. */
	if (arg->log_fd != -1 || arg->attr.inherited == POSIXTRACE_INHERITED)
		return -EOPNOTSUPP;
	return 0;
}

/* The rule for signals: would kill() be allowed without capabilities? */
static bool same_user(const struct cred *cred, const struct cred *tcred)
{
	return uid_eq(cred->euid, tcred->suid) || uid_eq(cred->euid, tcred->uid) ||
	       uid_eq(cred->uid, tcred->suid) || uid_eq(cred->uid, tcred->uid);
}

/* Of the first thread that has not ended: the main thread may have. */
static struct mm_struct *get_process_mm(struct task_struct *task)
{
	struct mm_struct *mm = NULL;
	struct task_struct *thread;

	rcu_read_lock();
	for_each_thread(task, thread) {
		mm = get_task_mm(thread);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

static int check_dumpable(struct task_struct *task)
{
	struct mm_struct *mm = get_process_mm(task);
	int err = 0;

	if (!mm)
		return -ESRCH;
	if (get_dumpable(mm) != SUID_DUMP_USER && !ns_capable(mm->user_ns, CAP_SYS_PTRACE))
		err = -EPERM;
	mmput(mm);
	return err;
}

/*
 * A trace shows data of a process: the controller must be one that could send it
 * signals, and read its core dump, or have CAP_SYS_PTRACE over it.
 */
static int check_rights(struct task_struct *task)
{
	const struct cred *tcred;
	int err = 0;

	if (same_thread_group(task, current))
		return 0;
	tcred = get_task_cred(task);
	if (!same_user(current_cred(), tcred) && !ns_capable(tcred->user_ns, CAP_SYS_PTRACE))
		err = -EPERM;
	put_cred(tcred);
	return err ? err : check_dumpable(task);
}

/* A live process, by its id in our namespace: a reference. */
static struct task_struct *find_process(pid_t nr)
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
	/* A zombie, perhaps one that was not waited for. */
	if (!atomic_read(&task->signal->live)) {
		put_task_struct(task);
		return ERR_PTR(-ESRCH);
	}
	return task;
}

static struct pxt_target *find_target(pid_t nr)
{
	struct task_struct *task = find_process(nr);
	struct pxt_target *target = NULL;
	struct pid *pid;
	int err;

	if (IS_ERR(task))
		return ERR_CAST(task);
	err = -EPERM;
	if (task->flags & PF_KTHREAD)
		goto put_task;
	err = check_rights(task);
	if (err)
		goto put_task;
	err = -ESRCH;
	pid = get_task_pid(task, PIDTYPE_TGID);
	if (pid) {
		target = pxt_target_get(pid);
		err = target ? 0 : -ENOMEM;
		put_pid(pid);
	}
put_task:
	put_task_struct(task);
	return err ? ERR_PTR(err) : target;
}

/**
 * pxt_create() - CREATE: a new stream
 * @arg: private copy of what the process passed
 * @file: that it will belong to
 *
 * POSIX: posix_trace_create(). The target can see the stream when this returns.
 * Context: may sleep.
 *
 * Return: one reference, to be ended with pxt_stream_shutdown() and
 * pxt_stream_put(); or, in the order in which they win: -EINVAL; -EOPNOTSUPP for
 * what comes later; -ESRCH if there is no such process; -EPERM; -ESRCH if it ended
 * meanwhile; -EAGAIN if there are too many streams on the system; -ENOMEM; -EAGAIN
 * if there are too many on the process.
 */
struct pxt_stream *pxt_create(const struct posixtrace_create *arg, struct file *file)
{
	struct posixtrace_attr attr = arg->attr;
	struct pxt_stream *stream;
	struct pxt_target *target;
	int err;

	err = check_args(arg);
	if (err)
		return ERR_PTR(err);
	target = find_target(arg->pid);
	if (IS_ERR(target))
		return ERR_CAST(target);
	strscpy(attr.version, "posixtrace " PXT_VERSION, sizeof(attr.version));
	stream = pxt_stream_new(&attr, target, file);
	/* The stream has its own reference. */
	pxt_target_put(target);
	if (IS_ERR(stream))
		return stream;
	err = pxt_stream_publish(stream);
	if (err) {
		pxt_stream_shutdown(stream);
		pxt_stream_put(stream);
		return ERR_PTR(err);
	}
	return stream;
}

/**
 * pxt_create_result() - what CREATE tells the process
 * @stream: new
 * @arg: where to write it
 */
void pxt_create_result(const struct pxt_stream *stream, struct posixtrace_create *arg)
{
	const struct pxt_pool *pool = &stream->pool;
	u64 base = pxt_stream_map_base(stream);

	arg->slot = stream->slot;
	arg->reader.offset = base;
	arg->reader.size = pool->reader_size;
	arg->ctrl.offset = base + pxt_pool_ctrl_offset(pool);
	arg->ctrl.size = pool->ctrl_size;
	arg->heads.offset = base + pxt_pool_heads_offset(pool);
	arg->heads.size = pool->heads_size;
	arg->pool.offset = base + pxt_pool_mem_offset(pool);
	arg->pool.size = pxt_pool_mem_size(pool);
}
