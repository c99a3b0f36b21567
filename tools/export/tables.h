/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tables "posixtrace export" writes, with the formats csv, jsonl and arrow.
 */
#ifndef POSIXTRACE_TABLES_H
#define POSIXTRACE_TABLES_H

#include "util/options.h"

/* Names of all tables. */
extern const struct option_choice tables_names[];

/**
 * tables_choose() - add the tables in a list
 * @target: the mask of tables, unsigned int
 * @option: has @tables_names as choices
 * @value: names with commas between them
 *
 * Return: 0, or -EINVAL after printing an error.
 */
int tables_choose(void *target, const struct command_option *option, const char *value);

/* tables_are_many() - check if a mask has more than one table; 0 means all */
bool tables_are_many(unsigned int tables);

#endif /* POSIXTRACE_TABLES_H */
