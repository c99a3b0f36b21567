// SPDX-License-Identifier: GPL-2.0
/*
 * A program that has trace points and is not traced. It sets a signpost before the constructors of
 * all libraries, and another one after its events.
 */
#include "syscalls.h"
#include "trace_test.h"

#define EVENTS	1000

static void before_constructors(void)
{
	signpost();
}

__attribute__((__section__(".preinit_array"), __used__))
static void (*const preinit)(void) = before_constructors;

int main(void)
{
	for (int i = 0; i < EVENTS; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	signpost();
	return 0;
}
