/* SPDX-License-Identifier: GPL-2.0 */
/* Thousands of processes that do nothing. */
#ifndef _SELFTESTS_SLEEPERS_H
#define _SELFTESTS_SLEEPERS_H

#include "process.h"

/*
 * A child function: reports that it runs. Told a number, it makes as many processes, and reports
 * how many of them sleep. Told anything after that, it ends them.
 */
int sleepers(void *arg, const struct talk *talk);

#endif /* _SELFTESTS_SLEEPERS_H */
