// SPDX-License-Identifier: GPL-2.0
/* Prints the functions of the module that no call has reached, from /proc/kallsyms and KCOV. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uapi_fuzz.h"

#define SYMBOLS_MAX	4096

struct symbol {
	unsigned long addr;
	char name[64];
};

static struct symbol symbols[SYMBOLS_MAX];

static int by_address(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	return left->addr < right->addr ? -1 : left->addr > right->addr;
}

/*
 * Is it a function of the source code? Parts that the compiler has split off belong to the function
 * before them.
 */
static bool is_function(const struct symbol *symbol, char type)
{
	return (type == 't' || type == 'T') && !strstr(symbol->name, ".cold") &&
	       strncmp(symbol->name, "_sub_", 5);
}

static unsigned int read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned int n = 0;
	char line[512], type;

	if (!file)
		return 0;
	while (n < SYMBOLS_MAX && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "[posixtrace]"))
			continue;
		if (sscanf(line, "%lx %c %63s", &symbols[n].addr, &type, symbols[n].name) == 3 &&
		    is_function(&symbols[n], type))
			n++;
	}
	fclose(file);
	qsort(symbols, n, sizeof(symbols[0]), by_address);
	return n;
}

static bool is_reached(unsigned long from, unsigned long to)
{
	for (; from < to; from++)
		if (shared->points[from % sizeof(shared->points)])
			return true;
	return false;
}

void show_unreached(void)
{
	unsigned int n = read_symbols(), i, reached = 0;

	for (i = 0; i + 1 < n; i++)
		reached += is_reached(symbols[i].addr, symbols[i + 1].addr);
	if (!reached)
		return;
	printf("# functions reached: %u of %u; not by a worker's thread:\n", reached, n);
	for (i = 0; i + 1 < n; i++)
		if (!is_reached(symbols[i].addr, symbols[i + 1].addr))
			printf("#   %s\n", symbols[i].name);
}
