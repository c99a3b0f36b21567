// SPDX-License-Identifier: GPL-2.0
/*
 * A program on a terminal: terminal_helper TEXT PROGRAM [ARG]... prints what the
 * program writes there, and types Ctrl-C once it has written TEXT. Ends as the
 * program does.
 */
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char seen[1 << 16];
	int terminal, status, typed = 0;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (argc < 3)
		return 100;
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid < 0)
		return 101;
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	/* The end is an error, EIO. */
	while (len < sizeof(seen) - 1) {
		n = read(terminal, seen + len, sizeof(seen) - 1 - len);
		if (n <= 0)
			break;
		if (write(STDOUT_FILENO, seen + len, n) != n)
			return 102;
		len += n;
		if (!typed && strstr(seen, argv[1])) {
			typed = 1;
			if (write(terminal, "\3", 1) != 1)
				return 103;
		}
	}
	if (waitpid(pid, &status, 0) != pid)
		return 104;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
