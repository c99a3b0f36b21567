// SPDX-License-Identifier: GPL-2.0
/* See points_plugin.h. In C99, the oldest standard that the header supports. */
#include <posixtrace/points.h>

#include "points_plugin.h"

POSIXTRACE_POINT(plugin, (i32, number));
POSIXTRACE_POINT(cache_get, (f64, value));
POSIXTRACE_POINT(plain, (u8, number));
POSIXTRACE_POINT(strings, (string, one), (u16, number), (string, two), (text, rest));

void plugin_record(int number)
{
	posixtrace_point_plugin(number);
}

void plugin_cache_get(double value)
{
	posixtrace_point_cache_get(value);
}

void plugin_plain(void)
{
	posixtrace_point_plain(7);
}

void plugin_strings(const char *one)
{
	posixtrace_point_strings(one, 1, "", "", 0);
}

__attribute__((__constructor__)) static void loaded(void)
{
	POSIXTRACE_MARK("plugin:loaded");
}

__attribute__((__destructor__)) static void unloaded(void)
{
	POSIXTRACE_MARK("plugin:unloaded");
}
