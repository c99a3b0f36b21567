// SPDX-License-Identifier: GPL-2.0
// A C++20 module with all kinds of points. clang 14 cannot instantiate a template in a module if it
// uses types from headers that only the module includes.
module;
#include <posixtrace.h>
#include <posixtrace/points.h>
export module traced;
POSIXTRACE_POINT(in_module, (u32, id), (text, key));
export void work(unsigned int n)
{
	POSIXTRACE_SCOPE("work", (u32, n));
	POSIXTRACE_SCOPE("plain");
	posixtrace_point_in_module(n, "key", 3);
	POSIXTRACE_COUNTER("queue", n);
	POSIXTRACE_MARK("done");
}
#ifndef __clang__
export template <typename T> void in_template(T n)
{
	POSIXTRACE_SCOPE("in template", (u32, n));
}
#endif
