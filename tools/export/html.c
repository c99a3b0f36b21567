// SPDX-License-Identifier: GPL-2.0
/*
 * Writes an HTML page with the events: see timeline.html and timeline/.
 *
 * A browser keeps the whole page in memory, so the number of events is limited. Events beyond the
 * limit are only counted, and the page shows how many are missing. The size of the page is also
 * limited: the first item that would exceed the limit ends the list.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pairs.h"
#include "analyze/spans.h"
#include "event/event_names.h"
#include "export/explain.h"
#include "export/export.h"
#include "export/html_texts.h"
#include "export/html_why.h"
#include "export/json.h"
#include "export/timeline_page.h"
#include "util/escape.h"
#include "util/threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */
#define BYTES_MAX	(256ULL << 20)	/* limit of the size of the page */
#define BYTES_END	(256 << 10)	/* reserved at the end of the page, without the template */
#define DATA_MAX	256		/* bytes of data shown without fields */
#define MARK		"@DATA@"

/* Kinds of items. The numbers must match timeline/rows.js. */
#define KIND_SLICE	0
#define KIND_ASYNC	1
#define KIND_INSTANT	2
#define KIND_LOST	3
#define KIND_COUNTER	4
#define KIND_CALL	5
#define KIND_STATE	6
#define KIND_IRQ	7

/* Names of event types, followed by stems of pairs at the type of their end. */
#define NAMES		(2 * EXPORT_TYPES)

struct html {
	struct export *export;
	struct buffer text;
	struct buffer names;		/* JSON, for the end of the page */
	struct buffer tracks;		/* JSON, for the end of the page */
	struct html_texts *texts;	/* for the end of the page */
	struct html_why *why;		/* for the end of the page */
	struct threads *threads;
	struct pairs *pairs;
	struct spans *spans;		/* NULL: no kernel events */
	uint32_t name_index[NAMES];	/* index plus one; 0: not assigned */
	uint32_t nr_names;
	/* Index of the track of a thread number, plus one; 0: not assigned. */
	uint32_t track_index[EXPORT_THREADS + 1];
	uint32_t nr_tracks;
	uint64_t nr_threads;		/* number of threads in the whole log */
	uint64_t shown;			/* items drawn; a duration is one item but two events */
	uint64_t taken;			/* number of events in the page */
	uint64_t bytes;			/* written so far, plus the rest of the template */
	size_t item;			/* start of the last item in @text */
	bool full;			/* further events are missing */
	bool too_large;			/* @full because of BYTES_MAX */
};

static void put_separator(struct buffer *text, bool first)
{
	buffer_text(text, first ? "\n" : ",\n");
}

/* Returns the index of a name. The list of names is written at the end of the page. */
static uint32_t find_name(struct html *html, size_t name_of, const char *name)
{
	uint32_t *index = &html->name_index[name_of];

	if (!*index) {
		put_separator(&html->names, html->nr_names == 0);
		escape_string(&html->names, name, strlen(name), true);
		*index = ++html->nr_names;
	}
	return *index - 1;
}

/* Finds the thread number of an event. Returns 0 or a negative error number. */
static int find_thread(struct html *html, const struct event *event, uint32_t *number)
{
	int ret = export_find_thread(html->export, html->threads, event, number);

	if (ret < 0)
		return ret;
	html->nr_threads += ret;
	return 0;
}

static int find_track(struct html *html, const struct event *event, uint32_t *track)
{
	char label[LABEL_SIZE], process[LABEL_SIZE];
	uint32_t number, *index;
	const char *text;
	int err = find_thread(html, event, &number);

	if (err)
		return err;
	index = &html->track_index[number];
	if (!*index) {
		bool others = number == THREADS_OTHERS;

		err = others ? 0 : html_texts_process(html->texts, event);
		if (err)
			return err;
		put_separator(&html->tracks, html->nr_tracks == 0);
		buffer_printf(&html->tracks, "[%d,\"%#" PRIx64 "\",", others ? 0 : (int)event->pid,
			      others ? 0 : event->thread);
		event_thread_label(event, label);
		text = others ? "further threads" : label;
		escape_string(&html->tracks, text, strlen(text), true);
		if (!others) {
			event_process_label(event, process);
			buffer_printf(&html->tracks, ",%d,%" PRIu32 ",", (int)event->tid,
				      event->process_life);
			escape_string(&html->tracks, process, strlen(process), true);
		}
		buffer_text(&html->tracks, "]");
		*index = ++html->nr_tracks;
	}
	*track = *index - 1;
	return 0;
}

static void put_time(struct html *html, uint64_t time)
{
	uint64_t first = html->export->first_time;

	buffer_printf(&html->text, "%s%" PRIu64, time < first ? "-" : "",
		      time < first ? first - time : time - first);
}

static void put_kind(struct html *html, int kind, uint32_t track)
{
	html->item = html->text.len;
	put_separator(&html->text, html->shown++ == 0);
	buffer_printf(&html->text, "[%d,%" PRIu32 ",", kind, track);
}

static bool has_room(struct html *html)
{
	uint64_t bytes = html->bytes + html->text.len + html->names.len + html->tracks.len +
			 html_texts_bytes(html->texts) + html_why_bytes(html->why);

	html->too_large |= bytes + BYTES_END > BYTES_MAX;
	html->full |= html->too_large;
	return !html->too_large;
}

/* Ends an item, or removes it if the page has no room for it. */
static void end_item(struct html *html)
{
	buffer_byte(&html->text, ']');
	if (has_room(html))
		return;
	html->text.len = html->item;
	html->shown--;
}

static void put_times(struct html *html, uint64_t time, uint64_t length)
{
	buffer_byte(&html->text, ',');
	put_time(html, time);
	buffer_printf(&html->text, ",%" PRIu64, length);
}

static void put_head(struct html *html, int kind, uint32_t track, uint64_t name, uint64_t time,
		     uint64_t length)
{
	put_kind(html, kind, track);
	buffer_printf(&html->text, "%" PRIu64, name);
	put_times(html, time, length);
}

static void put_args(struct html *html, const struct event *event, size_t data_len)
{
	struct event cut = *event;

	if (cut.len > DATA_MAX && !event_has_fields(event, data_len)) {
		cut.len = DATA_MAX;
		cut.description = NULL;
	}
	export_json_event(&html->text, &cut, data_len, true);
}

static int put_instant(struct html *html, const struct event *event, size_t data_len)
{
	struct posixtrace_value value;
	uint32_t track;
	int err = find_track(html, event, &track), kind;

	if (err)
		return err;
	kind = event_is_counter(event, &value) ? KIND_COUNTER : KIND_INSTANT;
	put_head(html, kind, track, find_name(html, event->type, event->name), event->time, 0);
	buffer_text(&html->text, ",{");
	put_args(html, event, data_len);
	buffer_byte(&html->text, '}');
	end_item(html);
	return 0;
}

static int put_slice(struct html *html, const struct event *end,
		     const struct pairs_result *result)
{
	const struct pairs_begin *begin = result->begin;
	struct buffer *text = &html->text;
	uint32_t track;
	int err = find_track(html, end, &track);

	if (err)
		return err;
	put_head(html, result->proper ? KIND_SLICE : KIND_ASYNC, track,
		 find_name(html, EXPORT_TYPES + end->type, begin->stem), begin->event.time,
		 end->time - begin->event.time);
	buffer_text(text, ",{\"begin\":{");
	put_args(html, &begin->event, begin->data_len);
	buffer_text(text, "},\"end\":{");
	put_args(html, end, end->len);
	buffer_text(text, "}");
	export_json_lost(text, result->lost);
	buffer_byte(text, '}');
	end_item(html);
	return 0;
}

static int flush(struct html *html, size_t least)
{
	size_t len = html->text.len;
	int err = export_flush(html->export, &html->text, least);

	if (!err)
		html->bytes += len - html->text.len;
	return err;
}

/* ------------------------------------------------------------------ */
/* Spans from kernel events. Their threads have tracks already.	*/

static int put_state(void *to, const struct interval *interval)
{
	struct html *html = to;
	struct buffer *text = &html->text;

	put_kind(html, KIND_STATE, html->track_index[interval->thread] - 1);
	buffer_printf(text, "%d", interval->state);
	put_times(html, interval->begin, interval->end - interval->begin);
	buffer_text(text, ",{");
	export_json_interval(text, interval, true);
	buffer_byte(text, '}');
	end_item(html);
	return flush(html, WRITE_AT);
}

static int put_call(void *to, const struct call *call)
{
	struct html *html = to;
	struct buffer *text = &html->text;

	put_kind(html, KIND_CALL, html->track_index[call->thread] - 1);
	escape_string(text, call->name, strlen(call->name), true);
	put_times(html, call->begin, call->end - call->begin);
	buffer_text(text, ",{");
	export_json_call(text, call);
	buffer_byte(text, '}');
	/*
	 * The table has the arguments of 64-bit calls, and the arguments of a 32-bit call may
	 * differ.
	 */
	if (!call->compat)
		html_texts_call(html->texts, call->name);
	end_item(html);
	return flush(html, WRITE_AT);
}

static int put_irq(void *to, const struct irq *irq)
{
	struct html *html = to;
	struct buffer *text = &html->text;

	put_kind(html, KIND_IRQ, html->track_index[irq->thread] - 1);
	escape_string(text, irq->name, irq->name_len, true);
	put_times(html, irq->begin, irq->end - irq->begin);
	buffer_text(text, ",{");
	export_json_irq(text, irq, true);
	buffer_byte(text, '}');
	end_item(html);
	return flush(html, WRITE_AT);
}

/* Also gives a track to a thread that has no event yet. */
static int find_any_thread(void *to, const struct event *event, uint32_t *number)
{
	struct html *html = to;
	uint32_t track;
	int err = find_thread(html, event, number);

	return err || *number == THREADS_OTHERS ? err : find_track(html, event, &track);
}

static const struct spans_ops spans_ops = {
	.put_state = put_state,
	.put_call = put_call,
	.put_irq = put_irq,
	.find_thread = find_any_thread,
};

/* Returns 1 if spans show the whole event, 0 if not, or a negative error number. */
static int put_spans(struct html *html, const struct event *event)
{
	uint32_t number, track;
	int err;

	if (!html->spans)
		return 0;
	err = find_thread(html, event, &number);
	/*
	 * Create the track now, because a span may end before any other item of the thread is
	 * drawn.
	 */
	if (!err && number != THREADS_OTHERS)
		err = find_track(html, event, &track);
	if (err)
		return err;
	return spans_event(html->spans, number, event, html->export->newly_lost, 0);
}

/* ------------------------------------------------------------------ */
/* The page								*/

static int put_event(struct html *html, const struct event *event)
{
	struct pairs_result result;
	uint32_t track;
	int err;

	if (event->type >= EXPORT_TYPES)
		return -ERANGE;
	err = pairs_event(html->pairs, event, &result);
	/*
	 * Create the track now: when the span is drawn, its thread and process ids may have been
	 * reused.
	 */
	if (!err && result.role == PAIRS_BEGIN)
		err = find_track(html, event, &track);
	if (err)
		return err;
	if (html->export->newly_lost) {
		put_head(html, KIND_LOST, 0, html->export->newly_lost, event->time, 0);
		buffer_text(&html->text, ",null");
		end_item(html);
	}
	err = put_spans(html, event);
	if (err)
		return err < 0 ? err : 0;
	if (result.forgotten)
		err = put_instant(html, &result.forgotten->event, result.forgotten->data_len);
	if (!err && result.begin && result.begin->event.time > event->time) {
		/*
		 * The end is older than the begin, because the clock was set back: do not draw a
		 * duration.
		 */
		err = put_instant(html, &result.begin->event, result.begin->data_len);
		if (!err)
			err = put_instant(html, event, event->len);
	} else if (!err && result.begin) {
		err = put_slice(html, event, &result);
	} else if (!err && result.role != PAIRS_BEGIN) {
		err = put_instant(html, event, event->len);
	}
	return err;
}

/* Draws the begins that have no end yet. Returns 0 or a negative error number. */
static int put_open(struct html *html)
{
	int err = html->spans ? spans_end(html->spans) : 0;
	const struct pairs_begin *begin;

	while (!err && !html->too_large && (begin = pairs_take(html->pairs))) {
		err = put_instant(html, &begin->event, begin->data_len);
		/* Do not count the last event if its item was removed. */
		html->taken -= html->too_large;
		if (!err)
			err = flush(html, WRITE_AT);
	}
	html->taken -= pairs_open(html->pairs);
	/* If the removed item was a duration, its first event is missing as well. */
	if (html->too_large && html->taken == html->export->events)
		html->taken--;
	return err;
}

static int put_events(struct html *html)
{
	uint64_t max = html->export->max_events ? html->export->max_events : EXPORT_PAGE_EVENTS;
	struct event event;
	uint32_t number;
	int ret;

	buffer_text(&html->text, "{\"events\":[");
	while ((ret = export_next(html->export, &event)) > 0) {
		/* A new thread adds bytes to the page even if its item does not fit. */
		html->full |= html->export->events > max || !has_room(html);
		/*
		 * Even if the page is full, find the threads of the remaining events to count them.
		 */
		ret = html->full ? find_thread(html, &event, &number) : put_event(html, &event);
		if (!ret)
			ret = flush(html, WRITE_AT);
		if (ret)
			return ret;
		html->taken += !html->full;
	}
	return ret ? ret : put_open(html);
}

static void put_notice(struct html *html)
{
	struct buffer *text = &html->text;

	if (!html->full)
		return;
	buffer_printf(text, ",\"notice\":\"This page has only %s%" PRIu64,
		      html->too_large ? "" : "the first ", html->taken);
	buffer_printf(text, " of %" PRIu64 " events", html->export->events);
	if (html->too_large)
		buffer_printf(text, ", because it cannot be larger than %llu MiB; "
			      "use posixtrace export --filter to select fewer events.\"",
			      BYTES_MAX >> 20);
	else
		buffer_text(text, "; use posixtrace export --max-events=N to include more.\"");
}

static int64_t index_of(void *arg, pid_t pid, uint64_t key)
{
	struct html *html = arg;
	uint32_t number;

	if (threads_find(html->threads, pid, key, &number) < 0 || number == THREADS_OTHERS)
		return -1;
	return (int64_t)html->track_index[number] - 1;
}

static void put_rest(struct html *html)
{
	const struct export *export = html->export;
	char name[TRACE_NAME_MAX + 1];
	struct buffer *text = &html->text;

	buffer_text(text, "\n],\"names\":[");
	buffer_put(text, html->names.data, html->names.len);
	buffer_text(text, "\n],\"threads\":[");
	buffer_put(text, html->tracks.data, html->tracks.len);
	buffer_text(text, "\n],");
	html_texts_put(html->texts, text);
	buffer_text(text, ",\n");
	html_why_put(html->why, text, export->first_time, index_of, html);
	buffer_printf(text, ",\n\"first\":\"%" PRIu64 "\",\"length\":%" PRIu64,
		      export->first_time, export->last_time - export->first_time);
	buffer_printf(text, ",\"total\":%" PRIu64, export->events);
	buffer_printf(text, ",\"totalThreads\":%" PRIu64 ",\"title\":", html->nr_threads);
	export_trace_name(export, name, sizeof(name));
	if (!name[0])
		snprintf(name, sizeof(name), "Trace");
	escape_string(text, name, strlen(name), true);
	put_notice(html);
	buffer_byte(text, '}');
	text->failed |= html->names.failed || html->tracks.failed;
}

static int put_page(struct html *html)
{
	const char *mark = strstr(timeline_page, MARK);
	int err;

	buffer_put(&html->text, timeline_page, mark - timeline_page);
	html->bytes = strlen(mark);
	err = put_events(html);
	if (err)
		return err;
	put_rest(html);
	buffer_text(&html->text, mark + strlen(MARK));
	return flush(html, 0);
}

int export_html(struct export *export)
{
	struct html *html = calloc(1, sizeof(*html));
	int err;

	if (!html)
		return -ENOMEM;
	html->export = export;
	err = threads_new(EXPORT_THREADS, &html->threads);
	if (!err)
		err = html_texts_new(&html->texts);
	if (!err)
		err = html_why_new(export, &html->why);
	/* All data from the explanation are now in html->why. */
	explain_free(export->explain);
	export->explain = NULL;
	if (!err)
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &html->pairs);
	if (!err && export->kernel)
		err = spans_new(EXPORT_THREADS, export_kernel_classes(export), &spans_ops, html,
				&html->spans);
	if (!err && html->spans)
		err = export_start(export, html->spans);
	if (!err)
		err = put_page(html);
	spans_free(html->spans);
	pairs_free(html->pairs);
	threads_free(html->threads);
	html_texts_free(html->texts);
	html_why_free(html->why);
	buffer_free(&html->text);
	buffer_free(&html->names);
	buffer_free(&html->tracks);
	free(html);
	return err;
}
