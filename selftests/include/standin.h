/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulates a module of another version: a process answers the command INFO of processes that have
 * a filter of seccomp.h with @notify. The real module answers all other commands.
 */
#ifndef _SELFTESTS_STANDIN_H
#define _SELFTESTS_STANDIN_H

#include "seccomp.h"

extern const struct refusal standin_filter;

/* Answers as long as a process has the filter. */
void standin_run(int listener, __u32 abi_version);

#endif /* _SELFTESTS_STANDIN_H */
