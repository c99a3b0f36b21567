// SPDX-License-Identifier: MIT
/*
 * Conditions on the traced threads, which the kernel checks, and on their events, which
 * record/condition.c checks in the traced process.
 */
#include <posixtrace.h>
#include <string.h>

#include "common/sys.h"
#include "stream/stream.h"

/* Returns false if the name does not fit. */
static bool set_name(char to[POSIXTRACE_EVENT_NAME_SIZE], const char *name, const char *suffix)
{
	size_t len = strnlen(name, POSIXTRACE_EVENT_NAME_SIZE), suffix_len = strlen(suffix);

	if (!len || len + suffix_len >= POSIXTRACE_EVENT_NAME_SIZE)
		return false;
	memcpy(to, name, len);
	memcpy(to + len, suffix, suffix_len);
	return true;
}

/* Events that mark a scope: of POSIXTRACE_SCOPE, and of programs that have their own. */
static const struct {
	const char *begin;
	const char *end;
} suffixes[] = { { ":begin", ":end" }, { "_begin", "_end" } };

/* Appends the conditions of the module for one of the caller. Returns an error number. */
static int add(struct posixtrace_condition list[POSIXTRACE_CONDITIONS_MAX], __u32 *count,
	       const struct posixtrace_event_trigger *event, __u32 label)
{
	const size_t pairs = event->threshold ? sizeof(suffixes) / sizeof(suffixes[0]) : 1;
	struct posixtrace_condition *condition;
	bool fits;
	size_t i;

	if (!event->name || *count + pairs > POSIXTRACE_CONDITIONS_MAX)
		return EINVAL;
	for (i = 0; i < pairs; i++) {
		condition = &list[(*count)++];
		*condition = (struct posixtrace_condition){
			.threshold = event->threshold,
			.label = label,
		};
		if (event->threshold)
			fits = set_name(condition->begin, event->name, suffixes[i].begin) &&
			       set_name(condition->end, event->name, suffixes[i].end);
		else
			fits = set_name(condition->end, event->name, "");
		if (!fits)
			return EINVAL;
	}
	return 0;
}

/**
 * posixtrace_settrigger() - choose conditions on the traced threads and on their events
 * @trid: trace id of an active trace stream
 * @blocked: a thread was blocked for more ns than this; 0 for no such condition
 * @runnable: a thread was runnable without running for more ns than this; 0 for no such condition
 * @events: conditions on events; may be NULL if @count is 0
 * @count: number of these
 *
 * An extension. From the time that a condition is met until it is reported, the descriptor of
 * posixtrace_fd() has POLLPRI. Replaces the former conditions, and forgets what was met. Threads of
 * the caller's process do not meet @blocked or @runnable.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process, a name is empty or too
 * long, or there are too many conditions; ENOMEM; ENOTSUP if @blocked or @runnable is not 0 and the
 * stream does not have the class sched.
 */
PXTU_API int posixtrace_settrigger(trace_id_t trid, uint64_t blocked, uint64_t runnable,
				   const struct posixtrace_event_trigger *events, size_t count)
{
	struct posixtrace_condition list[POSIXTRACE_CONDITIONS_MAX];
	struct posixtrace_trigger arg = { .blocked = blocked, .runnable = runnable };
	struct pxtu_stream *stream;
	__u32 i;
	int err;

	if ((count && !events) || count > POSIXTRACE_CONDITIONS_MAX)
		return EINVAL;
	for (i = 0; i < count; i++) {
		err = add(list, &arg.count, &events[i], i);
		if (err)
			return err;
	}
	if (arg.count)
		arg.conditions = (uintptr_t)list;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_TRIGGER, &arg);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}

/**
 * posixtrace_get_triggered() - get the conditions that were met since the last call, and reset them
 * @trid: trace id of an active trace stream
 * @info: result; all members are 0 if none was met
 *
 * An extension.
 *
 * Return: 0; EINVAL if @trid is no active trace stream of this process, or @info is NULL.
 */
PXTU_API int posixtrace_get_triggered(trace_id_t trid, struct posixtrace_trigger_info *info)
{
	struct posixtrace_triggered met;
	struct pxtu_stream *stream;
	int err;

	if (!info)
		return EINVAL;
	stream = pxtu_stream_get(trid);
	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_TRIGGERED, &met);
	pxtu_stream_put(stream);
	if (err)
		return pxtu_error(err);
	*info = (struct posixtrace_trigger_info){
		.count = met.count,
		.time = {
			.tv_sec = (time_t)(met.time / PXTU_NSEC_PER_SEC),
			.tv_nsec = (long)(met.time % PXTU_NSEC_PER_SEC),
		},
		.duration = met.duration,
		.kind = met.kind,
		.pid = met.pid,
		.tid = met.tid,
		.index = met.label,
	};
	return 0;
}
