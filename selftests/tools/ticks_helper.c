// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace. It records COUNT events of type "tick" or NAME and one event of type "raw",
 * and exits with status STATUS.
 *
 * usage: ticks_helper COUNT STATUS [NAME]
 */
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>

int main(int argc, char **argv)
{
	unsigned char bytes[3] = { 0xde, 0xad, 0x01 };
	trace_event_id_t tick, raw;
	char text[32];
	int len;

	if (argc < 3)
		return 100;
	if (posix_trace_eventid_open(argc > 3 ? argv[3] : "tick", &tick) ||
	    posix_trace_eventid_open("raw", &raw))
		return 101;
	for (int i = 0; i < atoi(argv[1]); i++) {
		len = snprintf(text, sizeof(text), "number %d", i);
		posix_trace_event(tick, text, len + 1);
	}
	posix_trace_event(raw, bytes, sizeof(bytes));
	return atoi(argv[2]);
}
