// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace. The text of each event is its location: "FUNCTION FILE:LINE".
 *
 * usage: symbols_helper
 */
#include <stdio.h>
#include <string.h>
#include <trace.h>

#define NOINLINE	__attribute__((noinline))

static trace_event_id_t place;

static void say(const char *function, int line, char *text, size_t size)
{
	snprintf(text, size, "%s %s:%d", function, __FILE__, line);
}

NOINLINE static void first(void)
{
	char text[64];

	say(__func__, __LINE__ + 1, text, sizeof(text));
	posix_trace_event(place, text, strlen(text));
	__asm__ volatile("");
}

NOINLINE static void second(void)
{
	char text[64];

	say(__func__, __LINE__ + 1, text, sizeof(text));
	posix_trace_event(place, text, strlen(text));
	__asm__ volatile("");
}

int main(void)
{
	if (posix_trace_eventid_open("place", &place))
		return 1;
	first();
	second();
	return 0;
}
