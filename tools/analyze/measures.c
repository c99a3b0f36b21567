// SPDX-License-Identifier: GPL-2.0
/*
 * Collects measures of a trace: see measures.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/call_files.h"
#include "analyze/measures.h"
#include "analyze/pairs.h"
#include "analyze/spans.h"
#include "event/event_names.h"
#include "util/threads.h"

#define OPEN_MAX	(1U << 16)	/* open begins of all threads */
#define DEPTH_MAX	1024		/* open begins of a thread */

/* A process or thread by which measures are divided. */
struct owner {
	uint32_t number;		/* number of the process or thread */
	char label[LABEL_SIZE];
};

struct measures {
	struct measures_options options;
	struct measure_table *table;
	struct pairs *pairs;
	struct threads *threads;
	struct threads *processes;
	struct descriptors *descriptors;	/* NULL if measures are not divided by file */
	char (*paths)[DESCRIPTORS_PATH_SIZE];	/* index: thread number; "" if unknown */
	struct owner *owners;		/* index: thread number */
	size_t room;			/* entries allocated in @owners */
	struct spans *spans;		/* NULL if kernel events are not measured */
	struct field_value value;
	const struct event *event;	/* the current one */
	bool begun;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t stretch;		/* incremented by a gap, damage or a stop */
	uint64_t user;			/* number of user events */
	uint64_t system;		/* number of system events */
	uint64_t returns;		/* number of syscall_exits without an entry */
};

static bool wants(const struct measures *measures, enum measure_kind kind)
{
	return measures->options.kinds & 1U << kind;
}

/* ------------------------------------------------------------------ */
/* Values								*/

/* Labels a thread with its name and id. If @alone, leaves out the id if the name is known. */
static void label_thread(const struct event *event, bool alone, char label[LABEL_SIZE])
{
	size_t len;

	if (event_thread_label(event, label)) {
		if (alone)
			*strrchr(label, '-') = '\0';
		return;
	}
	if (event->tid) {
		event_label(event, NULL, label);
		return;
	}
	len = event_host_label(event, label);
	snprintf(label + len, LABEL_SIZE - len, "%#llx", (unsigned long long)event->thread);
}

/* Labels a process in the same form as label_thread(). */
static void label_process(const struct event *event, bool alone, char label[LABEL_SIZE])
{
	const int pid = source_plain_id(event->source, event->pid);
	const size_t len = event_host_label(event, label), room = LABEL_SIZE - len;
	char name[LABEL_SIZE], plain[LABEL_SIZE];

	event_process_label(event, name);
	snprintf(plain, sizeof(plain), "process %d", pid);
	if (!strcmp(name, plain))
		snprintf(label + len, room, "%d", pid);
	else if (alone)
		snprintf(label + len, room, "%s", name);
	else
		snprintf(label + len, room, "%.*s-%d", (int)room - 13, name, pid);
}

/* Finds the number of the thread of an event. Adds the owner of a new thread. */
static int find_thread(struct measures *measures, const struct event *event, uint32_t *number)
{
	size_t room = measures->room ? 2 * measures->room : 64;
	char (*paths)[DESCRIPTORS_PATH_SIZE];
	struct owner *owner;
	uint32_t process;
	int ret = threads_find(measures->threads, event->pid, event_thread_key(event), number);

	if (ret <= 0)
		return ret;
	if (*number >= measures->room) {
		owner = reallocarray(measures->owners, room, sizeof(*owner));
		if (!owner)
			return -ENOMEM;
		measures->owners = owner;
		if (measures->descriptors) {
			paths = reallocarray(measures->paths, room, sizeof(*paths));
			if (!paths)
				return -ENOMEM;
			measures->paths = paths;
		}
		measures->room = room;
	}
	if (measures->descriptors)
		measures->paths[*number][0] = '\0';
	owner = &measures->owners[*number];
	*owner = (struct owner){ .number = *number };
	switch (measures->options.by) {
	case MEASURES_BY_PROCESS:
		ret = threads_find(measures->processes, event->pid, event_process_key(event),
				   &process);
		owner->number = process;
		label_process(event, measures->options.names, owner->label);
		break;
	case MEASURES_BY_THREAD:
		label_thread(event, measures->options.names, owner->label);
		break;
	default:
		break;
	}
	return ret < 0 ? ret : 0;
}

/* Reads the field from @first, or from @second if @first lacks it; NULL if both lack it. */
static const struct field_value *read_value(struct measures *measures, const struct event *first,
					    const struct event *second)
{
	const struct field_path *path = &measures->options.field;

	if (field_read(path, first, &measures->value) ||
	    (second && field_read(path, second, &measures->value)))
		return &measures->value;
	return NULL;
}

/* Finds the part of @whole that belongs to a thread. */
static struct measure *part_of_thread(struct measures *measures, const struct measure *whole,
				      uint32_t thread)
{
	const struct owner *owner = &measures->owners[thread];
	struct measure *part;

	/* All threads beyond the limit share one measure. */
	if (!thread)
		part = measure_part(measures->table, whole, MEASURE_OTHERS, NULL, 0);
	else if (measures->options.names)
		part = measure_part(measures->table, whole, MEASURE_VALUE, owner->label,
				    strlen(owner->label));
	else
		part = measure_part(measures->table, whole, MEASURE_VALUE, &owner->number,
				    sizeof(owner->number));
	if (part && part->part == MEASURE_VALUE && !part->value &&
	    measure_set_value(part, FIELD_WORD, owner->label, strlen(owner->label), NULL))
		return NULL;
	return part;
}

static struct measure *part_of_value(struct measures *measures, const struct measure *whole,
				     const struct field_value *value)
{
	struct measure *part;

	if (!value)
		return measure_part(measures->table, whole, MEASURE_NONE, NULL, 0);
	part = measure_part(measures->table, whole, MEASURE_VALUE, value->text.data,
			    value->text.len);
	if (part && part->part == MEASURE_VALUE && !part->value &&
	    measure_set_value(part, value->kind, value->text.data, value->text.len, value->unit))
		return NULL;
	return part;
}

/* Finds the part of @whole for the file on which the current call of a thread works. */
static struct measure *part_of_file(struct measures *measures, const struct measure *whole,
				    uint32_t thread)
{
	const char *path = thread ? measures->paths[thread] : "";
	struct measure *part;

	if (!path[0])
		return measure_part(measures->table, whole, MEASURE_NONE, NULL, 0);
	part = measure_part(measures->table, whole, MEASURE_VALUE, path, strlen(path));
	if (part && part->part == MEASURE_VALUE && !part->value &&
	    measure_set_value(part, FIELD_WORD, path, strlen(path), NULL))
		return NULL;
	return part;
}

/*
 * Finds the measure of an event, scope, call or state. @end is NULL for an event, and for a scope
 * or call without an end. For a state, @begin is also NULL. Returns NULL if out of memory.
 */
static struct measure *find(struct measures *measures, enum measure_kind kind, const char *name,
			    uint32_t thread, const struct event *begin, const struct event *end)
{
	struct measure *whole = measure_whole(measures->table, kind, name);
	const struct field_value *value;

	if (!whole)
		return NULL;
	switch (measures->options.by) {
	case MEASURES_WHOLE:
		return whole;
	case MEASURES_BY_FILE:
		if (kind != MEASURE_CALL)
			return whole;
		whole->count++;
		whole->known |= thread && measures->paths[thread][0];
		return part_of_file(measures, whole, thread);
	case MEASURES_BY_FIELD:
		whole->known |= (begin && field_known(&measures->options.field, begin)) ||
				(end && field_known(&measures->options.field, end));
		value = begin ? read_value(measures, begin, end) : NULL;
		break;
	default:
		whole->known = true;
		whole->count++;
		return part_of_thread(measures, whole, thread);
	}
	whole->count++;
	return part_of_value(measures, whole, value);
}

/* ------------------------------------------------------------------ */
/* Scopes								*/

/*
 * Writes the name of a scope: stem and separator, because "X_begin" and "X:begin" are two scopes.
 */
static void scope_name(const char *event_name, size_t stem_len, char name[PAIRS_NAME_MAX + 1])
{
	memcpy(name, event_name, stem_len + 1);
	name[stem_len + 1] = '\0';
}

static int see_role(struct measures *measures, const struct event *event, enum pairs_role role,
		    char name[PAIRS_NAME_MAX + 1])
{
	struct measure *whole;
	size_t len;

	pairs_role(event->name, &len);
	scope_name(event->name, len, name);
	whole = measure_whole(measures->table, MEASURE_SCOPE, name);
	if (!whole)
		return -ENOMEM;
	whole->seen |= 1U << role;
	return 0;
}

/* Counts a begin without an end. */
static int count_open(struct measures *measures, const struct pairs_begin *begin)
{
	char name[PAIRS_NAME_MAX + 1];
	struct measure *measure;
	uint32_t thread;
	int err = find_thread(measures, &begin->event, &thread);

	if (err)
		return err;
	scope_name(begin->event.name, strlen(begin->stem), name);
	measure = find(measures, MEASURE_SCOPE, name, thread, &begin->event, NULL);
	if (!measure)
		return -ENOMEM;
	measure->unmatched++;
	return 0;
}

static int measure_scope(struct measures *measures, const struct event *event, uint32_t thread)
{
	char name[PAIRS_NAME_MAX + 1];
	struct pairs_result result;
	struct measure *measure;
	uint64_t begin;
	int err = pairs_event(measures->pairs, event, &result);

	if (err || result.role == PAIRS_NONE)
		return err;
	err = see_role(measures, event, result.role, name);
	if (err)
		return err;
	if (result.role == PAIRS_BEGIN)
		return result.forgotten ? count_open(measures, result.forgotten) : 0;
	measure = find(measures, MEASURE_SCOPE, name, thread,
		       result.begin ? &result.begin->event : event, event);
	if (!measure)
		return -ENOMEM;
	if (!result.begin || result.lost) {
		/*
		 * An end whose begin is doubtful counts as two unmatched events, an end without a
		 * begin as one.
		 */
		measure->unmatched += result.begin ? 2 : 1;
		return 0;
	}
	begin = result.begin->event.time;
	measure->count++;
	return histogram_add(&measure->times, event->time > begin ? event->time - begin : 0);
}

static int forget_open(struct measures *measures)
{
	const struct pairs_begin *begin;
	int err = 0;

	while (!err && (begin = pairs_take(measures->pairs)))
		err = count_open(measures, begin);
	return err;
}

/* ------------------------------------------------------------------ */
/* System calls and states						*/

static bool is_error(int64_t result)
{
	return result < 0 && result >= -4095;
}

static int put_call(void *to, const struct call *call)
{
	struct measures *measures = to;
	const struct event *exit = measures->event;
	struct measure *measure;

	if (!wants(measures, MEASURE_CALL))
		return 0;
	measure = find(measures, MEASURE_CALL, call->name, call->thread, &call->entry,
		       call->finished ? exit : NULL);
	if (!measure)
		return -ENOMEM;
	/* If the call spans a gap or a stop, its entry and exit may belong to different calls. */
	if (!call->finished || call->lost || call->mark != measures->stretch) {
		measure->unmatched++;
		return 0;
	}
	measure->count++;
	measure->errors += is_error(call->result);
	return histogram_add(&measure->times, call->end - call->begin);
}

static int put_state(void *to, const struct interval *interval)
{
	char name[KEVENT_CALL_NAME + 32];
	struct measures *measures = to;
	struct measure *measure;

	/* A state that lasts beyond the last event has an unknown length. */
	if (interval->state == STATE_UNKNOWN || interval->open)
		return 0;
	if (interval->call[0])
		snprintf(name, sizeof(name), "blocked in %s", interval->call);
	else
		snprintf(name, sizeof(name), "%s", interval_name(interval));
	measure = find(measures, MEASURE_STATE, name, interval->thread, NULL, NULL);
	if (!measure)
		return -ENOMEM;
	measure->count++;
	return histogram_add(&measure->times, interval->end - interval->begin);
}

static int put_irq(void *to, const struct irq *irq)
{
	(void)to;
	(void)irq;
	return 0;
}

static const struct spans_ops spans_ops = {
	.put_state = put_state,
	.put_call = put_call,
	.put_irq = put_irq,
};

/* Does the event matter for the measures of system calls? */
static bool is_about_calls(const struct event *event)
{
	return event->type == POSIXTRACE_SYSCALL_ENTRY || event->type == POSIXTRACE_SYSCALL_EXIT ||
	       event->type == POSIXTRACE_EXIT || event->type == POSIXTRACE_SWITCH_OUT;
}

static int measure_spans(struct measures *measures, const struct event *event, uint32_t thread)
{
	int ret;

	if (!measures->spans || (!wants(measures, MEASURE_STATE) && !is_about_calls(event)))
		return 0;
	ret = spans_event(measures->spans, thread, event, event->lost > measures->lost,
			  measures->stretch);
	if (!ret && event->type == POSIXTRACE_SYSCALL_EXIT)
		measures->returns++;
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static int measure_event(struct measures *measures, const struct event *event, uint32_t thread)
{
	struct measure *measure = find(measures, MEASURE_EVENT, event->name, thread, event, NULL);
	int err = 0;

	if (!measure)
		return -ENOMEM;
	/* Do not measure across a gap, because events may be missing there. */
	if (measure->count && measure->stretch == measures->stretch)
		err = histogram_add(&measure->times, event->time > measure->last ?
				    event->time - measure->last : 0);
	measure->count++;
	measure->last = event->time;
	measure->stretch = measures->stretch;
	return err;
}

/* Starts a new stretch, a period without lost events, if events may be missing before this one. */
static int note_gap(struct measures *measures, const struct event *event)
{
	if (event->partial)
		return 0;
	switch (event->type) {
	case POSIX_TRACE_RESUME:
		/*
		 * Keep open begins: call.lost and pairs_result.lost show if events between both
		 * ends were lost.
		 */
		measures->stretch++;
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		measures->stretch++;
		return forget_open(measures);
	}
	return 0;
}

/*
 * Are the measures divided by process or thread? If so, POSIX system events do not count, because
 * they have no thread.
 */
static bool by_thread(const struct measures *measures)
{
	return measures->options.by == MEASURES_BY_PROCESS ||
	       measures->options.by == MEASURES_BY_THREAD;
}

/* Checks if the thread of an event is needed: finding it costs more than counting the event. */
static bool needs_thread(const struct measures *measures, const struct event *event)
{
	return event->has_data && (by_thread(measures) || wants(measures, MEASURE_SCOPE) ||
				   wants(measures, MEASURE_STATE) || is_about_calls(event));
}

/* Stores the path of the file on which the call works. */
static void note_path(struct measures *measures, const struct event *event, uint32_t thread)
{
	struct kevent kevent;

	if (thread && is_about_calls(event) && kevent_read(event, &kevent))
		call_files_note(measures->descriptors, event, &kevent, measures->paths[thread]);
}

static int measure_selected(struct measures *measures, const struct event *event, bool selected)
{
	uint32_t thread = 0;
	int err = event->user ? 0 : note_gap(measures, event);

	if (err || !selected)
		return err;
	if (!measures->begun)
		measures->first = event->time;
	if (!measures->begun || event->time > measures->last)
		measures->last = event->time;
	measures->begun = true;
	measures->user += event->user;
	measures->system += !event->user;
	measures->event = event;
	if (needs_thread(measures, event))
		err = find_thread(measures, event, &thread);
	if (!err && measures->descriptors)
		note_path(measures, event, thread);
	if (!err && wants(measures, MEASURE_EVENT) && (event->has_data || !by_thread(measures)))
		err = measure_event(measures, event, thread);
	if (!err && event->user && wants(measures, MEASURE_SCOPE))
		err = measure_scope(measures, event, thread);
	if (!err)
		err = measure_spans(measures, event, thread);
	measures->lost = event->lost;
	return err;
}

int measures_start(struct measures *measures, struct source *source)
{
	return measures->descriptors ? descriptors_start(measures->descriptors, source) : 0;
}

int measures_event(struct measures *measures, const struct event *event, bool selected)
{
	/* A system call closes a descriptor when it begins, and opens one when it ends. */
	const bool opens = event->type == POSIXTRACE_SYSCALL_EXIT;
	int err;

	if (measures->descriptors)
		descriptors_reach(measures->descriptors, event->source, event->time);
	if (measures->descriptors && opens)
		descriptors_event(measures->descriptors, event);
	err = measure_selected(measures, event, selected);
	if (measures->descriptors && !opens)
		descriptors_event(measures->descriptors, event);
	return err;
}

int measures_end(struct measures *measures)
{
	int err = forget_open(measures);

	if (!err && measures->spans)
		err = spans_end(measures->spans);
	return err;
}

/* ------------------------------------------------------------------ */
/* Results								*/

int measures_new(const struct measures_options *options, struct measures **measures)
{
	struct measures *new = calloc(1, sizeof(*new));
	bool states = options->kinds & 1U << MEASURE_STATE;
	int err;

	*measures = NULL;
	if (!new)
		return -ENOMEM;
	new->options = *options;
	/* Number 0 stands for all threads beyond the limit. */
	new->owners = calloc(64, sizeof(*new->owners));
	new->room = 64;
	err = new->owners ? measure_table_new(&new->table) : -ENOMEM;
	if (!err && options->by == MEASURES_BY_FILE) {
		new->paths = calloc(64, sizeof(*new->paths));
		err = new->paths ? descriptors_new(&new->descriptors) : -ENOMEM;
	}
	if (!err)
		err = pairs_new(OPEN_MAX, DEPTH_MAX, &new->pairs);
	if (!err)
		err = threads_new(MEASURES_THREADS, &new->threads);
	if (!err)
		err = threads_new(MEASURES_THREADS, &new->processes);
	if (!err && options->classes)
		err = spans_new(MEASURES_THREADS, states ? options->classes : 0, &spans_ops, new,
				&new->spans);
	if (err)
		measures_free(new);
	else
		*measures = new;
	return err;
}

/* Checks if both a begin and an end with this name (and separator) were seen. */
static bool is_scope(const struct measures *measures, const char *name)
{
	const struct measure *whole = measure_find(measures->table, &(struct measure){
		.kind = MEASURE_SCOPE, .part = MEASURE_WHOLE, .name = (char *)name });

	return whole && whole->seen == (1U << PAIRS_BEGIN | 1U << PAIRS_END);
}

/* Checks if an event type is already shown in the table of scopes or of system calls. */
static bool is_end(const struct measures *measures, const char *name)
{
	char scope[PAIRS_NAME_MAX + 1];
	size_t len;

	if (measures->spans && (!strcmp(name, "syscall_entry") || !strcmp(name, "syscall_exit")))
		return true;
	if (!wants(measures, MEASURE_SCOPE) || pairs_role(name, &len) == PAIRS_NONE)
		return false;
	scope_name(name, len, scope);
	return is_scope(measures, scope);
}

/* Checks if a row belongs in the table: see measures_rows(). */
static bool is_shown(const struct measures *measures, const struct measure *row)
{
	const struct measure *whole = measure_find(measures->table, &(struct measure){
		.kind = row->kind, .part = MEASURE_WHOLE, .name = row->name });

	if (!whole || (measures->options.by != MEASURES_WHOLE && !whole->known))
		return false;
	if (row->kind == MEASURE_SCOPE)
		return is_scope(measures, row->name);
	return row->kind != MEASURE_EVENT || !row->name || !is_end(measures, row->name);
}

const struct measure **measures_rows(const struct measures *measures, enum measure_kind kind,
				     size_t *count)
{
	const struct measure **rows;
	size_t all;

	*count = 0;
	rows = measure_list(measures->table, kind, measures->options.by != MEASURES_WHOLE, &all);
	for (size_t i = 0; rows && i < all; i++) {
		if (is_shown(measures, rows[i]))
			rows[(*count)++] = rows[i];
	}
	return rows;
}

uint64_t measures_without(const struct measures *measures, size_t *types)
{
	const struct measure **rows;
	uint64_t events = 0;
	size_t all;

	*types = 0;
	rows = measure_list(measures->table, MEASURE_EVENT, false, &all);
	for (size_t i = 0; rows && i < all; i++) {
		if (rows[i]->known)
			continue;
		events += rows[i]->count;
		++*types;
	}
	free(rows);
	return events;
}

const struct measures_options *measures_options(const struct measures *measures)
{
	return &measures->options;
}

const struct measure_table *measures_table(const struct measures *measures)
{
	return measures->table;
}

uint64_t measures_user(const struct measures *measures)
{
	return measures->user;
}

uint64_t measures_system(const struct measures *measures)
{
	return measures->system;
}

uint64_t measures_first(const struct measures *measures)
{
	return measures->first;
}

uint64_t measures_last(const struct measures *measures)
{
	return measures->last;
}

uint64_t measures_returns(const struct measures *measures)
{
	return measures->returns;
}

void measures_free(struct measures *measures)
{
	if (!measures)
		return;
	measure_table_free(measures->table);
	pairs_free(measures->pairs);
	threads_free(measures->threads);
	threads_free(measures->processes);
	spans_free(measures->spans);
	descriptors_free(measures->descriptors);
	free(measures->paths);
	free(measures->owners);
	buffer_free(&measures->value.text);
	free(measures);
}
