/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that is traced: one that runs already, or a program that is started,
 * and waits until its stream is there. And the signals that end the tracing.
 */
#ifndef POSIXTRACE_PROCESS_H
#define POSIXTRACE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	char **argv;		/* program to be started, or NULL */
	bool no_stdout;		/* its standard output goes where its errors go */

	int sigfd;		/* readable: call process_signal() */
	int go;			/* tells the program to begin; -1 afterwards */
	int signal;		/* that ended the tracing before its time, or 0 */
	bool forwarded;		/* the program got a signal */
	sigset_t old_mask;
};

/*
 * process_begin() - block signals, and start the program if there is one: it waits
 * for process_go(). Returns 0 or an error number. process_end() comes after it.
 */
int process_begin(struct process *process);

/*
 * process_go() - the stream is there. False if the program cannot be executed: it was said why,
 * and process_end() tells the exit status.
 */
bool process_go(struct process *process);

/*
 * process_signal() - a signal came: is it to end the tracing? The first one is the
 * program's, which may have something to record about it.
 */
bool process_signal(struct process *process);

/*
 * process_end() - wait for the end of the program; one that was not told to go never
 * begins. Returns its exit status: 128 and its number for a signal; 0 without program.
 */
int process_end(struct process *process);

#endif /* POSIXTRACE_PROCESS_H */
