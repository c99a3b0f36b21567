/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a race is driven: as many rounds as fit into some seconds, for what a round
 * takes differs by a factor of a hundred from machine to machine. PXT_RACE_SECONDS in
 * the environment says otherwise, for a long night.
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
	/* Where all is slow, what is to be seen at least takes longer. */
	return pxt_time_scale() > 1 ? 2 * seconds : seconds;
}

static inline struct race race_begin(int seconds, int at_least)
{
	return (struct race){
		.end = now() + race_seconds(seconds) * NSEC,
		.at_least = at_least,
	};
}

/* One more round? Then it is number race->rounds, from 1 on. */
static inline int race_goes_on(struct race *race)
{
	if (now() >= race->end && race->rounds >= race->at_least)
		return 0;
	race->rounds++;
	return 1;
}

#endif /* _SELFTESTS_RACE_H */
