// SPDX-License-Identifier: MIT
/*
 * Prints why a program has no flight recorder: one line on standard error.
 */
#include <stdio.h>
#include <string.h>

#include "common/sys.h"
#include "record/flight.h"

#define MESSAGE_MAX	512

/*
 * A value of the environment may contain anything. Show only printable ASCII: some of the other
 * bytes are control characters in Latin-1 or in UTF-8 (C1).
 */
static void print(char *line, int len)
{
	int i;

	if (len < 0)
		return;
	if (len > MESSAGE_MAX - 2)
		len = MESSAGE_MAX - 2;
	for (i = 0; i < len; i++) {
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	}
	line[len] = '\n';
	pxtu_tell(line, (size_t)len + 1);
}

int pxtu_flight_refuse(const char *variable, const char *why, const char *value, size_t len)
{
	char line[MESSAGE_MAX];

	print(line, snprintf(line, sizeof(line), "posixtrace: %s: %s (got \"%.*s\")", variable, why,
			     len < 100 ? (int)len : 100, value));
	return -EINVAL;
}

static const char *explain(int err)
{
	switch (err) {
	case -ENODEV:
		return "the module is not loaded: see posixtrace-load(1)";
	case -EPERM:
		return "not permitted: see \"Permissions\" in posixtrace(4)";
	case -EOPNOTSUPP:
		return "the module does not support this: see \"posixtrace status\"";
	case -EAGAIN:
		return "too many streams, or too many logs lately: see \"posixtrace list\"";
	case -ENOMEM:
		return "not enough memory, or the limit of locked memory is too low: see ulimit -l";
	case -EEXIST:
		return "all names with a number exist as well";
	case -EINVAL:
		return "the file cannot be a log";
	default:
		return strerror(-err);
	}
}

void pxtu_flight_complain(const char *log, int err)
{
	char line[MESSAGE_MAX];

	print(line, snprintf(line, sizeof(line), "posixtrace: %s: %s: %s", PXTU_FLIGHT_FILE, log,
			     explain(err)));
}
