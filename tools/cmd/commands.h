/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands of the posixtrace command. Each gets its own name as argv[0] and returns
 * the exit status: 0, 1 after a failure, 2 after a usage error.
 */
#ifndef POSIXTRACE_COMMANDS_H
#define POSIXTRACE_COMMANDS_H

#include <stdarg.h>

int posixtrace_dump(int argc, char **argv);
int posixtrace_export(int argc, char **argv);
int posixtrace_list(int argc, char **argv);
int posixtrace_live(int argc, char **argv);
int posixtrace_load(int argc, char **argv);
int posixtrace_record(int argc, char **argv);
int posixtrace_stat(int argc, char **argv);
int posixtrace_status(int argc, char **argv);
int posixtrace_unload(int argc, char **argv);

/* tell(), vtell() - print a line on standard error, escaped as escape_message() does */
__attribute__((format(printf, 1, 2)))
void tell(const char *format, ...);
__attribute__((format(printf, 1, 0)))
void vtell(const char *format, va_list args);

/*
 * usage_error() - print what is wrong with the arguments of a command, and where its help is.
 * Returns 2, the exit status.
 */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *command, const char *format, ...);

/* complain() - print on standard error what failed and the text of the error number @err */
void complain(const char *what, int err);

/* complain_of_output() - report, only once, that standard output could not be written */
void complain_of_output(int err);

#endif /* POSIXTRACE_COMMANDS_H */
