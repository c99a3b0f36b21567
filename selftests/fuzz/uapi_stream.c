// SPDX-License-Identifier: GPL-2.0
/* Operations on files with the role stream. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "uapi_fuzz.h"

static struct file *stream(struct actor *a)
{
	return pick_file(a, ROLE_STREAM);
}

/* Returns a stream with or without a log, or NULL. */
static struct file *stream_with(struct actor *a, bool log)
{
	struct file *file = stream(a);
	unsigned int i;

	for (i = 0; i < FILES_MAX && file && (file->create.log_fd >= 0) != log; i++) {
		a->call.pick++;
		file = stream(a);
	}
	return file;
}

/* Returns a stream that records strings, or NULL. */
static struct file *stream_with_strings(struct actor *a)
{
	struct file *file = stream(a);
	unsigned int i;

	for (i = 0; i < FILES_MAX && file &&
	     !(file->create.attr.classes & POSIXTRACE_CLASS_STRINGS); i++) {
		a->call.pick++;
		file = stream(a);
	}
	return file;
}

/* Returns a stream whose log can be continued in another file, or NULL. */
static struct file *stream_with_log(struct actor *a)
{
	struct file *file = stream(a);
	unsigned int i;

	for (i = 0; i < FILES_MAX && file &&
	     (file->create.log_fd < 0 ||
	      file->create.attr.log_policy == POSIXTRACE_POLICY_UNTIL_FULL); i++) {
		a->call.pick++;
		file = stream(a);
	}
	return file;
}

static void fill_origin(struct actor *a, struct posixtrace_origin *origin)
{
	origin->prog_address = rnd(a);
	origin->thread_id = rnd(a);
}

static pid_t whom_to_trace(struct actor *a)
{
	const struct worker *worker = &shared->workers[below(a, shared->options.workers)];

	/* Process ids differ from run to run, so a repeatable run uses none. */
	if (shared->options.alone)
		return 0;
	switch (below(a, 16)) {
	case 0:
		return (pid_t)below(a, 400);
	case 1:
		return -(pid_t)below(a, 3);
	case 2:
	case 3:
		return a->objects->children[below(a, ARRAY_SIZE(a->objects->children))];
	case 4:
	case 5:
	case 6:
		return worker->pid;
	default:
		return 0;
	}
}

static void fill_attr(struct actor *a, struct posixtrace_attr *attr, bool log)
{
	/*
	 * A debug kernel spends most of its time on the pages of a stream, so large sizes are rare.
	 */
	static const uint64_t sizes[] = {
		0, 4096, 8192, 16384, 16384, 65536, 65536, 262144, 1 << 20,
	};
	const unsigned int common = ARRAY_SIZE(sizes) - 2;
	static const uint64_t data_sizes[] = { 0, 1, 8, 63, 64, 256, 256, 256, 1024, 4096 };
	unsigned int i;

	attr->inherited = below(a, 2);
	attr->stream_policy = below(a, log ? 3 : 2);
	/* Use mostly APPEND, because it is the only log policy for pipes and similar files. */
	attr->log_policy = one_in(a, 4) ? below(a, 2) : POSIXTRACE_POLICY_APPEND;
	attr->stream_size = sizes[below(a, one_in(a, 8) ? ARRAY_SIZE(sizes) : common)];
	attr->max_data_size = data_sizes[below(a, ARRAY_SIZE(data_sizes))];
	attr->log_size = sizes[below(a, ARRAY_SIZE(sizes))];
	if (one_in(a, 4)) {
		attr->wakeup_bytes = below(a, 4) << 12;
		attr->wakeup_ns = below(a, 1 << 20);
	}
	attr->order = one_in(a, 4);
	/*
	 * Mostly record no kernel events. Otherwise record sched and process, which all kernels
	 * have, and in half of these cases also strings, which FILES needs; or record random
	 * classes.
	 */
	if (one_in(a, 4))
		attr->classes = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS |
				(one_in(a, 2) ? POSIXTRACE_CLASS_STRINGS : 0);
	else if (one_in(a, 8))
		attr->classes = below(a, POSIXTRACE_CLASS_VALID + 2);
	if (one_in(a, 64))
		attr->max_data_size = POSIXTRACE_DATA_SIZE_MAX - below(a, 2);
	/*
	 * Streams of this size take seconds, so they are rare. For kernel events, a stream may need
	 * its size a second time, so even the largest must leave memory for the others.
	 */
	if (one_in(a, 4096))
		attr->stream_size = POSIXTRACE_STREAM_SIZE_MAX >> (2 + below(a, 6));
	for (i = 0; i < below(a, sizeof(attr->name)); i++)
		attr->name[i] = 'a' + below(a, 26);
}

/* Creates a stream from a file without a role. If there is no such file, opens the device. */
long op_create(struct actor *a)
{
	struct posixtrace_create *create = argument(a);
	struct file *file = pick_file(a, ROLE_NONE);
	int log = -1;
	long ret;

	if (!file) {
		ret = op_open(a);
		file = pick_file(a, ROLE_NONE);
		if (!file)
			return ret;
	}
	if (one_in(a, 2))
		log = open_log(a);
	create->pid = whom_to_trace(a);
	create->log_fd = log < 0 ? -1 : log;
	fill_attr(a, &create->attr, log >= 0);
	ret = ioctl_with(a, file, POSIXTRACE_IOC_CREATE, create, sizeof(*create));
	if (log >= 0 && !one_in(a, 16))
		sys(SYS_close, log);
	if (!ret) {
		file->create = *create;
		file->role = ROLE_STREAM;
		file->log_kind = a->log_kind;
		if (log >= 0)
			__atomic_fetch_add(&shared->logs[a->log_kind], 1, __ATOMIC_RELAXED);
	} else if (ret == -EBUSY) {
		drop_file(file);	/* its role is unknown */
	}
	return ret;
}

long op_start(struct actor *a)
{
	struct posixtrace_origin *origin = argument(a);

	fill_origin(a, origin);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_START, origin, sizeof(*origin));
}

long op_stop(struct actor *a)
{
	struct posixtrace_origin *origin = argument(a);

	fill_origin(a, origin);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_STOP, origin, sizeof(*origin));
}

long op_flush(struct actor *a)
{
	struct posixtrace_origin *origin = argument(a);

	fill_origin(a, origin);
	return ioctl_with(a, stream_with(a, !one_in(a, 8)), POSIXTRACE_IOC_FLUSH, origin,
			  sizeof(*origin));
}

long op_shutdown(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_SHUTDOWN, argument(a), 0);
}

long op_clear(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_CLEAR, argument(a), 0);
}

/* Writes the log, until a signal ends the call. A repeatable run has no signals. */
long op_write_log(struct actor *a)
{
	long ret;

	if (shared->options.alone)
		return -EAGAIN;
	ret = ioctl_with(a, stream(a), POSIXTRACE_IOC_WRITE_LOG, argument(a), 0);
	return ret == -EINTR ? 0 : ret;
}

long op_get_status(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_GET_STATUS, argument(a),
			  sizeof(struct posixtrace_status));
}

long op_get_attr(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_GET_ATTR, argument(a),
			  sizeof(struct posixtrace_attr));
}

long op_get_filter(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_GET_FILTER, argument(a),
			  sizeof(struct posixtrace_event_set));
}

long op_get_stats(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_GET_STATS, argument(a),
			  sizeof(struct posixtrace_stats));
}

long op_kernel_stats(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_KERNEL_STATS, argument(a),
			  sizeof(struct posixtrace_kernel_stats));
}

long op_event_name(struct actor *a)
{
	struct posixtrace_eventid *eventid = argument(a);

	eventid->id = one_in(a, 4) ? below(a, 32) : 64 + below(a, 40);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_EVENT_NAME, eventid, sizeof(*eventid));
}

long op_event_types(struct actor *a)
{
	struct posixtrace_event_types *types = argument(a);

	types->count = one_in(a, 8) ? below(a, 20000) : below(a, 64);
	types->first = one_in(a, 8) ? rnd(a) : below(a, 32);
	types->ids = (uintptr_t)data_pointer(a, types->count * sizeof(uint32_t));
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_EVENT_TYPES, types, sizeof(*types));
}

long op_states(struct actor *a)
{
	struct posixtrace_states *states = argument(a);

	states->count = one_in(a, 8) ? rnd(a) : below(a, 32);
	states->next = one_in(a, 8) ? (int)rnd(a) : 0;
	states->states = (uintptr_t)data_pointer(a, states->count *
						 sizeof(struct posixtrace_state));
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_STATES, states, sizeof(*states));
}

long op_files(struct actor *a)
{
	struct posixtrace_files *files = argument(a);

	files->count = one_in(a, 8) ? rnd(a) : POSIXTRACE_FILES_MIN + below(a, 64);
	files->pid = one_in(a, 8) ? (int)rnd(a) : 0;
	files->fd = one_in(a, 8) ? rnd(a) : below(a, 8);
	files->reserved = one_in(a, 16);
	files->files = (uintptr_t)data_pointer(a, files->count * sizeof(struct posixtrace_file));
	return ioctl_with(a, one_in(a, 8) ? stream(a) : stream_with_strings(a),
			  POSIXTRACE_IOC_FILES, files, sizeof(*files));
}

/* Adds a process. Mostly uses children, because workers have opened names and cannot be added. */
long op_add(struct actor *a)
{
	int32_t *pid = argument(a);

	*pid = whom_to_trace(a);
	if (!shared->options.alone && !one_in(a, 4))
		*pid = a->objects->children[below(a, ARRAY_SIZE(a->objects->children))];
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_ADD, pid, sizeof(*pid));
}

/*
 * Continues the log in another file. Not used in a repeatable run, because the call waits for
 * another thread.
 */
long op_rotate(struct actor *a)
{
	struct file *file = one_in(a, 8) ? stream(a) : stream_with_log(a);
	struct posixtrace_rotate *rotate = argument(a);
	int log;
	long ret;

	if (shared->options.alone)
		return -EAGAIN;
	log = file && !one_in(a, 4) ? open_log_of_kind(a, file->log_kind) : open_log(a);
	rotate->log_fd = log;
	rotate->error = one_in(a, 32);
	ret = ioctl_with(a, file, POSIXTRACE_IOC_ROTATE, rotate, sizeof(*rotate));
	if (log >= 0)
		sys(SYS_close, log);
	return ret;
}

/* Returns a threshold that many, few or none of the waits of the workers exceed. */
static uint64_t threshold(struct actor *a)
{
	return one_in(a, 8) ? rnd(a) : below(a, 1 << below(a, 30));
}

/* Makes a name that op_eventid_open() also uses, or a wrong one. */
static void event_name(struct actor *a, char name[POSIXTRACE_EVENT_NAME_SIZE])
{
	name[0] = 'e';
	name[1] = '0' + below(a, 40);
	if (one_in(a, 64))
		name[POSIXTRACE_EVENT_NAME_SIZE - 1] = rnd(a);
}

/* Conditions on names that the actors open, and on others. */
static const struct posixtrace_condition *conditions(struct actor *a, unsigned int count)
{
	static __thread struct posixtrace_condition list[POSIXTRACE_CONDITIONS_MAX + 1];
	unsigned int i;

	if (one_in(a, 16))
		return data_pointer(a, sizeof(list));
	memset(list, 0, sizeof(list));
	for (i = 0; i < count; i++) {
		if (one_in(a, 2))
			event_name(a, list[i].begin);
		event_name(a, list[i].end);
		list[i].threshold = list[i].begin[0] || one_in(a, 16) ? threshold(a) : 0;
		list[i].label = rnd(a);
		list[i].reserved = one_in(a, 64);
	}
	return list;
}

long op_trigger(struct actor *a)
{
	struct posixtrace_trigger *trigger = argument(a);

	trigger->blocked = threshold(a);
	trigger->runnable = threshold(a);
	trigger->reserved = one_in(a, 32);
	trigger->count = below(a, POSIXTRACE_CONDITIONS_MAX + 2);
	trigger->conditions = !trigger->count && !one_in(a, 32) ? 0 :
			      (uintptr_t)conditions(a, trigger->count);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_TRIGGER, trigger, sizeof(*trigger));
}

long op_triggered(struct actor *a)
{
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_TRIGGERED, argument(a),
			  sizeof(struct posixtrace_triggered));
}

long op_clock_error(struct actor *a)
{
	uint64_t *error = argument(a);

	*error = threshold(a);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_CLOCK_ERROR, error, sizeof(*error));
}

long op_description(struct actor *a)
{
	struct posixtrace_description *description = argument(a);

	description->id = one_in(a, 4) ? rnd(a) : user_type(a);
	description->size = POSIXTRACE_DESCRIPTION_SIZE;
	if (one_in(a, 2))
		description->size = one_in(a, 4) ? rnd(a) :
				    below(a, POSIXTRACE_DESCRIPTION_SIZE + 2);
	description->text = (uintptr_t)data_pointer(a, description->size);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_DESCRIPTION, description,
			  sizeof(*description));
}

/* Waits. If there is no deadline, a signal ends the wait: see interrupt_every(). */
long op_wait(struct actor *a)
{
	struct posixtrace_wait *wait = argument(a);
	struct timespec now;

	if (shared->options.alone || !one_in(a, 8)) {
		wait->flags = POSIXTRACE_WAIT_DEADLINE;
		sys(SYS_clock_gettime, CLOCK_REALTIME, &now);
		wait->deadline = now.tv_sec * 1000000000ULL + now.tv_nsec;
		wait->deadline += below(a, 3) ? 0 : below(a, 2000000);
	}
	wait->unblock = one_in(a, 4) ? rnd(a) : 0;
	/*
	 * In a repeatable run, no signal ends a WAIT without a deadline, so do not spoil the
	 * deadline.
	 */
	if (shared->options.alone)
		a->call.how &= ~HOW_SPOIL;
	return ioctl_with(a, stream_with(a, one_in(a, 8)), POSIXTRACE_IOC_WAIT, wait,
			  sizeof(*wait));
}

/* Sets a delay for events. Long delays are rare, because they also keep WAIT from ending. */
long op_defer(struct actor *a)
{
	struct posixtrace_defer *defer = argument(a);
	struct timespec now;

	sys(SYS_clock_gettime, CLOCK_REALTIME, &now);
	defer->time = now.tv_sec * 1000000000ULL + now.tv_nsec;
	if (one_in(a, 8))
		defer->time = rnd(a);
	defer->window = below(a, 3) ? below(a, 2000000) : 0;
	if (one_in(a, 64))
		defer->window = POSIXTRACE_WINDOW_NS_MAX + below(a, 2);
	return ioctl_with(a, stream_with(a, one_in(a, 8)), POSIXTRACE_IOC_DEFER, defer,
			  sizeof(*defer));
}

long op_release(struct actor *a)
{
	struct posixtrace_release *release = argument(a);

	release->subbuf = one_in(a, 3) ? POSIXTRACE_NONE : below(a, 24);
	return ioctl_with(a, stream_with(a, one_in(a, 8)), POSIXTRACE_IOC_RELEASE, release,
			  sizeof(*release));
}

long op_set_filter(struct actor *a)
{
	struct posixtrace_filter *filter = argument(a);
	unsigned int kind = below(a, 4), i;

	if (kind == 0)
		memset(&filter->set, 0xff, sizeof(filter->set));
	else if (kind == 1)
		filter->set.bits[0] = rnd(a);
	else if (kind == 2)
		for (i = 0; i < below(a, 4); i++)
			filter->set.bits[below(a, 3)] |= 1ULL << below(a, 64);
	filter->how = below(a, 3);
	fill_origin(a, &filter->origin);
	return ioctl_with(a, stream(a), POSIXTRACE_IOC_SET_FILTER, filter, sizeof(*filter));
}
