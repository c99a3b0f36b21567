// SPDX-License-Identifier: GPL-2.0
/*
 * Prints why a period took so long, as JSON: see why_print.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/json_fields.h"
#include "print/why_print.h"
#include "print/why_text.h"
#include "util/escape.h"

#define PAGE_PARTS	1000	/* if there are more parts, the small ones are left out of a page */
#define PAGE_STEPS	5000
#define PAGE_SMALL	200	/* a part of less than 1/200 of the whole is small */
#define ALL_STEPS	SIZE_MAX

/* What to write, and how. */
struct output {
	const struct why *why;
	struct buffer *text;
	bool html;		/* for an HTML page: also write a description of each part */
	uint64_t least;		/* ns; all shorter parts are combined into one */
	size_t max_steps;
};

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

static void put_number(const struct output *to, const char *name, uint64_t number)
{
	buffer_printf(to->text, ",\"%s\":", name);
	json_number(to->text, number, false);
}

static void put_string(const struct output *to, const char *name, const char *text)
{
	buffer_printf(to->text, ",\"%s\":", name);
	escape_string(to->text, text, strlen(text), to->html);
}

static void put_thread(const struct output *to, const char *name, uint32_t number)
{
	const struct track_thread *thread = tracks_thread(to->why->tracks, number);

	if (!number)
		return;
	buffer_printf(to->text, ",\"%s\":{\"pid\":%d,\"tid\":%d", name, (int)thread->plain_pid,
		      (int)thread->plain_tid);
	put_string(to, "name", thread->label);
	buffer_byte(to->text, '}');
}

static void put_place(const struct output *to, const struct part *part)
{
	const char *arg = part->has_arg ? tracks_arg_name(to->why->tracks, part->place) : NULL;

	if (part->place == WAITS_IN_UNKNOWN)
		return;
	if (part->place == WAITS_IN_NO_CALL) {
		buffer_text(to->text, ",\"call\":null");
		return;
	}
	put_string(to, "call", tracks_place_name(to->why->tracks, part->place));
	if (!arg)
		return;
	buffer_printf(to->text, ",\"%s\":", arg);
	if (strcmp(arg, "address"))
		buffer_signed(to->text, (int32_t)part->arg);
	else
		json_number(to->text, part->arg, false);
}

static void put_wait(const struct output *to, const struct part *part)
{
	put_place(to, part);
	buffer_printf(to->text, ",\"io\":%s", part->io ? "true" : "false");
	if (part->letter)
		put_string(to, "state", (const char[]){ part->letter, '\0' });
	if (part->fault)
		buffer_text(to->text, ",\"after_fault\":true");
	put_string(to, "by", part->by == WAKER_UNKNOWN ? "unknown" :
			     part->by == WAKER_NONE ? "none" : waker_name(part->by));
	put_thread(to, "waker", part->other);
	put_thread(to, "holder", part->holder);
}

static void put_what(const struct output *to, const struct part *part)
{
	put_string(to, "what", kinds[part->kind]);
	put_thread(to, "thread", part->thread);
	switch (part->kind) {
	case PART_RUNNING:
		put_place(to, part);
		put_number(to, "faults", part->faults);
		break;
	case PART_INTERRUPT:
		put_string(to, "name", tracks_irq_name(to->why->tracks, part->other));
		break;
	case PART_RUNNABLE:
		buffer_printf(to->text, ",\"preempted\":%s", part->preempted ? "true" : "false");
		break;
	case PART_RAN:
		put_thread(to, "runner", part->other);
		break;
	case PART_BLOCKED:
	case PART_FAULT:
		put_wait(to, part);
		break;
	case PART_UNBORN:
		put_thread(to, "creator", part->other);
		break;
	default:
		break;
	}
}

/* Appends the description of a part as a string. Descriptions are printable. */
static int put_text(const struct output *to, const struct part *part)
{
	struct buffer words = { };
	int err;

	why_text(&words, to->why->tracks, part);
	buffer_text(to->text, ",\"text\":\"");
	for (size_t i = 0; i < words.len; i++) {
		if (strchr("\"\\<>&", words.data[i]))
			buffer_printf(to->text, "\\u%04x", words.data[i]);
		else
			buffer_byte(to->text, words.data[i]);
	}
	buffer_byte(to->text, '"');
	err = words.failed ? -ENOMEM : 0;
	buffer_free(&words);
	return err;
}

static int put_parts(const struct output *to, uint32_t number);

static int put_part(const struct output *to, uint32_t number)
{
	size_t count;
	const struct part *part = &parts_all(to->why->parts, &count)[number];

	buffer_printf(to->text, "{\"id\":%u", number);
	put_what(to, part);
	put_number(to, "ns", part->ns);
	put_number(to, "count", part->count);
	put_number(to, "longest_ns", part->longest);
	put_number(to, "longest_at_ns", part->longest_at - to->why->begin);
	if (to->html && put_text(to, part))
		return -ENOMEM;
	if (part->child != PARTS_NONE && put_parts(to, number))
		return -ENOMEM;
	buffer_byte(to->text, '}');
	return 0;
}

/* Appends the number and the total time of the parts that are left out. */
static void put_smaller(const struct output *to, uint64_t ns, size_t count)
{
	buffer_printf(to->text, ",\"smaller\":{\"count\":%zu", count);
	put_number(to, "ns", ns);
	buffer_byte(to->text, '}');
}

static int put_parts(const struct output *to, uint32_t number)
{
	size_t count, all, i;
	uint32_t *sorted = parts_sorted(to->why->parts, number, &count);
	const struct part *parts = parts_all(to->why->parts, &all);
	int err = sorted ? 0 : -ENOMEM;
	uint64_t rest = 0;

	buffer_text(to->text, ",\"parts\":[");
	for (i = 0; !err && i < count && parts[sorted[i]].ns >= to->least; i++) {
		if (i)
			buffer_byte(to->text, ',');
		err = put_part(to, sorted[i]);
	}
	buffer_byte(to->text, ']');
	for (size_t small = i; !err && small < count; small++)
		rest += parts[sorted[small]].ns;
	if (!err && i < count)
		put_smaller(to, rest, count - i);
	free(sorted);
	return err;
}

/* Appends the steps, which refer to the parts by their numbers. */
static void put_path(const struct output *to)
{
	bool more;
	size_t count;
	const struct step *steps = parts_steps(to->why->parts, &count, &more);

	if (count > to->max_steps) {
		count = to->max_steps;
		more = true;
	}
	buffer_text(to->text, ",\"path\":[");
	for (size_t i = 0; i < count; i++)
		buffer_printf(to->text, "%s{\"at_ns\":%llu,\"ns\":%llu,\"part\":%u}", i ? "," : "",
			      (unsigned long long)(steps[i].begin - to->why->begin),
			      (unsigned long long)(steps[i].end - steps[i].begin), steps[i].part);
	buffer_printf(to->text, "],\"path_complete\":%s", more ? "false" : "true");
}

static int put_whole(const struct output *to)
{
	const struct why *why = to->why;
	int err;

	buffer_printf(to->text, "{\"number\":%zu,\"of\":%zu", why->number, why->of);
	if (why->scope)
		put_string(to, "scope", why->scope);
	put_thread(to, "thread", why->thread);
	put_number(to, "begin_ns", why->begin);
	put_number(to, "end_ns", why->end);
	put_number(to, "ns", why->end - why->begin);
	err = put_parts(to, 0);
	put_path(to);
	buffer_byte(to->text, '}');
	return err ? err : to->text->failed ? -ENOMEM : 0;
}

int why_json(const struct why *why, FILE *to)
{
	struct buffer text = { };
	const struct output output = { .why = why, .text = &text, .max_steps = ALL_STEPS };
	int err = put_whole(&output);

	if (!err) {
		fwrite(text.data, 1, text.len, to);
		fputc('\n', to);
	}
	buffer_free(&text);
	return err;
}

int why_page(const struct why *why, struct buffer *to)
{
	struct output output = {
		.why = why, .text = to, .html = true, .max_steps = PAGE_STEPS,
	};
	size_t count;

	parts_all(why->parts, &count);
	if (count > PAGE_PARTS)
		output.least = (why->end - why->begin) / PAGE_SMALL;
	return put_whole(&output);
}
