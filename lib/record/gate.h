/* SPDX-License-Identifier: MIT */
/* The gate of this process. */
#ifndef PXTU_GATE_H
#define PXTU_GATE_H

#include "common/pxtu.h"

/* Also declared in trace.h, unless its inline is disabled. */
extern unsigned int __posix_trace_gate[];

/**
 * pxtu_gate() - the gate of this process
 *
 * It is open for all event types until the process attaches, which it does before main().
 *
 * Return: the gate; the address never changes.
 */
static inline const struct posixtrace_gate *pxtu_gate(void)
{
	return (const struct posixtrace_gate *)(const void *)__posix_trace_gate;
}

/**
 * pxtu_gate_mapped() - check if the gate of the module is mapped
 *
 * The mapped gate shows what to record, also in a child. While a child of vfork() runs, the gate
 * belongs to the process that owns the memory.
 *
 * Return: true if it is mapped.
 */
bool pxtu_gate_mapped(void);

/**
 * pxtu_gate_absent() - check if the module was absent at the last attempt
 *
 * Return: true if it was; then the gate is shut.
 */
bool pxtu_gate_absent(void);

/**
 * pxtu_gate_map() - map the gate of this process
 * @fd: descriptor with the role of a target
 * @map: the memory of the gate
 *
 * Async-signal-safe. Changes errno.
 *
 * Return: 0; negative errno, then the gate is open as before the process attached.
 */
int pxtu_gate_map(int fd, const struct posixtrace_map *map);

/**
 * pxtu_gate_shut() - shut the gate, so that no stream can open it
 *
 * Async-signal-safe. Changes errno.
 */
void pxtu_gate_shut(void);

#endif /* PXTU_GATE_H */
