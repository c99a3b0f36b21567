// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Chrome's JSON trace format, which Perfetto and Speedscope can also read.
 *
 * A begin and its end become one "complete" event, which is written when the end is read: viewers
 * accept complete events in any order. Complete events of a thread must nest. A pair that does not
 * nest becomes an asynchronous event, which has a separate track. A counter becomes a counter
 * event. Everything else is an instant, even a begin without an end.
 *
 * The states of a thread overlap its scopes, so they have a separate track. That track also shows
 * the interrupts, nested in the state that they interrupted. A system call is on the same track as
 * the scopes of its thread if it nests in them.
 *
 * Times are in microseconds, and readers parse them as floating point. To preserve nanoseconds,
 * times are relative to the first event.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pairs.h"
#include "analyze/spans.h"
#include "event/event_names.h"
#include "export/export.h"
#include "export/json.h"
#include "util/escape.h"
#include "util/threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */
#define STATES_BASE	1000000		/* added to a thread number: its track of states */
#define FRACTION_MAX	18		/* added to a thread number: id of its track of states */
#define LIFE_BASE	10000000	/* added to a reused process id; above all process ids */

struct chrome {
	struct export *export;
	struct buffer text;
	struct threads *threads;
	struct pairs *pairs;
	struct spans *spans;		/* NULL: no kernel events */
	/* Indexed by thread number. */
	bool *has_states;		/* the track of states has been named */
	int64_t *process;		/* id of the thread's process in the file */
	bool scheduled;			/* the log has scheduler events */
	uint64_t nr_async;
};

/* Returns a process id for the file. Viewers only use it to tell processes apart. */
static int64_t process_id(const struct event *event)
{
	return event->pid + (int64_t)LIFE_BASE * event->process_life;
}

static void put_microseconds(struct buffer *to, uint64_t from, uint64_t time)
{
	uint64_t ns = time < from ? from - time : time - from;

	buffer_printf(to, "%s%" PRIu64 ".%03u", time < from ? "-" : "", ns / 1000,
		      (unsigned int)(ns % 1000));
}

/* Returns the floating point number that readers get for a time. */
static double to_real(const struct chrome *chrome, uint64_t time)
{
	struct buffer text = { };
	double real;

	put_microseconds(&text, chrome->export->first_time, time);
	buffer_byte(&text, '\0');
	real = text.failed ? 0 : strtod((const char *)text.data, NULL);
	buffer_free(&text);
	return real;
}

/*
 * Writes the length of a duration. Viewers add it to the start as floating point numbers, and
 * rounding must not move the sum past the start of the next duration. So use the length that adds
 * up to exactly the floating point number of the end. If there is none, use the largest length
 * whose sum does not exceed the end. Write as few digits as possible: Perfetto reads at most
 * FRACTION_MAX.
 */
static void put_length(struct chrome *chrome, uint64_t begin, uint64_t end)
{
	const double from = to_real(chrome, begin), to = to_real(chrome, end);
	struct buffer *text = &chrome->text;
	size_t at = text->len;
	double length = to - from;
	char digits[64];

	put_microseconds(text, begin, end);
	buffer_byte(text, '\0');
	if (text->failed)
		return;
	text->len--;
	if (from + strtod((const char *)text->data + at, NULL) == to)
		return;
	if (from + length < to && from + nextafter(length, INFINITY) <= to)
		length = nextafter(length, INFINITY);
	else if (from + length > to)
		length = nextafter(length, 0);
	for (int count = 4; count <= FRACTION_MAX; count++) {
		snprintf(digits, sizeof(digits), "%.*f", count, length);
		if (from + strtod(digits, NULL) == to)
			break;
	}
	text->len = at;
	buffer_text(text, digits);
}

/* Begins an event. The caller adds the arguments and "}}". */
static void put_head_at(struct chrome *chrome, const char *phase, const char *category,
			const char *name, int64_t process, uint32_t thread, uint64_t time)
{
	struct buffer *text = &chrome->text;

	buffer_printf(text, ",\n{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":", phase, category);
	escape_string(text, name, strlen(name), false);
	buffer_printf(text, ",\"pid\":%" PRId64 ",\"tid\":%" PRIu32 ",\"ts\":", process, thread);
	put_microseconds(text, chrome->export->first_time, time);
}

static void put_head(struct chrome *chrome, const char *phase, const char *category,
		     const char *name, const struct event *event, uint32_t thread)
{
	put_head_at(chrome, phase, category, name, process_id(event), thread, event->time);
}

static void put_instant(struct chrome *chrome, const struct event *event, size_t data_len,
			uint32_t thread)
{
	struct buffer *text = &chrome->text;
	const char *category = event->user ? "user" : event_is_kernel(event) ? "kernel" : "system";

	put_head(chrome, "i", category, event->name, event, thread);
	/* "t": an event of a thread. "g": an event of the whole stream. */
	buffer_printf(text, ",\"s\":\"%s\",\"args\":{", event->has_data ? "t" : "g");
	export_json_event(text, event, data_len, false);
	buffer_text(text, "}}");
}

/* Writes a counter. Viewers plot its value over time, by process and name. They expect a number. */
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
	else if (value->number > INT64_MAX)	/* Readers use signed integers. */
		buffer_printf(text, "%.17g", (double)value->number);
	else
		buffer_printf(text, "%" PRIu64, value->number);
	buffer_text(text, "}}");
}

static void put_metadata(struct buffer *text, const char *name, const struct event *event,
			 uint32_t thread, const char *label)
{
	buffer_printf(text, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRIu32,
		      name, process_id(event), thread);
	buffer_text(text, ",\"args\":{\"name\":");
	escape_string(text, label, strlen(label), false);
	buffer_text(text, "}}");
}

/* Sets the position of a track, so that the track of states follows the track of its thread. */
static void put_order(struct buffer *text, const struct event *event, uint32_t thread,
		      uint64_t order)
{
	buffer_printf(text, ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRId64,
		      process_id(event));
	buffer_printf(text, ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu64 "}}", thread,
		      order);
}

/* Finds the thread number of an event. Names a new thread and its process. */
static int find_thread(struct chrome *chrome, const struct event *event, uint32_t *number)
{
	struct buffer *text = &chrome->text;
	int ret = export_find_thread(chrome->export, chrome->threads, event, number);
	char label[LABEL_SIZE];

	if (ret <= 0)
		return ret;
	event_process_label(event, label);
	put_metadata(text, "process_name", event, *number, label);
	event_thread_label(event, label);
	put_metadata(text, "thread_name", event, *number,
		     *number == THREADS_OTHERS ? "further threads" : label);
	if (chrome->spans) {
		put_order(text, event, *number, 2ULL * *number);
		chrome->process[*number] = process_id(event);
	}
	return 0;
}

/* Names the track of states of a thread before its first state. */
static void name_states(struct chrome *chrome, const struct event *event, uint32_t number)
{
	char label[LABEL_SIZE], name[LABEL_SIZE + 16];

	if (chrome->has_states[number])
		return;
	chrome->has_states[number] = true;
	event_thread_label(event, label);
	snprintf(name, sizeof(name), "%s: states", label);
	put_metadata(&chrome->text, "thread_name", event, STATES_BASE + number, name);
	put_order(&chrome->text, event, STATES_BASE + number, 2ULL * number + 1);
}

static void put_args(struct chrome *chrome, const char *name, const struct event *event,
		     size_t data_len)
{
	buffer_printf(&chrome->text, "\"%s\":{", name);
	export_json_event(&chrome->text, event, data_len, false);
	buffer_text(&chrome->text, "}");
}

static void put_complete(struct chrome *chrome, const struct event *end,
			 const struct pairs_result *result, uint32_t thread)
{
	const struct pairs_begin *begin = result->begin;
	struct buffer *text = &chrome->text;

	put_head(chrome, "X", "user", begin->stem, &begin->event, thread);
	buffer_text(text, ",\"dur\":");
	put_length(chrome, begin->event.time, end->time);
	buffer_text(text, ",\"args\":{");
	put_args(chrome, "begin", &begin->event, begin->data_len);
	buffer_byte(text, ',');
	put_args(chrome, "end", end, end->len);
	export_json_lost(text, result->lost);
	buffer_text(text, "}}");
}

/*
 * Writes a duration, followed by the inner durations that begin at the same time. If the enclosing
 * duration also begins at that time, holds all of them until the enclosing one is written.
 */
static void put_nested(struct chrome *chrome, const struct event *end,
		       const struct pairs_result *result, uint32_t thread)
{
	const struct pairs_begin *begin = result->begin;
	struct buffer *hold = pairs_hold(chrome->pairs, end->pid, event_thread_key(end),
					 begin->event.time);
	struct buffer text = chrome->text;

	if (hold)
		chrome->text = *hold;
	put_complete(chrome, end, result, thread);
	buffer_put(&chrome->text, begin->held.data, begin->held.len);
	chrome->text.failed |= begin->held.failed;
	if (!hold)
		return;
	*hold = chrome->text;
	chrome->text = text;
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
	export_json_lost(text, result->lost);
	buffer_text(text, "}}");
	buffer_put(text, begin->held.data, begin->held.len);
	text->failed |= begin->held.failed;
}

/* ------------------------------------------------------------------ */
/* Spans from kernel events						*/

static int end_span(struct chrome *chrome)
{
	buffer_text(&chrome->text, "}}");
	return export_flush(chrome->export, &chrome->text, WRITE_AT);
}

static int put_state(void *to, const struct interval *interval)
{
	/* Colour names of chrome://tracing. */
	static const char *const colours[NR_STATES] = {
		[STATE_UNKNOWN] = "thread_state_unknown",
		[STATE_RUNNING] = "thread_state_running",
		[STATE_RUNNABLE] = "thread_state_runnable",
		[STATE_SLEEP] = "thread_state_sleeping",
		[STATE_DISK] = "thread_state_iowait",
		[STATE_STOPPED] = "terrible",
	};
	struct chrome *chrome = to;
	struct buffer *text = &chrome->text;

	put_head_at(chrome, "X", "state", interval_name(interval),
		    chrome->process[interval->thread],
		    STATES_BASE + interval->thread, interval->begin);
	buffer_text(text, ",\"dur\":");
	put_length(chrome, interval->begin, interval->end);
	buffer_printf(text, ",\"cname\":\"%s\",\"args\":{", colours[interval->state]);
	export_json_interval(text, interval, false);
	return end_span(chrome);
}

static int put_irq(void *to, const struct irq *irq)
{
	struct chrome *chrome = to;
	struct buffer *text = &chrome->text;
	char name[PAIRS_NAME_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)irq->name_len, irq->name);
	put_head_at(chrome, "X", "irq", name, chrome->process[irq->thread],
		    STATES_BASE + irq->thread, irq->begin);
	buffer_text(text, ",\"dur\":");
	put_length(chrome, irq->begin, irq->end);
	buffer_text(text, ",\"args\":{");
	export_json_irq(text, irq, false);
	return end_span(chrome);
}

static int put_async_call(struct chrome *chrome, const struct call *call)
{
	struct buffer *text = &chrome->text;

	chrome->nr_async++;
	put_head_at(chrome, "b", "syscall", call->name,
		    chrome->process[call->thread], call->thread, call->begin);
	buffer_printf(text, ",\"id\":\"%#" PRIx64 "\",\"args\":{", chrome->nr_async);
	export_json_call(text, call);
	buffer_text(text, "}}");
	put_head_at(chrome, "e", "syscall", call->name,
		    chrome->process[call->thread], call->thread, call->end);
	buffer_printf(text, ",\"id\":\"%#" PRIx64 "\",\"args\":{", chrome->nr_async);
	return end_span(chrome);
}

static int put_call(void *to, const struct call *call)
{
	struct chrome *chrome = to;
	struct buffer *hold = pairs_hold(chrome->pairs, call->pid, call->key, call->begin);
	struct buffer *text = &chrome->text, others = chrome->text;

	/*
	 * Put the call on the thread's track only if no other duration on that track began or ended
	 * during the call.
	 */
	if (call->mark != pairs_top(chrome->pairs, call->pid, call->key))
		return put_async_call(chrome, call);
	if (hold)
		*text = *hold;
	put_head_at(chrome, "X", "syscall", call->name,
		    chrome->process[call->thread], call->thread, call->begin);
	buffer_text(text, ",\"dur\":");
	put_length(chrome, call->begin, call->end);
	buffer_text(text, ",\"args\":{");
	export_json_call(text, call);
	if (!hold)
		return end_span(chrome);
	buffer_text(text, "}}");
	*hold = *text;
	*text = others;
	return 0;
}

/* Also names the states of a thread that has no event yet. */
static int find_any_thread(void *to, const struct event *event, uint32_t *number)
{
	struct chrome *chrome = to;
	int err = find_thread(chrome, event, number);

	if (!err && chrome->scheduled && *number != THREADS_OTHERS)
		name_states(chrome, event, *number);
	return err;
}

static const struct spans_ops spans_ops = {
	.put_state = put_state,
	.put_call = put_call,
	.put_irq = put_irq,
	.find_thread = find_any_thread,
};

/* Checks if the event shows a state of its thread, or an interrupt. */
static bool has_states(const struct chrome *chrome, const struct event *event)
{
	if (chrome->scheduled && event_shows_running(event))
		return true;
	return event->type == POSIXTRACE_SWITCH_OUT || event->type == POSIXTRACE_SWITCH_IN ||
	       event->type == POSIXTRACE_WAKEUP || event->type == POSIXTRACE_IRQ;
}

/* Returns 1 if spans show the whole event, 0 if not, or a negative error number. */
static int put_spans(struct chrome *chrome, const struct event *event, uint32_t thread)
{
	uint64_t mark = 0;

	if (!chrome->spans)
		return 0;
	if (has_states(chrome, event) && thread != THREADS_OTHERS)
		name_states(chrome, event, thread);
	if (event->type == POSIXTRACE_SYSCALL_ENTRY)
		mark = pairs_top(chrome->pairs, event->pid, event_thread_key(event));
	return spans_event(chrome->spans, thread, event, chrome->export->newly_lost, mark);
}

/* ------------------------------------------------------------------ */
/* The file								*/

static int put_begin(struct chrome *chrome, const struct pairs_begin *begin)
{
	uint32_t thread;
	int err = find_thread(chrome, &begin->event, &thread);

	if (err)
		return err;
	put_instant(chrome, &begin->event, begin->data_len, thread);
	buffer_put(&chrome->text, begin->held.data, begin->held.len);
	chrome->text.failed |= begin->held.failed;
	return 0;
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
		buffer_text(&chrome->text, ",\"s\":\"g\",\"args\":{");
		export_json_lost(&chrome->text, chrome->export->newly_lost);
		buffer_text(&chrome->text, "}}");
	}
	err = put_spans(chrome, event, thread);
	if (err)
		return err < 0 ? err : export_flush(chrome->export, &chrome->text, WRITE_AT);
	if (result.forgotten)
		err = put_begin(chrome, result.forgotten);
	if (result.begin && result.begin->event.time > event->time) {
		/*
		 * The end is older than the begin, because the clock was set back: do not draw a
		 * duration.
		 */
		err = put_begin(chrome, result.begin);
		put_instant(chrome, event, event->len, thread);
	} else if (result.begin && result.proper) {
		put_nested(chrome, event, &result, thread);
	} else if (result.begin) {
		put_async(chrome, event, &result, thread);
	} else if (result.role == PAIRS_NONE && event_is_counter(event, &value)) {
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
	if (!ret && chrome->spans)
		ret = spans_end(chrome->spans);
	while (!ret && (begin = pairs_take(chrome->pairs))) {
		ret = put_begin(chrome, begin);
		if (!ret)
			ret = export_flush(chrome->export, text, WRITE_AT);
	}
	/* Use strings, because readers would round such large numbers. */
	buffer_printf(text, "\n],\"otherData\":{\"first_event_ns\":\"%" PRIu64 "\"",
		      chrome->export->first_time);
	buffer_printf(text, ",\"events\":\"%" PRIu64 "\",\"events_lost\":\"%" PRIu64 "\"}}\n",
		      chrome->export->events, chrome->export->lost);
	return ret ? ret : export_flush(chrome->export, text, 0);
}

static int new_spans(struct chrome *chrome)
{
	unsigned int classes = export_kernel_classes(chrome->export);
	int err;

	chrome->scheduled = classes & POSIXTRACE_CLASS_SCHED;
	chrome->has_states = calloc(EXPORT_THREADS + 1, sizeof(*chrome->has_states));
	chrome->process = calloc(EXPORT_THREADS + 1, sizeof(*chrome->process));
	if (!chrome->has_states || !chrome->process)
		return -ENOMEM;
	err = spans_new(EXPORT_THREADS, classes, &spans_ops, chrome, &chrome->spans);
	return err ? err : export_start(chrome->export, chrome->spans);
}

int export_chrome(struct export *export)
{
	struct chrome chrome = { .export = export };
	int err = threads_new(EXPORT_THREADS, &chrome.threads);

	if (!err)
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &chrome.pairs);
	if (!err && export->kernel)
		err = new_spans(&chrome);
	if (!err)
		err = put_all(&chrome);
	spans_free(chrome.spans);
	free(chrome.has_states);
	free(chrome.process);
	pairs_free(chrome.pairs);
	threads_free(chrome.threads);
	buffer_free(&chrome.text);
	return err;
}
