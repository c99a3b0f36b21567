// SPDX-License-Identifier: GPL-2.0
/*
 * Prints why a period took so long, as JSON: see why_print.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/json_fields.h"
#include "print/why_print.h"
#include "util/escape.h"

static const char *const kinds[PART_KINDS] = {
	[PART_WHOLE] = "whole",
	[PART_RUNNING] = "running",
	[PART_INTERRUPT] = "interrupt",
	[PART_RUNNABLE] = "runnable",
	[PART_RAN] = "ran",
	[PART_RAN_OTHER] = "ran_other",
	[PART_RAN_UNKNOWN] = "ran_unknown",
	[PART_BLOCKED] = "blocked",
	[PART_FAULT] = "fault",
	[PART_UNBORN] = "unborn",
	[PART_UNKNOWN] = "unknown",
	[PART_MORE] = "more",
};

static void put_number(struct buffer *to, const char *name, uint64_t number)
{
	buffer_printf(to, ",\"%s\":", name);
	json_number(to, number, false);
}

static void put_string(struct buffer *to, const char *name, const char *text)
{
	buffer_printf(to, ",\"%s\":", name);
	escape_string(to, text, strlen(text), false);
}

static void put_thread(struct buffer *to, const struct why *why, const char *name, uint32_t number)
{
	const struct track_thread *thread = tracks_thread(why->tracks, number);

	if (!number)
		return;
	buffer_printf(to, ",\"%s\":{\"pid\":%d,\"tid\":%d", name, (int)thread->pid,
		      (int)thread->tid);
	put_string(to, "name", thread->label);
	buffer_byte(to, '}');
}

static void put_place(struct buffer *to, const struct why *why, const struct part *part)
{
	const char *arg = part->has_arg ? tracks_arg_name(why->tracks, part->place) : NULL;

	if (part->place == WAITS_IN_UNKNOWN)
		return;
	if (part->place == WAITS_IN_NO_CALL) {
		buffer_text(to, ",\"call\":null");
		return;
	}
	put_string(to, "call", tracks_place_name(why->tracks, part->place));
	if (!arg)
		return;
	buffer_printf(to, ",\"%s\":", arg);
	if (strcmp(arg, "address"))
		buffer_signed(to, (int32_t)part->arg);
	else
		json_number(to, part->arg, false);
}

static void put_wait(struct buffer *to, const struct why *why, const struct part *part)
{
	put_place(to, why, part);
	buffer_printf(to, ",\"io\":%s", part->io ? "true" : "false");
	if (part->letter)
		put_string(to, "state", (const char[]){ part->letter, '\0' });
	if (part->fault)
		buffer_text(to, ",\"after_fault\":true");
	put_string(to, "by", part->by == WAKER_UNKNOWN ? "unknown" :
			     part->by == WAKER_NONE ? "none" : waker_name(part->by));
	put_thread(to, why, "waker", part->other);
}

static void put_what(struct buffer *to, const struct why *why, const struct part *part)
{
	put_string(to, "what", kinds[part->kind]);
	put_thread(to, why, "thread", part->thread);
	switch (part->kind) {
	case PART_RUNNING:
		put_place(to, why, part);
		put_number(to, "faults", part->faults);
		break;
	case PART_INTERRUPT:
		put_string(to, "name", tracks_irq_name(why->tracks, part->other));
		break;
	case PART_RUNNABLE:
		buffer_printf(to, ",\"preempted\":%s", part->preempted ? "true" : "false");
		break;
	case PART_RAN:
		put_thread(to, why, "runner", part->other);
		break;
	case PART_BLOCKED:
	case PART_FAULT:
		put_wait(to, why, part);
		break;
	case PART_UNBORN:
		put_thread(to, why, "creator", part->other);
		break;
	default:
		break;
	}
}

static int put_parts(struct buffer *to, const struct why *why, uint32_t number);

static int put_part(struct buffer *to, const struct why *why, uint32_t number)
{
	size_t count;
	const struct part *part = &parts_all(why->parts, &count)[number];

	buffer_printf(to, "{\"id\":%u", number);
	put_what(to, why, part);
	put_number(to, "ns", part->ns);
	put_number(to, "count", part->count);
	put_number(to, "longest_ns", part->longest);
	put_number(to, "longest_at_ns", part->longest_at - why->begin);
	if (part->child != PARTS_NONE && put_parts(to, why, number))
		return -ENOMEM;
	buffer_byte(to, '}');
	return 0;
}

static int put_parts(struct buffer *to, const struct why *why, uint32_t number)
{
	size_t count;
	uint32_t *sorted = parts_sorted(why->parts, number, &count);
	int err = sorted ? 0 : -ENOMEM;

	buffer_text(to, ",\"parts\":[");
	for (size_t i = 0; !err && i < count; i++) {
		if (i)
			buffer_byte(to, ',');
		err = put_part(to, why, sorted[i]);
	}
	buffer_byte(to, ']');
	free(sorted);
	return err;
}

/* The steps have the numbers of the parts, so that they need not repeat what those are. */
static void put_path(struct buffer *to, const struct why *why)
{
	bool more;
	size_t count;
	const struct step *steps = parts_steps(why->parts, &count, &more);

	buffer_text(to, ",\"path\":[");
	for (size_t i = 0; i < count; i++)
		buffer_printf(to, "%s{\"at_ns\":%llu,\"ns\":%llu,\"part\":%u}", i ? "," : "",
			      (unsigned long long)(steps[i].begin - why->begin),
			      (unsigned long long)(steps[i].end - steps[i].begin), steps[i].part);
	buffer_printf(to, "],\"path_complete\":%s", more ? "false" : "true");
}

int why_json(const struct why *why, FILE *to)
{
	struct buffer text = { };
	int err;

	buffer_printf(&text, "{\"number\":%zu,\"of\":%zu", why->number, why->of);
	if (why->scope)
		put_string(&text, "scope", why->scope);
	put_thread(&text, why, "thread", why->thread);
	put_number(&text, "begin_ns", why->begin);
	put_number(&text, "end_ns", why->end);
	put_number(&text, "ns", why->end - why->begin);
	err = put_parts(&text, why, 0);
	put_path(&text, why);
	buffer_text(&text, "}\n");
	if (text.failed)
		err = -ENOMEM;
	if (!err)
		fwrite(text.data, 1, text.len, to);
	buffer_free(&text);
	return err;
}
