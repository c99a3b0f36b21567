// SPDX-License-Identifier: MIT
/*
 * Parses the options of the flight recorder: words that are separated by blanks, with the names and
 * values of the options of "posixtrace record".
 */
#include <string.h>

#include "attr/attr.h"
#include "record/flight.h"

#define BLANKS		" \t\n"

/* A part of the value of the variable. */
struct word {
	const char *text;
	size_t len;
};

static const struct {
	const char *name;
	unsigned int classes;
} classes[] = {
	{ "sched", POSIXTRACE_CLASS_SCHED },
	{ "fault", POSIXTRACE_CLASS_FAULT },
	{ "signal", POSIXTRACE_CLASS_SIGNAL },
	{ "syscall", POSIXTRACE_CLASS_SYSCALL },
	{ "irq", POSIXTRACE_CLASS_IRQ },
	{ "process", POSIXTRACE_CLASS_PROCESS },
	{ "strings", POSIXTRACE_CLASS_STRINGS },
};

static bool is(struct word word, const char *text)
{
	return word.len == strlen(text) && !memcmp(word.text, text, word.len);
}

/* Returns the part of @rest before a character of @ends. Removes both from @rest. */
static struct word take(struct word *rest, const char *ends)
{
	struct word word = { rest->text, 0 };

	while (word.len < rest->len && !strchr(ends, word.text[word.len]))
		word.len++;
	rest->text += word.len;
	rest->len -= word.len;
	if (rest->len) {
		rest->text++;
		rest->len--;
	}
	return word;
}

static int refuse(const char *why, struct word word)
{
	return pxtu_flight_refuse(PXTU_FLIGHT_OPTIONS, why, word.text, word.len);
}

/* Returns the bytes that a unit stands for; 0 if it is not a unit. */
static __u64 unit_of(struct word unit)
{
	if (!unit.len)
		return 1;
	if (is(unit, "K") || is(unit, "k"))
		return 1U << 10;
	if (is(unit, "M") || is(unit, "m"))
		return 1U << 20;
	return is(unit, "G") || is(unit, "g") ? 1U << 30 : 0;
}

/* Parses a number of bytes, at most @max. Returns false if @word is not such a number. */
static bool parse_size(struct word word, __u64 max, __u64 *size)
{
	__u64 value = 0, unit;
	size_t i;

	for (i = 0; i < word.len && word.text[i] >= '0' && word.text[i] <= '9'; i++) {
		value = value * 10 + (__u64)(word.text[i] - '0');
		if (value > max)
			return false;
	}
	unit = unit_of((struct word){ word.text + i, word.len - i });
	/* Both factors are at most 2^30. */
	*size = value * unit;
	return i && unit && *size <= max;
}

static int add_class(struct word name, struct pxtu_flight_plan *plan)
{
	size_t i;

	if (is(name, "all")) {
		plan->all_classes = true;
		return 0;
	}
	for (i = 0; i < PXTU_ARRAY_SIZE(classes); i++) {
		if (is(name, classes[i].name)) {
			plan->attr.__kernel |= classes[i].classes;
			return 0;
		}
	}
	return refuse("kernel: all, sched, fault, signal, syscall, irq, process, strings", name);
}

static int parse_classes(struct word list, struct pxtu_flight_plan *plan)
{
	int err = list.len ? 0 : add_class(list, plan);

	while (!err && list.len)
		err = add_class(take(&list, ","), plan);
	return err;
}

static int parse_order(struct word value, struct pxtu_flight_plan *plan)
{
	if (is(value, "relaxed"))
		plan->attr.__order = POSIXTRACE_ORDER_RELAXED;
	else if (is(value, "causal"))
		plan->attr.__order = POSIXTRACE_ORDER_CAUSAL;
	else
		return refuse("order: causal or relaxed", value);
	return 0;
}

static int parse_option(struct word option, struct pxtu_flight_plan *plan)
{
	struct word value = option, name = take(&value, "=");
	__u64 size;

	if (is(option, "children")) {
		plan->children = true;
	} else if (is(name, "size")) {
		if (!parse_size(value, POSIXTRACE_STREAM_SIZE_MAX, &size) || !size)
			return refuse("size: from 1 to 1G bytes, such as 4M", value);
		plan->attr.__stream_size = size;
	} else if (is(name, "data-size")) {
		if (!parse_size(value, POSIXTRACE_DATA_SIZE_MAX, &size))
			return refuse("data-size: at most 65488 bytes", value);
		plan->attr.__max_data_size = size;
	} else if (is(name, "kernel")) {
		return parse_classes(value, plan);
	} else if (is(name, "order")) {
		return parse_order(value, plan);
	} else {
		return refuse("unknown option: see posixtrace(7)", option);
	}
	return 0;
}

int pxtu_flight_parse(const char *text, struct pxtu_flight_plan *plan)
{
	struct word rest = { text, text ? strlen(text) : 0 }, option;
	int err = 0;

	while (!err && rest.len) {
		option = take(&rest, BLANKS);
		if (option.len)
			err = parse_option(option, plan);
	}
	return err;
}
