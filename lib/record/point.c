// SPDX-License-Identifier: MIT
/*
 * The trace points of <posixtrace/points.h>. Registers them, and records their events. No list of
 * them is kept: a library with points may be unloaded at any time.
 */
#define __POSIX_TRACE_NO_INLINE
#include <posixtrace/points.h>
#include <string.h>

#include "record/attach.h"
#include "record/event.h"
#include "record/gate.h"
#include "record/note.h"
#include "record/short.h"

/* Of a point that is not registered, beyond all ids. Reads the gate as the next function does. */
static __u64 point_id(const struct __posixtrace_point *point)
{
	const __u32 *word = pxtu_load(&point->__word);

	return ((uintptr_t)word - (uintptr_t)pxtu_gate()->enable) / sizeof(*word);
}

/*
 * Open the event type of a point. Several threads and signal handlers may do so at the same time:
 * all find the same type. The description has been checked by the compiler, and is what
 * posixtrace_eventid_describe() would make of it. A type may have another one; or there is no room
 * for more: then readers show its data without it.
 */
static bool register_point(struct __posixtrace_point *point)
{
	struct posixtrace_description description = { };
	struct posixtrace_eventid eventid = { };
	struct pxtu_state *state = pxtu_state();
	int saved_errno = errno;
	int err = -ENOMEM;

	if (state) {
		strncpy(eventid.name, point->__name, sizeof(eventid.name) - 1);
		/* Attaches the process first, if necessary. */
		err = pxtu_target_ioctl(state, POSIXTRACE_IOC_EVENTID_OPEN, &eventid);
	}
	if (!err && point->__fields) {
		description.text = (uintptr_t)point->__fields;
		description.id = eventid.id;
		description.size = (__u32)strlen(point->__fields) + 1;
		pxtu_target_ioctl(state, POSIXTRACE_IOC_DESCRIBE, &description);
	}
	/* Without the type, the next event of this point tries again. */
	if (!err)
		pxtu_store(&point->__word, &pxtu_gate()->enable[eventid.id]);
	errno = saved_errno;
	return !err;
}

static __attribute__((__noinline__)) void
record_point(struct __posixtrace_point *point, const void *data, size_t len, void *prog_address,
	     bool truncated)
{
	__u64 id = point_id(point);

	if (id >= POSIXTRACE_ID_MAX) {
		if (!register_point(point))
			return;
		id = point_id(point);
	}
	if (pxtu_load(&pxtu_gate()->enable[id]))
		pxtu_event_record((trace_event_id_t)id, data, len, prog_address, truncated);
}

/**
 * __posixtrace_point_event() - record an event of a trace point
 * @point: the point
 * @data: data of the event
 * @len: bytes of data
 *
 * Registers the point, if that was not done yet. Like posix_trace_event() otherwise.
 */
PXTU_API void __posixtrace_point_event(struct __posixtrace_point *point, const void *data,
				       size_t len)
{
	const struct pxtu_note *note = &pxtu_note;
	const __u64 id = point_id(point);

	if (pxtu_unlikely(id >= POSIXTRACE_ID_MAX || len >= note->len_end)) {
		record_point(point, data, len, __builtin_return_address(0), false);
		return;
	}
	switch (pxtu_short_record(note, (__u32)id, len, data,
				  (uintptr_t)__builtin_return_address(0))) {
	case PXTU_WRITTEN:
		return;
	case PXTU_WRITTEN_WAKE:
		pxtu_event_wake((trace_event_id_t)id);
		return;
	default:
		pxtu_event_record((trace_event_id_t)id, data, len, __builtin_return_address(0),
				  false);
	}
}

/**
 * __posixtrace_point_truncated() - record an event of a trace point whose data was cut
 * @point: the point
 * @data: the first bytes of the data of the event
 * @len: bytes of data
 *
 * As __posixtrace_point_event(). Readers see that the data was truncated.
 */
PXTU_API void __posixtrace_point_truncated(struct __posixtrace_point *point, const void *data,
					   size_t len)
{
	record_point(point, data, len, __builtin_return_address(0), true);
}
