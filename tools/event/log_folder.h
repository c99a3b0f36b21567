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
 * @paths: result: an array with the path of each log, sorted by name with numbers in numerical
 *	order; the caller frees each path and the array
 * @count: number of logs, at least 1
 *
 * A file counts as a log if it begins like a log or a compressed file. So that damaged logs are not
 * missed, any file named "*.log" counts as well. Ignores subdirectories and hidden files.
 *
 * Return: 0; -ECANCELED after printing an error.
 */
int log_folder_read(const char *path, char ***paths, size_t *count);

#endif /* POSIXTRACE_LOG_FOLDER_H */
