// SPDX-License-Identifier: MIT
/*
 * Prints the identity of a stream: name, version, clock resolution and creation time.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

int main(void)
{
	char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1];
	struct timespec created, resolution;
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setname(&attr, "example"), "attr_setname");
	check(posix_trace_create(0, &attr, &trid), "create");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");

	/* The creation time is an attribute of the stream, not of the first object. */
	check(posix_trace_get_attr(trid, &attr), "get_attr");
	check(posix_trace_attr_getname(&attr, name), "attr_getname");
	check(posix_trace_attr_getgenversion(&attr, version), "attr_getgenversion");
	check(posix_trace_attr_getclockres(&attr, &resolution), "attr_getclockres");
	check(posix_trace_attr_getcreatetime(&attr, &created), "attr_getcreatetime");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");

	printf("name %s\n", name);
	printf("version %s\n", version);
	printf("resolution %lld.%09ld s\n", (long long)resolution.tv_sec, resolution.tv_nsec);
	printf("created %lld.%09ld\n", (long long)created.tv_sec, created.tv_nsec);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
