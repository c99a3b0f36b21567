// SPDX-License-Identifier: GPL-2.0
/* How slow the machine is, and how thorough the tests are. */
#include <stdlib.h>

#include "scale.h"

int pxt_time_scale(void)
{
	const char *text = getenv("PXT_TIMEOUT_SCALE");
	int scale = text ? atoi(text) : 1;

	return scale > 0 ? scale : 1;
}

bool pxt_times_count(void)
{
	/* selftests/vm/check multiplies by 10 for each of the two. */
	return pxt_time_scale() < 10;
}

int pxt_stride(void)
{
	const char *text = getenv("PXT_STRIDE");
	int stride = text ? atoi(text) : 1;

	return stride > 0 ? stride : 1;
}

int pxt_place_after(int place)
{
	const char *text = getenv("PXT_SEED");
	unsigned int seed = text ? strtoul(text, NULL, 10) : 0;
	int most = 2 * pxt_stride() - 1;

	/* Knuth's multiplicative hash of the place. */
	return place + 1 + ((seed ^ (unsigned int)place) * 2654435761U >> 16) % most;
}

int pxt_patience(void)
{
	int scale = pxt_time_scale();

	return scale > 3 ? scale : 3;
}
