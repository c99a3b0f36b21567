// SPDX-License-Identifier: GPL-2.0
/*
 * writes_helper PROGRAM [ARG]... runs a program, and prints to the standard error what the
 * program writes there: each write in brackets. Ends as the program does.
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

	/* A pipe of packets: each read gets what one write has put there. */
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
