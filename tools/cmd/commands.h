/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands of the posixtrace command. Each gets its own name as argv[0] and returns
 * the exit status: 0, 1 after a failure, 2 after a usage error.
 */
#ifndef POSIXTRACE_COMMANDS_H
#define POSIXTRACE_COMMANDS_H

int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_unload(int argc, char **argv);

#endif /* POSIXTRACE_COMMANDS_H */
