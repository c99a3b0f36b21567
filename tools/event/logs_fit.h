/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks if several logs can be read as one.
 */
#ifndef POSIXTRACE_LOGS_FIT_H
#define POSIXTRACE_LOGS_FIT_H

#include <stddef.h>

#include "event/reader.h"

/**
 * logs_fit() - check that logs are different ones
 * @readers: the logs
 * @count: number of logs
 *
 * Return: 0; -ECANCELED after printing why not.
 */
int logs_fit(struct reader *const *readers, size_t count);

#endif /* POSIXTRACE_LOGS_FIT_H */
