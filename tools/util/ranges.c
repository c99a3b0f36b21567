// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of numbers in options: see ranges.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/message.h"
#include "util/ranges.h"

/*
 * Parses a number and advances the position. Base 0 also accepts hexadecimal, as thread ids are
 * printed.
 */
static bool parse_number(const char **at, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 0);
	*at = end;
	return !errno && *number <= max;
}

static bool parse_range(const char **at, uint64_t max, bool spans, struct range *range)
{
	if (!parse_number(at, max, &range->first))
		return false;
	range->last = range->first;
	if (!spans || **at != '-')
		return true;
	++*at;
	return parse_number(at, max, &range->last) && range->last >= range->first;
}

static int refuse(const struct command_option *option, const char *text, uint64_t max, bool spans)
{
	char limit[32] = "64 bits";

	if (max != UINT64_MAX)
		snprintf(limit, sizeof(limit), "%llu", (unsigned long long)max);
	tell("--%s: must be numbers%s up to %s, separated by commas (got \"%s\")", option->name,
	     spans ? " or ranges" : "", limit, text);
	return -EINVAL;
}

int ranges_option(struct ranges *ranges, const struct command_option *option, const char *text,
		  uint64_t max, bool spans)
{
	struct range *range;

	for (const char *at = text;; at++) {
		range = reallocarray(ranges->range, ranges->count + 1, sizeof(*range));
		if (!range)
			return -ENOMEM;
		ranges->range = range;
		if (!parse_range(&at, max, spans, &range[ranges->count]) || (*at && *at != ','))
			return refuse(option, text, max, spans);
		ranges->count++;
		if (!*at)
			return 0;
	}
}

bool ranges_have(const struct ranges *ranges, uint64_t number)
{
	for (size_t i = 0; i < ranges->count; i++) {
		if (number >= ranges->range[i].first && number <= ranges->range[i].last)
			return true;
	}
	return false;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ };
}
