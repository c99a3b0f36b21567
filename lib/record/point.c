// SPDX-License-Identifier: MIT
/*
 * Registers the trace points of <posixtrace/points.h>, and records their events. There is no list
 * of points: a library with points may be unloaded at any time.
 */
#define __POSIX_TRACE_NO_INLINE
#include <posixtrace/points.h>
#include <string.h>

#include "record/attach.h"
#include "record/door.h"
#include "record/event.h"
#include "record/gate.h"
#include "record/cache.h"
#include "record/fast.h"

/* Returns the event type of a point, or a number beyond all ids if it is not registered. */
static __u64 point_id(const struct __posixtrace_point *point)
{
	const __u32 *word = pxtu_load(&point->__word);

	return ((uintptr_t)word - (uintptr_t)pxtu_gate()->enable) / sizeof(*word);
}

/* Attaches the process first, if necessary. */
static int open_type(struct pxtu_state *state, const char *fields,
		     struct posixtrace_eventid *eventid)
{
	eventid->flags = POSIXTRACE_OPEN_EXACT;
	eventid->description = (uintptr_t)fields;
	eventid->description_size = fields ? (__u32)strlen(fields) + 1 : 0;
	return pxtu_target_ioctl(state, POSIXTRACE_IOC_EVENTID_OPEN, eventid);
}

#define NAMES	9	/* event types for points with one name and different fields */

/* Make the name of an event type: NAME for number 1, NAME#2 for number 2. */
static void make_name(char name[POSIXTRACE_EVENT_NAME_SIZE], const char *of, int number)
{
	size_t len = strnlen(of, POSIXTRACE_EVENT_NAME_SIZE - 1);

	memset(name, 0, POSIXTRACE_EVENT_NAME_SIZE);
	if (number > 1 && len > POSIXTRACE_EVENT_NAME_SIZE - 3)
		len = POSIXTRACE_EVENT_NAME_SIZE - 3;
	memcpy(name, of, len);
	if (number > 1) {
		name[len] = '#';
		name[len + 1] = (char)('0' + number);
	}
}

/*
 * Open the event type of a point. Several threads and signal handlers may do so concurrently:
 * all get the same type. The compiler has checked the description, and it is already in the form
 * that posixtrace_eventid_describe() produces. If the program has a type of this name with other
 * fields, the point gets a type with a number in its name, or the unnamed type if there are too
 * many of them. The type has no description if there is no room for more, or if a worker that gave
 * up root may not describe the types of its server.
 */
static int open_point(struct pxtu_state *state, const struct __posixtrace_point *point, __u64 *id)
{
	struct posixtrace_eventid eventid = { };
	int number, err = -EEXIST;

	for (number = 1; err == -EEXIST && number <= NAMES; number++) {
		make_name(eventid.name, point->__name, number);
		err = open_type(state, point->__fields, &eventid);
		if (err == -ENOSPC || err == -EPERM)
			err = open_type(state, NULL, &eventid);
	}
	*id = err == -EEXIST ? POSIXTRACE_ID_UNNAMED : eventid.id;
	return err == -EEXIST ? 0 : err;
}

/*
 * May the id be stored in the point? If a process shares its memory with another one and its gate
 * is not mapped, its types are separate. The other process would find the id in the point, and
 * mistake it for one of its types.
 */
static bool keeps_types(const struct pxtu_state *state)
{
	/* A gate that is open for everything belongs to no process. */
	if (pxtu_load(&pxtu_gate()->generation) == ~0ULL)
		return false;
	return pxtu_door_keeps() || (state && pxtu_load(&state->attached));
}

/* Returns POSIXTRACE_ID_MAX on failure: the next event of this point tries again. */
static __u64 register_point(struct __posixtrace_point *point)
{
	struct pxtu_state *state = pxtu_attach_state();
	int saved_errno = errno;
	__u64 id;
	int err;

	err = open_point(state, point, &id);
	if (!err && keeps_types(state))
		pxtu_store(&point->__word, &pxtu_gate()->enable[id]);
	errno = saved_errno;
	return err ? POSIXTRACE_ID_MAX : id;
}

static __attribute__((__noinline__)) void
record_point(struct __posixtrace_point *point, const void *data, size_t len, void *prog_address,
	     bool truncated)
{
	__u64 id = point_id(point);

	if (id >= POSIXTRACE_ID_MAX)
		id = register_point(point);
	if (id >= POSIXTRACE_ID_MAX)
		return;
	if (pxtu_load(&pxtu_gate()->enable[id]))
		pxtu_event_record((trace_event_id_t)id, data, len, prog_address, truncated);
}

/**
 * __posixtrace_point_event() - record an event of a trace point
 * @point: the point
 * @data: data of the event
 * @len: bytes of data
 *
 * Registers the point if needed. Otherwise like posix_trace_event().
 */
PXTU_API void __posixtrace_point_event(struct __posixtrace_point *point, const void *data,
				       size_t len)
{
	const struct pxtu_cache *cache = &pxtu_cache;
	const __u64 id = point_id(point);

	if (pxtu_unlikely(id >= POSIXTRACE_ID_MAX || len >= cache->len_end)) {
		record_point(point, data, len, __builtin_return_address(0), false);
		return;
	}
	switch (pxtu_fast_record(cache, (__u32)id, len, data,
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
 * __posixtrace_point_truncated() - record an event of a trace point with truncated data
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
