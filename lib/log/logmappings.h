/* SPDX-License-Identifier: MIT */
/* The files that processes had mapped, according to a log. */
#ifndef PXTU_LOGMAPPINGS_H
#define PXTU_LOGMAPPINGS_H

#include "log/log.h"

/**
 * pxtu_log_add_mappings() - add the mappings in a block
 * @log: the log
 * @block: a block of type MAPPINGS with a good payload
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_add_mappings(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_mapping() - find the file that a process had mapped at an address, at a given time
 * @log: the log
 * @task: ids of the process, and the time; may have any values
 * @address: any address
 * @info: result
 *
 * Return: 0; -ENOENT if it is not in the log so far; -ENOMEM.
 */
int pxtu_log_mapping(struct pxtu_log *log, const struct pxtu_task *task, __u64 address,
		     struct posixtrace_mapping_info *info);

/**
 * pxtu_log_mappings() - get mappings of all processes
 * @log: the log
 * @infos: result
 * @count: room there; receives the number of mappings, 0 after the last one
 * @next: number of the first one in the order of processes and times; receives the next number
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_mappings(struct pxtu_log *log, struct posixtrace_mapping_info *infos, size_t *count,
		      __u64 *next);

#endif /* PXTU_LOGMAPPINGS_H */
