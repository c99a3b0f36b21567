/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The duration of a race: as many rounds as fit into some seconds, since the time of a
 * round differs by a factor of a hundred between machines. PXT_RACE_SECONDS in the
 * environment overrides that, for a long run.
 */
#ifndef _SELFTESTS_RACE_H
#define _SELFTESTS_RACE_H

#include "process.h"
#include "pxt_test.h"

struct race {
	unsigned long long end;		/* nanoseconds, of now() */
	int rounds;
	int at_least;
};

static inline int race_seconds(int seconds)
{
	const char *text = getenv("PXT_RACE_SECONDS");

	if (text && atoi(text) > 0)
		return atoi(text);
	/* On a slow machine, the minimum takes longer. */
	return pxt_time_scale() > 1 ? 2 * seconds : seconds;
}

static inline struct race race_begin(int seconds, int at_least)
{
	return (struct race){
		.end = now() + race_seconds(seconds) * NSEC,
		.at_least = at_least,
	};
}

/* True if there is another round: number race->rounds, from 1 on. */
static inline int race_goes_on(struct race *race)
{
	if (now() >= race->end && race->rounds >= race->at_least)
		return 0;
	race->rounds++;
	return 1;
}

#endif /* _SELFTESTS_RACE_H */
