// SPDX-License-Identifier: GPL-2.0
/*
 * Executes a program with SIGCHLD ignored, which shells do not allow.
 *
 * usage: ignore_helper PROGRAM [ARGUMENT]...
 */
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 100;
	signal(SIGCHLD, SIG_IGN);
	execvp(argv[1], argv + 1);
	return 101;
}
