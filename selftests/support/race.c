// SPDX-License-Identifier: GPL-2.0
/* The duration of a race. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "race.h"
#include "scale.h"

static int race_seconds(int seconds)
{
	const char *text = getenv("PXT_RACE_SECONDS");

	if (text && atoi(text) > 0)
		return atoi(text);
	/* On a slow machine, the minimum number of rounds takes longer. */
	seconds = pxt_time_scale() > 1 ? 2 * seconds : seconds;
	return (seconds + pxt_stride() - 1) / pxt_stride();
}

struct race race_begin(int seconds, int at_least)
{
	return (struct race){
		.end = now() + race_seconds(seconds) * NSEC,
		.at_least = (at_least + pxt_stride() - 1) / pxt_stride(),
	};
}

int race_continues(struct race *race)
{
	if (now() >= race->end && race->rounds >= race->at_least)
		return 0;
	race->rounds++;
	return 1;
}
