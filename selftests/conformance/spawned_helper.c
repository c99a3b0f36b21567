// SPDX-License-Identifier: GPL-2.0
/*
 * A program for posix_spawn(): for each argument, records an event with that number.
 */
#include <stdlib.h>
#include <trace.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int number = atoi(argv[i]);

		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
	}
	return 0;
}
