// SPDX-License-Identifier: GPL-2.0
/*
 * The lifetime of a stream: creating, finding and freeing it. state.c handles its states,
 * teardown/shutdown.c its end.
 */
#include <linux/file.h>
#include <linux/idr.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "log/log.h"
#include "ring/clock.h"
#include "ring/noalloc.h"
#include "stream/stream.h"
#include "stream/wait.h"
#include "target/image.h"
#include "target/kerneltype.h"
#include "target/logtasks.h"
#include "target/logwakers.h"
#include "target/rights.h"
#include "target/table.h"

/* Guards the list of streams; it is read under RCU. */
static DEFINE_MUTEX(pxt_streams_lock);
static LIST_HEAD(pxt_streams);
static u64 pxt_streams_number;

static DEFINE_IDA(pxt_streams_ida);

/**
 * pxt_stream_init() - tell lockdep that memory is never allocated with the lock of the list
 */
void pxt_stream_init(void)
{
	pxt_noalloc(&pxt_streams_lock);
}

static int take_index(struct pxt_stream *stream)
{
	int index = ida_alloc_max(&pxt_streams_ida, stream->charge.places - 1, GFP_KERNEL);

	if (index < 0)
		return index == -ENOSPC ? -EAGAIN : index;
	stream->index = index;
	return 0;
}

static int make_log(struct pxt_stream *stream, int fd)
{
	int err;

	stream->link.logtasks = pxt_logtasks_new();
	stream->link.logwakers = pxt_logwakers_new();
	err = stream->link.logtasks && stream->link.logwakers ? pxt_log_new(stream, fd) : -ENOMEM;
	if (err) {
		pxt_logwakers_free(stream->link.logwakers);
		pxt_logtasks_free(stream->link.logtasks);
	}
	return err;
}

/**
 * pxt_stream_new() - create a stream without publishing it
 * @attr: checked attributes
 * @table: table of the process to trace; the stream takes a reference
 * @file: will own the stream
 * @log_fd: descriptor of its log, or -1
 *
 * Context: may sleep.
 * Return: one reference, to be released with pxt_stream_shutdown() and pxt_stream_put(); or -EAGAIN
 * if there are too many streams, in total or of this user; -ENOMEM if there is not enough memory,
 * or the user may not lock that much; -EBADF, -EINVAL if @log_fd cannot be the log.
 */
struct pxt_stream *pxt_stream_new(const struct posixtrace_attr *attr, struct pxt_table *table,
				  struct file *file, int log_fd)
{
	struct pxt_stream *stream;
	int err = -ENOMEM;

	stream = kzalloc(sizeof(*stream), GFP_KERNEL_ACCOUNT);
	if (!stream)
		goto fail;
	stream->attr = *attr;
	err = pxt_user_charge_stream(&stream->charge);
	if (err)
		goto free_stream;
	err = take_index(stream);
	if (err)
		goto uncharge;
	err = pxt_pool_init(&stream->pool, &stream->attr, &stream->charge);
	if (err)
		goto free_index;
	if (log_fd != -1)
		err = make_log(stream, log_fd);
	if (err)
		goto free_pool;
	kref_init(&stream->kref);
	refcount_set(&stream->scratch, 1);
	mutex_init(&stream->lock);
	pxt_wait_init(stream);
	pxt_trigger_init(&stream->trigger);
	INIT_LIST_HEAD(&stream->node);
	stream->owner = get_pid(task_tgid(current));
	stream->cred = get_current_cred();
	stream->power = pxt_rights_power();
	stream->ns = get_pid_ns(task_active_pid_ns(current));
	stream->file = file;
	stream->link.table = table;
	INIT_LIST_HEAD(&stream->link.node);
	stream->link.pool = &stream->pool;
	stream->link.kernel_types = pxt_kernel_types(stream->attr.classes);
	stream->link.limited = stream->charge.nr_shares;
	pxt_table_get(table);
	pxt_clock_get();
	stream->attr.creation_time = pxt_clock_now();
	stream->attr.clock_resolution = pxt_clock_resolution();
	return stream;

free_pool:
	pxt_pool_destroy(&stream->pool);
	pxt_pool_destroy_scratch(&stream->pool);
free_index:
	ida_free(&pxt_streams_ida, stream->index);
uncharge:
	pxt_user_uncharge(&stream->charge);
free_stream:
	kfree(stream);
fail:
	return ERR_PTR(err);
}

/**
 * pxt_stream_publish() - add a new stream to the list of streams and to its target
 * @stream: from pxt_stream_new()
 * @target: the process to trace, with a gate
 * @memory: from pxt_logtasks_prepare(), for all threads of the process, if the stream has a log
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if there are too many on the target; -ESTALE if it has ended.
 */
int pxt_stream_publish(struct pxt_stream *stream, struct pxt_target *target,
		       struct hlist_head *memory)
{
	mutex_lock(&pxt_streams_lock);
	stream->number = ++pxt_streams_number;
	list_add_tail_rcu(&stream->node, &pxt_streams);
	mutex_unlock(&pxt_streams_lock);
	return pxt_gate_link(target, &stream->link, memory);
}

/* No list_del_init(): a walk may be at this stream and need its next pointer. */
static void leave_list(struct pxt_stream *stream)
{
	mutex_lock(&pxt_streams_lock);
	if (!list_empty(&stream->node))
		list_del_rcu(&stream->node);
	mutex_unlock(&pxt_streams_lock);
}

/**
 * pxt_stream_put_scratch() - put a reference to the scratch pages
 * @stream: stream of a mapping that is gone, or with memory that is freed
 *
 * Context: may sleep.
 */
void pxt_stream_put_scratch(struct pxt_stream *stream)
{
	if (!refcount_dec_and_test(&stream->scratch))
		return;
	pxt_pool_destroy_scratch(&stream->pool);
	pxt_user_uncharge(&stream->charge);
}

/**
 * pxt_stream_destroy_memory() - free the memory of a stream and remove it from the list of streams
 * @stream: dead; its memory is neither recorded into nor mapped
 *
 * The scratch pages stay while the stream has mappings. Until this returns, the exit of the
 * controller finds the stream in the list. Context: may sleep.
 */
void pxt_stream_destroy_memory(struct pxt_stream *stream)
{
	pxt_pool_destroy(&stream->pool);
	/* Only from now on, another stream may have the same mapping offsets. */
	ida_free(&pxt_streams_ida, stream->index);
	pxt_user_uncharge_stream(&stream->charge, PXT_POOL_SCRATCH);
	pxt_stream_put_scratch(stream);
	pxt_clock_put();
	leave_list(stream);
}

/**
 * pxt_stream_forget_file() - detach a stream from its file
 * @stream: shut down
 *
 * Context: the file has not been freed yet.
 */
void pxt_stream_forget_file(struct pxt_stream *stream)
{
	WRITE_ONCE(stream->file, NULL);
}

/*
 * The file holds a reference to the module. In a kernel thread, fput() would release the file with
 * a delay, and rmmod would fail until then.
 */
static void put_memory(struct file *memory)
{
	if (!memory)
		return;
	if (current->flags & PF_KTHREAD)
		__fput_sync(memory);
	else
		fput(memory);
}

static void stream_release(struct kref *kref)
{
	struct pxt_stream *stream = container_of(kref, struct pxt_stream, kref);
	struct pxt_table *table = stream->link.table;

	put_memory(stream->memory);
	if (stream->log)
		pxt_log_free(stream->log);
	pxt_logwakers_free(stream->link.logwakers);
	pxt_logtasks_free(stream->link.logtasks);
	pxt_image_leave(table, &stream->link.author);
	pxt_table_leave(&stream->link);
	kfree(stream->link.conditions);
	pxt_table_put(table);
	put_pid_ns(stream->ns);
	put_cred(stream->cred);
	put_pid(stream->owner);
	mutex_destroy(&stream->lock);
	kfree_rcu(stream, rcu);
}

/**
 * pxt_stream_put() - put a reference
 * @stream: shut down if this may be the last reference
 *
 * Context: may sleep.
 */
void pxt_stream_put(struct pxt_stream *stream)
{
	kref_put(&stream->kref, stream_release);
}

/**
 * pxt_stream_for_each() - call a function for every stream
 * @fn: called under RCU, so it must not sleep; the stream may be shut down
 * @arg: passed to @fn
 *
 * May miss streams that are created or end during the call.
 */
void pxt_stream_for_each(void (*fn)(struct pxt_stream *stream, void *arg), void *arg)
{
	struct pxt_stream *stream;

	rcu_read_lock();
	list_for_each_entry_rcu(stream, &pxt_streams, node)
		fn(stream, arg);
	rcu_read_unlock();
}
