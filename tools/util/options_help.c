// SPDX-License-Identifier: GPL-2.0
/*
 * Prints tables of options: see options_help.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/options_help.h"

#define OPTIONS_MAX	64
#define LINE_WIDTH	92
#define HELP_COLUMN_MAX	30

/* The options of a command, sorted by name. */
struct sorted {
	const struct command_option *options[OPTIONS_MAX];
	size_t count;
};

const struct command_option options_help[] = {
	{ .kind = OPTION_FLAG, .letter = 'h', .name = "help", .help = "print this help" },
	{ }
};

void options_each(const struct command_option *options, void *base,
		  void (*visit)(const struct command_option *option, void *target, void *arg),
		  void *arg)
{
	for (; options && options->kind != OPTION_END; options++) {
		void *target = base ? (char *)base + options->offset : NULL;

		if (options->kind == OPTION_GROUP)
			options_each(options->group, target, visit, arg);
		else
			visit(options, target, arg);
	}
}

static void collect(const struct command_option *option, void *target, void *arg)
{
	struct sorted *sorted = arg;

	(void)target;
	if (sorted->count < OPTIONS_MAX)
		sorted->options[sorted->count++] = option;
}

static int compare(const void *a, const void *b)
{
	const struct command_option *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void sort(struct sorted *sorted, const struct command *command)
{
	options_each(command->options, NULL, collect, sorted);
	options_each(options_help, NULL, collect, sorted);
	qsort(sorted->options, sorted->count, sizeof(sorted->options[0]), compare);
}

/* ------------------------------------------------------------------ */
/* For people								*/

/* Writes "  -s, --size=BYTES". Returns the number of columns. */
static int put_names(char *to, size_t size, const struct command_option *option)
{
	char letter[] = "    ";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	return snprintf(to, size, "  %s--%s%s%s", letter, option->name,
			option->argument ? "=" : "", option->argument ? option->argument : "");
}

/* Prints a text starting at a column, and breaks lines between words. */
static void print_text(const char *text, int column)
{
	int at = column;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (at > column && at + 1 + len > LINE_WIDTH) {
			printf("\n%*s", column, "");
			at = column;
		}
		at += printf("%s%.*s", at > column ? " " : "", len, text);
		text += len;
		text += *text == ' ';
	}
	putchar('\n');
}

void options_print_help(const struct command *command)
{
	struct sorted sorted = { };
	int column = 0, width;
	char names[80];

	for (size_t i = 0; command->usage[i]; i++)
		printf("%s posixtrace %s%s%s\n", i ? "      " : "Usage:", command->name,
		       *command->usage[i] ? " " : "", command->usage[i]);
	printf("%s\n\n", command->about);
	sort(&sorted, command);
	for (size_t i = 0; i < sorted.count; i++) {
		width = put_names(names, sizeof(names), sorted.options[i]) + 2;
		if (width > column && width <= HELP_COLUMN_MAX)
			column = width;
	}
	for (size_t i = 0; i < sorted.count; i++) {
		width = put_names(names, sizeof(names), sorted.options[i]);
		if (width + 2 > column)
			printf("%s\n%*s", names, column, "");
		else
			printf("%-*s", column, names);
		print_text(sorted.options[i]->help, column);
	}
	printf("\n%s\n", command->notes);
}

/* ------------------------------------------------------------------ */
/* For programs								*/

static void print_values(const struct command_option *option)
{
	static const char *const values[] = {
		[OPTION_ANY] = "any",
		[OPTION_FILE] = "file",
		[OPTION_PID] = "pid",
	};
	const struct option_choice *choice = option->choices;

	if (!option->argument) {
		putchar('-');
	} else if (!choice) {
		printf("%s", values[option->value]);
	} else {
		printf("%s", option->list ? "list" : "one");
		for (; choice->name; choice++)
			printf(" %s", choice->name);
	}
}

void options_print_list(const struct command *command)
{
	struct sorted sorted = { };

	for (size_t i = 0; command->usage[i]; i++)
		printf("usage\t%s\n", command->usage[i]);
	printf("operands\t%s%s%s\n", command->operands & OPERAND_FILE ? "file " : "",
	       command->operands & OPERAND_PID ? "pid " : "",
	       command->operands & OPERAND_PROGRAM ? "program " : "");
	sort(&sorted, command);
	for (size_t i = 0; i < sorted.count; i++) {
		const struct command_option *option = sorted.options[i];

		printf("option\t%c\t%s\t%s\t", option->letter ? option->letter : '-',
		       option->name, option->argument ? option->argument : "-");
		print_values(option);
		printf("\t%s\n", option->help);
	}
}
