// SPDX-License-Identifier: MIT
/*
 * Descriptions of event types. The module stores them with the names.
 */
#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <string.h>

#include "api/eventid.h"
#include "common/sys.h"
#include "record/attach.h"
#include "stream/stream.h"

static struct posixtrace_description to_uapi(trace_event_id_t event,
					     const struct posixtrace_fields *fields)
{
	const char *text = posixtrace_fields_text(fields);

	return (struct posixtrace_description){
		.text = (uintptr_t)text,
		.id = event,
		.size = (__u32)strlen(text) + 1,
	};
}

/* Convert an error of the module, which returns ENOENT if there is no such type. */
static int edge(int err)
{
	return err == -ENOENT ? EINVAL : pxtu_error(err);
}

/**
 * posixtrace_eventid_describe() - describe the data of an event type, in the calling process
 * @event: event type of posix_trace_eventid_open()
 * @description: the description, see posixtrace-fields(7)
 *
 * An extension. All current and future streams that trace the process have the description, as
 * do its children. Readers use it to show the data as fields. posixtrace_fields_parse() reports
 * where a description is wrong.
 *
 * Return: 0, also if the type already has the same description; EINVAL if @event is not a named
 * user event type of this program, or @description is NULL or invalid; EEXIST if the type has
 * another description, or another program used it without one; EPERM if the type was first opened
 * by a process that the caller may not trace, or without permission to open the device; ENOSPC if
 * the types of the process and its relatives have too many descriptions; ENODEV without the module;
 * ENOTSUP if it has another version; ENOMEM; EMFILE and ENFILE if no descriptors are left.
 */
PXTU_API int posixtrace_eventid_describe(trace_event_id_t event, const char *description)
{
	struct posixtrace_description arg;
	struct posixtrace_fields *fields;
	int err;

	err = posixtrace_fields_parse(description, &fields, NULL);
	if (err)
		return err;
	arg = to_uapi(event, fields);
	err = pxtu_attach_command(POSIXTRACE_IOC_DESCRIBE, &arg);
	posixtrace_fields_free(fields);
	return err < 0 ? edge(err) : 0;
}

/**
 * posixtrace_eventid_open() - get the event type with a name and a description, in this process
 * @event_name: name, 1 to TRACE_EVENT_NAME_MAX characters
 * @description: the description, see posixtrace-fields(7); NULL for a type without description
 * @event_id: result
 *
 * An extension: posix_trace_eventid_open() and posixtrace_eventid_describe() in one call. A program
 * that is executed again gets the same type. With two separate calls it would get another type,
 * because the type of that name already has a description.
 *
 * Return: 0; EEXIST if the program has a type of this name with another description; EINVAL if a
 * pointer is NULL, or name or description are not valid; ENAMETOOLONG; ENOSPC, EPERM as
 * posixtrace_eventid_describe(); other errors as posix_trace_eventid_open().
 */
PXTU_API int posixtrace_eventid_open(const char *event_name, const char *description,
				     trace_event_id_t *event_id)
{
	struct posixtrace_fields *fields = NULL;
	struct posixtrace_eventid eventid;
	const char *text;
	int err = 0;

	if (!event_id)
		return EINVAL;
	if (description)
		err = -posixtrace_fields_parse(description, &fields, NULL);
	if (!err)
		err = pxtu_eventid_name(event_name, &eventid);
	if (err)
		goto free;
	eventid.flags = POSIXTRACE_OPEN_EXACT;
	if (fields) {
		text = posixtrace_fields_text(fields);
		eventid.description = (uintptr_t)text;
		eventid.description_size = (__u32)strlen(text) + 1;
	}
	err = pxtu_eventid_open(&eventid);
	if (!err)
		*event_id = eventid.id;
free:
	posixtrace_fields_free(fields);
	return pxtu_error(err);
}

/**
 * posixtrace_trid_eventid_describe() - describe the data of an event type, in the traced process
 * @trid: trace id
 * @event: event type of posix_trace_trid_eventid_open()
 * @description: the description, see posixtrace-fields(7)
 *
 * An extension. Does the same as posixtrace_eventid_describe() in the traced process.
 *
 * Return: 0; EINVAL if @trid is not an active trace stream of this process, @event is not a named
 * user event type of the stream, or @description is NULL or invalid; EEXIST; EPERM; ENOSPC; ENOMEM.
 */
PXTU_API int posixtrace_trid_eventid_describe(trace_id_t trid, trace_event_id_t event,
					      const char *description)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	struct posixtrace_description arg;
	struct posixtrace_fields *fields;
	int err;

	if (!stream)
		return EINVAL;
	err = -posixtrace_fields_parse(description, &fields, NULL);
	if (!err) {
		arg = to_uapi(event, fields);
		err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_DESCRIBE, &arg);
		posixtrace_fields_free(fields);
	}
	pxtu_stream_put(stream);
	return edge(err);
}

/**
 * posixtrace_eventid_get_description() - get the description of an event type
 * @trid: trace id of a stream or log
 * @event: one of its event types
 * @description: buffer for the description
 * @size: bytes there; POSIXTRACE_DESCRIPTION_MAX + 1 are always enough
 * @needed: result, if not NULL: the bytes that the description needs, with its NUL
 *
 * An extension. A process can write any text there: posixtrace_fields_parse() checks it.
 *
 * Return: 0; ENOENT if the type has no description; ERANGE if it needs more than @size bytes,
 * then @description is unchanged; EINVAL if @trid is not a trace stream or log of this
 * process, it has no such event type, or @description is NULL and @size is not 0; for a log, also
 * ENOMEM.
 */
PXTU_API int posixtrace_eventid_get_description(trace_id_t trid, trace_event_id_t event,
						char *description, size_t size, size_t *needed)
{
	struct pxtu_text text = { .to = description, .room = size };
	struct pxtu_source *source;
	int err;

	if (!description && size)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->get_description(source, event, &text);
	pxtu_trid_put(source);
	if (!err && needed)
		*needed = text.needed;
	if (!err && text.needed > size)
		return ERANGE;
	return pxtu_error(err);
}
