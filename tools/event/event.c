// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of single events: see event.h.
 */
#include <math.h>
#include <trace.h>

#include "event/event.h"

/* Set in a key that is a kernel thread id. User addresses never have this bit. */
#define TID_FLAG	(1ULL << 63)
/* Number of bits of a kernel thread id, and of a user address. */
#define ID_BITS		32
#define ADDRESS_BITS	48

uint64_t event_thread_key(const struct event *event)
{
	if (event->tid > 0)
		return TID_FLAG | (uint64_t)event->life << ID_BITS | (uint32_t)event->tid;
	/* Store the life in the upper bits, which user addresses on x86-64 and arm64 do not use. */
	return (event->thread ^ (uint64_t)event->process_life << ADDRESS_BITS) & ~TID_FLAG;
}

uint64_t event_process_key(const struct event *event)
{
	return (uint64_t)event->process_life << ID_BITS | (uint32_t)event->pid;
}

bool event_has_fields(const struct event *event, size_t data_len)
{
	bool cut = event->truncated != POSIX_TRACE_NOT_TRUNCATED || event->len < data_len;

	return event->description &&
	       description_matches(event->description, event->data, event->len, cut);
}

bool event_shows_running(const struct event *event)
{
	/* Without scheduler events, no event would show when the thread stops running. */
	if (event->unscheduled)
		return false;
	switch (event->type) {
	case POSIXTRACE_FORK:
	case POSIXTRACE_EXEC:
	case POSIXTRACE_EXIT:
	case POSIXTRACE_SIGNAL_DELIVER:
	case POSIXTRACE_PAGE_FAULT:
	case POSIXTRACE_SYSCALL_ENTRY:
	case POSIXTRACE_SYSCALL_EXIT:
	case POSIXTRACE_SYSCALL_TEXT:
	case POSIXTRACE_FUTEX_WAIT:
	case POSIXTRACE_IRQ:
		return true;
	default:
		return event->user;
	}
}

bool event_is_counter(const struct event *event, struct posixtrace_value *value)
{
	struct values values;

	if (!event->description || !event->description->counter ||
	    event->truncated != POSIX_TRACE_NOT_TRUNCATED || !event_has_fields(event, event->len))
		return false;
	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, value)) {
		if (value->field == event->description->counter)
			return value->field->type != POSIXTRACE_FIELD_FLOAT ||
			       isfinite(value->real);
	}
	return false;
}
