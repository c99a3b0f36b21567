// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: for any filter, description and data, neither parsing the filter nor testing an
 * event crashes or hangs. An error has a position and a printable reason. If the filter decides by
 * the type name alone, testing the event gives the same result.
 *
 * The input is a filter, a null byte, a description, a null byte, and the data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/filter.h"
#include "util/message.h"

#define TYPE	100
#define NAME	"cache_op"
#define SCOPE	"cache"

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "filter_fuzz: %s\n", what);
	abort();
}

/* Stands in for the function with which the commands report errors. */
void tell(const char *format, ...)
{
	(void)format;
}

static void check_error(const char *text, const struct filter_error *error)
{
	check(error->column && error->column <= strlen(text) + 1, "the place is behind the text");
	check(error->message[0], "no reason");
	check(!!memchr(error->message, '\0', sizeof(error->message)), "reason without end");
	for (const char *c = error->message; *c; c++)
		check(*c >= ' ' && *c <= '~', "the reason cannot be printed");
}

static void check_names(const struct filter *filter)
{
	const char *name;
	size_t count = 0;

	while ((name = filter_plain_name(filter, count)))
		count++;
	check(count <= FILTER_NODES, "too many names");
	check(!count || !filter_has_conditions(filter), "a list of names with a condition");
	check(!filter_has_durations(filter) || filter_has_conditions(filter),
	      "a condition that is none");
}

static void test_end(const struct filter *filter, const struct event *event,
		     const struct filter_scope *scope)
{
	enum filter_verdict verdict = filter_name(filter, event->name);
	bool passes = filter_event(filter, event, scope);

	check(passes == filter_event(filter, event, scope), "another result");
	check(verdict != FILTER_NEVER || !passes, "an event that never passes");
	check(verdict != FILTER_ALWAYS || passes, "an event that always passes");
	check(verdict != FILTER_PERHAPS || filter_has_conditions(filter), "no condition");
}

/*
 * Tests an event. It is also used as the begin and end of a scope, so a condition on a field must
 * have the same result with the scope.
 */
static void test_event(const struct filter *filter, const struct event *event)
{
	const struct filter_scope scope = {
		.name = SCOPE,
		.duration = event->len,
		.other = event,
	};

	test_end(filter, event, NULL);
	test_end(filter, event, &scope);
	check(filter_has_durations(filter) ||
	      filter_event(filter, event, NULL) == filter_event(filter, event, &scope),
	      "a scope decides without a condition on durations");
}

static void test_filter(const struct filter *filter, const char *description,
			const unsigned char *data, size_t len)
{
	struct event event = {
		.type = TYPE,
		.name = NAME,
		.user = true,
		.truncated = POSIX_TRACE_NOT_TRUNCATED,
		.data = data,
		.len = len,
	};

	check_names(filter);
	test_event(filter, &event);
	if (description_new(description, &event.description, NULL))
		return;
	test_event(filter, &event);
	event.truncated = POSIX_TRACE_TRUNCATED_RECORD;
	test_event(filter, &event);
	description_free(event.description);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char *end = data + size, *text = data, *description, *bytes;
	struct filter_error error;
	struct filter *filter;
	unsigned char *copy;
	char *copied;
	int err;

	description = size ? memchr(text, '\0', size) : NULL;
	if (!description)
		return -1;
	description++;
	bytes = description < end ? memchr(description, '\0', (size_t)(end - description)) : NULL;
	if (!bytes)
		return -1;
	bytes++;
	/* Use copies of exactly this size: the sanitizer notices any access beyond. */
	copied = strdup((const char *)text);
	copy = malloc((size_t)(end - bytes));
	if (bytes < end)
		memcpy(copy, bytes, (size_t)(end - bytes));
	err = filter_parse(copied, &filter, &error);
	if (err) {
		check_error(copied, &error);
	} else {
		test_filter(filter, (const char *)description, copy, (size_t)(end - bytes));
		filter_free(filter);
	}
	free(copied);
	free(copy);
	return 0;
}
