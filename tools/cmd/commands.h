/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The posixtrace subcommands.
 */
#ifndef POSIXTRACE_COMMANDS_H
#define POSIXTRACE_COMMANDS_H

#include "util/options.h"

extern const struct command command_dump;
extern const struct command command_export;
extern const struct command command_list;
extern const struct command command_live;
extern const struct command command_load;
extern const struct command command_query;
extern const struct command command_record;
extern const struct command command_snapshot;
extern const struct command command_stat;
extern const struct command command_status;
extern const struct command command_top;
extern const struct command command_unload;
extern const struct command command_why;

/* Defined in the library; main.c replaces it with an empty function. */
void pxtu_flight_start(void);

#endif /* POSIXTRACE_COMMANDS_H */
