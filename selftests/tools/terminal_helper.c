// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program on a terminal and prints its output. Types Ctrl-C when the output matches the
 * extended regular expression. Exits with the exit status of the program.
 *
 * usage: terminal_helper REGEX PROGRAM [ARG]...
 */
#include <pty.h>
#include <regex.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char seen[1 << 16];
	int terminal, status, typed = 0;
	size_t len = 0;
	regex_t regex;
	ssize_t n;
	pid_t pid;

	if (argc < 3 || regcomp(&regex, argv[1], REG_EXTENDED | REG_NOSUB))
		return 100;
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid < 0)
		return 101;
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	/* At the end, read() fails with EIO. */
	while (len < sizeof(seen) - 1) {
		n = read(terminal, seen + len, sizeof(seen) - 1 - len);
		if (n <= 0)
			break;
		if (write(STDOUT_FILENO, seen + len, n) != n)
			return 102;
		len += n;
		if (!typed && !regexec(&regex, seen, 0, NULL, 0)) {
			typed = 1;
			if (write(terminal, "\3", 1) != 1)
				return 103;
		}
	}
	regfree(&regex);
	if (waitpid(pid, &status, 0) != pid)
		return 104;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
