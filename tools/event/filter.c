// SPDX-License-Identifier: GPL-2.0
/*
 * Tests events by a filter: see filter.h.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "event/filter_parse.h"
#include "event/kevent.h"

/* Event type ids are smaller than this. */
#define TYPES		POSIXTRACE_EVENT_ID_MAX
#define TEXT_MAX	65536	/* bytes; event data is never longer */

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->nr_nodes; i++) {
		struct filter_node *node = filter->nodes[i];

		for (unsigned int j = 0; j < node->depth; j++)
			free(node->path[j]);
		free(node->pattern);
		free(node->verdicts);
		free(node->text);
		free(node);
	}
	free(filter->nodes);
	free(filter);
}

/* ------------------------------------------------------------------ */
/* Values								*/

/* Converts the result of a comparison (negative, 0 or positive) to the result of the operator. */
static bool decide(enum filter_test test, int order)
{
	switch (test) {
	case FILTER_EQUAL:
		return order == 0;
	case FILTER_NOT_EQUAL:
		return order != 0;
	case FILTER_LESS:
		return order < 0;
	case FILTER_LESS_EQUAL:
		return order <= 0;
	case FILTER_GREATER:
		return order > 0;
	case FILTER_GREATER_EQUAL:
		return order >= 0;
	default:
		return false;
	}
}

/* An integer as a sign and an absolute value. A long double represents 64 bits exactly. */
struct number {
	bool negative;
	uint64_t value;
};

static struct number number_of(uint64_t number, bool is_signed)
{
	bool negative = is_signed && (int64_t)number < 0;

	return (struct number){ .negative = negative, .value = negative ? -number : number };
}

static int compare_integers(struct number a, struct number b)
{
	bool a_negative = a.negative && a.value, b_negative = b.negative && b.value;

	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	if (a.value == b.value)
		return 0;
	return (a.value < b.value) != a_negative ? -1 : 1;
}

static bool test_real(const struct filter_node *node, long double value)
{
	long double operand = node->real;

	if (node->operand == FILTER_INTEGER)
		operand = node->negative ? -(long double)node->number : (long double)node->number;
	/* NaN is different from every value, including itself. */
	if (value != value || operand != operand)
		return node->test == FILTER_NOT_EQUAL;
	return decide(node->test, value < operand ? -1 : value > operand);
}

static bool test_integer(const struct filter_node *node, struct number value)
{
	struct number operand = { .negative = node->negative, .value = node->number };

	if (node->operand == FILTER_INTEGER)
		return decide(node->test, compare_integers(value, operand));
	return test_real(node, value.negative ? -(long double)value.value :
						(long double)value.value);
}

static bool test_bool(const struct filter_node *node, uint64_t number)
{
	bool is_true = node->text && !strcmp(node->text, "true");

	if (node->operand == FILTER_INTEGER || node->operand == FILTER_REAL)
		return test_integer(node, number_of(number, false));
	if (node->operand != FILTER_WORD || (!is_true && strcmp(node->text, "false") != 0))
		return false;
	return decide(node->test, (int)number - is_true);
}

/*
 * Compares values, not names, because several labels may have the same value. Returns false if no
 * label has the name.
 */
static bool test_enum(const struct filter_node *node, const struct posixtrace_value *value)
{
	const struct posixtrace_field *field = value->field;
	struct number number = number_of(value->number, field->is_signed);

	if (node->operand == FILTER_INTEGER || node->operand == FILTER_REAL)
		return test_integer(node, number);
	if (node->test == FILTER_MATCHES)
		return value->label && !fnmatch(node->text, value->label, 0);
	for (size_t i = 0; i < field->count; i++) {
		if (!strcmp(field->labels[i].name, node->text))
			return decide(node->test, compare_integers(number,
				number_of((uint64_t)field->labels[i].value, field->is_signed)));
	}
	return false;
}

static bool test_text(const struct filter_node *node, const struct posixtrace_value *value)
{
	static char text[TEXT_MAX + 1];
	bool same;

	if (!node->text || value->text_len > TEXT_MAX)
		return false;
	same = strlen(node->text) == value->text_len &&
	       !memcmp(node->text, value->data, value->text_len);
	switch (node->test) {
	case FILTER_EQUAL:
		return same;
	case FILTER_NOT_EQUAL:
		return !same;
	case FILTER_MATCHES:
		if (value->text_len)
			memcpy(text, value->data, value->text_len);
		text[value->text_len] = '\0';
		/* A text with a null byte never matches. */
		return strlen(text) == value->text_len && !fnmatch(node->text, text, 0);
	default:
		return false;
	}
}

static bool test_value(const struct filter_node *node, const struct posixtrace_value *value)
{
	if (value_is_text(value))
		return test_text(node, value);
	if (value->field->type == POSIXTRACE_FIELD_ENUM)
		return test_enum(node, value);
	if (value->field->type == POSIXTRACE_FIELD_BOOL)
		return test_bool(node, value->number);
	if (node->operand != FILTER_INTEGER && node->operand != FILTER_REAL)
		return false;
	if (value->field->type == POSIXTRACE_FIELD_FLOAT)
		return test_real(node, value->real);
	return test_integer(node, number_of(value->number, value->field->is_signed));
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* Tests a field. An array passes if one of its elements does. */
static bool test_fields(const struct filter_node *node, const struct event *event)
{
	const struct posixtrace_field *field;
	struct posixtrace_value value;
	struct values values;

	field = event->description ?
		description_find(event->description, node->path, node->depth) : NULL;
	if (!field || !event_has_fields(event, event->len))
		return false;
	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		if (value.field == field && value.what == POSIXTRACE_VALUE &&
		    test_value(node, &value))
			return true;
	}
	return false;
}

static bool test_field(const struct filter_node *node, const struct event *event,
		       const struct filter_scope *scope)
{
	return test_fields(node, event) || (scope && test_fields(node, scope->other));
}

/* Tests the duration of @scope. An interrupt has no scope: its single event has a duration. */
static bool test_duration(const struct filter_node *node, const struct event *event,
			  const struct filter_scope *scope)
{
	const char *name = scope ? scope->name : event->name;
	struct kevent kevent;
	uint64_t duration;

	if (scope)
		duration = scope->duration;
	else if (event->type == POSIXTRACE_IRQ && kevent_read(event, &kevent))
		duration = (uint64_t)kevent.duration;
	else
		return false;
	return !fnmatch(node->pattern, name, 0) &&
	       decide(node->test, duration < node->number ? -1 : duration > node->number);
}

static bool test_name(const struct filter_node *node, const struct event *event)
{
	enum { UNKNOWN, MATCHES, DIFFERS } verdict = UNKNOWN;

	if (event->type < TYPES)
		verdict = node->verdicts[event->type];
	if (verdict == UNKNOWN)
		verdict = fnmatch(node->pattern, event->name, 0) ? DIFFERS : MATCHES;
	if (event->type < TYPES)
		node->verdicts[event->type] = verdict;
	return verdict == MATCHES;
}

static bool test_node(const struct filter_node *node, const struct event *event,
		      const struct filter_scope *scope)
{
	switch (node->kind) {
	case FILTER_NAME:
		return test_name(node, event);
	case FILTER_FIELD:
		return test_field(node, event, scope);
	case FILTER_DURATION:
		return test_duration(node, event, scope);
	case FILTER_NOT:
		return !test_node(node->left, event, scope);
	case FILTER_AND:
		return test_node(node->left, event, scope) && test_node(node->right, event, scope);
	case FILTER_OR:
		return test_node(node->left, event, scope) || test_node(node->right, event, scope);
	}
	return false;
}

bool filter_event(const struct filter *filter, const struct event *event,
		  const struct filter_scope *scope)
{
	return test_node(filter->root, event, scope);
}

void filter_forget(struct filter *filter)
{
	for (size_t i = 0; i < filter->nr_nodes; i++) {
		if (filter->nodes[i]->verdicts)
			memset(filter->nodes[i]->verdicts, 0, TYPES);
	}
}

/* ------------------------------------------------------------------ */
/* Names								*/

static enum filter_verdict judge(const struct filter_node *node, const char *name)
{
	enum filter_verdict left, right;

	switch (node->kind) {
	case FILTER_NAME:
		return fnmatch(node->pattern, name, 0) ? FILTER_NEVER : FILTER_ALWAYS;
	case FILTER_NOT:
		return FILTER_ALWAYS - judge(node->left, name);
	case FILTER_AND:
		left = judge(node->left, name);
		right = judge(node->right, name);
		return left < right ? left : right;
	case FILTER_OR:
		left = judge(node->left, name);
		right = judge(node->right, name);
		return left > right ? left : right;
	default:
		return FILTER_PERHAPS;
	}
}

enum filter_verdict filter_name(const struct filter *filter, const char *name)
{
	return judge(filter->root, name);
}

static bool has_kind(const struct filter *filter, enum filter_kind kind)
{
	for (size_t i = 0; i < filter->nr_nodes; i++) {
		if (filter->nodes[i]->kind == kind)
			return true;
	}
	return false;
}

bool filter_has_conditions(const struct filter *filter)
{
	return has_kind(filter, FILTER_FIELD) || has_kind(filter, FILTER_DURATION);
}

bool filter_has_durations(const struct filter *filter)
{
	return has_kind(filter, FILTER_DURATION);
}

const char *filter_plain_name(const struct filter *filter, size_t number)
{
	const char *found = NULL;
	size_t names = 0;

	for (size_t i = 0; i < filter->nr_nodes; i++) {
		const struct filter_node *node = filter->nodes[i];

		if (node->kind == FILTER_OR)
			continue;
		if (node->kind != FILTER_NAME || strpbrk(node->pattern, "*?[\\"))
			return NULL;
		if (names++ == number)
			found = node->pattern;
	}
	return found;
}
