/* SPDX-License-Identifier: MIT */
/* Where the gate of this process is. */
#ifndef PXTU_GATE_H
#define PXTU_GATE_H

#include "common/pxtu.h"

/* What trace.h declares, for those who do without the inline there. */
extern unsigned int __posix_trace_gate[];

/**
 * pxtu_gate() - the gate of this process
 *
 * Open for everything until this process has attached.
 *
 * Return: always the same address.
 */
static inline const struct posixtrace_gate *pxtu_gate(void)
{
	return (const struct posixtrace_gate *)(const void *)__posix_trace_gate;
}

/**
 * pxtu_gate_map() - put the gate of this process in its place
 * @fd: descriptor with the role of a target
 * @map: what can be mapped as the gate
 *
 * Async-signal-safe. Changes errno.
 *
 * Return: 0 or negative errno: then it is as before anybody attached: open.
 */
int pxtu_gate_map(int fd, const struct posixtrace_map *map);

/**
 * pxtu_gate_shut() - shut the gate: nobody can open it
 *
 * Async-signal-safe. Changes errno.
 */
void pxtu_gate_shut(void);

#endif /* PXTU_GATE_H */
