/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traced process and the signals that end the tracing. The process is either already running,
 * or a program that this command starts and that waits until its stream exists.
 */
#ifndef POSIXTRACE_PROCESS_H
#define POSIXTRACE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	char **argv;		/* program to start, or NULL */
	bool no_stdout;		/* redirect its standard output to standard error */
	unsigned long seconds;	/* end the tracing after so many seconds; 0: no limit */
	bool takes_request;	/* SIGUSR1 sets @requested: see process_take_requests() */

	int sigfd;		/* descriptor; call process_signal() when it is readable */
	int go;			/* socket that lets the program start; -1 after that */
	int signal;		/* signal that ended the tracing early, or 0 */
	bool forwarded;		/* a signal was forwarded to the program */
	bool requested;		/* SIGUSR1 has arrived; cleared by the caller */
	bool ended;		/* the program has ended, and process_end() returned its status */
	sigset_t signals;	/* that @sigfd reads */
	sigset_t old_mask;
	struct sigaction old_child;	/* previous action of SIGCHLD */
	struct sigaction old_request;	/* previous action of SIGUSR1 */
};

/*
 * process_take_requests() - let SIGUSR1 set @requested after process_begin(), and ignore it before
 * that, so that it never kills this command. The program gets the previous action.
 */
void process_take_requests(struct process *process);

/*
 * process_begin() - block signals and start the program, if any. The program waits for
 * process_go(). Returns 0 or an error number. After success, the caller must call process_end().
 */
int process_begin(struct process *process);

/*
 * process_go() - let the program start, now that its stream exists, and begin to count seconds. If
 * the program cannot be executed, prints an error and returns false. process_end() then returns the
 * exit status.
 */
bool process_go(struct process *process);

/*
 * process_signal() - handle a signal. Returns true if it ends the tracing. SIGALRM does so when the
 * seconds are over. The first other signal is forwarded to the program, so that the reaction of the
 * program is recorded.
 */
bool process_signal(struct process *process);

/*
 * process_end() - wait for the program to end. If process_go() was not called, the program never
 * runs. Returns the exit status of the program, or 128 plus the number of the signal that
 * terminated it; 0 without a program.
 */
int process_end(struct process *process);

#endif /* POSIXTRACE_PROCESS_H */
