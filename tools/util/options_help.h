/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints the options of a command: as help for people, or as a list for programs.
 */
#ifndef POSIXTRACE_OPTIONS_HELP_H
#define POSIXTRACE_OPTIONS_HELP_H

#include "util/options.h"

/* The option --help, which all commands have. */
extern const struct command_option options_help[];

/**
 * options_each() - step through a table and its groups
 * @options: the table
 * @base: structure with the targets, or NULL
 * @visit: called for each option, with its target
 * @arg: argument for @visit
 */
void options_each(const struct command_option *options, void *base,
		  void (*visit)(const struct command_option *option, void *target, void *arg),
		  void *arg);

/* options_print_help() - print what --help shows */
void options_print_help(const struct command *command);

/**
 * options_print_list() - print the table of a command
 * @command: the command
 *
 * Each line has fields separated by tabs:
 *
 *	usage	ARGUMENTS
 *	operands	WORD...
 *	option	LETTER	NAME	ARGUMENT	VALUES	HELP
 *
 * Each WORD is file, pid or program. LETTER, ARGUMENT and VALUES are "-" if the option lacks them.
 * VALUES is any, file or pid, or it is "one" or "list" followed by the choices.
 */
void options_print_list(const struct command *command);

#endif /* POSIXTRACE_OPTIONS_HELP_H */
