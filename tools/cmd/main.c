// SPDX-License-Identifier: GPL-2.0
/*
 * The posixtrace command: runs the subcommand named by its first argument.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <unistd.h>

#include <posixtrace.h>

#include "cmd/commands.h"
#include "util/message.h"
#include "util/pager.h"

static const struct command *const commands[] = {
	&command_dump,
	&command_export,
	&command_list,
	&command_live,
	&command_load,
	&command_query,
	&command_record,
	&command_snapshot,
	&command_stat,
	&command_status,
	&command_top,
	&command_unload,
	&command_why,
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

/*
 * Replaces a function of the static library that turns a program into its own flight recorder if
 * POSIXTRACE_RECORD is set. The variable is meant for the programs that the user observes, not for
 * this command.
 */
void pxtu_flight_start(void)
{
}

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace COMMAND [OPTION]...\n"
		"Trace programs that have POSIX trace points.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fprintf(to,
		"\n  -h, --help     print this help; posixtrace COMMAND --help describes a command\n"
		"  -V, --version  print the version of command and library\n\n"
		"Exit status: 0; 1 after a failure; 2 after a usage error; the exit status of the\n"
		"program, if the command ran one.\n");
}

/* For shell completion and the man pages: see options_print_list(). */
static void print_list(void)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("command\t%s\t%s\n", commands[i]->name, commands[i]->summary);
	printf("option\th\thelp\t-\t-\tprint this help\n");
	printf("option\tV\tversion\t-\t-\tprint the version of command and library\n");
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(name, commands[i]->name))
			return commands[i]->run(argc - 1, argv + 1);
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
	if (!strcmp(name, "--list-options")) {
		print_list();
		return 0;
	}
	if (!*name)
		tell("needs a COMMAND");
	else if (*name == '-')
		tell("%s: no such option", name);
	else
		tell("unknown command \"%s\"", name);
	print_help(stderr);
	return 2;
}

/*
 * Opens the standard descriptors that are closed. Otherwise a log could become descriptor 1 and
 * receive the output of the command. Each replacement has the wrong access mode, so that using it
 * fails. The traced program does not inherit it.
 */
static int occupy_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd)
			return -errno;
	}
	return 0;
}

/* Output may still be buffered, and some file systems report write errors only at close. */
static int close_output(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fclose(stdout) && !failed)
		return status;
	complain_of_output(errno ? errno : EIO);
	return status ? status : 1;
}

/*
 * Replaces the mapping of the gate, which the library has created in this process. This command
 * does not record events, but the mapping would count it as a user of the module and as a program
 * with trace points.
 */
static void leave_module(void)
{
	mmap((void *)__posix_trace_gate, sizeof(__posix_trace_gate), PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(int argc, char **argv)
{
	int status, err = occupy_descriptors();

	leave_module();
	/* Write whole lines, so that output of the traced program cannot split them. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	if (err) {
		complain("/dev/null", -err);
		return 1;
	}
	status = close_output(run(argc, argv));
	pager_end();
	return status;
}
