/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The duration of a race: as many rounds as fit into some seconds, because the time of a round
 * differs by a factor of a hundred between machines. PXT_RACE_SECONDS in the environment overrides
 * it for a long run.
 */
#ifndef _SELFTESTS_RACE_H
#define _SELFTESTS_RACE_H

#include "process.h"

struct race {
	unsigned long long end;		/* nanoseconds, of now() */
	int rounds;
	int at_least;
};

struct race race_begin(int seconds, int at_least);

/* True if there is another round, number race->rounds; the first one is 1. */
int race_continues(struct race *race);

#endif /* _SELFTESTS_RACE_H */
