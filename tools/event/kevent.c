// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes kernel events: see kevent.h. Fields are found by name, so new module versions may add
 * fields to a type.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "event/hosts.h"
#include "event/kevent.h"

#define FIELDS_MAX	9	/* per type */
#define INTEGERS_MAX	(FIELDS_MAX + KEVENT_ARGS - 1)

struct place {
	const char *name;
	size_t offset;		/* offset of the member of struct kevent */
	enum { NUMBER, ARGS, TEXT } kind;
	bool optional;		/* may be missing, in logs of older modules */
};

#define NUMBER(field)	{ #field, offsetof(struct kevent, field), NUMBER, false }
#define ARGS(field)	{ #field, offsetof(struct kevent, field), ARGS, false }
#define TEXT(field)	{ #field, offsetof(struct kevent, field), TEXT, false }
#define OPTIONAL_TEXT(field)	{ #field, offsetof(struct kevent, field), TEXT, true }

/* The fields that commands use, for each type in the order of its description. */
static const struct place types[][FIELDS_MAX] = {
	[POSIXTRACE_SWITCH_OUT] = { NUMBER(tid), NUMBER(prio), NUMBER(state), NUMBER(reason),
				    NUMBER(next_tid), NUMBER(next_prio) },
	[POSIXTRACE_SWITCH_IN] = { NUMBER(tid), NUMBER(prio), NUMBER(runnable),
				   NUMBER(prev_tid), NUMBER(prev_prio) },
	[POSIXTRACE_WAKEUP] = { NUMBER(tid), NUMBER(prio), NUMBER(target_cpu), NUMBER(by),
				NUMBER(new), NUMBER(waker_pid), NUMBER(waker_tid) },
	[POSIXTRACE_MIGRATE] = { NUMBER(tid), NUMBER(prio), NUMBER(orig_cpu), NUMBER(dest_cpu) },
	[POSIXTRACE_FORK] = { NUMBER(tid), NUMBER(child_pid), NUMBER(child_tid) },
	[POSIXTRACE_EXEC] = { NUMBER(tid), TEXT(filename) },
	[POSIXTRACE_EXIT] = { NUMBER(tid), NUMBER(exit_code), NUMBER(group_dead) },
	[POSIXTRACE_RENAME] = { NUMBER(tid), TEXT(oldcomm), TEXT(newcomm) },
	[POSIXTRACE_SIGNAL_GENERATE] = { NUMBER(tid), NUMBER(sig), NUMBER(code), NUMBER(by),
					 NUMBER(group), NUMBER(result), NUMBER(sender_pid),
					 NUMBER(sender_tid) },
	[POSIXTRACE_SIGNAL_DELIVER] = { NUMBER(tid), NUMBER(sig), NUMBER(code), NUMBER(action),
					NUMBER(flags) },
	[POSIXTRACE_PAGE_FAULT] = { NUMBER(tid), NUMBER(user), NUMBER(write), NUMBER(exec),
				    NUMBER(protection), NUMBER(address), NUMBER(ip) },
	[POSIXTRACE_SYSCALL_ENTRY] = { NUMBER(tid), NUMBER(nr), ARGS(args), NUMBER(compat),
				       TEXT(name) },
	[POSIXTRACE_SYSCALL_EXIT] = { NUMBER(tid), NUMBER(nr), NUMBER(result), NUMBER(compat),
				      OPTIONAL_TEXT(name) },
	[POSIXTRACE_IRQ] = { NUMBER(tid), NUMBER(number), NUMBER(duration), NUMBER(kind),
			     NUMBER(nested), TEXT(name) },
	[POSIXTRACE_SYSCALL_TEXT] = { NUMBER(tid), NUMBER(nr), NUMBER(address), NUMBER(arg),
				      NUMBER(state), TEXT(value) },
	[POSIXTRACE_FUTEX_WAIT] = { NUMBER(tid), NUMBER(operation), NUMBER(known),
				    NUMBER(same_ids), NUMBER(address), NUMBER(ip), NUMBER(lock),
				    NUMBER(owner), NUMBER(kind) },
};

#define NR_TYPES	(sizeof(types) / sizeof(types[0]))

/*
 * Returns the index of a field in @places, or -1. Tries @guess first, because fields usually have
 * the order of the table.
 */
static int find_place(const struct place *places, unsigned int guess, const char *name)
{
	for (unsigned int i = 0; i < FIELDS_MAX; i++) {
		unsigned int at = (guess + i) % FIELDS_MAX;

		if (places[at].name && !strcmp(places[at].name, name))
			return at;
	}
	return -1;
}

static bool store(const struct place *place, const struct posixtrace_value *value, void *to)
{
	bool wants_text = place->kind == TEXT;

	if (value_is_text(value) != wants_text || value->field->type == POSIXTRACE_FIELD_FLOAT)
		return false;
	if (place->kind == TEXT)
		*(struct kevent_text *)to = (struct kevent_text){ value->data, value->text_len };
	else
		memcpy(to, &value->number, sizeof(value->number));
	return true;
}

/*
 * Reads the fields. Returns a bit mask of the places that were found; 0 if the data does not match.
 */
static unsigned int read_fields(const struct event *event, const struct place *places,
				struct kevent *kevent)
{
	unsigned int found = 0, guess = 0, depth = 0;
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int at = -1, ret;

	/* Speed matters for large logs, so the data is read and checked in the same walk. */
	posixtrace_fields_begin(&walk, event->description->fields, event->data, event->len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		bool is_args;
		char *to;

		depth += value.what == POSIXTRACE_BEGIN;
		depth -= value.what == POSIXTRACE_END;
		if (value.what == POSIXTRACE_END)
			continue;
		if (value.field->name)
			at = find_place(places, guess, value.field->name);
		if (at < 0 || value.what == POSIXTRACE_BEGIN)
			continue;
		is_args = places[at].kind == ARGS;
		if (depth != (is_args ? 2 : 1) || (is_args && value.index >= KEVENT_ARGS))
			continue;
		to = (char *)kevent + places[at].offset;
		if (is_args)
			to += value.index * sizeof(kevent->args[0]);
		if (store(&places[at], &value, to) && (!is_args || value.index == KEVENT_ARGS - 1))
			found |= 1U << at;
		guess = at + 1;
	}
	return ret ? 0 : found;
}

/* ------------------------------------------------------------------ */
/* Layouts								*/

/* Checks if @count items from @item on are texts (@wants_text) or integers. */
static bool is_kind(const struct layout *layout, size_t item, size_t count, bool wants_text)
{
	for (size_t i = item; i < item + count; i++) {
		if (i >= layout->count || layout->items[i].value.what != POSIXTRACE_VALUE)
			return false;
		if (wants_text ? !value_is_text(&layout->items[i].value) :
				 !layout->items[i].is_integer)
			return false;
	}
	return true;
}

/* An integer in the data, and the member of struct kevent for it. */
struct plan_integer {
	size_t offset;
	unsigned short to;
	unsigned char shift;	/* 64 minus the number of bits in the data */
	enum { SIGNED, UNSIGNED, BOOL } sign;
};

/**
 * struct kevent_plan - how to read the fields of a kernel event from data that fit the layout
 * @type: the event type
 * @has_all: the description has all fields that the type must have
 * @nr_integers: number of @integers
 * @nr_texts: number of @texts
 * @integers: the integers; the first one is the thread id
 * @texts: the texts, with their places in struct kevent
 */
struct kevent_plan {
	unsigned int type;
	bool has_all;
	unsigned int nr_integers;
	unsigned int nr_texts;
	struct plan_integer integers[INTEGERS_MAX];
	struct {
		const struct layout_item *item;
		size_t to;
	} texts[FIELDS_MAX];
};

/*
 * Returns the layout item of a field, or of the first element of an array. NULL if it does not
 * exist or has a different kind.
 */
static const struct layout_item *find_item(const struct layout *layout, const struct place *place)
{
	bool is_args = place->kind == ARGS;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct layout_item *item = &layout->items[i];

		if (item->depth == 1 && item->value.what != POSIXTRACE_END &&
		    !strcmp(item->value.field->name, place->name))
			break;
	}
	/* In a layout, the item of an array precedes the items of its elements. */
	if (i < layout->count && is_args)
		is_args = layout->items[i++].value.field->type == POSIXTRACE_FIELD_ARRAY;
	if (place->kind == ARGS && !is_args)
		return NULL;
	return is_kind(layout, i, is_args ? KEVENT_ARGS : 1, place->kind == TEXT) ?
	       &layout->items[i] : NULL;
}

static void plan_field(struct kevent_plan *plan, const struct place *place,
		       const struct layout_item *item)
{
	size_t count = place->kind == ARGS ? KEVENT_ARGS : 1;

	if (place->kind == TEXT) {
		plan->texts[plan->nr_texts].item = item;
		plan->texts[plan->nr_texts++].to = place->offset;
		return;
	}
	for (size_t i = 0; i < count; i++, item++)
		plan->integers[plan->nr_integers++] = (struct plan_integer){
			.offset = item->offset,
			.to = (unsigned short)(place->offset + i * sizeof(int64_t)),
			.shift = item->shift,
			.sign = item->value.field->is_signed ? SIGNED :
				item->value.field->type == POSIXTRACE_FIELD_BOOL ? BOOL : UNSIGNED,
		};
}

/* Plans how to read a type whose description has a layout. Returns NULL if out of memory. */
static __attribute__((__noinline__)) const struct kevent_plan *
make_plan(struct description *description, unsigned int type)
{
	struct kevent_plan *plan = description->plan;
	const struct place *places = types[type];
	const struct layout_item *item;

	if (!plan)
		plan = malloc(sizeof(*plan));
	description->plan = plan;
	if (!plan)
		return NULL;
	*plan = (struct kevent_plan){ .type = type, .has_all = true };
	for (unsigned int i = 0; i < FIELDS_MAX && places[i].name; i++) {
		item = find_item(description->layout, &places[i]);
		if (item)
			plan_field(plan, &places[i], item);
		else
			plan->has_all &= places[i].optional;
	}
	return plan;
}

/* @number: the bytes of the integer; the bytes that follow in the data may be in the upper bits */
static inline int64_t extend(const struct plan_integer *integer, uint64_t number)
{
	number <<= integer->shift;
	switch (integer->sign) {
	case SIGNED:
		return (int64_t)number >> integer->shift;
	case BOOL:
		return number != 0;
	default:
		return (int64_t)(number >> integer->shift);
	}
}

/* Reads an integer at the end of the data, without reading beyond the end. */
static int64_t read_last_integer(const struct plan_integer *integer, const unsigned char *data)
{
	uint64_t number = 0;

	memcpy(&number, data + integer->offset, sizeof(number) - integer->shift / CHAR_BIT);
	return extend(integer, number);
}

static inline int64_t read_integer(const struct plan_integer *integer, const unsigned char *data,
				   size_t len)
{
	uint64_t number;

	if (integer->offset + sizeof(number) > len)
		return read_last_integer(integer, data);
	/* The size is constant, so the compiler emits a single load. */
	memcpy(&number, data + integer->offset, sizeof(number));
	return extend(integer, number);
}

/* Does the same as read_fields(), for data that fit the layout of the description. */
static void read_planned(const struct event *event, const struct kevent_plan *plan,
			 struct kevent *kevent)
{
	const struct plan_integer *end = plan->integers + plan->nr_integers;
	const unsigned char *data = event->data;
	const size_t len = event->len;

	for (const struct plan_integer *integer = plan->integers; integer < end; integer++)
		*(int64_t *)((char *)kevent + integer->to) = read_integer(integer, data, len);
	for (unsigned int i = 0; i < plan->nr_texts; i++) {
		const struct layout_item *item = plan->texts[i].item;

		*(struct kevent_text *)((char *)kevent + plan->texts[i].to) = (struct kevent_text){
			.at = (const char *)data + item->offset,
			.len = layout_text(item, data, len),
		};
	}
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Checks that no thread id of an event is negative or larger than INT32_MAX. */
static bool has_tids(const struct event *event, const struct kevent *kevent)
{
	int64_t all = kevent->tid | kevent->next_tid | kevent->prev_tid | kevent->waker_tid |
		      kevent->sender_tid | kevent->child_tid | kevent->child_pid;

	return event->pid > 0 && kevent->tid && all >= 0 && all <= INT32_MAX;
}

/* Makes the ids and the processors unique among hosts. */
static void set_host(struct kevent *kevent, unsigned int host)
{
	kevent->tid = hosts_id(host, kevent->tid);
	kevent->next_tid = hosts_id(host, kevent->next_tid);
	kevent->prev_tid = hosts_id(host, kevent->prev_tid);
	kevent->waker_pid = hosts_id(host, kevent->waker_pid);
	kevent->waker_tid = hosts_id(host, kevent->waker_tid);
	kevent->sender_pid = hosts_id(host, kevent->sender_pid);
	kevent->sender_tid = hosts_id(host, kevent->sender_tid);
	kevent->child_pid = hosts_id(host, kevent->child_pid);
	kevent->child_tid = hosts_id(host, kevent->child_tid);
	kevent->target_cpu = hosts_cpu(host, (uint32_t)kevent->target_cpu);
	kevent->orig_cpu = hosts_cpu(host, (uint32_t)kevent->orig_cpu);
	kevent->dest_cpu = hosts_cpu(host, (uint32_t)kevent->dest_cpu);
}

/* Checks the ids of an event that was read, and makes them unique among hosts. */
static inline bool finish(const struct event *event, struct kevent *kevent)
{
	if (!has_tids(event, kevent))
		return false;
	if (event->host)
		set_host(kevent, event->host);
	return true;
}

/* Returns the plan for reading the event. NULL if the event must be walked with read_fields(). */
static inline const struct kevent_plan *find_plan(const struct event *event)
{
	struct description *description = event->description;
	const struct layout *layout = description->layout;

	if (!layout || !layout_fits(layout, event->len))
		return NULL;
	if (description->plan && description->plan->type == event->type)
		return description->plan;
	return make_plan(description, event->type);
}

bool kevent_read(const struct event *event, struct kevent *kevent)
{
	const struct kevent_plan *plan;
	const struct place *places;
	unsigned int wanted = 0;

	if (event->type >= NR_TYPES || !types[event->type][0].name || !event->description ||
	    event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		return false;
	plan = find_plan(event);
	if (plan && !plan->has_all)
		return false;
	memset(kevent, 0, sizeof(*kevent));
	if (plan) {
		read_planned(event, plan, kevent);
		return finish(event, kevent);
	}
	places = types[event->type];
	for (unsigned int i = 0; i < FIELDS_MAX && places[i].name; i++)
		wanted |= (unsigned int)!places[i].optional << i;
	return (read_fields(event, places, kevent) & wanted) == wanted && finish(event, kevent);
}

bool kevent_is_complete(const struct event *event)
{
	const struct kevent_plan *plan;
	struct kevent kevent;
	bool only_tid = event->type == POSIXTRACE_SYSCALL_ENTRY ||
			event->type == POSIXTRACE_SYSCALL_EXIT ||
			event->type == POSIXTRACE_PAGE_FAULT || event->type == POSIXTRACE_IRQ;

	if (!only_tid || !event->description || event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		return kevent_read(event, &kevent);
	plan = find_plan(event);
	if (!plan)
		return kevent_read(event, &kevent);
	if (!plan->has_all)
		return false;
	kevent.tid = read_integer(&plan->integers[0], event->data, event->len);
	return event->pid > 0 && kevent.tid > 0 && kevent.tid <= INT32_MAX;
}

struct kevent_text kevent_error(const struct event *event, const struct kevent *kevent,
				char room[KEVENT_ERROR])
{
	struct kevent_text name = { "none", strlen("none") };
	struct posixtrace_value value;
	struct posixtrace_walk walk;

	if (kevent->result < 0 && kevent->result >= -KEVENT_ERROR_MAX) {
		name.len = (size_t)snprintf(room, KEVENT_ERROR, "%d", (int)-kevent->result);
		name.at = room;
	}
	posixtrace_fields_begin(&walk, event->description->fields, event->data, event->len);
	while (posixtrace_fields_next(&walk, &value) == 1) {
		if (value.what != POSIXTRACE_VALUE || !value.field->name ||
		    strcmp(value.field->name, "error") || !value.label)
			continue;
		name = (struct kevent_text){ value.label, strlen(value.label) };
		break;
	}
	return name;
}

void kevent_call_name(const struct kevent *kevent, char name[KEVENT_CALL_NAME])
{
	size_t len = kevent->name.len;

	if (len >= KEVENT_CALL_NAME)
		len = KEVENT_CALL_NAME - 1;
	if (len)
		memcpy(name, kevent->name.at, len);
	name[len] = '\0';
	if (!name[0])
		snprintf(name, KEVENT_CALL_NAME, "system call %d", (int)kevent->nr);
}

const char *kevent_irq_kind(const struct kevent *kevent)
{
	static const char *const kinds[] = {
		[KEVENT_IRQ] = "irq",
		[KEVENT_SOFTIRQ] = "softirq",
		[KEVENT_VECTOR] = "vector",
	};
	uint64_t kind = (uint64_t)kevent->kind;

	return kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : "";
}

struct kevent_text kevent_irq_name(const struct kevent *kevent, char room[KEVENT_CALL_NAME])
{
	const char *kind = kevent_irq_kind(kevent);
	struct kevent_text name = kevent->name;

	if (name.len)
		return name;
	name.len = (size_t)snprintf(room, KEVENT_CALL_NAME, "%s %" PRId64,
				    kind[0] ? kind : "interrupt", kevent->number);
	name.at = room;
	return name;
}
