// SPDX-License-Identifier: GPL-2.0
/*
 * Points of time in the options of commands: see moment.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/duration.h"
#include "util/message.h"
#include "util/moment.h"

#define NSEC_PER_SEC	1000000000ULL

static bool parse_date(const char *text, uint64_t *time)
{
	struct tm tm = { 0 }, given;
	uint64_t fraction = 0;
	const char *rest;
	time_t seconds;

	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest)
		return false;
	/* Reject invalid dates such as February 30, which timegm() would normalize. */
	given = tm;
	seconds = timegm(&tm);
	if (tm.tm_mday != given.tm_mday || tm.tm_hour != given.tm_hour ||
	    tm.tm_min != given.tm_min || tm.tm_sec != given.tm_sec)
		return false;
	if (*rest == '.') {
		char zero[32];
		const char *p = zero;

		/* Parse the fraction as "0.NNN" seconds. */
		if (snprintf(zero, sizeof(zero), "0%s", rest) >= (int)sizeof(zero) ||
		    !duration_decimal(&p, NSEC_PER_SEC, &fraction))
			return false;
		rest += p - zero - 1;
	}
	return seconds >= 0 && (!*rest || !strcmp(rest, "Z")) &&
	       !__builtin_mul_overflow((uint64_t)seconds, NSEC_PER_SEC, time) &&
	       !__builtin_add_overflow(*time, fraction, time);
}

int moment_option(struct moment *moment, const struct command_option *option, const char *text)
{
	const char *p = text + 1;

	moment->set = true;
	moment->absolute = true;
	if (*text == '@' && duration_decimal(&p, NSEC_PER_SEC, &moment->time) && !*p)
		return 0;
	if (*text != '@' && parse_date(text, &moment->time))
		return 0;
	moment->absolute = false;
	/* A number without a unit is in microseconds, as printed by "dump". */
	if (duration_parse(text, 1000, &moment->time))
		return 0;
	tell("--%s: must be a time such as " MOMENT_FORMS " (got \"%s\")", option->name, text);
	return -EINVAL;
}

uint64_t moment_time(const struct moment *moment, uint64_t first)
{
	uint64_t time = moment->time;

	if (!moment->absolute && __builtin_add_overflow(first, time, &time))
		return UINT64_MAX;
	return time;
}

int moment_compare(const struct moment *moment, uint64_t first, uint64_t time)
{
	const uint64_t limit = moment_time(moment, first);

	/* A @limit of UINT64_MAX may stand for a later time, so it is later than every event. */
	if (limit == UINT64_MAX)
		return -1;
	return time < limit ? -1 : time > limit;
}
