/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operand LOG of the commands that read a log.
 */
#ifndef POSIXTRACE_LOG_OPERAND_H
#define POSIXTRACE_LOG_OPERAND_H

/* The log that "record" writes and that the others read, unless another is named. */
#define LOG_DEFAULT	"posixtrace.log"

/**
 * log_operand() - get the log to read from the operands
 * @command: name of the command, for an error
 * @argc: number of arguments
 * @argv: arguments; operands begin at optind
 * @path: where to store the log, which is LOG_DEFAULT without operands
 *
 * Return: OPTIONS_OK, or the exit status after printing an error.
 */
int log_operand(const char *command, int argc, char **argv, const char **path);

#endif /* POSIXTRACE_LOG_OPERAND_H */
