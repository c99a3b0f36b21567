// SPDX-License-Identifier: GPL-2.0
/*
 * The commands of both roles: copy the argument in, call the function, copy the result out. The
 * argument is read once, and the copy is checked. cdev.c handles roles.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "device/add.h"
#include "device/command.h"
#include "log/log.h"
#include "log/rotate.h"
#include "logthread/logworker.h"
#include "stream/clear.h"
#include "stream/filter.h"
#include "stream/met.h"
#include "stream/record.h"
#include "stream/state.h"
#include "stream/sysevent.h"
#include "stream/trigger.h"
#include "stream/wait.h"
#include "target/condition.h"
#include "target/description.h"
#include "target/eventid.h"
#include "target/kerneltype.h"
#include "target/files.h"
#include "target/memory.h"
#include "target/shared_tp.h"
#include "target/target.h"
#include "target/threadstate.h"
#include "task/end.h"

static int copy_in(void *to, const void __user *from, size_t size)
{
	return copy_from_user(to, from, size) ? -EFAULT : 0;
}

static int copy_out(void __user *to, const void *from, size_t size)
{
	return copy_to_user(to, from, size) ? -EFAULT : 0;
}

/* ------------------------------------------------------------------ */
/* Both roles								*/

static struct pxt_description *copy_description(u32 id, u64 text, u32 size)
{
	struct pxt_description *description = pxt_description_new(id, size);
	int err;

	if (IS_ERR(description))
		return description;
	err = copy_in(description->text, u64_to_user_ptr(text), size);
	if (!err)
		return description;
	pxt_description_free(description);
	return ERR_PTR(err);
}

/*
 * @types: kernel event types, from pxt_kernel_types(); 0 for a traced process, which cannot record
 * them.
 */
static int eventid_open(struct pxt_table *table, u64 types, struct pxt_author *author,
			void __user *uarg)
{
	struct pxt_description *description = NULL;
	struct posixtrace_eventid arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved || arg.flags & ~POSIXTRACE_OPEN_EXACT)
		return -EINVAL;
	if (arg.description) {
		description = copy_description(0, arg.description, arg.description_size);
		if (IS_ERR(description))
			return PTR_ERR(description);
	} else if (arg.description_size) {
		return -EINVAL;
	}
	err = pxt_eventid_open(table, types, author, &arg, description);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

static int describe(struct pxt_table *table, struct pxt_author *author, void __user *uarg)
{
	struct pxt_description *description;
	struct posixtrace_description arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved)
		return -EINVAL;
	description = copy_description(arg.id, arg.text, arg.size);
	if (IS_ERR(description))
		return PTR_ERR(description);
	err = pxt_describe(table, author, description);
	if (err)
		pxt_description_free(description);
	return err == -EALREADY ? 0 : err;
}

/* ------------------------------------------------------------------ */
/* Role stream								*/

static int with_origin(struct pxt_stream *stream, unsigned int cmd, void __user *uarg)
{
	struct posixtrace_origin origin;
	struct pxt_caller caller;
	int err = copy_in(&origin, uarg, sizeof(origin));

	if (err)
		return err;
	if (memchr_inv(origin.reserved, 0, sizeof(origin.reserved)))
		return -EINVAL;
	if (cmd == POSIXTRACE_IOC_FLUSH) {
		caller = pxt_sysevent_caller(stream, &origin);
		return pxt_log_flush(stream, &caller);
	}
	return cmd == POSIXTRACE_IOC_START ? pxt_state_start(stream, &origin)
					   : pxt_state_stop(stream, &origin);
}

static int get_status(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_status status;
	int err = pxt_state_status(stream, &status);

	if (err)
		return err;
	err = copy_out(uarg, &status, sizeof(status));
	if (err)
		pxt_state_unreported(stream, &status);
	return err;
}

static int get_stats(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_stats stats;
	int err = pxt_state_stats(stream, &stats);

	return err ? err : copy_out(uarg, &stats, sizeof(stats));
}

static int get_kernel_stats(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_kernel_stats stats;
	int err = pxt_state_kernel_stats(stream, &stats);

	return err ? err : copy_out(uarg, &stats, sizeof(stats));
}

static int set_filter(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_filter arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	return err ? err : pxt_filter_set(stream, &arg);
}

static int get_filter(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_event_set set;
	int err = pxt_filter_get(stream, &set);

	return err ? err : copy_out(uarg, &set, sizeof(set));
}

static int event_name(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_eventid arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved || arg.flags || arg.description || arg.description_size)
		return -EINVAL;
	err = pxt_eventid_name(stream->link.table, stream->link.kernel_types, &arg);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

/* Find the description of an event type of the kernel or of the process. */
static int find_description(struct pxt_stream *stream, u32 id, const char **text, u32 *size)
{
	const struct pxt_kernel_type *type = pxt_kernel_type_find(stream->link.kernel_types, id);
	const struct pxt_description *found;
	const char *fixed;
	int err;

	fixed = type ? type->description : pxt_kernel_names(stream->link.kernel_types, id);
	if (fixed) {
		*text = fixed;
		*size = strlen(fixed) + 1;
		return 0;
	}
	err = pxt_description_find(stream->link.table, id, &found);
	if (err)
		return err;
	*text = found->text;
	*size = found->size;
	return 0;
}

static int description(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_description arg;
	const char *text;
	u32 size;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved)
		return -EINVAL;
	err = find_description(stream, arg.id, &text, &size);
	if (!err && size <= arg.size)
		err = copy_out(u64_to_user_ptr(arg.text), text, size);
	if (err)
		return err;
	arg.size = size;
	return copy_out(uarg, &arg, sizeof(arg));
}

static int event_types(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_event_types arg;
	u32 ids[64], n, done = 0;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved)
		return -EINVAL;
	while (done < arg.count && arg.first < POSIXTRACE_ID_MAX) {
		n = pxt_eventid_list(stream->link.table, stream->link.kernel_types,
				     arg.first + done, ids,
				     min_t(u32, arg.count - done, ARRAY_SIZE(ids)));
		if (!n)
			break;
		err = copy_out(u64_to_user_ptr(arg.ids) + done * sizeof(*ids), ids,
			       n * sizeof(*ids));
		if (err)
			return err;
		done += n;
	}
	arg.count = done;
	return copy_out(uarg, &arg, sizeof(arg));
}

static int wait_for(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_wait arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	/* The events of a stream with a log are read from the log. */
	return stream->log ? -EINVAL : pxt_wait(stream, &arg);
}

static int release(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_release arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.reserved)
		return -EINVAL;
	return pxt_state_release(stream, arg.subbuf);
}

static int defer(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_defer arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (!err)
		err = stream->log ? -EINVAL : pxt_wait_defer(stream, &arg);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

/* States of threads per copy to the caller. */
#define STATES_BATCH	24

static int copy_states(struct pxt_stream *stream, struct posixtrace_states *arg,
		       struct posixtrace_state *batch)
{
	u32 room = arg->count, n;
	int err;

	arg->count = 0;
	do {
		n = pxt_threadstate_fill(&stream->link, stream->ns, batch,
					 min_t(u32, room - arg->count, STATES_BATCH), &arg->next);
		err = copy_out(u64_to_user_ptr(arg->states) + arg->count * sizeof(*batch), batch,
			       n * sizeof(*batch));
		if (err)
			return err;
		arg->count += n;
	} while (n == STATES_BATCH && arg->count < room && arg->next >= 0 &&
		 !fatal_signal_pending(current));
	return 0;
}

static int states(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_state *batch;
	struct posixtrace_states arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (!arg.count || arg.next < 0)
		return -EINVAL;
	if (!stream->attr.classes)
		return -EOPNOTSUPP;
	batch = kmalloc_array(STATES_BATCH, sizeof(*batch), GFP_KERNEL_ACCOUNT);
	if (!batch)
		return -ENOMEM;
	err = copy_states(stream, &arg, batch);
	kfree(batch);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

/* Rows of open files per copy to the caller. */
#define FILES_BATCH	32

static int copy_files(struct pxt_stream *stream, struct posixtrace_files *arg,
		      struct posixtrace_file *batch)
{
	struct pxt_files_cursor cursor = { .pid = arg->pid, .fd = arg->fd };
	u32 room = arg->count, n;
	int err;

	arg->count = 0;
	do {
		n = pxt_files_fill(&stream->link, stream->ns, batch,
				   min_t(u32, room - arg->count, FILES_BATCH), &cursor);
		err = copy_out(u64_to_user_ptr(arg->files) + arg->count * sizeof(*batch), batch,
			       n * sizeof(*batch));
		if (err)
			return err;
		arg->count += n;
	} while (n && room - arg->count >= POSIXTRACE_FILES_MIN && cursor.pid >= 0 &&
		 !fatal_signal_pending(current));
	arg->pid = cursor.pid;
	arg->fd = cursor.fd;
	return 0;
}

static int files(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_file *batch;
	struct posixtrace_files arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.count < POSIXTRACE_FILES_MIN || arg.pid < 0 || arg.reserved)
		return -EINVAL;
	if (!(stream->attr.classes & POSIXTRACE_CLASS_STRINGS))
		return -EOPNOTSUPP;
	batch = kmalloc_array(FILES_BATCH, sizeof(*batch), GFP_KERNEL_ACCOUNT);
	if (!batch)
		return -ENOMEM;
	err = copy_files(stream, &arg, batch);
	kfree(batch);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

static int add(struct pxt_stream *stream, void __user *uarg)
{
	s32 pid;
	int err = copy_in(&pid, uarg, sizeof(pid));

	return err ? err : pxt_add(stream, pid);
}

static int rotate(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_rotate arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.error)
		return -EINVAL;
	err = pxt_log_rotate(stream, arg.log_fd, &arg.error);
	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

static int trigger(struct pxt_stream *stream, void __user *uarg)
{
	struct pxt_conditions *conditions = NULL;
	struct posixtrace_trigger arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (arg.count > POSIXTRACE_CONDITIONS_MAX || (!arg.count && arg.conditions))
		return -EINVAL;
	if (arg.count) {
		conditions = kzalloc(sizeof(*conditions), GFP_KERNEL_ACCOUNT);
		if (!conditions)
			return -ENOMEM;
		conditions->count = arg.count;
		err = copy_in(conditions->condition, u64_to_user_ptr(arg.conditions),
			      arg.count * sizeof(conditions->condition[0]));
	}
	if (!err)
		return pxt_trigger_set(stream, &arg, conditions);
	kfree(conditions);
	return err;
}

static int triggered(struct pxt_stream *stream, void __user *uarg)
{
	struct posixtrace_triggered arg;
	int err = pxt_trigger_take(stream, &arg);

	return err ? err : copy_out(uarg, &arg, sizeof(arg));
}

static int clock_error(struct pxt_stream *stream, void __user *uarg)
{
	u64 error;
	int err = copy_in(&error, uarg, sizeof(error));

	return err ? err : pxt_log_note_clock_error(stream, error);
}

/**
 * pxt_command_stream() - run a command of role stream
 * @stream: stream of the calling process
 * @cmd: second argument of ioctl()
 * @arg: third argument of ioctl()
 *
 * Context: may sleep.
 * Return: as in Documentation/abi.rst; -ENOTTY for other commands.
 */
long pxt_command_stream(struct pxt_stream *stream, unsigned int cmd, void __user *arg)
{
	/* Allowed for a dead stream, because the end of its log may not be written yet. */
	if (cmd == POSIXTRACE_IOC_WRITE_LOG)
		return pxt_log_work(stream);
	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	switch (cmd) {
	case POSIXTRACE_IOC_START:
	case POSIXTRACE_IOC_STOP:
	case POSIXTRACE_IOC_FLUSH:
		return with_origin(stream, cmd, arg);
	case POSIXTRACE_IOC_SHUTDOWN:
		return pxt_stream_end(stream);
	case POSIXTRACE_IOC_GET_STATUS:
		return get_status(stream, arg);
	case POSIXTRACE_IOC_GET_ATTR:
		return copy_out(arg, &stream->attr, sizeof(stream->attr));
	case POSIXTRACE_IOC_EVENTID_OPEN:
		return eventid_open(stream->link.table, stream->link.kernel_types,
				    &stream->link.author, arg);
	case POSIXTRACE_IOC_EVENT_NAME:
		return event_name(stream, arg);
	case POSIXTRACE_IOC_DESCRIBE:
		return describe(stream->link.table, &stream->link.author, arg);
	case POSIXTRACE_IOC_DESCRIPTION:
		return description(stream, arg);
	case POSIXTRACE_IOC_EVENT_TYPES:
		return event_types(stream, arg);
	case POSIXTRACE_IOC_WAIT:
		return wait_for(stream, arg);
	case POSIXTRACE_IOC_RELEASE:
		return release(stream, arg);
	case POSIXTRACE_IOC_DEFER:
		return defer(stream, arg);
	case POSIXTRACE_IOC_SET_FILTER:
		return set_filter(stream, arg);
	case POSIXTRACE_IOC_GET_FILTER:
		return get_filter(stream, arg);
	case POSIXTRACE_IOC_CLEAR:
		return pxt_clear(stream);
	case POSIXTRACE_IOC_GET_STATS:
		return get_stats(stream, arg);
	case POSIXTRACE_IOC_KERNEL_STATS:
		return get_kernel_stats(stream, arg);
	case POSIXTRACE_IOC_STATES:
		return states(stream, arg);
	case POSIXTRACE_IOC_FILES:
		return files(stream, arg);
	case POSIXTRACE_IOC_ADD:
		return add(stream, arg);
	case POSIXTRACE_IOC_ROTATE:
		return rotate(stream, arg);
	case POSIXTRACE_IOC_TRIGGER:
		return trigger(stream, arg);
	case POSIXTRACE_IOC_TRIGGERED:
		return triggered(stream, arg);
	case POSIXTRACE_IOC_CLOCK_ERROR:
		return clock_error(stream, arg);
	default:
		return -ENOTTY;
	}
}

/* ------------------------------------------------------------------ */
/* Role target								*/

static void fill_slot(struct posixtrace_slot *slot, const struct pxt_stream *stream,
		      const struct pxt_target *target)
{
	const struct pxt_pool *pool = &stream->pool;
	u64 base = pxt_stream_map_base(stream);

	slot->heads.offset = base + pxt_pool_heads_offset(pool);
	slot->heads.size = pool->map.heads_size;
	slot->pool.offset = base + pxt_pool_mem_offset(pool);
	slot->pool.size = pxt_pool_user_size(pool);
	slot->wakeup.offset = base + pxt_pool_wakeup_offset(pool);
	slot->wakeup.size = pool->map.wakeup_size;
	slot->stream = stream->number;
	slot->subbuf_size = pool->subbuf_size;
	slot->max_data_size = stream->attr.max_data_size;
	slot->pid = pid_nr_ns(target->pid, stream->ns);
	if (stream->ns == task_active_pid_ns(current))
		slot->flags |= POSIXTRACE_SLOT_SAME_IDS;
	/* Only the library needs this flag: the kernel writes all records in causal order. */
	if (stream->attr.order == POSIXTRACE_ORDER_RELAXED)
		slot->flags |= POSIXTRACE_SLOT_RELAXED;
}

static void fill_slots(struct posixtrace_slot *slots, struct pxt_target *target, u64 *generation)
{
	struct pxt_stream *stream;
	u32 i;

	/* The lock keeps the streams in their slots and the generation stable. */
	mutex_lock(&target->table->lock);
	for (i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		stream = pxt_stream_in_locked(target, i);
		if (stream)
			fill_slot(&slots[i], stream, target);
	}
	*generation = target->gate ? READ_ONCE(target->gate->generation) : 0;
	mutex_unlock(&target->table->lock);
}

static int sync_slots(struct pxt_target *target, void __user *uarg)
{
	struct posixtrace_slot *slots;
	struct posixtrace_sync arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (memchr_inv(arg.reserved, 0, sizeof(arg.reserved)))
		return -EINVAL;
	err = pxt_shared_tp_look(target);
	if (err)
		return err;
	/* The caller is about to record, so note its program and mappings. */
	pxt_target_look(target, true);
	slots = kcalloc(POSIXTRACE_SLOTS_MAX, sizeof(*slots), GFP_KERNEL_ACCOUNT);
	if (!slots)
		return -ENOMEM;
	fill_slots(slots, target, &arg.generation);
	/*
	 * Check for shared memory and shared thread pointers after reading the generation. Pairs
	 * with the full barrier in gate_changed(), between the start of the sharing and the new
	 * generation. Either this function sees the sharing, or the caller gets the old generation
	 * and calls SYNC again.
	 */
	smp_rmb();
	if (test_bit(PXT_TARGET_SHARED_TP, &target->works) || !pxt_rseq_aborts())
		memset(slots, 0, POSIXTRACE_SLOTS_MAX * sizeof(*slots));
	if (pxt_target_shares_memory())
		err = -EUSERS;
	if (!err)
		err = copy_out(u64_to_user_ptr(arg.slots), slots,
			       POSIXTRACE_SLOTS_MAX * sizeof(*slots));
	if (!err)
		err = copy_out(uarg, &arg, sizeof(arg));
	kfree(slots);
	return err;
}

static int next(struct pxt_target *target, void __user *uarg)
{
	struct posixtrace_next arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	return err ? err : pxt_record_next(target, &arg);
}

static int event(struct pxt_target *target, void __user *uarg)
{
	struct posixtrace_event __user *to = uarg;
	struct posixtrace_event arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	if (err)
		return err;
	if (target)
		pxt_target_look_once(target);
	err = pxt_record_event(target, &arg);
	if (!err && arg.flags & POSIXTRACE_EVENT_TIME && put_user(arg.time, &to->time))
		err = -EFAULT;
	return err;
}

static int wake(struct pxt_target *target, void __user *uarg)
{
	u32 mask;
	int err = copy_in(&mask, uarg, sizeof(mask));

	if (!err)
		pxt_record_wake(target, mask);
	return err;
}

static int met(struct pxt_target *target, void __user *uarg)
{
	struct posixtrace_met arg;
	int err = copy_in(&arg, uarg, sizeof(arg));

	return err ? err : pxt_met(target, &arg);
}

/**
 * pxt_command_target() - run a command of role target
 * @target: target of the calling process; NULL if it is not a target, for EVENT, NEXT, WAKE and MET
 * @cmd: second argument of ioctl()
 * @arg: third argument of ioctl()
 *
 * Context: may sleep.
 * Return: as in Documentation/abi.rst; -ENOTTY for other commands.
 */
long pxt_command_target(struct pxt_target *target, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case POSIXTRACE_IOC_SYNC:
		return sync_slots(target, arg);
	case POSIXTRACE_IOC_NEXT:
		return next(target, arg);
	case POSIXTRACE_IOC_EVENT:
		return event(target, arg);
	case POSIXTRACE_IOC_WAKE:
		return wake(target, arg);
	case POSIXTRACE_IOC_MET:
		return met(target, arg);
	case POSIXTRACE_IOC_EVENTID_OPEN:
		/* The caller may be a library that was just loaded, so note its mapping. */
		pxt_target_look(target, true);
		return eventid_open(target->table, 0, &target->author, arg);
	case POSIXTRACE_IOC_DESCRIBE:
		pxt_target_look(target, true);
		return describe(target->table, &target->author, arg);
	default:
		return -ENOTTY;
	}
}
