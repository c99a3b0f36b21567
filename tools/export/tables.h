/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of a log, for "posixtrace export" and "posixtrace query".
 */
#ifndef POSIXTRACE_TABLES_H
#define POSIXTRACE_TABLES_H

#include "export/export.h"
#include "export/table.h"
#include "util/options.h"

/* Names of all tables. */
extern const struct option_choice tables_names[];

/**
 * tables_choose() - add the tables in a list
 * @target: the mask of tables, unsigned int
 * @option: an option with tables_names as choices
 * @value: names with commas between them
 *
 * Return: 0, or -EINVAL after printing an error.
 */
int tables_choose(void *target, const struct command_option *option, const char *value);

/* tables_are_many() - check if a mask has more than one table; 0 means all */
bool tables_are_many(unsigned int tables);

/**
 * tables_export() - write the tables of a log
 * @export: the log, with the mask of tables, and with the sink if the format has no files
 * @format: how to write the rows
 *
 * Return: 0 or a negative error number.
 */
int tables_export(struct export *export, const struct table_format *format);

#endif /* POSIXTRACE_TABLES_H */
