/* SPDX-License-Identifier: GPL-2.0 */
/* Creates thousands of idle processes. */
#ifndef _SELFTESTS_SLEEPERS_H
#define _SELFTESTS_SLEEPERS_H

#include "process.h"

/*
 * The main function of a child that reports that it runs. When it receives a number, it creates
 * that many processes, and reports how many of them sleep. The next message ends them.
 */
int sleepers(void *arg, const struct talk *talk);

#endif /* _SELFTESTS_SLEEPERS_H */
