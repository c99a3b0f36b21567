// SPDX-License-Identifier: GPL-2.0
/* See clock_scene.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "clock_scene.h"
#include "textfile.h"

#define SOURCES	"/sys/devices/system/clocksource/clocksource0/"

/* Reads up to @size - 1 bytes, without the newline. */
static int read_source(const char *name, char *text, size_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);

	close(fd);
	if (len <= 0)
		return -1;
	text[len - 1] = '\0';
	return 0;
}

/*
 * Gets the current clock source. Shortly after boot, until the kernel trusts the counter, it uses a
 * clock source that cannot be selected by name.
 */
static int get_source(char *name, size_t size)
{
	for (int i = 0; i < 2000; i++) {
		if (read_source(SOURCES "current_clocksource", name, size))
			return -1;
		if (strcmp(name, "tsc-early"))
			return 0;
		poll(NULL, 0, 10);
	}
	return -1;
}

int set_source(const char *name)
{
	char now[64];

	if (write_text(SOURCES "current_clocksource", name) ||
	    read_source(SOURCES "current_clocksource", now, sizeof(now)))
		return -1;
	return strcmp(now, name);
}

unsigned long long clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

int set_frequency(long ppm)
{
	struct timex timex = { .modes = ADJ_FREQUENCY, .freq = ppm * 65536 };

	return adjtimex(&timex);
}

int scene_set(struct scene *scene, const char *source)
{
	int err;

	if (get_source(scene->source, sizeof(scene->source)))
		return -1;
	err = set_source(source);
	if (!err)
		err = posix_trace_eventid_open("clock", &scene->type);
	return err ? err : new_roomy_stream(&scene->trid);
}

int scene_clear(struct scene *scene)
{
	posix_trace_shutdown(scene->trid);
	return set_source(scene->source);
}

void record_brackets(trace_event_id_t type, struct bracket *bracket, int count)
{
	for (int i = 0; i < count; i++) {
		bracket[i].before = clock_ns();
		posix_trace_event(type, &i, sizeof(i));
		bracket[i].after = clock_ns();
	}
}

int count_outside(trace_id_t trid, const struct bracket *bracket, int count)
{
	struct event event;
	int outside = 0;

	for (int i = 0; i < count; i++) {
		if (take_user(trid, &event) != 1 || event_number(&event) != i)
			return -1;
		outside += event_time(&event) < bracket[i].before ||
			   event_time(&event) > bracket[i].after;
	}
	return outside;
}
