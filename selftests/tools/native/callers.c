// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the script of a log (see write_log.c) of itself: its mappings from /proc, and events with
 * return addresses. The text of an event is what --symbolize must find: "FUNCTION#FILE:LINE".
 * Compiled with -DLIBRARY, this file is also the shared library.
 *
 * It is compiled without optimization, so that calls remain calls and functions are adjacent.
 *
 * usage: callers BUILDID...	of its files: PATH=HEX, or PATH=- without a build id
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "callers.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define FIRST		1700000000000000000ULL

#ifdef LIBRARY

/* A function of the program. The library needs it to write events. */
NOINLINE void library_record(const char *function, int line)
{
	write_event(__builtin_return_address(0), function, line);
}

NOINLINE void library_event(void)
{
	library_record(__func__, __LINE__);
}

#else

static unsigned long long now = FIRST;
static jmp_buf back;

void write_event(const void *address, const char *function, int line)
{
	now += 1000;
	printf("event 65 %llu pid=100 address=0x%llx text=%s#%s:%d\n", now,
	       (unsigned long long)(size_t)address, function, __FILE__, line);
}

NOINLINE static void record(const char *function, int line)
{
	write_event(__builtin_return_address(0), function, line);
}

NOINLINE static void simple(void)
{
	record(__func__, __LINE__);
}

NOINLINE __attribute__((noreturn)) static void leave(const char *function, int line)
{
	write_event(__builtin_return_address(0), function, line);
	longjmp(back, 1);
}

/*
 * The call is the last instruction of the function, so the return address is in the next function.
 */
NOINLINE static void ends_with_a_call(void)
{
	leave(__func__, __LINE__);
}

static inline __attribute__((always_inline)) void inlined(const char *function)
{
	record(function, __LINE__);
}

NOINLINE static void has_inlined(void)
{
	inlined(__func__);
}

static const char *build_id_of(const char *path, char **ids)
{
	size_t len = strlen(path);

	for (; *ids; ids++) {
		if (!strncmp(*ids, path, len) && (*ids)[len] == '=')
			return *ids + len + 1;
	}
	return "-";
}

static void write_mappings(char **ids)
{
	unsigned long long start, end, offset;
	char line[4096], path[4096], mode[5];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %4095s", &start, &end, mode, &offset,
			   path) == 5 && mode[2] == 'x' && path[0] == '/')
			printf("mapping 100 %llu %llu %llu %llu %s %s\n", FIRST, start, end - start,
			       offset, build_id_of(path, ids), path);
	}
	if (maps)
		fclose(maps);
}

int main(int argc, char **argv)
{
	(void)argc;
	printf("name 65 call\n");
	write_mappings(argv + 1);
	printf("block 0\n");
	simple();
	has_inlined();
	library_event();
	if (!setjmp(back))
		ends_with_a_call();
	printf("end\n");
	return 0;
}

#endif
