// SPDX-License-Identifier: GPL-2.0
/* Reads the counters of inter-processor interrupts from /proc/interrupts. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

int count_calls(long long counts[CPUS_MAX])
{
	FILE *file = fopen("/proc/interrupts", "re");
	char line[4096], *at = NULL, *end;
	int n = -1;

	if (!file)
		return -1;
	/* "CAL:" on x86-64, "IPI1:" on arm64 */
	while (!at && fgets(line, sizeof(line), file)) {
		if (strstr(line, " Function call interrupts"))
			at = strchr(line, ':');
	}
	fclose(file);
	if (!at)
		return -1;
	at++;
	for (n = 0; n < CPUS_MAX; n++, at = end) {
		counts[n] = strtoll(at, &end, 10);
		if (end == at)
			break;
	}
	return n;
}
