/* SPDX-License-Identifier: MIT */
/* Where the gate of this process is. */
#ifndef PXTU_GATE_H
#define PXTU_GATE_H

#include "common/pxtu.h"

/* trace.h declares it, too, unless its inline is switched off. */
extern unsigned int __posix_trace_gate[];

/**
 * pxtu_gate() - the gate of this process
 *
 * It is open for all event types until the process attaches, which it does before main().
 *
 * Return: always the same address.
 */
static inline const struct posixtrace_gate *pxtu_gate(void)
{
	return (const struct posixtrace_gate *)(const void *)__posix_trace_gate;
}

/**
 * pxtu_gate_mapped() - is the gate of the module in its place?
 *
 * It shows what the process wants to record, also in a child. While a child of vfork() runs, it is
 * the gate of the process that the memory belongs to.
 *
 * Return: yes or no.
 */
bool pxtu_gate_mapped(void);

/**
 * pxtu_gate_absent() - was the module absent at the last try?
 *
 * Return: yes or no; the gate is shut then.
 */
bool pxtu_gate_absent(void);

/**
 * pxtu_gate_map() - put the gate of this process in its place
 * @fd: descriptor with the role of a target
 * @map: the memory of the gate
 *
 * Async-signal-safe. Changes errno.
 *
 * Return: 0; negative errno, and the gate is open as before the process attached.
 */
int pxtu_gate_map(int fd, const struct posixtrace_map *map);

/**
 * pxtu_gate_shut() - shut the gate; no stream can open it
 *
 * Async-signal-safe. Changes errno.
 */
void pxtu_gate_shut(void);

#endif /* PXTU_GATE_H */
