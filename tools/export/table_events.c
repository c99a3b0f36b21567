// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of events and counters: see table_events.h.
 */
#include <errno.h>
#include <trace.h>

#include "analyze/pairs.h"
#include "export/table_events.h"
#include "export/table_schemas.h"
#include "print/json_fields.h"
#include "util/escape.h"

/* Sets the column of fields, and the column of data unless the fields show all of the data. */
static int set_data(struct table *table, const struct event *event, struct table_texts *texts)
{
	bool cut = event->truncated != POSIX_TRACE_NOT_TRUNCATED, shown = false;

	buffer_reset(&texts->fields);
	buffer_reset(&texts->data);
	if (event_has_fields(event, event->len) && json_values(&texts->fields, event, false)) {
		table_set_bytes(table, EVENT_FIELDS, texts->fields.data, texts->fields.len);
		shown = !cut;
	}
	if (event->len && !shown) {
		escape_hex(&texts->data, event->data, event->len);
		table_set_bytes(table, EVENT_DATA, texts->data.data, texts->data.len);
	}
	return texts->fields.failed || texts->data.failed ? -ENOMEM : 0;
}

int table_events_put(struct table *table, const struct table_threads *threads,
		     const struct event *event, uint32_t utid, struct table_texts *texts)
{
	char comm[POSIXTRACE_THREAD_NAME_SIZE];
	int err;

	table_set(table, EVENT_TIME, (int64_t)event->time);
	table_set_text(table, EVENT_NAME, event->name);
	table_set(table, EVENT_TYPE, event->type);
	table_set(table, EVENT_USER, event->user);
	table_threads_set(threads, table, utid, EVENT_UTID);
	/* Threads beyond the limit have no utid, but still have ids. */
	if (event->pid)
		table_set(table, EVENT_PID, source_plain_id(event->source, event->pid));
	if (event->tid > 0)
		table_set(table, EVENT_TID, source_plain_id(event->source, event->tid));
	if (event->thread)
		table_set(table, EVENT_PTHREAD, (int64_t)event->thread);
	if (event_thread_name(event, comm))
		table_set_text(table, EVENT_COMM, comm);
	if (event->cpu != SOURCE_NO_CPU)
		table_set(table, EVENT_CPU, source_plain_cpu(event->source, event->cpu));
	if (event->address)
		table_set(table, EVENT_ADDRESS, (int64_t)event->address);
	table_set(table, EVENT_LOST, (int64_t)event->lost);
	table_set(table, EVENT_TRUNCATED, event->truncated != POSIX_TRACE_NOT_TRUNCATED);
	if (event->host) {
		table_set_text(table, EVENT_HOST, source_host_name(event->source, event->host));
		if (event->error != EVENT_ERROR_UNKNOWN)
			table_set(table, EVENT_ERROR, (int64_t)event->error);
		table_set(table, EVENT_UNORDERED, event->unordered);
	}
	err = set_data(table, event, texts);
	return err ? err : table_row(table);
}

int table_counters_put(struct table *table, const struct table_threads *threads,
		       const struct event *event, uint32_t utid)
{
	struct posixtrace_value value;
	bool is_signed, is_real;
	const char *unit;
	size_t len;

	if (!event->user || pairs_role(event->name, &len) != PAIRS_NONE ||
	    !event_is_counter(event, &value))
		return 0;
	is_real = value.field->type == POSIXTRACE_FIELD_FLOAT;
	is_signed = value.field->is_signed;
	unit = event->description->counter->unit;
	table_set(table, COUNTER_TIME, (int64_t)event->time);
	table_set_text(table, COUNTER_NAME, event->name);
	table_threads_set(threads, table, utid, COUNTER_UTID);
	if (is_real)
		table_set_real(table, COUNTER_VALUE, value.real);
	else if (is_signed)
		table_set_real(table, COUNTER_VALUE, (double)(int64_t)value.number);
	else
		table_set_real(table, COUNTER_VALUE, (double)value.number);
	if (!is_real && (is_signed || value.number <= INT64_MAX))
		table_set(table, COUNTER_INTEGER, (int64_t)value.number);
	if (unit)
		table_set_text(table, COUNTER_UNIT, unit);
	return table_row(table);
}
