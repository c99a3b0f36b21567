/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that executes a program that does nothing.
 */
#ifndef _SELFTESTS_IDLE_H
#define _SELFTESTS_IDLE_H

#include "process.h"

/* The number that the new program sends when it runs. */
#define IDLE	1

/*
 * Executes this program again. The new program sends IDLE and runs until the parent closes the
 * pipe. Returns only on failure.
 */
void become_idle(const struct talk *talk);

#endif /* _SELFTESTS_IDLE_H */
