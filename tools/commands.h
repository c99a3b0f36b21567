/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands of the posixtrace command. Each gets its own name as argv[0]
 * and returns the exit status: 0, 1 after a failure, 2 when called wrongly.
 */
#ifndef POSIXTRACE_COMMANDS_H
#define POSIXTRACE_COMMANDS_H

int posixtrace_dump(int argc, char **argv);
int posixtrace_export(int argc, char **argv);
int posixtrace_info(int argc, char **argv);
int posixtrace_stat(int argc, char **argv);
int posixtrace_watch(int argc, char **argv);

/* complain() - say on standard error what failed and why (an error number) */
void complain(const char *what, int err);

#endif /* POSIXTRACE_COMMANDS_H */
