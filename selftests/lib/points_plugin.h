/* SPDX-License-Identifier: GPL-2.0 */
/* A shared library with trace points, to be loaded and unloaded. */
#ifndef _SELFTESTS_POINTS_PLUGIN_H
#define _SELFTESTS_POINTS_PLUGIN_H

#define PLUGIN	"./points_plugin.so"

void plugin_record(int number);

#endif /* _SELFTESTS_POINTS_PLUGIN_H */
