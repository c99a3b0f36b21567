/* SPDX-License-Identifier: MIT */
/* The header of a log, and reading of its file. */
#ifndef PXTU_LOGHEAD_H
#define PXTU_LOGHEAD_H

#include "log/log.h"

/**
 * pxtu_log_read() - read from the file
 * @log: the log
 * @to: where to write it
 * @len: bytes
 * @offset: offset in the file
 *
 * Return: bytes read, fewer only at the end of the file; negative errno.
 */
ssize_t pxtu_log_read(struct pxtu_log *log, void *to, size_t len, __u64 offset);

/**
 * pxtu_log_failed() - return and clear the error of this process
 * @log: the log
 *
 * After an error, such as missing memory, the results do not show the contents of the file.
 *
 * Return: 0; -ENOMEM or -EFAULT if a call failed since this was last called.
 */
int pxtu_log_failed(struct pxtu_log *log);

/**
 * pxtu_log_reaches() - is the file at least this long?
 * @log: the log
 * @end: offset
 *
 * If not, checks its size again, and that the descriptor is still the same file.
 */
bool pxtu_log_reaches(struct pxtu_log *log, __u64 end);

/**
 * pxtu_log_head_read() - read and check the header
 * @log: with an open descriptor
 *
 * Return: 0; -EINVAL if the file is no log that we can read; other negative errno.
 */
int pxtu_log_head_read(struct pxtu_log *log);

#endif /* PXTU_LOGHEAD_H */
