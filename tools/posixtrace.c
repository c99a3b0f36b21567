// SPDX-License-Identifier: GPL-2.0
/*
 * The posixtrace command: dispatches to its subcommands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <posixtrace.h>

#include "commands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "dump", posixtrace_dump, "print the events of a log" },
	{ "export", posixtrace_export, "write a log in a format that other programs read" },
	{ "list", posixtrace_list, "programs with trace points, streams, event types" },
	{ "live", posixtrace_live, "print the events of a process as they happen" },
	{ "load", posixtrace_load, "insert the module into the kernel" },
	{ "record", posixtrace_record, "record the events of a process into a log" },
	{ "stat", posixtrace_stat, "count the events of a log or process, and measure times" },
	{ "status", posixtrace_status, "state, limits and features of the module" },
	{ "unload", posixtrace_unload, "remove the module from the kernel" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("posixtrace: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

void complain(const char *what, int err)
{
	if (err == ENODEV)
		tell("%s: the module is not there: \"posixtrace load\" as root loads it", what);
	else
		tell("%s: %s", what, strerror(err));
}

void complain_of_output(int err)
{
	static bool told;

	if (!told)
		complain("standard output", err);
	told = true;
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
		"  -V, --version  version of command and library\n\n"
		"Exit status: 0, 1 after a failure, 2 when called wrongly; that of a program\n"
		"that is traced.\n");
}

static int run(int argc, char **argv)
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
		tell("no command \"%s\"", name);
	print_help(stderr);
	return 2;
}

/*
 * A log that is opened as descriptor 1 would get what is printed. A closed descriptor gets a
 * file that refuses it, and that the traced program does not inherit.
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

/* Some of it may still be in memory. A file system may refuse data as late as at the close. */
static int close_output(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fclose(stdout) && !failed)
		return status;
	complain_of_output(errno ? errno : EIO);
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	int err = occupy_descriptors();

	/* Each line is one write, so that the traced program cannot write into its middle. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	if (err) {
		complain("/dev/null", -err);
		return 1;
	}
	return close_output(run(argc, argv));
}
