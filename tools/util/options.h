/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the subcommands. Each command has one table: the parser, --help, the lists of options
 * in the man pages (scripts/options) and the completion in shells (tools/completion) use it.
 *
 * One letter means one thing in all commands. The letters marked with "*" are reserved:
 *
 *	-a --all		-h --help		-p --pid
 *	-b --by *		-i --inherit		-q --quiet
 *	-c --clock		-j --json		-r --rotate *
 *	-C --cpu *		-k --kernel		-s --size, in bytes
 *	-d --seconds		-K --keep *		-S --states
 *	-f --filter		-m --max-events		-t --tid
 *	-F --follow		-n --events *		-u --user *
 *	-g call stacks *	-o --output		-v --verbose *
 *	-G --cgroup *		-O --format		-V --version
 *				-w --when *		-x --exclude
 *
 * All other options have no letter.
 */
#ifndef POSIXTRACE_OPTIONS_H
#define POSIXTRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
	OPTION_END,
	OPTION_FLAG,	/* sets a bool */
	OPTION_CLEAR,	/* clears a bool */
	OPTION_TEXT,	/* stores the value */
	OPTION_NUMBER,	/* stores an unsigned long */
	OPTION_SIZE,	/* stores a size_t, in bytes; the value may end in K, M, G */
	OPTION_CHOICE,	/* stores the int of one of several words */
	OPTION_CALL,	/* calls a function with the value */
	OPTION_GROUP,	/* not an option: the table has all options of another one */
};

/* What completion offers as value, if the option has no choices. */
enum option_value {
	OPTION_ANY,
	OPTION_FILE,
	OPTION_PID,
};

struct option_choice {
	const char *name;	/* NULL: the end of the list */
	int value;
};

struct command_option {
	enum option_kind kind;
	char letter;		/* 0: none */
	const char *name;
	const char *argument;	/* name of the value in the help, or NULL */
	const char *help;	/* a sentence without capital and full stop */
	size_t offset;		/* of the target in the structure that options_parse() gets */
	const struct option_choice *choices;	/* the words, or NULL */
	bool list;		/* the value is a list of @choices, separated by commas */
	enum option_value value;
	unsigned long min;	/* of a number or size */
	unsigned long max;
	/* Returns 0, or a negative error number: -EINVAL after a complaint about the value. */
	int (*call)(void *target, const struct command_option *option, const char *value);
	const struct command_option *group;
};

/* Offset of a member, which must have the type that the kind of option stores. */
#define OPTION_TARGET(type, member, wanted) \
	((size_t)(0 ? (wanted *)0 : &((type *)0)->member))
#define OPTION_BOOL_AT(type, member)	.offset = OPTION_TARGET(type, member, bool)
#define OPTION_TEXT_AT(type, member)	.offset = OPTION_TARGET(type, member, const char *)
#define OPTION_NUMBER_AT(type, member)	.offset = OPTION_TARGET(type, member, unsigned long)
#define OPTION_SIZE_AT(type, member)	.offset = OPTION_TARGET(type, member, size_t)
#define OPTION_CHOICE_AT(type, member)	.offset = OPTION_TARGET(type, member, int)

/* Another table as a part of this one; its targets are in the member. */
#define OPTION_GROUP_AT(type, member, table) \
	{ .kind = OPTION_GROUP, .offset = offsetof(type, member), .group = (table) }

/* Arguments that are not options, for completion. */
enum {
	OPERAND_FILE = 1,
	OPERAND_PID = 2,
	OPERAND_PROGRAM = 4,	/* and its arguments: options end before it */
};

/**
 * struct command - a subcommand
 * @name: its name
 * @summary: what it does, for the list of commands
 * @usage: its arguments, as in "[OPTION]... LOG"; one entry for each form, then NULL
 * @about: what it does, for --help
 * @notes: what --help prints after the options
 * @operands: OPERAND_*
 * @options: without --help, which all commands have
 * @run: gets the name as argv[0]; returns the exit status: 0, 1 after a failure, 2 after a usage
 *	error
 */
struct command {
	const char *name;
	const char *summary;
	const char *const *usage;
	const char *about;
	const char *notes;
	unsigned int operands;
	const struct command_option *options;
	int (*run)(int argc, char **argv);
};

/* options_parse() returns this if the command shall run. */
#define OPTIONS_OK	(-1)

/**
 * options_parse() - handle the options
 * @command: the command
 * @argc: number of arguments
 * @argv: arguments; those that are not options become the last ones, from optind on
 * @base: structure with the targets
 *
 * Return: OPTIONS_OK; or the exit status, after a complaint or the help.
 */
int options_parse(const struct command *command, int argc, char **argv, void *base);

/**
 * option_number() - parse a number
 * @name: what to call the value in a complaint
 * @text: decimal digits
 * @min: smallest number
 * @max: largest number; ULONG_MAX for no limit
 * @number: where to store it
 *
 * Return: 0, or -EINVAL after a complaint.
 */
int option_number(const char *name, const char *text, unsigned long min, unsigned long max,
		  unsigned long *number);

/* option_choose() - find one of the choices by its name, of @len bytes; NULL if it is not one */
const struct option_choice *option_choose(const struct command_option *option, const char *text,
					  size_t len);

/* option_refuse() - say that the value has to be one of the choices; returns -EINVAL */
int option_refuse(const struct command_option *option, const char *text);

#endif /* POSIXTRACE_OPTIONS_H */
