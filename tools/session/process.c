// SPDX-License-Identifier: GPL-2.0
/*
 * Starts the program to trace and forwards signals to it. session.c creates its stream.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/process.h"
#include "util/message.h"

/* In the child process: waits for process_go(), then executes the program. Does not return. */
static void become_program(const struct process *process, int begin)
{
	char byte;
	int err;

	if (read(begin, &byte, 1) != 1)
		_exit(126);
	if (process->no_stdout && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	sigaction(SIGCHLD, &process->old_child, NULL);
	if (process->takes_request)
		sigaction(SIGUSR1, &process->old_request, NULL);
	sigprocmask(SIG_SETMASK, &process->old_mask, NULL);
	execvp(process->argv[0], process->argv);
	err = errno;
	complain(process->argv[0], err);
	send(begin, &err, sizeof(err), MSG_NOSIGNAL);
	_exit(err == ENOENT ? 127 : 126);
}

static int start_program(struct process *process)
{
	const struct sigaction wait_for_children = { .sa_handler = SIG_DFL };
	int begin[2];

	/* If SIGCHLD were ignored, the exit status of the child would be lost. */
	sigaction(SIGCHLD, &wait_for_children, &process->old_child);

	/*
	 * Use a socket, not a pipe: with MSG_NOSIGNAL, there is no SIGPIPE if the child has been
	 * killed.
	 */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, begin))
		return errno;
	process->pid = fork();
	if (process->pid < 0) {
		int err = errno;

		close(begin[0]);
		close(begin[1]);
		return err;
	}
	if (process->pid == 0) {
		close(begin[1]);
		become_program(process, begin[0]);
	}
	close(begin[0]);
	process->go = begin[1];
	return 0;
}

void process_take_requests(struct process *process)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	process->takes_request = true;
	/* signalfd() also reads blocked signals that are ignored. */
	sigaction(SIGUSR1, &ignore, &process->old_request);
}

int process_begin(struct process *process)
{
	sigset_t *mask = &process->signals;
	struct sigaction hangup;
	int err;

	process->go = -1;
	sigemptyset(mask);
	/* Keep SIGHUP ignored under nohup(1). */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(mask, SIGHUP);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGTERM);
	if (process->seconds)
		sigaddset(mask, SIGALRM);
	if (process->takes_request)
		sigaddset(mask, SIGUSR1);
	process->sigfd = signalfd(-1, mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (process->sigfd < 0)
		return errno;
	sigprocmask(SIG_BLOCK, mask, &process->old_mask);
	if (!process->argv)
		return 0;
	err = start_program(process);
	if (err) {
		sigprocmask(SIG_SETMASK, &process->old_mask, NULL);
		close(process->sigfd);
	}
	return err;
}

/*
 * Waits until the child has executed the program or has failed. A successful exec closes the
 * child's end of the socket; otherwise the child sends an error number. Also returns after a
 * signal, because the file system may take long.
 */
static bool was_executed(const struct process *process)
{
	struct pollfd fds[] = {
		{ .fd = process->go, .events = POLLIN },
		{ .fd = process->sigfd, .events = POLLIN },
	};
	int err;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return recv(process->go, &err, sizeof(err), MSG_DONTWAIT) != sizeof(err);
}

bool process_go(struct process *process)
{
	const struct itimerval timer = { .it_value.tv_sec = (time_t)process->seconds };
	bool begun;

	if (process->seconds && setitimer(ITIMER_REAL, &timer, NULL))
		complain("--seconds", errno);
	if (process->go < 0)
		return true;
	if (send(process->go, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
		complain("starting the program", errno);
	begun = was_executed(process);
	close(process->go);
	process->go = -1;
	return begun;
}

bool process_signal(struct process *process)
{
	struct signalfd_siginfo info;

	if (read(process->sigfd, &info, sizeof(info)) != sizeof(info))
		return false;
	/* process_end() has set @seconds to 0 if the tracing has already ended. */
	if (info.ssi_signo == SIGALRM)
		return process->seconds;
	if (info.ssi_signo == SIGUSR1) {
		process->requested = true;
		return false;
	}
	if (process->argv && !process->forwarded) {
		process->forwarded = true;
		/*
		 * A signal from the terminal (SI_KERNEL) also goes to the program, so do not
		 * forward it.
		 */
		if (info.ssi_code != SI_KERNEL)
			kill(process->pid, info.ssi_signo);
		return false;
	}
	process->signal = info.ssi_signo;
	return true;
}

/* Returns false if a signal ended the wait. */
static bool wait_for_program(struct process *process)
{
	struct pollfd fds[] = {
		{ .fd = pidfd_open(process->pid, 0), .events = POLLIN },
		{ .fd = process->sigfd, .events = POLLIN },
	};
	bool wait = true;

	/* Without a pidfd, wait for the program only. Signals remain pending until it ends. */
	if (fds[0].fd < 0)
		return true;
	while (wait && !fds[0].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (!fds[0].revents && fds[1].revents)
			wait = !process_signal(process);
	}
	close(fds[0].fd);
	return wait;
}

static int program_status(struct process *process)
{
	int status;

	if (process->go >= 0) {
		close(process->go);
	} else if (process->signal || !wait_for_program(process)) {
		if (waitpid(process->pid, &status, WNOHANG) == process->pid)
			goto ended;
		tell("%s (process %d) is still running", process->argv[0], (int)process->pid);
		return 128 + process->signal;
	}
	while (waitpid(process->pid, &status, 0) != process->pid) {
		if (errno != EINTR) {
			complain(process->argv[0], errno);
			return 1;
		}
	}
ended:
	process->ended = true;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_end(struct process *process)
{
	int status;

	process->seconds = 0;
	status = process->argv ? program_status(process) : 0;
	sigprocmask(SIG_SETMASK, &process->old_mask, NULL);
	close(process->sigfd);
	return status;
}
