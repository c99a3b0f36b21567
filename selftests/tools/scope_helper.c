// SPDX-License-Identifier: GPL-2.0
/*
 * Records scopes: scope_helper MS. A short one, and one that takes so many milliseconds.
 */
#include <stdlib.h>
#include <unistd.h>

#include <posixtrace/points.h>

static void work(unsigned int us)
{
	POSIXTRACE_SCOPE("work");

	usleep(us);
}

int main(int argc, char **argv)
{
	work(0);
	if (argc > 1)
		work((unsigned int)atoi(argv[1]) * 1000);
	return 0;
}
