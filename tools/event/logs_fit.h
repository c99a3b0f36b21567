/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks if several logs can be read as one.
 */
#ifndef POSIXTRACE_LOGS_FIT_H
#define POSIXTRACE_LOGS_FIT_H

#include <stddef.h>

#include "event/hosts.h"
#include "event/reader.h"

/**
 * logs_fit() - check that logs are different ones, and that times of one host are in order
 * @readers: the logs
 * @count: number of logs
 * @hosts: their hosts
 *
 * Return: 0; -ECANCELED after printing why not.
 */
int logs_fit(struct reader *const *readers, size_t count, const struct hosts *hosts);

#endif /* POSIXTRACE_LOGS_FIT_H */
