/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints messages on standard error.
 */
#ifndef POSIXTRACE_MESSAGE_H
#define POSIXTRACE_MESSAGE_H

#include <stdarg.h>

#include "util/buffer.h"

/* tell(), vtell() - print a line on standard error, escaped as escape_message() does */
__attribute__((format(printf, 1, 2)))
void tell(const char *format, ...);
__attribute__((format(printf, 1, 0)))
void vtell(const char *format, va_list args);

/*
 * message_keep() - store the last message in @to instead of printing it, while the terminal is used
 * for a screen; NULL: print messages again
 */
void message_keep(struct buffer *to);

/* usage_error() - report wrong arguments and point to the help; returns 2, the exit status */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *command, const char *format, ...);

/* complain() - print what failed and the text of the error number @err on standard error */
void complain(const char *what, int err);

/* complain_of_output() - report, only once, that writing to standard output failed */
void complain_of_output(int err);

/*
 * end_output() - flush standard output, and report if it could not be written
 *
 * Return: 0 or -EIO.
 */
int end_output(void);

#endif /* POSIXTRACE_MESSAGE_H */
