// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the JSON of Chrome's tracing, which Perfetto and Speedscope read, too.
 *
 * A begin and its end become one "complete" event, written at the end: readers accept complete
 * events in any order. Those of one thread must be nested. A pair that is not nested becomes an
 * asynchronous event, with a track of its own. Everything else is an instant, also a begin
 * without an end. A counter becomes a counter event.
 *
 * Times are microseconds, and readers use floating point numbers. So times count from the first
 * event, which preserves nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "escape.h"
#include "export.h"
#include "export_json.h"
#include "pairs.h"
#include "threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */

struct chrome {
	struct export *export;
	struct buffer text;
	struct threads *threads;
	struct pairs *pairs;
	uint64_t nr_async;
};

static void put_microseconds(struct buffer *to, uint64_t from, uint64_t time)
{
	uint64_t ns = time < from ? from - time : time - from;

	buffer_printf(to, "%s%" PRIu64 ".%03u", time < from ? "-" : "", ns / 1000,
		      (unsigned int)(ns % 1000));
}

/* Begins an event. The caller adds the arguments and "}}". */
static void put_head(struct chrome *chrome, const char *phase, const char *category,
		     const char *name, const struct event *event, uint32_t thread)
{
	struct buffer *text = &chrome->text;

	buffer_printf(text, ",\n{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":", phase, category);
	escape_string(text, name, strlen(name), false);
	buffer_printf(text, ",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":", (int)event->pid, thread);
	put_microseconds(text, chrome->export->first_time, event->time);
}

static void put_instant(struct chrome *chrome, const struct event *event, size_t data_len,
			uint32_t thread)
{
	struct buffer *text = &chrome->text;

	put_head(chrome, "i", event->user ? "user" : "system", event->name, event, thread);
	buffer_printf(text, ",\"s\":\"%s\",\"args\":{", event->user ? "t" : "g");
	export_json_event(text, event, data_len, false);
	buffer_text(text, "}}");
}

/* Readers draw the value over the time, for each process and name. They expect a number. */
static void put_counter(struct chrome *chrome, const struct event *event,
			const struct posixtrace_value *value, uint32_t thread)
{
	struct buffer *text = &chrome->text;

	put_head(chrome, "C", "user", event->name, event, thread);
	buffer_text(text, ",\"args\":{\"counter\":");
	if (value->field->type == POSIXTRACE_FIELD_FLOAT)
		buffer_real(text, value->real, value->size);
	else if (value->field->is_signed)
		buffer_printf(text, "%" PRId64, (int64_t)value->number);
	else
		buffer_printf(text, "%" PRIu64, value->number);
	buffer_text(text, "}}");
}

static void put_metadata(struct buffer *text, const char *name, const struct event *event,
			 uint32_t thread, const char *label)
{
	buffer_printf(text, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32, name,
		      (int)event->pid, thread);
	buffer_text(text, ",\"args\":{\"name\":");
	escape_string(text, label, strlen(label), false);
	buffer_text(text, "}}");
}

/* Finds the number of an event's thread. Names a new thread and its process. */
static int find_thread(struct chrome *chrome, const struct event *event, uint32_t *number)
{
	struct buffer *text = &chrome->text;
	int ret = threads_find(chrome->threads, event->pid, event->thread, number);
	char label[LABEL_SIZE];

	if (ret <= 0)
		return ret;
	event_process_label(event, label);
	put_metadata(text, "process_name", event, *number, label);
	event_thread_label(event, label);
	put_metadata(text, "thread_name", event, *number,
		     *number == THREADS_OTHERS ? "further threads" : label);
	return 0;
}

static void put_args(struct chrome *chrome, const char *name, const struct event *event,
		     size_t data_len)
{
	buffer_printf(&chrome->text, "\"%s\":{", name);
	export_json_event(&chrome->text, event, data_len, false);
	buffer_text(&chrome->text, "}");
}

static void put_lost(struct chrome *chrome, uint64_t lost)
{
	if (lost)
		buffer_printf(&chrome->text, ",\"lost\":%" PRIu64, lost);
}

static void put_complete(struct chrome *chrome, const struct event *end,
			 const struct pairs_result *result, uint32_t thread)
{
	const struct pairs_begin *begin = result->begin;
	struct buffer *text = &chrome->text;

	put_head(chrome, "X", "user", begin->stem, &begin->event, thread);
	buffer_text(text, ",\"dur\":");
	put_microseconds(text, begin->event.time, end->time);
	buffer_text(text, ",\"args\":{");
	put_args(chrome, "begin", &begin->event, begin->data_len);
	buffer_byte(text, ',');
	put_args(chrome, "end", end, end->len);
	put_lost(chrome, result->lost);
	buffer_text(text, "}}");
}

static void put_async(struct chrome *chrome, const struct event *end,
		      const struct pairs_result *result, uint32_t thread)
{
	const struct pairs_begin *begin = result->begin;
	struct buffer *text = &chrome->text;

	chrome->nr_async++;
	put_head(chrome, "b", "user", begin->stem, &begin->event, thread);
	buffer_printf(text, ",\"id\":\"%#" PRIx64 "\",\"args\":{", chrome->nr_async);
	put_args(chrome, "begin", &begin->event, begin->data_len);
	buffer_text(text, "}}");
	put_head(chrome, "e", "user", begin->stem, end, thread);
	buffer_printf(text, ",\"id\":\"%#" PRIx64 "\",\"args\":{", chrome->nr_async);
	put_args(chrome, "end", end, end->len);
	put_lost(chrome, result->lost);
	buffer_text(text, "}}");
}

static int put_begin(struct chrome *chrome, const struct pairs_begin *begin)
{
	uint32_t thread;
	int err = find_thread(chrome, &begin->event, &thread);

	if (!err)
		put_instant(chrome, &begin->event, begin->data_len, thread);
	return err;
}

static int put_event(struct chrome *chrome, const struct event *event)
{
	struct posixtrace_value value;
	struct pairs_result result;
	uint32_t thread;
	char name[64];
	int err;

	err = find_thread(chrome, event, &thread);
	if (!err && thread != THREADS_OTHERS)
		err = pairs_event(chrome->pairs, event, &result);
	else
		result = (struct pairs_result){ .role = PAIRS_NONE };
	if (err)
		return err;
	if (chrome->export->newly_lost) {
		snprintf(name, sizeof(name), "%" PRIu64 " events lost", chrome->export->newly_lost);
		put_head(chrome, "i", "lost", name, event, thread);
		buffer_printf(&chrome->text, ",\"s\":\"g\",\"args\":{\"lost\":%" PRIu64 "}}",
			      chrome->export->newly_lost);
	}
	if (result.forgotten)
		err = put_begin(chrome, result.forgotten);
	if (result.begin && result.begin->event.time > event->time) {
		/* The clock went back: there is no duration. */
		err = put_begin(chrome, result.begin);
		put_instant(chrome, event, event->len, thread);
	} else if (result.begin && result.proper) {
		put_complete(chrome, event, &result, thread);
	} else if (result.begin) {
		put_async(chrome, event, &result, thread);
	} else if (result.role == PAIRS_NONE && event_is_counter(event, &value) &&
		   isfinite(value.real)) {
		put_counter(chrome, event, &value, thread);
	} else if (result.role != PAIRS_BEGIN) {
		put_instant(chrome, event, event->len, thread);
	}
	return err ? err : export_flush(chrome->export, &chrome->text, WRITE_AT);
}

static int put_all(struct chrome *chrome)
{
	const struct pairs_begin *begin;
	struct buffer *text = &chrome->text;
	char name[TRACE_NAME_MAX + 1];
	struct event event;
	int ret;

	export_trace_name(chrome->export, name, sizeof(name));
	buffer_text(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		    "{\"ph\":\"M\",\"name\":\"trace_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":");
	escape_string(text, name, strlen(name), false);
	buffer_text(text, "}}");
	while ((ret = export_next(chrome->export, &event)) > 0) {
		ret = put_event(chrome, &event);
		if (ret)
			return ret;
	}
	while (!ret && (begin = pairs_take(chrome->pairs))) {
		ret = put_begin(chrome, begin);
		if (!ret)
			ret = export_flush(chrome->export, text, WRITE_AT);
	}
	/* As strings: readers would round such large numbers. */
	buffer_printf(text, "\n],\"otherData\":{\"first_event_ns\":\"%" PRIu64 "\"",
		      chrome->export->first_time);
	buffer_printf(text, ",\"events\":\"%" PRIu64 "\",\"events_lost\":\"%" PRIu64 "\"}}\n",
		      chrome->export->events, chrome->export->lost);
	return ret ? ret : export_flush(chrome->export, text, 0);
}

int export_chrome(struct export *export)
{
	struct chrome chrome = { .export = export };
	int err = threads_new(EXPORT_THREADS, &chrome.threads);

	if (!err)
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &chrome.pairs);
	if (!err)
		err = put_all(&chrome);
	pairs_free(chrome.pairs);
	threads_free(chrome.threads);
	buffer_free(&chrome.text);
	return err;
}
