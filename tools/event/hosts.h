/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hosts on which several logs were recorded. A host is one boot of one machine: the logs of a
 * boot have the same clock, processes and processors.
 *
 * Different hosts may have equal process ids, thread ids and processor numbers. Within the
 * command, these contain the number of the host, so no code can confuse them. If all logs are from
 * one host, they are the plain numbers.
 */
#ifndef POSIXTRACE_HOSTS_H
#define POSIXTRACE_HOSTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/reader.h"

#define HOSTS_ID_BITS	22	/* the kernel's PID_MAX_LIMIT is 4194304 */
#define HOSTS_CPU_BITS	13	/* a log has at most 8192 processors */
#define HOSTS_MAX	((1U << (31 - HOSTS_ID_BITS)) - 1)

struct hosts;

/**
 * hosts_new() - find the hosts of logs
 * @readers: the logs
 * @count: number of logs
 * @hosts: where to store the hosts
 *
 * Return: 0 or -ENOMEM; -ECANCELED after printing that a host is unknown, or that there are too
 * many.
 */
int hosts_new(struct reader *const *readers, size_t count, struct hosts **hosts);

/* hosts_count() - get the number of hosts; 1 if @hosts is NULL */
unsigned int hosts_count(const struct hosts *hosts);

/*
 * hosts_of() - get the number of the host of a log, from 1; 0 if there is only one, or if @hosts is
 * NULL
 */
unsigned int hosts_of(const struct hosts *hosts, size_t log);

/* hosts_name() - get the unique name of a host, from its number; "" for 0 */
const char *hosts_name(const struct hosts *hosts, unsigned int host);

void hosts_free(struct hosts *hosts);

/**
 * hosts_id() - make a process or thread id unique among hosts
 * @host: number of the host, from hosts_of()
 * @id: the id in the log; only its lower HOSTS_ID_BITS count if there are several hosts
 *
 * Return: the id. No id of a process, as 0, remains 0.
 */
static inline pid_t hosts_id(unsigned int host, int64_t id)
{
	const uint32_t low = (uint32_t)id & ((1U << HOSTS_ID_BITS) - 1);

	if (!host)
		return (pid_t)id;
	return low ? (pid_t)(host << HOSTS_ID_BITS | low) : 0;
}

/* hosts_plain_id() - get the id in the log from hosts_id(); @count: number of hosts */
static inline pid_t hosts_plain_id(unsigned int count, pid_t id)
{
	return count > 1 ? (pid_t)((uint32_t)id & ((1U << HOSTS_ID_BITS) - 1)) : id;
}

/* hosts_of_id() - get the host from hosts_id(); 0 if the id is 0; @count: number of hosts */
static inline unsigned int hosts_of_id(unsigned int count, pid_t id)
{
	return count > 1 ? (uint32_t)id >> HOSTS_ID_BITS : 0;
}

/* hosts_cpu() - make the number of a processor unique among hosts */
static inline uint32_t hosts_cpu(unsigned int host, uint32_t cpu)
{
	return host && cpu < 1U << HOSTS_CPU_BITS ? host << HOSTS_CPU_BITS | cpu : cpu;
}

/* hosts_plain_cpu() - get the number in the log from hosts_cpu() */
static inline uint32_t hosts_plain_cpu(unsigned int count, uint32_t cpu)
{
	return count > 1 ? cpu & ((1U << HOSTS_CPU_BITS) - 1) : cpu;
}

#endif /* POSIXTRACE_HOSTS_H */
