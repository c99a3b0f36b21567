/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the kernel as a CTF trace with the names and fields of LTTng's kernel tracer, so that
 * the analyses for its traces recognise them.
 */
#ifndef POSIXTRACE_CTF_KERNEL_H
#define POSIXTRACE_CTF_KERNEL_H

#include "event/source.h"
#include "export/export.h"

struct ctf_kernel;

/**
 * ctf_kernel_new() - begin the trace
 * @export: the log
 * @directory: the output directory, in which the trace gets a directory with its first event
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
 * Events of the program show which threads run.
 *
 * Return: 1 if the event is in this trace, 0 if not, or a negative error number.
 */
int ctf_kernel_event(struct ctf_kernel *kernel, const struct event *event);

/**
 * ctf_kernel_end() - end the trace
 * @kernel: from ctf_kernel_new()
 * @changed: add the number of events whose time CTF could not store
 *
 * Return: 0 or a negative error number.
 */
int ctf_kernel_end(struct ctf_kernel *kernel, uint64_t *changed);

void ctf_kernel_free(struct ctf_kernel *kernel);

#endif /* POSIXTRACE_CTF_KERNEL_H */
