/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes kernel events as a CTF trace with the names and fields of LTTng's kernel tracer, so that
 * LTTng's analyses work with them.
 */
#ifndef POSIXTRACE_CTF_KERNEL_H
#define POSIXTRACE_CTF_KERNEL_H

#include "event/source.h"
#include "export/export.h"

struct ctf_kernel;

/**
 * ctf_kernel_new() - begin a kernel trace
 * @export: the log
 * @directory: the output directory. The first event creates the directory of the trace in it.
 * @kernel: where to store it
 *
 * Return: 0 or a negative error number.
 */
int ctf_kernel_new(struct export *export, int directory, struct ctf_kernel **kernel);

/**
 * ctf_kernel_event() - process an event
 * @kernel: from ctf_kernel_new()
 * @event: any event, in the order of the log
 *
 * User events are needed as well: they show which threads run.
 *
 * Return: 1 if the event is in this trace, 0 if not, or a negative error number.
 */
int ctf_kernel_event(struct ctf_kernel *kernel, const struct event *event);

/**
 * ctf_kernel_end() - end the trace
 * @kernel: from ctf_kernel_new()
 * @changed: incremented by the number of events whose time had to be changed to fit into CTF
 *
 * Return: 0 or a negative error number.
 */
int ctf_kernel_end(struct ctf_kernel *kernel, uint64_t *changed);

void ctf_kernel_free(struct ctf_kernel *kernel);

#endif /* POSIXTRACE_CTF_KERNEL_H */
