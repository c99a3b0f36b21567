// SPDX-License-Identifier: MIT
/*
 * The list of event types of a stream or log. The module orders it: predefined types
 * first, new ones last.
 */
#include "common/sys.h"
#include "common/trid.h"

/**
 * posix_trace_eventtypelist_getnext_id() - get the next event type of a stream or log
 * @trid: trace id; the position in the list belongs to it
 * @event: result
 * @unavailable: set to 0, or to 1 at the end of the list; a later call returns types
 *	defined since
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process or a pointer is
 * NULL.
 */
PXTU_API int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						  trace_event_id_t *restrict event,
						  int *restrict unavailable)
{
	struct pxtu_source *source;
	trace_event_id_t id;
	int err;

	if (!event || !unavailable)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->next_type(source, &id);
	pxtu_trid_put(source);
	if (err)
		return pxtu_error(err);
	*unavailable = !id;
	if (id)
		*event = id;
	return 0;
}

/**
 * posix_trace_eventtypelist_rewind() - go back to the first event type
 * @trid: trace id
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process.
 */
PXTU_API int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct pxtu_source *source = pxtu_trid_get(trid, NULL);
	int err;

	if (!source)
		return EINVAL;
	err = source->ops->rewind_types(source);
	pxtu_trid_put(source);
	return pxtu_error(err);
}
