/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All kinds of trace points in one function. It is compiled with more warnings than our own code,
 * as C and as C++. Some points have the names of library functions.
 */
#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <posixtrace/points.h>

POSIXTRACE_POINT(a, (bool, hit), (u32, n), (string, name), (text, key));
POSIXTRACE_POINT(b);
POSIXTRACE_POINT(fd);
POSIXTRACE_POINT(version, (u32, number));
POSIXTRACE_POINT(get_stats);
POSIXTRACE_POINT(fields_next);
POSIXTRACE_POINT(event);
POSIXTRACE_POINT(truncated);
POSIXTRACE_POINT(point_b);
POSIXTRACE_POINT(wanted_b);

int f(int x, const char *key, size_t len);

int f(int x, const char *key, size_t len)
{
	POSIXTRACE_SCOPE("outer", (i32, x), (text, key, key, len));
	for (unsigned char c = 0; c < 2; c++) {
		POSIXTRACE_SCOPE("inner", (i32, number, x));
		if (posixtrace_wanted_a())
			posixtrace_point_a(x != 0, 5, key, key, len);
		posixtrace_point_b();
		posixtrace_point_version(1);
		if (posixtrace_wanted_fd() != posixtrace_wanted_get_stats())
			continue;
		POSIXTRACE_COUNTER("count", x);
		POSIXTRACE_COUNTER("bytes", len);
		POSIXTRACE_COUNTER("small", c);
		POSIXTRACE_COUNTER("boolean", x > 3);
		POSIXTRACE_MARK("mark");
		switch (x) {
		case 1: {
			POSIXTRACE_SCOPE("case");
			break;
		}
		default:
			goto out;
		}
	}
out:
	return x;
}
