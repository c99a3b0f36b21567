// SPDX-License-Identifier: GPL-2.0
/*
 * The posixtrace command: dispatches to its subcommands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <posixtrace.h>

#include "commands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "dump", posixtrace_dump, "print the events of a log" },
	{ "export", posixtrace_export, "write a log in a format that other programs read" },
	{ "info", posixtrace_info, "limits and features of the module" },
	{ "stat", posixtrace_stat, "count the events of a log or process, and measure times" },
	{ "watch", posixtrace_watch, "print the events of a process as they happen" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

void complain(const char *what, int err)
{
	if (err == ENODEV)
		fprintf(stderr, "posixtrace: %s: no /dev/posixtrace; is the module loaded?\n",
			what);
	else
		fprintf(stderr, "posixtrace: %s: %s\n", what, strerror(err));
}

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace COMMAND [OPTION]...\n"
		"Trace programs that have POSIX trace points.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].help);
	fprintf(to,
		"\n  -h, --help     this text; posixtrace COMMAND --help tells more\n"
		"  -V, --version  version of command and library\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help")) {
		print_help(stdout);
		return 0;
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		printf("posixtrace %d.%d, libposixtrace %s\n", POSIXTRACE_VERSION_MAJOR,
		       POSIXTRACE_VERSION_MINOR, posixtrace_version());
		return 0;
	}
	if (*name)
		fprintf(stderr, "posixtrace: no command \"%s\"\n", name);
	print_help(stderr);
	return 2;
}
