// SPDX-License-Identifier: GPL-2.0
/*
 * Opens a log in a process and in its child, reads it, and closes it unless the second argument
 * is "open". Both processes call exit(), where a tool can look for leaks.
 *
 * usage: opens_log LOG close|open
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

static bool read_log(const char *path, bool closes)
{
	struct posix_trace_event_info event;
	int fd = open(path, O_RDONLY), none;
	trace_id_t trid;
	char data[64];
	size_t len;

	if (fd < 0 || posix_trace_open(fd, &trid))
		return false;
	do {
		if (posix_trace_getnext_event(trid, &event, data, sizeof(data), &len, &none))
			return false;
	} while (!none);
	close(fd);
	return !closes || !posix_trace_close(trid);
}

int main(int argc, char **argv)
{
	const bool closes = argc == 3 && !strcmp(argv[2], "close");
	int status;
	pid_t pid;

	if (argc != 3 || !read_log(argv[1], closes))
		return 1;
	pid = fork();
	if (pid == 0)
		exit(read_log(argv[1], closes) ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status ? 2 : 0;
}
