// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Perfetto's native format: a series of TracePacket messages.
 *
 * A begin and its end become a slice, which takes two packets. Both are written when the end is
 * read: this is possible because Perfetto sorts packets by time. Slices of a thread must nest. A
 * slice that does not nest gets a separate track below the track of the thread. A counter has a
 * track in each process. Everything else is an instant, even a begin without an end.
 *
 * A system call is a slice on the track of the thread. An interrupt is a slice on a track below the
 * track of the thread. perfetto_ftrace.c writes the scheduler events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pairs.h"
#include "event/event_names.h"
#include "event/hosts.h"
#include "event/kevent.h"
#include "event/syscall_args.h"
#include "export/export.h"
#include "export/perfetto_args.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_ftrace.h"
#include "export/perfetto_machine.h"
#include "export/perfetto_packets.h"
#include "export/perfetto_states.h"
#include "export/perfetto_tracks.h"
#include "export/perfetto_why.h"
#include "export/proto.h"
#include "util/escape.h"
#include "util/threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define EVENT_NAME				23
#define EVENT_COUNTER_VALUE			30
#define EVENT_DOUBLE_COUNTER_VALUE		44

/* Values. */
#define TYPE_SLICE_BEGIN	1
#define TYPE_SLICE_END		2
#define TYPE_INSTANT		3
#define TYPE_COUNTER		4

/* Names that make analyze/pairs.c treat the entry and exit of a system call as a pair. */
#define SYSCALL_BEGIN		"syscall:begin"
#define SYSCALL_END		"syscall:end"

struct trace;

/* The part of a trace that shows a machine. */
struct perfetto {
	struct trace *trace;
	struct export *export;
	unsigned int host;		/* see hosts.h */
	uint32_t machine;		/* id of the machine in the trace, or 0 */
	struct packets *packets;
	struct perfetto_tracks *tracks;
	struct pairs *pairs;
	struct perfetto_ftrace *ftrace;
	struct perfetto_states *states;	/* states at the start of the log, or NULL */
};

struct trace {
	struct export *export;
	struct fields *fields;
	struct buffer out;		/* packets that are ready to be written */
	unsigned int hosts;		/* number of hosts */
	struct perfetto *machines[HOSTS_MAX + 1];	/* index: event.host; NULL: no event */
};

/* ------------------------------------------------------------------ */
/* Packets								*/

static struct buffer *to(const struct perfetto *perfetto)
{
	return packets_to(perfetto->packets);
}

/* ------------------------------------------------------------------ */
/* Events								*/

static enum packets_category category_of(const struct event *event)
{
	if (event->user)
		return PACKETS_USER;
	return event->type >= POSIXTRACE_SWITCH_OUT ? PACKETS_KERNEL : PACKETS_SYSTEM;
}

static void put_instant(struct perfetto *perfetto, const struct event *event, size_t data_len,
			uint64_t track)
{
	struct packets *packets = perfetto->packets;
	struct packets_event instant = packets_event(packets, event->time, TYPE_INSTANT, track);

	packets_category(packets, category_of(event));
	perfetto_args(packets, "", event, data_len, NULL);
	packets_name(packets, event->name, strlen(event->name));
	packets_end(packets, instant);
}

static void put_lost(struct perfetto *perfetto, const struct event *event)
{
	struct packets *packets = perfetto->packets;
	uint64_t lost = perfetto->export->newly_lost;
	struct packets_event instant;
	char name[64];

	snprintf(name, sizeof(name), "%" PRIu64 " events lost", lost);
	instant = packets_event(packets, event->time, TYPE_INSTANT, TRACK_LOST);
	packets_category(packets, PACKETS_LOST);
	proto_text(to(perfetto), EVENT_NAME, name);
	perfetto_arg_number(packets, "lost", lost);
	packets_end(packets, instant);
}

static void put_held(struct perfetto *perfetto, const struct pairs_begin *begin)
{
	buffer_put(to(perfetto), begin->held.data, begin->held.len);
	to(perfetto)->failed |= begin->held.failed;
}

/*
 * Perfetto keeps the file order of events with the same time. If a slice begins at the same time as
 * its enclosing slice, it is therefore held until the enclosing one is written.
 */
static struct buffer *find_hold(const struct perfetto *perfetto, const struct event *end,
				const struct pairs_begin *begin)
{
	return pairs_hold(perfetto->pairs, end->pid, event_thread_key(end), begin->event.time);
}

static void put_slice(struct perfetto *perfetto, const struct event *end,
		      const struct pairs_result *result, uint32_t number)
{
	const struct pairs_begin *begin = result->begin;
	struct packets *packets = perfetto->packets;
	uint64_t track = TRACK_THREAD(number);
	struct packets_event event;

	if (!result->proper) {
		track = TRACK_STEM(number, end->type);
		perfetto_tracks_name(perfetto->tracks, track, TRACK_THREAD(number), begin->stem);
	}
	event = packets_event(packets, begin->event.time, TYPE_SLICE_BEGIN, track);
	packets_category(packets, PACKETS_USER);
	perfetto_args(packets, "", &begin->event, begin->data_len, NULL);
	packets_name(packets, begin->stem, strlen(begin->stem));
	packets_end(packets, event);
	put_held(perfetto, begin);
	event = packets_event(packets, end->time, TYPE_SLICE_END, track);
	perfetto_args(packets, "end_", end, end->len, NULL);
	if (result->lost)
		perfetto_arg_number(packets, "lost", result->lost);
	packets_end(packets, event);
}

static int put_counter(struct perfetto *perfetto, const struct event *event,
		       const struct posixtrace_value *value)
{
	bool is_signed = value->field->is_signed;
	struct packets_event counter;
	uint64_t track;
	int err = perfetto_tracks_counter(perfetto->tracks, event, &track);

	if (err)
		return err;
	counter = packets_event(perfetto->packets, event->time, TYPE_COUNTER, track);
	packets_category(perfetto->packets, PACKETS_USER);
	if (value->field->type == POSIXTRACE_FIELD_FLOAT)
		proto_double(to(perfetto), EVENT_DOUBLE_COUNTER_VALUE, value->real);
	else if (!is_signed && value->number > INT64_MAX)
		proto_double(to(perfetto), EVENT_DOUBLE_COUNTER_VALUE, (double)value->number);
	else
		proto_number(to(perfetto), EVENT_COUNTER_VALUE, value->number);
	packets_end(perfetto->packets, counter);
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events of the kernel							*/

static bool is_syscall(const struct event *event)
{
	return event->type == POSIXTRACE_SYSCALL_ENTRY || event->type == POSIXTRACE_SYSCALL_EXIT;
}

/* Returns the number of argument words that a system call uses. */
static unsigned int count_args(const struct kevent *entry)
{
	const struct syscall_args *known = NULL;
	unsigned int count = 0;
	struct syscall_arg arg;
	const char *at;

	/* The table of arguments is for 64-bit calls. */
	if (!entry->compat)
		known = syscall_args_find(entry->name.at, entry->name.len);
	if (!known)
		return KEVENT_ARGS;
	at = known->args;
	while (syscall_args_next(&at, &arg))
		count++;
	return count;
}

/* Writes a system call. @begin and @end are its events, on the same track. */
static void put_syscall(struct perfetto *perfetto, const struct event *end,
			const struct kevent *exit, const struct pairs_result *result,
			const struct kevent *entry, uint32_t number)
{
	const struct event *begin = &result->begin->event;
	struct packets *packets = perfetto->packets;
	uint64_t track = TRACK_THREAD(number);
	struct perfetto_shown shown = { .fields = { "name", "nr" } };
	struct packets_event event;
	char name[KEVENT_CALL_NAME];

	shown.nr_args = count_args(entry);
	if (!result->proper) {
		track = TRACK_STEM(number, end->type);
		perfetto_tracks_name(perfetto->tracks, track, TRACK_THREAD(number), "system calls");
	}
	event = packets_event(packets, begin->time, TYPE_SLICE_BEGIN, track);
	packets_category(packets, PACKETS_KERNEL);
	perfetto_args(packets, "", begin, result->begin->data_len, &shown);
	kevent_call_name(entry, name);
	packets_name(packets, name, strlen(name));
	packets_end(packets, event);
	put_held(perfetto, result->begin);
	event = packets_event(packets, end->time, TYPE_SLICE_END, track);
	perfetto_arg_signed(packets, "result", exit->result);
	if (result->lost)
		perfetto_arg_number(packets, "lost", result->lost);
	packets_end(packets, event);
}

/* Writes an interrupt, which is recorded when it ends. Nested interrupts become nested slices. */
static void put_interrupt(struct perfetto *perfetto, const struct event *event,
			  const struct kevent *kevent, uint32_t number)
{
	struct packets *packets = perfetto->packets;
	uint64_t duration = kevent->duration;
	uint64_t track = TRACK_INTERRUPTS(number);
	char room[KEVENT_CALL_NAME];
	struct kevent_text name = kevent_irq_name(kevent, room);
	struct perfetto_shown shown = { .fields = { "name" }, .nr_args = KEVENT_ARGS };
	struct packets_event slice;

	if (duration > event->time)
		duration = event->time;
	else
		shown.fields[1] = "duration";
	perfetto_tracks_name(perfetto->tracks, track, TRACK_THREAD(number), "interrupts");
	slice = packets_event(packets, event->time - duration, TYPE_SLICE_BEGIN, track);
	packets_category(packets, PACKETS_KERNEL);
	perfetto_args(packets, "", event, event->len, &shown);
	packets_name(packets, name.at, name.len);
	packets_end(packets, slice);
	slice = packets_event(packets, event->time, TYPE_SLICE_END, track);
	packets_end(packets, slice);
}

/* ------------------------------------------------------------------ */
/* All events								*/

static int put_begin(struct perfetto *perfetto, const struct pairs_begin *begin)
{
	struct event event = begin->event;
	uint64_t track;
	uint32_t number;
	int err;

	if (event.type == POSIXTRACE_SYSCALL_ENTRY) {
		event.user = false;
		event.name = "syscall_entry";
	}
	err = perfetto_tracks_find(perfetto->tracks, &event, &number, &track);
	if (err)
		return err;
	put_instant(perfetto, &event, begin->data_len, track);
	put_held(perfetto, begin);
	return 0;
}

/* Shows the begin and end of a pair as instants, because the pair cannot be a slice. */
static int put_parts(struct perfetto *perfetto, const struct pairs_begin *begin,
		     const struct event *end, uint64_t track)
{
	int err = put_begin(perfetto, begin);

	put_instant(perfetto, end, end->len, track);
	return err;
}

static int put_syscall_event(struct perfetto *perfetto, const struct event *event,
			     const struct kevent *kevent, uint32_t number, uint64_t track)
{
	bool is_entry = event->type == POSIXTRACE_SYSCALL_ENTRY;
	struct pairs_result result;
	struct event pair = *event;
	struct buffer *hold;
	struct kevent entry;
	int err;

	pair.user = true;
	pair.name = SYSCALL_END;
	/*
	 * A thread is in one system call at a time, so the exit of the call that is still open is
	 * missing.
	 */
	if (is_entry) {
		err = pairs_event(perfetto->pairs, &pair, &result);
		if (!err && result.begin)
			err = put_begin(perfetto, result.begin);
		if (err)
			return err;
		pair.name = SYSCALL_BEGIN;
	}
	err = pairs_event(perfetto->pairs, &pair, &result);
	if (!err && result.forgotten)
		err = put_begin(perfetto, result.forgotten);
	if (err || is_entry)
		return err;
	if (!result.begin) {
		put_instant(perfetto, event, event->len, track);
	} else if (result.begin->event.time > event->time ||
		   !kevent_read(&result.begin->event, &entry) ||
		   !kevent_leaves(kevent, entry.nr) || entry.compat != kevent->compat) {
		err = put_parts(perfetto, result.begin, event, track);
	} else {
		hold = result.proper ? find_hold(perfetto, event, result.begin) : NULL;
		packets_hold(perfetto->packets, hold);
		put_syscall(perfetto, event, kevent, &result, &entry, number);
		packets_hold(perfetto->packets, NULL);
	}
	return err;
}

static int put_user_event(struct perfetto *perfetto, const struct event *event, uint32_t number,
			  uint64_t track)
{
	struct pairs_result result = { .role = PAIRS_NONE };
	struct posixtrace_value value;
	struct buffer *hold;
	int err = 0;

	if (number != THREADS_OTHERS)
		err = pairs_event(perfetto->pairs, event, &result);
	if (!err && result.forgotten)
		err = put_begin(perfetto, result.forgotten);
	if (err)
		return err;
	if (result.begin && result.begin->event.time > event->time)
		/*
		 * The end is older than the begin, because the clock was set back: do not draw a
		 * duration.
		 */
		return put_parts(perfetto, result.begin, event, track);
	if (result.begin) {
		hold = result.proper ? find_hold(perfetto, event, result.begin) : NULL;
		packets_hold(perfetto->packets, hold);
		put_slice(perfetto, event, &result, number);
		packets_hold(perfetto->packets, NULL);
	} else if (result.role == PAIRS_NONE && event_is_counter(event, &value)) {
		return put_counter(perfetto, event, &value);
	} else if (result.role != PAIRS_BEGIN) {
		put_instant(perfetto, event, event->len, track);
	}
	return 0;
}

/* Writes the packets of a machine, after the extensions that they use. */
static int flush(const struct perfetto *perfetto, size_t least)
{
	struct buffer *bytes = packets_bytes(perfetto->packets), fields = { };
	struct trace *trace = perfetto->trace;

	if (!bytes->failed && bytes->len < least / trace->hosts)
		return 0;
	fields_write(trace->fields, &fields);
	machine_stamp(&fields, perfetto->machine, &trace->out);
	machine_stamp(bytes, perfetto->machine, &trace->out);
	buffer_free(&fields);
	buffer_reset(bytes);
	return export_flush(perfetto->export, &trace->out, 0);
}

static int put_event(struct perfetto *perfetto, const struct event *event)
{
	struct kevent kevent;
	bool is_kernel = kevent_read(event, &kevent);
	struct event shown = *event;
	uint32_t number;
	uint64_t track;
	int ret;

	/* Ids remain unique among hosts, but the machines have separate processors. */
	shown.cpu = source_plain_cpu(event->source, event->cpu);
	if (event->type >= EXPORT_TYPES)
		return -ERANGE;
	ret = perfetto_states_put(perfetto->states, event, perfetto->export->newly_lost);
	if (!ret)
		ret = perfetto_tracks_find(perfetto->tracks, event, &number, &track);
	if (!ret)
		perfetto_states_see(perfetto->states, event, number);
	if (!ret && perfetto->export->newly_lost)
		put_lost(perfetto, event);
	if (!ret && number != THREADS_OTHERS) {
		ret = perfetto_ftrace_event(perfetto->ftrace, &shown, is_kernel ? &kevent : NULL,
					    number);
		perfetto_ftrace_write(perfetto->ftrace, packets_bytes(perfetto->packets), false);
		if (!ret && perfetto_ftrace_runs(perfetto->ftrace, &shown, number))
			shown.cpu = SOURCE_NO_CPU;
	}
	if (!ret && is_kernel && number != THREADS_OTHERS && is_syscall(event))
		ret = put_syscall_event(perfetto, &shown, &kevent, number, track);
	else if (!ret && is_kernel && number != THREADS_OTHERS && event->type == POSIXTRACE_IRQ)
		put_interrupt(perfetto, &shown, &kevent, number);
	else if (!ret)
		ret = put_user_event(perfetto, &shown, number, track);
	return ret < 0 ? ret : flush(perfetto, WRITE_AT);
}

static int find_thread(void *to, const struct event *event, uint32_t *number)
{
	struct perfetto *perfetto = to;
	uint64_t track;

	return perfetto_tracks_find(perfetto->tracks, event, number, &track);
}

static bool has_process(void *to, pid_t pid)
{
	const struct perfetto *perfetto = to;

	return source_host_of(perfetto->export->source, pid) == perfetto->host;
}

static uint64_t put_path_track(void *to, size_t index, const char *name)
{
	struct perfetto *perfetto = to;

	perfetto_tracks_name(perfetto->tracks, TRACK_PATHS, 0, "critical path");
	perfetto_tracks_name(perfetto->tracks, TRACK_PATH(index), TRACK_PATHS, name);
	return TRACK_PATH(index);
}

static uint64_t find_thread_track(void *to, pid_t pid, uint64_t key)
{
	struct perfetto *perfetto = to;

	return perfetto_tracks_thread(perfetto->tracks, pid, key);
}

static int flush_path(void *to)
{
	int err = export_interrupted();

	return err ? err : flush(to, WRITE_AT);
}

static int put_paths(struct perfetto *perfetto)
{
	static const struct perfetto_why_ops ops = {
		.has = has_process,
		.track = put_path_track,
		.thread = find_thread_track,
		.flush = flush_path,
	};

	if (!perfetto->export->explain)
		return 0;
	return perfetto_why_put(perfetto->export->explain, perfetto->packets, &ops, perfetto);
}

/* ------------------------------------------------------------------ */
/* Machines								*/

static void free_machine(struct perfetto *perfetto)
{
	if (!perfetto)
		return;
	perfetto_states_free(perfetto->states);
	perfetto_ftrace_free(perfetto->ftrace);
	pairs_free(perfetto->pairs);
	perfetto_tracks_free(perfetto->tracks);
	packets_free(perfetto->packets);
	free(perfetto);
}

static int new_states(struct perfetto *perfetto)
{
	const struct perfetto_states_to to = {
		.packets = perfetto->packets,
		.ftrace = perfetto->ftrace,
		.host = perfetto->host,
		.find = find_thread,
		.to = perfetto,
	};

	return perfetto_states_new(perfetto->export, &to, &perfetto->states);
}

static int new_machine(struct trace *trace, unsigned int host, int64_t shift,
		       struct perfetto **machine)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	const unsigned long first = trace->export->machine_id;
	int err;

	*machine = perfetto;
	if (!perfetto)
		return -ENOMEM;
	perfetto->trace = trace;
	perfetto->export = trace->export;
	perfetto->host = host;
	perfetto->machine = (uint32_t)(first && host ? first + host - 1 : first + host);
	err = packets_new(trace->fields, shift, &perfetto->packets);
	if (!err)
		err = perfetto_tracks_new(perfetto->packets, &perfetto->tracks);
	if (!err)
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &perfetto->pairs);
	if (!err)
		err = perfetto_ftrace_new(trace->hosts, shift, &perfetto->ftrace);
	return err ? err : new_states(perfetto);
}

/* Names a track of a machine, with the name of the machine if there are several. */
static void put_system_track(struct perfetto *perfetto, uint64_t uuid, const char *name)
{
	const char *host = source_host_name(perfetto->export->source, perfetto->host);
	struct buffer text = { };

	if (host[0])
		buffer_printf(&text, "%s: ", host);
	buffer_text(&text, name);
	buffer_byte(&text, '\0');
	if (!text.failed)
		perfetto_tracks_name(perfetto->tracks, uuid, 0, (const char *)text.data);
	to(perfetto)->failed |= text.failed;
	buffer_free(&text);
}

/* Finds the machine of an event, and begins it with its first event. */
static int find_machine(struct trace *trace, const struct event *event, struct perfetto **machine)
{
	struct perfetto **found = &trace->machines[event->host];
	int err = 0;

	if (!*found) {
		err = new_machine(trace, event->host, machine_shift(event), found);
		if (!err) {
			err = machine_put((*found)->packets, event);
			packets_begin((*found)->packets, event->time);
		}
		if (!err) {
			put_system_track(*found, TRACK_SYSTEM, "trace stream");
			put_system_track(*found, TRACK_LOST, "lost events");
		}
	}
	*machine = *found;
	return err;
}

/* Writes what is left of a machine after the last event. */
static int end_machine(struct perfetto *perfetto)
{
	const struct pairs_begin *begin;
	int err = 0;

	while (!err && (begin = pairs_take(perfetto->pairs))) {
		err = put_begin(perfetto, begin);
		if (!err)
			err = flush(perfetto, WRITE_AT);
	}
	perfetto_ftrace_write(perfetto->ftrace, packets_bytes(perfetto->packets), true);
	if (!err)
		err = put_paths(perfetto);
	return err ? err : flush(perfetto, 0);
}

static int put_all(struct trace *trace)
{
	struct perfetto *machine;
	struct event event;
	int ret, err = 0;

	while ((ret = export_next(trace->export, &event)) > 0) {
		err = find_machine(trace, &event, &machine);
		if (!err)
			err = put_event(machine, &event);
		if (err)
			return err;
	}
	for (size_t i = 0; !ret && i <= HOSTS_MAX; i++) {
		if (trace->machines[i])
			ret = end_machine(trace->machines[i]);
	}
	return ret;
}

int export_perfetto(struct export *export)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int err;

	if (!trace)
		return -ENOMEM;
	trace->export = export;
	trace->hosts = source_hosts(export->source);
	err = fields_new(export->machine_id, &trace->fields);
	if (!err)
		err = put_all(trace);
	for (size_t i = 0; i <= HOSTS_MAX; i++)
		free_machine(trace->machines[i]);
	fields_free(trace->fields);
	buffer_free(&trace->out);
	free(trace);
	return err;
}
