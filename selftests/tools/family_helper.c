// SPDX-License-Identifier: GPL-2.0
/*
 * A program with a child that outlives it. Each records an event, the child after its parent has
 * exited.
 */
#include <string.h>
#include <trace.h>
#include <unistd.h>

int main(void)
{
	trace_event_id_t family;
	int end[2];
	pid_t pid;
	char byte;

	if (posix_trace_eventid_open("family", &family) || pipe(end))
		return 101;
	pid = fork();
	if (pid < 0)
		return 102;
	if (pid == 0) {
		close(end[1]);
		/* Returns when the parent has exited. */
		if (read(end[0], &byte, 1) != 0)
			return 103;
		posix_trace_event(family, "child", strlen("child") + 1);
		return 0;
	}
	posix_trace_event(family, "parent", strlen("parent") + 1);
	return 0;
}
