// SPDX-License-Identifier: GPL-2.0
/*
 * Queries that have a name: see named.h.
 */
#include <errno.h>
#include <string.h>

#include "query/named.h"
#include "util/message.h"

#define PARAMETER	"-- parameter "

/* queries.inc is generated from the files, with a line QUERY(number, name, text) for each. */
#define QUERY(number, name, text)	{ name, number },
const struct option_choice named_choices[] = {
#include "query/queries.inc"
	{ }
};

#undef QUERY

#define QUERY(number, name, text)	text,
static const char *const texts[] = {
#include "query/queries.inc"
};

#undef QUERY

const char *named_text(int query)
{
	return texts[query];
}

bool named_needs_each(int query)
{
	return strstr(texts[query], "\n-- logs: each on its own\n");
}

/* ------------------------------------------------------------------ */
/* Parameters								*/

/* Finds the next parameter in @text. Returns its name, of @len bytes, or NULL. */
static const char *next_parameter(const char *text, int *len)
{
	const char *at = strstr(text, "\n" PARAMETER);

	if (!at)
		return NULL;
	at += strlen("\n" PARAMETER);
	*len = (int)strcspn(at, ":\n");
	return at;
}

static size_t name_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyz_");
}

int named_add_value(void *target, const struct command_option *option, const char *text)
{
	struct named_values *values = target;
	const size_t len = name_length(text);

	if (!len || text[len] != '=') {
		tell("--%s: must be NAME=VALUE, the name in lower-case letters (got \"%s\")",
		     option->name, text);
		return -EINVAL;
	}
	if (values->count == NAMED_VALUES) {
		tell("--%s: at most %d parameters", option->name, NAMED_VALUES);
		return -EINVAL;
	}
	values->texts[values->count++] = text;
	return 0;
}

static bool has_parameter(int query, const char *value)
{
	const char *at = texts[query];
	int len;

	while ((at = next_parameter(at, &len))) {
		if ((size_t)len == name_length(value) && !strncmp(at, value, (size_t)len))
			return true;
	}
	return false;
}

int named_check(int query, const struct named_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		const char *value = values->texts[i];

		if (has_parameter(query, value))
			continue;
		tell("--set: %s has no parameter %.*s: posixtrace query --list names them",
		     named_choices[query].name, (int)name_length(value), value);
		return -EINVAL;
	}
	return 0;
}

void named_set(struct buffer *sql, const struct named_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		const char *text = values->texts[i];
		const size_t len = name_length(text);

		buffer_printf(sql, "SET VARIABLE \"%.*s\" = '", (int)len, text);
		for (const char *at = text + len + 1; *at; at++) {
			if (*at == '\'')
				buffer_byte(sql, '\'');
			buffer_byte(sql, (unsigned char)*at);
		}
		buffer_text(sql, "';\n");
	}
}

/* ------------------------------------------------------------------ */
/* The list								*/

/* Returns the question: the second line of the query, without "-- ". */
static const char *question_of(int query, int *len)
{
	const char *at = strchr(texts[query], '\n') + strlen("\n-- ");

	*len = (int)strcspn(at, "\n");
	return at;
}

void named_list(FILE *to)
{
	for (int i = 0; named_choices[i].name; i++) {
		const char *at;
		int len;

		at = question_of(i, &len);
		fprintf(to, "%-20s  %.*s\n", named_choices[i].name, len, at);
		while ((at = next_parameter(at, &len)))
			fprintf(to, "%-20s    %.*s\n", "", (int)strcspn(at, "\n"), at);
	}
}
