/* SPDX-License-Identifier: MIT */
/* The header of a log, and access to its file. */
#ifndef PXTU_LOGHEAD_H
#define PXTU_LOGHEAD_H

#include "log/log.h"

/**
 * pxtu_log_read() - read from the file
 * @log: the log
 * @to: buffer
 * @len: bytes
 * @offset: offset in the file
 *
 * Return: bytes read, fewer only at the end of the file; negative errno.
 */
ssize_t pxtu_log_read(struct pxtu_log *log, void *to, size_t len, __u64 offset);

/**
 * pxtu_log_failed() - return and clear an error other than damage to the file
 * @log: the log
 *
 * After such an error, for example out of memory, the results do not reflect the file.
 *
 * Return: 0; -ENOMEM or -EFAULT if a call has failed since the last call of this function;
 * -EOPNOTSUPP if a block was found that requires a newer library.
 */
int pxtu_log_failed(struct pxtu_log *log);

/**
 * pxtu_log_reaches() - check if the file is at least this long
 * @log: the log
 * @end: offset
 *
 * If the last known size is smaller, gets the size again, and checks that the descriptor still
 * refers to the same file.
 */
bool pxtu_log_reaches(struct pxtu_log *log, __u64 end);

/**
 * pxtu_log_head_read() - read and check the header
 * @log: with an open descriptor
 *
 * Return: 0; -EINVAL if the file is not a log that this version can read; other negative errno.
 */
int pxtu_log_head_read(struct pxtu_log *log);

#endif /* PXTU_LOGHEAD_H */
