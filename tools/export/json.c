// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events as JSON: see json.h.
 */
#include <inttypes.h>
#include <string.h>

#include "export/json.h"
#include "print/json_fields.h"
#include "util/escape.h"

static void put_name(struct buffer *to, const char *name)
{
	if (to->len && to->data[to->len - 1] != '{')
		buffer_byte(to, ',');
	buffer_printf(to, "\"%s\":", name);
}

/* Appends the data of an event. A text may include a terminating null byte. */
static void put_data(struct buffer *to, const struct event *event, bool html)
{
	size_t len = event->len < EXPORT_DATA_MAX ? event->len : EXPORT_DATA_MAX;
	size_t text_len = len && !event->data[len - 1] ? len - 1 : len;

	if (!len)
		return;
	if (escape_is_text(event->data, text_len)) {
		put_name(to, "text");
		escape_string(to, event->data, text_len, html);
	} else {
		put_name(to, "bytes");
		buffer_byte(to, '"');
		escape_hex(to, event->data, len);
		buffer_byte(to, '"');
	}
}

static void put_cpu(struct buffer *to, unsigned int cpu)
{
	if (cpu == SOURCE_NO_CPU)
		return;
	put_name(to, "cpu");
	buffer_printf(to, "%u", cpu);
}

void export_json_event(struct buffer *to, const struct event *event, size_t data_len, bool html)
{
	bool fields = event_has_fields(event, data_len);

	fields = fields && json_fields(to, event, html);
	if (!fields && event->has_data)	/* leaves out the data of POSIX system events */
		put_data(to, event, html);
	if (event->has_data &&
	    (data_len > event->len || (!fields && event->len > EXPORT_DATA_MAX))) {
		put_name(to, "data_len");
		buffer_printf(to, "%zu", data_len);
	}
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED) {
		put_name(to, "truncated");
		buffer_text(to, "true");
	}
	if (event->address) {
		put_name(to, "address");
		buffer_printf(to, "\"%#" PRIx64 "\"", event->address);
	}
	put_cpu(to, event->cpu);
}

void export_json_lost(struct buffer *to, uint64_t lost)
{
	if (!lost)
		return;
	put_name(to, "lost");
	json_number(to, lost, false);
}

static void put_flag(struct buffer *to, const char *name, bool flag)
{
	if (!flag)
		return;
	put_name(to, name);
	buffer_text(to, "true");
}

void export_json_interval(struct buffer *to, const struct interval *interval, bool html)
{
	if (interval->letter) {
		put_name(to, "letter");
		buffer_printf(to, "\"%c\"", interval->letter);
	}
	put_flag(to, "io", interval->io);
	put_flag(to, "preempted", interval->preempted);
	if (interval->call[0]) {
		put_name(to, "call");
		escape_string(to, interval->call, strlen(interval->call), html);
	}
	if (interval->waker.kind != WAKER_UNKNOWN) {
		put_name(to, "by");
		buffer_printf(to, "\"%s\"", waker_name(interval->waker.kind));
	}
	if (waker_is_thread(&interval->waker)) {
		put_name(to, "waker");
		buffer_printf(to, "[%d,%d]", (int)interval->waker.pid, (int)interval->waker.tid);
	}
	put_flag(to, "open", interval->open);
	put_cpu(to, interval->cpu);
}

void export_json_call(struct buffer *to, const struct call *call)
{
	buffer_text(to, "\"args\":[");
	for (size_t i = 0; i < KEVENT_ARGS; i++)
		buffer_printf(to, "%s\"0x%" PRIx64 "\"", i ? "," : "", call->args[i]);
	buffer_printf(to, "],\"nr\":%d", (int)call->nr);
	if (call->finished) {
		buffer_text(to, ",\"result\":");
		json_number(to, call->result < 0 ? -(uint64_t)call->result : (uint64_t)call->result,
			    call->result < 0);
	}
	put_flag(to, "unfinished", !call->finished);
	put_flag(to, "compat", call->compat);
	export_json_lost(to, call->lost);
	put_cpu(to, call->cpu);
}

void export_json_irq(struct buffer *to, const struct irq *irq, bool html)
{
	buffer_text(to, "\"kind\":");
	escape_string(to, irq->kind, strlen(irq->kind), html);
	buffer_printf(to, ",\"number\":%" PRIu32, (uint32_t)irq->number);
	buffer_printf(to, ",\"nested\":%s", irq->nested ? "true" : "false");
	put_cpu(to, irq->cpu);
}
