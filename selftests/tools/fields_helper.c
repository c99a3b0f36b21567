// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace, with descriptions of its events. It records two events of type "cache" and
 * one of type "idle". With a FIFO, it opens the types, writes to the FIFO, and reads from it before
 * it records events.
 *
 * usage: fields_helper [FIFO]
 */
#include <fcntl.h>
#include <posixtrace.h>
#include <trace.h>
#include <unistd.h>

static int synchronize(const char *path)
{
	char byte;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "ready\n", 6) != 6 || close(fd))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		int op;
		unsigned int len;
	} get = { 0, 10 }, set = { 1, 5000 };
	trace_event_id_t cache, idle;

	if (posix_trace_eventid_open("cache", &cache) || posix_trace_eventid_open("idle", &idle) ||
	    posixtrace_eventid_describe(cache, "struct { enum { get, set } op; u32 len \"B\"; }"))
		return 101;
	if (argc > 1 && synchronize(argv[1]))
		return 102;
	posix_trace_event(cache, &get, sizeof(get));
	posix_trace_event(cache, &set, sizeof(set));
	posix_trace_event(idle, "\001", 1);
	return 0;
}
