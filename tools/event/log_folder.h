/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the logs in a directory.
 */
#ifndef POSIXTRACE_LOG_FOLDER_H
#define POSIXTRACE_LOG_FOLDER_H

#include <stddef.h>

/**
 * log_folder_read() - find the logs in a directory
 * @path: the directory
 * @paths: result: an array with the path of each log, in the order of their names, in which numbers
 *	count as such; the caller frees each path, and the array
 * @count: number of logs, at least 1
 *
 * Takes each file that begins as a log or as a compressed file, or is named "*.log": a damaged log
 * must not be missed. Does not look into directories below, or at hidden files.
 *
 * Return: 0; -ECANCELED after printing an error.
 */
int log_folder_read(const char *path, char ***paths, size_t *count);

#endif /* POSIXTRACE_LOG_FOLDER_H */
