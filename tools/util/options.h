/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the subcommands. The parser, --help, the option lists in the man pages
 * (scripts/options) and shell completion (tools/completion) all use the one table of each command.
 *
 * A letter means the same in all commands. Letters marked with "*" are reserved:
 *
 *	-a --all		-h --help		-p --pid
 *	-b --by			-i --inherit		-q --quiet
 *	-c --clock		-j --json		-r --rotate *
 *	-C --cpu		-k --kernel		-s --size, in bytes
 *	-d --seconds		-K --keep *		-S --states
 *	-f --filter		-m --max-events		-t --tid
 *	-F --follow		-n --events		-u --user
 *	-g call stacks *	-o --output		-v --verbose *
 *	-G --cgroup		-O --format		-V --version
 *				-w --when		-x --exclude
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
	OPTION_CHOICE,	/* stores the int value of one of @choices */
	OPTION_CALL,	/* calls a function with the value */
	OPTION_GROUP,	/* not an option: includes the options of another table */
};

/* The kind of words that completion offers as the value, if the option has no choices. */
enum option_value {
	OPTION_ANY,
	OPTION_FILE,
	OPTION_PID,
};

struct option_choice {
	const char *name;	/* NULL ends the list */
	int value;
};

struct command_option {
	enum option_kind kind;
	char letter;		/* 0: no letter */
	const char *name;
	const char *argument;	/* name of the value in the help; NULL: no value */
	const char *help;	/* without an initial capital letter or full stop */
	size_t offset;		/* where the target is in the structure passed to options_parse() */
	const struct option_choice *choices;	/* the words, or NULL */
	bool list;		/* the value is a comma-separated list of @choices */
	enum option_value value;
	unsigned long min;	/* for a number or size */
	unsigned long max;
	/*
	 * Called with the value. Returns 0 or a negative error number; -EINVAL after reporting an
	 * error.
	 */
	int (*call)(void *target, const struct command_option *option, const char *value);
	const struct command_option *group;
};

/* Offset of a member. The member must have the type that this kind of option stores. */
#define OPTION_TARGET(type, member, wanted) \
	((size_t)(0 ? (wanted *)0 : &((type *)0)->member))
#define OPTION_BOOL_AT(type, member)	.offset = OPTION_TARGET(type, member, bool)
#define OPTION_TEXT_AT(type, member)	.offset = OPTION_TARGET(type, member, const char *)
#define OPTION_NUMBER_AT(type, member)	.offset = OPTION_TARGET(type, member, unsigned long)
#define OPTION_SIZE_AT(type, member)	.offset = OPTION_TARGET(type, member, size_t)
#define OPTION_CHOICE_AT(type, member)	.offset = OPTION_TARGET(type, member, int)

/* Includes the options of another table. Their targets are in @member. */
#define OPTION_GROUP_AT(type, member, table) \
	{ .kind = OPTION_GROUP, .offset = offsetof(type, member), .group = (table) }

/* Kinds of operands, for completion. */
enum {
	OPERAND_FILE = 1,
	OPERAND_PID = 2,
	OPERAND_PROGRAM = 4,	/* a program and its arguments; our options end before it */
};

/**
 * struct command - a subcommand
 * @name: its name
 * @summary: what it does, for the list of commands
 * @usage: its arguments, such as "[OPTION]... LOG"; one entry for each form, then NULL
 * @about: what it does, for --help
 * @notes: what --help prints after the options
 * @operands: OPERAND_*
 * @options: its options except --help, which all commands have
 * @run: runs the command; argv[0] is its name; returns the exit status: 0, 1 after a failure, 2
 *	after a usage error
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

/* options_parse() returns this if the command should run. */
#define OPTIONS_OK	(-1)

/**
 * options_parse() - parse the options of a command
 * @command: the command
 * @argc: number of arguments
 * @argv: arguments; operands are moved to the end and start at optind
 * @base: structure with the targets
 *
 * Return: OPTIONS_OK, or the exit status after printing an error or the help.
 */
int options_parse(const struct command *command, int argc, char **argv, void *base);

/**
 * option_number() - parse a number
 * @name: name of the value in an error message
 * @text: decimal digits
 * @min: smallest number
 * @max: largest number; ULONG_MAX for no limit
 * @number: where to store it
 *
 * Return: 0, or -EINVAL after printing an error.
 */
int option_number(const char *name, const char *text, unsigned long min, unsigned long max,
		  unsigned long *number);

/* option_choose() - find a choice by its name of @len bytes; NULL if there is no such choice */
const struct option_choice *option_choose(const struct command_option *option, const char *text,
					  size_t len);

/* option_refuse() - report that the value must be one of the choices; returns -EINVAL */
int option_refuse(const struct command_option *option, const char *text);

/**
 * options_size() - parse a number of bytes, which may end in K, M or G
 * @option: for messages; min and max are its limits
 * @text: the number
 * @size: where to store the bytes
 *
 * Return: 0; -EINVAL after printing an error.
 */
int options_size(const struct command_option *option, const char *text, size_t *size);

#endif /* POSIXTRACE_OPTIONS_H */
