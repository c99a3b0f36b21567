// SPDX-License-Identifier: GPL-2.0
/*
 * A program loads plug-ins with dlopen(). Each plug-in loads and unloads the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "foreign.h"
#include "pxt_test.h"
#include "trace_test.h"

#define LOADS	60

/* Uses the library as a plug-in does; the program is not linked with it. */
static int use_library(void)
{
	int (*create)(pid_t pid, const trace_attr_t *attr, trace_id_t *trid);
	void (*event)(trace_event_id_t id, const void *data, size_t len);
	int (*shutdown)(trace_id_t trid);
	trace_id_t trid;
	void *library;

	library = dlopen("libposixtrace.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	event = (void (*)(trace_event_id_t, const void *, size_t))
		dlsym(library, "posix_trace_event");
	create = (int (*)(pid_t, const trace_attr_t *, trace_id_t *))
		 dlsym(library, "posix_trace_create");
	shutdown = (int (*)(trace_id_t))dlsym(library, "posix_trace_shutdown");
	if (!event || !create || !shutdown)
		return -2;
	event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	if (create(0, NULL, &trid) || shutdown(trid))
		return -3;
	return dlclose(library) ? -4 : 0;
}

/* Counts all mappings of this process, not only those of the device. */
static int count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int count = 0, c;

	if (!maps)
		return -1;
	while ((c = getc(maps)) != EOF)
		count += c == '\n';
	fclose(maps);
	return count;
}

TEST(loads_leave_nothing_behind)
{
	int fds, device_maps, maps;

	ASSERT_EQ(0, use_library());
	fds = count_device_fds(NULL);
	device_maps = count_device_maps();
	maps = count_maps();
	for (int i = 1; i < LOADS; i++)
		ASSERT_EQ(0, use_library());
	EXPECT_EQ(fds, count_device_fds(NULL));
	EXPECT_EQ(device_maps, count_device_maps());
	/* The C library's allocator may have created a mapping. */
	EXPECT_GE(maps + LOADS / 2, count_maps());
}

TEST_HARNESS_MAIN
