/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits the duration of a race: runs as many rounds as fit into some seconds, because the time of
 * a round differs between machines by a factor of up to a hundred. PXT_RACE_SECONDS in the
 * environment sets the seconds for a longer run.
 */
#ifndef _SELFTESTS_RACE_H
#define _SELFTESTS_RACE_H

#include "process.h"

struct race {
	unsigned long long end;		/* when to stop, as a time of now() */
	int rounds;
	int at_least;
};

struct race race_begin(int seconds, int at_least);

/* Returns true if there is another round, and counts it in race->rounds, from 1. */
int race_continues(struct race *race);

#endif /* _SELFTESTS_RACE_H */
