/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that executes a program which is idle.
 */
#ifndef _SELFTESTS_IDLE_H
#define _SELFTESTS_IDLE_H

#include "process.h"

/* What the new program says when it runs. */
#define IDLE	1

/*
 * Executes this program again, which says IDLE and lives until the parent closes the pipe. Returns
 * only on failure.
 */
void become_idle(const struct talk *talk);

#endif /* _SELFTESTS_IDLE_H */
