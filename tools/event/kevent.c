// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes kernel events: see kevent.h. Fields are found by name, so a type may get more fields.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

#include "event/kevent.h"

#define FIELDS_MAX	DESCRIPTION_PLACES	/* per type */
#define MISSING		UCHAR_MAX	/* instead of the index of an item */

struct place {
	const char *name;
	size_t offset;		/* in struct kevent */
	enum { NUMBER, ARGS, TEXT } kind;
	bool optional;		/* logs of older modules lack it */
};

#define NUMBER(field)	{ #field, offsetof(struct kevent, field), NUMBER, false }
#define ARGS(field)	{ #field, offsetof(struct kevent, field), ARGS, false }
#define TEXT(field)	{ #field, offsetof(struct kevent, field), TEXT, false }
#define OPTIONAL_TEXT(field)	{ #field, offsetof(struct kevent, field), TEXT, true }

/* The fields that commands use, by type, in the order of the descriptions. */
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

/* Returns the index of a field, or -1. Fields usually come in table order, as @guess says. */
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

/* Returns a bit mask of the places of the fields found; 0 if the data do not match. */
static unsigned int read_fields(const struct event *event, const struct place *places,
				struct kevent *kevent)
{
	unsigned int found = 0, guess = 0, depth = 0;
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	int at = -1, ret;

	/* Speed matters in large logs, so one walk both reads the data and checks if they match. */
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

/* Returns the index of the item of a field, or of its first element; MISSING if there is none. */
static unsigned char find_item(const struct layout *layout, const struct place *place)
{
	bool is_args = place->kind == ARGS;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct layout_item *item = &layout->items[i];

		if (item->depth == 1 && item->value.what != POSIXTRACE_END &&
		    !strcmp(item->value.field->name, place->name))
			break;
	}
	/* In the layout, the elements of an array follow the item of the array. */
	if (i < layout->count && is_args)
		is_args = layout->items[i++].value.field->type == POSIXTRACE_FIELD_ARRAY;
	if (place->kind == ARGS && !is_args)
		return MISSING;
	return is_kind(layout, i, is_args ? KEVENT_ARGS : 1, place->kind == TEXT) ?
	       (unsigned char)i : MISSING;
}

static void find_items(struct description *description, unsigned int type)
{
	const struct place *places = types[type];

	description->kernel_type = type;
	description->has_places = true;
	for (unsigned int i = 0; i < FIELDS_MAX && places[i].name; i++) {
		description->places[i] = find_item(description->layout, &places[i]);
		description->has_places &= places[i].optional || description->places[i] != MISSING;
	}
}

/* As read_fields(), for a description with a layout. Returns false if a field is missing. */
static bool read_items(const struct event *event, const struct place *places, struct kevent *kevent)
{
	struct description *description = event->description;
	const struct layout_item *item;
	struct posixtrace_value value;
	struct kevent_text *text;

	if (description->kernel_type != event->type)
		find_items(description, event->type);
	if (!description->has_places)
		return false;
	for (unsigned int i = 0; i < FIELDS_MAX && places[i].name; i++) {
		void *to = (char *)kevent + places[i].offset;

		if (description->places[i] == MISSING)
			continue;
		item = &description->layout->items[description->places[i]];
		if (places[i].kind == TEXT) {
			layout_value(item, event->data, event->len, &value);
			text = to;
			*text = (struct kevent_text){ value.data, value.text_len };
			continue;
		}
		*(int64_t *)to = (int64_t)layout_integer(item, event->data);
		for (int n = 1; places[i].kind == ARGS && n < KEVENT_ARGS; n++)
			((int64_t *)to)[n] = (int64_t)layout_integer(item + n, event->data);
	}
	return true;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static bool is_tid(int64_t tid)
{
	return tid >= 0 && tid <= INT32_MAX;
}

bool kevent_read(const struct event *event, struct kevent *kevent)
{
	const struct layout *layout;
	const struct place *places;
	unsigned int wanted = 0;

	if (event->type >= NR_TYPES || !types[event->type][0].name || !event->description ||
	    event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		return false;
	places = types[event->type];
	memset(kevent, 0, sizeof(*kevent));
	layout = event->description->layout;
	if (layout && layout_fits(layout, event->len)) {
		if (!read_items(event, places, kevent))
			return false;
	} else {
		for (unsigned int i = 0; i < FIELDS_MAX && places[i].name; i++)
			wanted |= (unsigned int)!places[i].optional << i;
		if ((read_fields(event, places, kevent) & wanted) != wanted)
			return false;
	}
	return event->pid > 0 && kevent->tid &&
	       is_tid(kevent->tid) && is_tid(kevent->next_tid) && is_tid(kevent->prev_tid) &&
	       is_tid(kevent->waker_tid) && is_tid(kevent->sender_tid) &&
	       is_tid(kevent->child_tid) && is_tid(kevent->child_pid);
}

bool kevent_is_complete(const struct event *event)
{
	struct description *description = event->description;
	struct kevent kevent;
	bool only_tid = event->type == POSIXTRACE_SYSCALL_ENTRY ||
			event->type == POSIXTRACE_SYSCALL_EXIT ||
			event->type == POSIXTRACE_PAGE_FAULT || event->type == POSIXTRACE_IRQ;
	int64_t tid;

	/* The first call with a description finds the places. */
	if (!only_tid || !description || description->kernel_type != event->type ||
	    event->truncated != POSIX_TRACE_NOT_TRUNCATED ||
	    !layout_fits(description->layout, event->len))
		return kevent_read(event, &kevent);
	if (!description->has_places)
		return false;
	tid = (int64_t)layout_integer(&description->layout->items[description->places[0]],
				      event->data);
	return event->pid > 0 && tid && is_tid(tid);
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
