/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Critical paths in a Perfetto trace. Each explained instance gets a track with its path as slices.
 * Each wait gets a flow to the thread that ended it.
 */
#ifndef POSIXTRACE_PERFETTO_WHY_H
#define POSIXTRACE_PERFETTO_WHY_H

#include <stdint.h>
#include <sys/types.h>

#include "export/explain.h"
#include "export/perfetto_packets.h"

/**
 * struct perfetto_why_ops - functions of the caller
 * @has: check if the paths of a process are to be written
 * @track: describe the track of a path, and return its id; @index is from explain_get()
 * @thread: return the id of the track of a thread, 0 if it has no track
 * @flush: write the packets if there are many; returns 0 or a negative error number
 */
struct perfetto_why_ops {
	bool (*has)(void *to, pid_t pid);
	uint64_t (*track)(void *to, size_t index, const char *name);
	uint64_t (*thread)(void *to, pid_t pid, uint64_t key);
	int (*flush)(void *to);
};

/**
 * perfetto_why_put() - write the critical paths, after all other events
 * @explain: the instances to write
 * @packets: where to append
 * @ops: functions of the caller, called with @to
 * @to: first argument of @ops
 *
 * Return: 0 or a negative error number.
 */
int perfetto_why_put(const struct explain *explain, struct packets *packets,
		     const struct perfetto_why_ops *ops, void *to);

#endif /* POSIXTRACE_PERFETTO_WHY_H */
