/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a query in a child process with a temporary directory, which is removed however the child
 * ends.
 */
#ifndef POSIXTRACE_ISOLATE_H
#define POSIXTRACE_ISOLATE_H

/**
 * isolate_run() - run a function in a child process
 * @run: gets @arg and the path of an empty directory; returns the exit status. Runs with the
 *	signals of the caller
 * @arg: for @run
 *
 * The directory is in TMPDIR, otherwise in /var/tmp. Passes signals that end the command to the
 * child; then removes the directory and ends in the same way.
 *
 * Return: the exit status of the child, or 1 after printing an error.
 */
int isolate_run(int (*run)(void *arg, const char *folder), void *arg);

#endif /* POSIXTRACE_ISOLATE_H */
