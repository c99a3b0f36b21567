// SPDX-License-Identifier: GPL-2.0
/*
 * Parses options by the table of the command: see options.h.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/message.h"
#include "util/options.h"
#include "util/options_help.h"

#define OPTIONS_MAX	64	/* options of a command, at most */
#define FIRST_ID	256	/* ids of options, in table order, start here, above all letters */

/* The options of a command in the form for getopt_long(). */
struct parser {
	const struct command *command;
	const struct command_option *options[OPTIONS_MAX];
	void *targets[OPTIONS_MAX];
	size_t count;
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
};

/* ------------------------------------------------------------------ */
/* Values								*/

int option_number(const char *name, const char *text, unsigned long min, unsigned long max,
		  unsigned long *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!errno && !*end && isdigit((unsigned char)*text) && value >= min && value <= max) {
		*number = value;
		return 0;
	}
	if (max == ULONG_MAX)
		tell("%s: must be at least %lu (got \"%s\")", name, min, text);
	else
		tell("%s: must be a number from %lu to %lu (got \"%s\")", name, min, max, text);
	return -EINVAL;
}

int options_size(const struct command_option *option, const char *text, size_t *size)
{
	static const char units[] = "KMG";
	unsigned long value;
	const char *unit;
	int shift = 0;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (errno || *end || !isdigit((unsigned char)*text) || value > option->max >> shift) {
		tell("--%s: must be at most %lu bytes, such as 4096 or 4K (got \"%s\")",
		     option->name, option->max, text);
		return -EINVAL;
	}
	if (value << shift < option->min) {
		tell("--%s: must be at least %lu (got \"%s\")", option->name, option->min, text);
		return -EINVAL;
	}
	*size = value << shift;
	return 0;
}

int option_refuse(const struct command_option *option, const char *text)
{
	const struct option_choice *choice = option->choices;
	char words[256];
	size_t len = 0;

	for (; choice->name && len < sizeof(words); choice++) {
		const char *before = choice == option->choices ? "" :
				     choice[1].name ? ", " : " or ";

		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s", before,
					choice->name);
	}
	tell("--%s: must be %s (got \"%s\")", option->name, words, text);
	return -EINVAL;
}

const struct option_choice *option_choose(const struct command_option *option, const char *text,
					  size_t len)
{
	const struct option_choice *choice = option->choices;

	while (choice->name && (strlen(choice->name) != len || memcmp(choice->name, text, len)))
		choice++;
	return choice->name ? choice : NULL;
}

static int parse_choice(const struct command_option *option, const char *text, int *value)
{
	const struct option_choice *choice = option_choose(option, text, strlen(text));

	if (!choice)
		return option_refuse(option, text);
	*value = choice->value;
	return 0;
}

static int set_target(const struct command_option *option, void *target, const char *value)
{
	char name[32];

	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)target = true;
		return 0;
	case OPTION_CLEAR:
		*(bool *)target = false;
		return 0;
	case OPTION_TEXT:
		*(const char **)target = value;
		return 0;
	case OPTION_NUMBER:
		snprintf(name, sizeof(name), "--%s", option->name);
		return option_number(name, value, option->min, option->max, target);
	case OPTION_SIZE:
		return options_size(option, value, target);
	case OPTION_CHOICE:
		return parse_choice(option, value, target);
	default:
		return option->call(target, option, value);
	}
}

/* ------------------------------------------------------------------ */
/* Parsing								*/

static void add_option(const struct command_option *option, void *target, void *arg)
{
	struct parser *parser = arg;
	size_t i = parser->count++;
	char *letter = parser->letters + strlen(parser->letters);

	if (i >= OPTIONS_MAX)
		abort();
	parser->options[i] = option;
	parser->targets[i] = target;
	parser->longs[i] = (struct option){
		.name = option->name,
		.has_arg = option->argument ? required_argument : no_argument,
		.val = FIRST_ID + (int)i,
	};
	if (option->letter) {
		*letter++ = option->letter;
		if (option->argument)
			*letter++ = ':';
		*letter = '\0';
	}
}

/* Finds the option for an id from getopt_long() or optopt; -1 if there is no such option. */
static int find_option(const struct parser *parser, int id)
{
	if (id >= FIRST_ID)
		return id - FIRST_ID;
	for (size_t i = 0; id && i < parser->count; i++) {
		if (parser->options[i]->letter == id)
			return (int)i;
	}
	return -1;
}

/* Reports an argument that is not an option or is an ambiguous prefix of options. */
static int refuse_name(const struct parser *parser, const char *text)
{
	int name_len = (int)strcspn(text, "=");
	char words[256];
	size_t len = 0;

	for (size_t i = 0; i < parser->count && len < sizeof(words); i++) {
		const char *name = parser->options[i]->name;

		if (!strncmp(name, text + 2, (size_t)name_len - 2))
			len += (size_t)snprintf(words + len, sizeof(words) - len, "%s--%s",
						len ? " or " : "", name);
	}
	if (len)
		return usage_error(parser->command->name, "%.*s: ambiguous: %s", name_len, text,
				   words);
	return usage_error(parser->command->name, "%.*s: no such option", name_len, text);
}

/* Reports why getopt_long() rejected an option. */
static int refuse(const struct parser *parser, int error, char *const *argv)
{
	const char *command = parser->command->name, *text = argv[optind - 1];
	int i = find_option(parser, optopt);

	if (i < 0 && optopt)
		return usage_error(command, "-%c: no such option", optopt);
	if (i < 0)
		return refuse_name(parser, text);
	if (error == ':')
		return usage_error(command, "--%s: needs a value, %s", parser->options[i]->name,
				   parser->options[i]->argument);
	return usage_error(command, "--%s: takes no value (got \"%s\")", parser->options[i]->name,
			   strchr(text, '=') ? strchr(text, '=') + 1 : "");
}

static int take_option(const struct parser *parser, int i, const char *value)
{
	const struct command_option *option = parser->options[i];
	char name[32];
	int err;

	if (option == options_help) {
		options_print_help(parser->command);
		return 0;
	}
	err = set_target(option, parser->targets[i], value);
	if (!err)
		return OPTIONS_OK;
	if (err == -EINVAL)
		return 2;
	snprintf(name, sizeof(name), "--%s", option->name);
	complain(name, -err);
	return 1;
}

int options_parse(const struct command *command, int argc, char **argv, void *base)
{
	struct parser parser = { .command = command };
	int id, status = OPTIONS_OK;

	/* Used by shell completion and the man pages. */
	if (argc == 2 && !strcmp(argv[1], "--list-options")) {
		options_print_list(command);
		return 0;
	}
	strcpy(parser.letters, command->operands & OPERAND_PROGRAM ? "+:" : ":");
	options_each(command->options, base, add_option, &parser);
	options_each(options_help, NULL, add_option, &parser);
	opterr = 0;
	while (status == OPTIONS_OK &&
	       (id = getopt_long(argc, argv, parser.letters, parser.longs, NULL)) != -1) {
		if (id == '?' || id == ':')
			status = refuse(&parser, id, argv);
		else
			status = take_option(&parser, find_option(&parser, id), optarg);
	}
	return status;
}
