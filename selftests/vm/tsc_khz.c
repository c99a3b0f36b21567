// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rate of this machine's timestamp counter in kHz, or nothing if there is none. A
 * guest without hardware acceleration reads the same counter.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)

#define NSEC_PER_SEC	1000000000LL
#define INTERVAL	(NSEC_PER_SEC / 10)
#define TRIES		20

struct instant {
	uint64_t ticks;
	int64_t ns;
};

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Reads both clocks. Uses the fastest of several tries, because other programs may interrupt it. */
static struct instant look(void)
{
	struct instant best = { 0 };
	int64_t narrowest = INT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		int64_t before = now();
		uint64_t ticks = __builtin_ia32_rdtsc();
		int64_t after = now();

		if (after - before < narrowest) {
			narrowest = after - before;
			best = (struct instant){ ticks, before + narrowest / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct timespec interval = { .tv_nsec = INTERVAL };
	struct instant first = look(), last;

	nanosleep(&interval, NULL);
	last = look();
	printf("%.0f\n", (double)(last.ticks - first.ticks) * 1e6 / (double)(last.ns - first.ns));
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
