// SPDX-License-Identifier: GPL-2.0
/*
 * Parses times: see duration.h.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "util/duration.h"

bool duration_decimal(const char **text, uint64_t unit, uint64_t *ns)
{
	const char *p = *text;
	uint64_t whole = 0;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *p - '0', &whole))
			return false;
	}
	if (__builtin_mul_overflow(whole, unit, ns))
		return false;
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++) {
			unit /= 10;
			if (__builtin_add_overflow(*ns, unit * (*p - '0'), ns))
				return false;
		}
	}
	*text = p;
	return true;
}

bool duration_parse(const char *text, uint64_t bare, uint64_t *ns)
{
	const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "h", 3600000000000 },
		{ "min", 60000000000 },
		{ "s", 1000000000 },
		{ "ms", 1000000 },
		{ "us", 1000 },
		{ "ns", 1 },
		{ "", bare },
	};
	const size_t count = sizeof(units) / sizeof(units[0]) - !bare;

	for (size_t i = 0; i < count; i++) {
		const char *p = text;

		if (duration_decimal(&p, units[i].ns, ns) && !strcmp(p, units[i].name))
			return true;
	}
	return false;
}
