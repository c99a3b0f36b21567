// SPDX-License-Identifier: GPL-2.0
/*
 * Watches queries to debuginfod servers: see debuginfod.h. libdw loads libdebuginfod at run time,
 * so neither libdebuginfod nor its header needs to be installed.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "elf/debuginfod.h"
#include "util/message.h"

#define PATIENCE_NS	1000000000LL	/* after this time, print that the command waits */
#define LIMIT_NS	15000000000LL	/* no progress for this time: end all queries */

typedef int (*progress_t)(debuginfod_client *client, long a, long b);

/* Available in elfutils 0.188 and newer. */
#pragma weak dwfl_get_debuginfod_client
debuginfod_client *dwfl_get_debuginfod_client(struct Dwfl *dwfl);

static struct {
	void (*set_progress)(debuginfod_client *client, progress_t progress);
	void (*set_data)(debuginfod_client *client, void *data);
	void *(*get_data)(debuginfod_client *client);
	const char *path;	/* file for which the last query is */
	struct timespec since;	/* start of the last query */
	struct timespec moved;	/* time of its last progress */
	long has;		/* the progress at @moved */
	bool told;
	bool gave_up;
} watch;

static bool find_functions(void)
{
	void *library;

	if (watch.get_data)
		return true;
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	watch.set_progress = dlsym(library, "debuginfod_set_progressfn");
	watch.set_data = dlsym(library, "debuginfod_set_user_data");
	watch.get_data = dlsym(library, "debuginfod_get_user_data");
	return watch.set_progress && watch.set_data && watch.get_data;
}

static bool is_signal_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}

static long long ns_from(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) * 1000000000LL + to->tv_nsec - from->tv_nsec;
}

/*
 * Called by libdebuginfod about once a second. @has of @needs bytes were transferred. Until the
 * server reports the size, @needs is 0 and @has counts the calls. Returns 1 to end the query.
 */
static int see_progress(debuginfod_client *client, long has, long needs)
{
	const char *path = watch.get_data(client);
	struct timespec now;

	if (watch.gave_up)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (watch.path != path) {
		watch.path = path;
		watch.since = now;
		watch.moved = now;
		watch.told = false;
	}
	if (needs && watch.has != has) {
		watch.has = has;
		watch.moved = now;
	}
	if (ns_from(&watch.moved, &now) >= LIMIT_NS) {
		tell("%s: no answer from the servers of DEBUGINFOD_URLS in %lld seconds: %s", path,
		     LIMIT_NS / 1000000000LL, "asking them for nothing more");
		watch.gave_up = true;
		return 1;
	}
	if (!watch.told && ns_from(&watch.since, &now) >= PATIENCE_NS) {
		tell("%s: waiting for the servers of DEBUGINFOD_URLS; unset it to skip them",
		     path);
		watch.told = true;
	}
	return is_signal_pending();
}

void debuginfod_watch(struct Dwfl *dwfl, const char *path)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	debuginfod_client *client;

	if (!urls || !*urls || getenv("DEBUGINFOD_PROGRESS") || !dwfl_get_debuginfod_client)
		return;
	client = dwfl_get_debuginfod_client(dwfl);
	if (!client || !find_functions())
		return;
	watch.set_data(client, (void *)path);
	watch.set_progress(client, see_progress);
}
