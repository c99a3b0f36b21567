// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program, and prints each of its writes to standard error in brackets, on standard error.
 * Exits with the exit status of the program.
 *
 * usage: writes_helper PROGRAM [ARG]...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[PIPE_BUF];
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	/* A packet pipe: each read returns the data of one write. */
	if (argc < 2 || pipe2(ends, O_DIRECT | O_CLOEXEC))
		return 100;
	pid = fork();
	if (pid < 0)
		return 101;
	if (pid == 0) {
		if (dup2(ends[1], STDERR_FILENO) < 0)
			_exit(102);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], text, sizeof(text))) > 0)
		fprintf(stderr, "[%.*s]", (int)n, text);
	if (waitpid(pid, &status, 0) != pid)
		return 103;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
