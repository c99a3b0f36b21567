// SPDX-License-Identifier: GPL-2.0
/* See points_plugin.h. In C99, the first standard that the header knows. */
#include <posixtrace/points.h>

#include "points_plugin.h"

POSIXTRACE_POINT(plugin, (i32, number));

void plugin_record(int number)
{
	posixtrace_plugin(number);
}

__attribute__((__constructor__)) static void loaded(void)
{
	POSIXTRACE_MARK("plugin:loaded");
}

__attribute__((__destructor__)) static void unloaded(void)
{
	POSIXTRACE_MARK("plugin:unloaded");
}
