/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a part of a command in a child process with a temporary directory. The directory is removed
 * even if the child crashes.
 */
#ifndef POSIXTRACE_ISOLATE_H
#define POSIXTRACE_ISOLATE_H

/**
 * isolate_run() - run a function in a child process
 * @user: name of the command, for the name of the directory and for messages
 * @run: the function; gets @arg and the path of an empty directory; returns the exit status. The
 *	signal mask is that of the caller
 * @arg: first argument of @run
 *
 * The directory is in TMPDIR, otherwise in /var/tmp. A signal that ends the command is forwarded to
 * the child. When the child has ended, isolate_run() removes the directory and ends this process by
 * the same signal.
 *
 * Return: the exit status of the child, or 1 after printing an error.
 */
int isolate_run(const char *user, int (*run)(void *arg, const char *folder), void *arg);

#endif /* POSIXTRACE_ISOLATE_H */
