// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the contents of a log: "NAME TEXT" for each user event.
 *
 * usage: events_helper LOG
 */
#include <fcntl.h>
#include <stdio.h>
#include <trace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int err, fd, none;
	trace_id_t log;
	char data[256];
	size_t len;

	if (argc != 2)
		return 100;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[1]);
		return 101;
	}
	err = posix_trace_open(fd, &log);
	while (!err) {
		err = posix_trace_getnext_event(log, &info, data, sizeof(data) - 1, &len, &none);
		if (err || none)
			break;
		if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		err = posix_trace_eventid_get_name(log, info.posix_event_id, name);
		data[len] = '\0';
		printf("%s %s\n", name, data);
	}
	return err;
}
