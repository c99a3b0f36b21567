/* SPDX-License-Identifier: GPL-2.0 */
/* A shared library with trace points, to be loaded and unloaded. */
#ifndef _SELFTESTS_POINTS_PLUGIN_H
#define _SELFTESTS_POINTS_PLUGIN_H

#define PLUGIN	"./points_plugin.so"

void plugin_record(int number);

/*
 * The point in each function has the name of a point in points_test.c, with the same or with other
 * fields.
 */
void plugin_cache_get(double value);
void plugin_plain(void);
void plugin_strings(const char *one);

#endif /* _SELFTESTS_POINTS_PLUGIN_H */
