// SPDX-License-Identifier: MIT
/*
 * Creates two streams with one attributes object, and changes the object in between: each
 * stream has a separate copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void print_name(trace_id_t trid)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;

	/* get_attr initializes the object. */
	check(posix_trace_get_attr(trid, &attr), "get_attr");
	check(posix_trace_attr_getname(&attr, name), "attr_getname");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");
	printf("stream \"%s\"\n", name);
}

int main(void)
{
	trace_id_t first, second;
	trace_attr_t attr;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setname(&attr, "first"), "attr_setname");
	check(posix_trace_create(0, &attr, &first), "create");
	check(posix_trace_attr_setname(&attr, "second"), "attr_setname");
	check(posix_trace_create(0, &attr, &second), "create");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");

	print_name(first);
	print_name(second);
	if (posix_trace_attr_setname(&attr, "third"))
		puts("the object was destroyed");

	check(posix_trace_shutdown(second), "shutdown");
	check(posix_trace_shutdown(first), "shutdown");
	return 0;
}
