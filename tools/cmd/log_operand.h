/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operands LOG of the commands that read logs.
 */
#ifndef POSIXTRACE_LOG_OPERAND_H
#define POSIXTRACE_LOG_OPERAND_H

#include <stddef.h>

/* The log that "record" writes and other commands read if the user names no log. */
#define LOG_DEFAULT	"posixtrace.log"

/**
 * struct logs - the logs to read as one; initially all zero
 * @paths: path of each log, for source_open_logs()
 * @count: number of logs
 * @name: name of the logs in messages
 * @owned: NULL, or an array of allocated paths that ends with NULL
 * @text: memory of @name
 */
struct logs {
	const char **paths;
	size_t count;
	const char *name;
	char **owned;
	char text[64];
};

/**
 * log_operands() - get the logs to read from the operands
 * @command: name of the command, for an error
 * @argc: number of arguments
 * @argv: arguments; operands begin at optind; must remain valid
 * @logs: where to store the logs, or LOG_DEFAULT without operands; free with logs_free()
 *
 * Replaces a directory by the logs in it.
 *
 * Return: OPTIONS_OK, or the exit status after printing an error.
 */
int log_operands(const char *command, int argc, char **argv, struct logs *logs);

/* logs_free() - free the paths; may be called after an error, and if @logs is all zero */
void logs_free(struct logs *logs);

#endif /* POSIXTRACE_LOG_OPERAND_H */
