// SPDX-License-Identifier: GPL-2.0
/*
 * Writes event data as arguments for Perfetto: see perfetto_args.h.
 */
#include <limits.h>
#include <string.h>

#include "event/event_names.h"
#include "export/export.h"
#include "export/perfetto_args.h"
#include "export/perfetto_fields.h"
#include "export/proto.h"
#include "util/escape.h"

/* Field numbers from Perfetto's protos/perfetto/trace/track_event. */
#define EVENT_DEBUG_ANNOTATIONS		4

#define ANNOTATION_NAME_IID		1
#define ANNOTATION_BOOL			FIELDS_BOOL
#define ANNOTATION_UINT			FIELDS_UINT
#define ANNOTATION_INT			FIELDS_INT
#define ANNOTATION_DOUBLE		FIELDS_DOUBLE
#define ANNOTATION_STRING		6
#define ANNOTATION_POINTER		7
#define ANNOTATION_NAME			10
#define ANNOTATION_DICT_ENTRIES		11
#define ANNOTATION_ARRAY_VALUES		12
#define ANNOTATION_STRING_IID		17

void perfetto_text(struct buffer *bytes, unsigned int field, const void *text, size_t len)
{
	size_t message = proto_begin(bytes, field);

	escape_plain(bytes, text, len);
	proto_end(bytes, message);
}

void perfetto_label(const struct event *event, char label[LABEL_SIZE])
{
	const size_t host = event_host_label(event, label);

	event_thread_label(event, label);
	memmove(label, label + host, strlen(label + host) + 1);
}

static size_t begin_argument(struct packets *packets, unsigned int field, const char *prefix,
			     const char *name)
{
	struct buffer *to = packets_to(packets);
	size_t message = proto_begin(to, field), text;
	uint32_t iid;

	if (!name)
		return message;
	iid = packets_intern(packets, PACKETS_ARG_NAME, prefix, name, strlen(name));
	if (iid) {
		proto_number(to, ANNOTATION_NAME_IID, iid);
	} else {
		text = proto_begin(to, ANNOTATION_NAME);
		buffer_text(to, prefix);
		buffer_text(to, name);
		proto_end(to, text);
	}
	return message;
}

/* Writes a number as an extension. */
static void put_extended(struct buffer *to, unsigned int field, unsigned int type, uint64_t value)
{
	if (type == FIELDS_INT)
		proto_zigzag(to, field, (int64_t)value);
	else
		proto_number(to, field, value);
}

static void put_argument(struct packets *packets, const char *prefix, const char *name,
			 unsigned int type, uint64_t value)
{
	unsigned int field = 0;
	size_t message;

	if (type != ANNOTATION_POINTER)
		field = packets_field(packets, prefix, name, type);
	if (field) {
		put_extended(packets_to(packets), field, type, value);
		return;
	}
	message = begin_argument(packets, EVENT_DEBUG_ANNOTATIONS, prefix, name);
	proto_number(packets_to(packets), type, value);
	proto_end(packets_to(packets), message);
}

static void put_text(struct packets *packets, const void *text, size_t len)
{
	uint32_t iid = packets_intern(packets, PACKETS_ARG_TEXT, "", text, len);

	if (iid)
		proto_number(packets_to(packets), ANNOTATION_STRING_IID, iid);
	else
		perfetto_text(packets_to(packets), ANNOTATION_STRING, text, len);
}

void perfetto_arg_number(struct packets *packets, const char *name, uint64_t value)
{
	put_argument(packets, "", name, ANNOTATION_UINT, value);
}

void perfetto_arg_signed(struct packets *packets, const char *name, int64_t value)
{
	put_argument(packets, "", name, ANNOTATION_INT, (uint64_t)value);
}

/* ------------------------------------------------------------------ */
/* Fields								*/

/* Returns the field of DebugAnnotation for a number. */
static unsigned int type_of(const struct posixtrace_field *field)
{
	switch (field->type) {
	case POSIXTRACE_FIELD_FLOAT:
		return ANNOTATION_DOUBLE;
	case POSIXTRACE_FIELD_BOOL:
		return ANNOTATION_BOOL;
	case POSIXTRACE_FIELD_HEX:
		return ANNOTATION_POINTER;
	default:
		return field->is_signed ? ANNOTATION_INT : ANNOTATION_UINT;
	}
}

static void put_number(struct buffer *to, unsigned int field, const struct posixtrace_value *value)
{
	if (value->field->type == POSIXTRACE_FIELD_FLOAT)
		proto_double(to, field, value->real);
	else
		proto_number(to, field, value->number);
}

/* Writes an argument as an extension, if there is one for it. */
static bool put_extension(struct packets *packets, const char *prefix,
			  const struct posixtrace_value *value)
{
	unsigned int type = type_of(value->field), field;

	if (!value->field->name || value_is_text(value) || value->label ||
	    type == ANNOTATION_POINTER)
		return false;
	field = packets_field(packets, prefix, value->field->name, type);
	if (field && type == ANNOTATION_DOUBLE)
		proto_double(packets_to(packets), field, value->real);
	else if (field)
		put_extended(packets_to(packets), field, type, value->number);
	return field;
}

static void put_value(struct packets *packets, const struct posixtrace_value *value)
{
	if (value_is_text(value))
		put_text(packets, value->data, value->text_len);
	else if (value->label)
		put_text(packets, value->label, strlen(value->label));
	else
		put_number(packets_to(packets), type_of(value->field), value);
}

/*
 * Leaves out arguments that would repeat what is visible elsewhere: the track shows the thread of a
 * kernel event, and a missing flag means that it is not set.
 */
static bool is_shown(const struct event *event, const struct posixtrace_value *value,
		     const struct perfetto_shown *shown)
{
	const char *name = value->field->name;

	/* The caller passes the entry of a system call as a user event with @shown. */
	if (!name || (event->user && !shown))
		return false;
	for (size_t i = 0; shown && i < PERFETTO_SHOWN && shown->fields[i]; i++) {
		if (!strcmp(name, shown->fields[i]))
			return true;
	}
	if (value->what == POSIXTRACE_BEGIN)
		return shown && !shown->nr_args;
	if (value->field->type == POSIXTRACE_FIELD_BOOL)
		return !value->number;
	return !strcmp(name, "tid") &&
	       (pid_t)value->number == source_plain_id(event->source, event->tid);
}

static void put_fields(struct packets *packets, const char *prefix, const struct event *event,
		       const struct perfetto_shown *shown)
{
	const unsigned int max = shown ? shown->nr_args : UINT_MAX;
	unsigned int elements = 0;
	size_t messages[DESCRIPTION_LEVELS] = { 0 }, message;
	unsigned int kind = EVENT_DEBUG_ANNOTATIONS;
	struct posixtrace_value value;
	struct values values;

	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		/* The members of the outermost struct are arguments of the event. */
		if (!values.depth || (value.what == POSIXTRACE_BEGIN && values.depth == 1))
			continue;
		if (value.what == POSIXTRACE_END) {
			if (messages[values.depth])
				proto_end(packets_to(packets), messages[values.depth]);
			continue;
		}
		kind = values.depth - (value.what == POSIXTRACE_BEGIN) == 1 ?
			       EVENT_DEBUG_ANNOTATIONS :
		       value.field->name ? ANNOTATION_DICT_ENTRIES : ANNOTATION_ARRAY_VALUES;
		if (kind == EVENT_DEBUG_ANNOTATIONS)
			elements = 0;
		if (value.what == POSIXTRACE_BEGIN)
			messages[values.depth - 1] = 0;
		if ((kind == EVENT_DEBUG_ANNOTATIONS && is_shown(event, &value, shown)) ||
		    (kind == ANNOTATION_ARRAY_VALUES && elements++ >= max))
			continue;
		if (kind == EVENT_DEBUG_ANNOTATIONS && value.what != POSIXTRACE_BEGIN &&
		    put_extension(packets, prefix, &value))
			continue;
		message = begin_argument(packets, kind,
					 kind == EVENT_DEBUG_ANNOTATIONS ? prefix : "",
					 value.field->name);
		if (value.what == POSIXTRACE_BEGIN) {
			messages[values.depth - 1] = message;
		} else {
			put_value(packets, &value);
			proto_end(packets_to(packets), message);
		}
	}
}

/* Appends the units as arguments, because Perfetto supports units of counters only. */
static void put_units(struct packets *packets, const char *prefix,
		      const struct description *description)
{
	size_t units, entry;

	if (!description->nr_units)
		return;
	units = begin_argument(packets, EVENT_DEBUG_ANNOTATIONS, prefix, "units");
	for (size_t i = 0; i < description->nr_units; i++) {
		const struct description_unit *unit = &description->units[i];

		entry = begin_argument(packets, ANNOTATION_DICT_ENTRIES, "", unit->path);
		put_text(packets, unit->unit, strlen(unit->unit));
		proto_end(packets_to(packets), entry);
	}
	proto_end(packets_to(packets), units);
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void put_data(struct packets *packets, const char *prefix, const struct event *event)
{
	size_t len = event->len < EXPORT_DATA_MAX ? event->len : EXPORT_DATA_MAX;
	size_t text_len = len && !event->data[len - 1] ? len - 1 : len;
	size_t message, text;

	if (!len)
		return;
	if (escape_is_text(event->data, text_len)) {
		message = begin_argument(packets, EVENT_DEBUG_ANNOTATIONS, prefix, "text");
		put_text(packets, event->data, text_len);
	} else {
		message = begin_argument(packets, EVENT_DEBUG_ANNOTATIONS, prefix, "bytes");
		text = proto_begin(packets_to(packets), ANNOTATION_STRING);
		escape_hex(packets_to(packets), event->data, len);
		proto_end(packets_to(packets), text);
	}
	proto_end(packets_to(packets), message);
}

void perfetto_args(struct packets *packets, const char *prefix, const struct event *event,
		   size_t data_len, const struct perfetto_shown *shown)
{
	bool fields = event_has_fields(event, data_len);

	if (fields) {
		put_fields(packets, prefix, event, shown);
		if (!shown)
			put_units(packets, prefix, event->description);
	} else if (event->has_data) {
		put_data(packets, prefix, event);
	}
	if (event->has_data && (data_len > event->len || (!fields && event->len > EXPORT_DATA_MAX)))
		put_argument(packets, prefix, "data_len", ANNOTATION_UINT, data_len);
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		put_argument(packets, prefix, "data_truncated", ANNOTATION_BOOL, 1);
	if (event->address)
		put_argument(packets, prefix, "program_address", ANNOTATION_POINTER,
			     event->address);
	if (event->cpu != SOURCE_NO_CPU)
		put_argument(packets, prefix, "on_cpu", ANNOTATION_UINT,
			     source_plain_cpu(event->source, event->cpu));
}
