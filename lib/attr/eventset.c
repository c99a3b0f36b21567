// SPDX-License-Identifier: MIT
/*
 * Sets of event types. They are plain data of the program: these functions change no stream, and a
 * type need not exist to be a member.
 */
#include <string.h>

#include "common/pxtu.h"

#define WORD(id)	((id) / 64)
#define BIT(id)		(1ULL << ((id) % 64))

_Static_assert(sizeof(trace_event_set_t) == sizeof(struct posixtrace_event_set),
	       "one layout on both sides");
_Static_assert(POSIX_TRACE_UNNAMED_USEREVENT == 64, "one word of system event types");

static bool id_valid(trace_event_id_t id)
{
	/* No type has the number 0. */
	return id && id < POSIXTRACE_ID_MAX;
}

/**
 * posix_trace_eventset_add() - add an event type to a set
 * @event_id: event type; it may be a member already
 * @set: set of event types
 *
 * Return: 0; EINVAL if @event_id is out of range or @set is NULL.
 */
PXTU_API int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!set || !id_valid(event_id))
		return EINVAL;
	set->__bits[WORD(event_id)] |= BIT(event_id);
	return 0;
}

/**
 * posix_trace_eventset_del() - remove an event type from a set
 * @event_id: event type; it need not be a member
 * @set: set of event types
 *
 * Return: 0; EINVAL if @event_id is out of range or @set is NULL.
 */
PXTU_API int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!set || !id_valid(event_id))
		return EINVAL;
	set->__bits[WORD(event_id)] &= ~BIT(event_id);
	return 0;
}

/**
 * posix_trace_eventset_empty() - make an empty set
 * @set: set of event types
 *
 * Return: 0; EINVAL if @set is NULL.
 */
PXTU_API int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!set)
		return EINVAL;
	memset(set, 0, sizeof(*set));
	return 0;
}

/**
 * posix_trace_eventset_fill() - make a set of all event types of a kind
 * @set: set of event types
 * @what: POSIX_TRACE_WOPID_EVENTS for the system event types of this
 *	implementation that belong to no process (not used so far),
 *	POSIX_TRACE_SYSTEM_EVENTS for all system event types,
 *	POSIX_TRACE_ALL_EVENTS for all, including types defined later
 *
 * Return: 0; EINVAL if @set is NULL or @what has another value.
 */
PXTU_API int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	if (!set)
		return EINVAL;
	switch (what) {
	case POSIX_TRACE_WOPID_EVENTS:
		memset(set, 0, sizeof(*set));
		return 0;
	case POSIX_TRACE_SYSTEM_EVENTS:
		memset(set, 0, sizeof(*set));
		break;
	case POSIX_TRACE_ALL_EVENTS:
		memset(set, 0xff, sizeof(*set));
		break;
	default:
		return EINVAL;
	}
	set->__bits[0] = ~BIT(0);
	return 0;
}

/**
 * posix_trace_eventset_ismember() - check if an event type is in a set
 * @event_id: event type
 * @set: set of event types
 * @ismember: result, 1 or 0
 *
 * Return: 0; EINVAL if @event_id is out of range or a pointer is NULL.
 */
PXTU_API int posix_trace_eventset_ismember(trace_event_id_t event_id,
					   const trace_event_set_t *restrict set,
					   int *restrict ismember)
{
	if (!set || !ismember || !id_valid(event_id))
		return EINVAL;
	*ismember = !!(set->__bits[WORD(event_id)] & BIT(event_id));
	return 0;
}
