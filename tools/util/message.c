// SPDX-License-Identifier: GPL-2.0
/*
 * Messages on standard error: see message.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/escape.h"
#include "util/message.h"

static struct buffer *kept;

void message_keep(struct buffer *to)
{
	kept = to;
}

void vtell(const char *format, va_list args)
{
	struct buffer line = { };
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	/* File and event names may contain any bytes, including terminal escape sequences. */
	escape_message(&line, text, strlen(text));
	free(text);
	if (kept) {
		buffer_reset(kept);
		buffer_put(kept, line.data, line.len);
	} else if (!line.failed) {
		fprintf(stderr, "posixtrace: %.*s\n", (int)line.len, (const char *)line.data);
	}
	buffer_free(&line);
}

void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vtell(format, args);
	va_end(args);
}

int usage_error(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vtell(format, args);
	va_end(args);
	tell("see \"posixtrace %s --help\"", command);
	return 2;
}

void complain(const char *what, int err)
{
	if (err == ENODEV)
		tell("%s: the module is not loaded; run \"posixtrace load\" as root", what);
	else
		tell("%s: %s", what, strerror(err));
}

void complain_of_output(int err)
{
	static bool told;

	if (!told && err == EINTR)
		tell("standard output: interrupted while waiting for the reader");
	else if (!told)
		complain("standard output", err);
	told = true;
}

int end_output(void)
{
	if (!fflush(stdout))
		return 0;
	complain_of_output(errno);
	return -EIO;
}
