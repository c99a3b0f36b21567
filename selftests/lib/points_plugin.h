/* SPDX-License-Identifier: GPL-2.0 */
/* A shared library with trace points, to be loaded and unloaded. */
#ifndef _SELFTESTS_POINTS_PLUGIN_H
#define _SELFTESTS_POINTS_PLUGIN_H

#define PLUGIN	"./points_plugin.so"

void plugin_record(int number);

/*
 * Each function has a point with the name of one in points_test.c, with the same fields or others.
 */
void plugin_cache_get(double value);
void plugin_plain(void);
void plugin_strings(const char *one);

#endif /* _SELFTESTS_POINTS_PLUGIN_H */
