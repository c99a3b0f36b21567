// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command with a simulated module of the given ABI version.
 *
 * usage: standin_helper VERSION COMMAND...
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "standin.h"

int main(int argc, char **argv)
{
	int listener = refuse_commands(&standin_filter);
	pid_t child, standin;
	int status = -1;

	if (argc < 3 || listener < 0)
		return 255;
	standin = fork();
	if (standin == 0) {
		standin_run(listener, (__u32)strtoul(argv[1], NULL, 0));
		_exit(0);
	}
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(child, &status, 0);
	kill(standin, SIGKILL);
	waitpid(standin, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
