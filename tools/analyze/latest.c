// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the last thread that had certain ids: see latest.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/latest.h"
#include "util/threads.h"

struct latest {
	struct threads *ids;		/* assigns numbers to pairs of process id and thread id */
	uint32_t *numbers;		/* index: number in @ids; the thread, or 0 */
	size_t room;
};

int latest_new(size_t max, struct latest **latest)
{
	struct latest *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = threads_new(max, &new->ids);
	if (err)
		latest_free(new);
	else
		*latest = new;
	return err;
}

static int make_room(struct latest *latest, uint32_t id)
{
	size_t room = latest->room ? latest->room : 64;
	uint32_t *more;

	while (room <= id)
		room *= 2;
	if (room == latest->room)
		return 0;
	more = reallocarray(latest->numbers, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + latest->room, 0, (room - latest->room) * sizeof(*more));
	latest->numbers = more;
	latest->room = room;
	return 0;
}

int latest_set(struct latest *latest, pid_t pid, pid_t tid, uint32_t number)
{
	uint32_t id;
	int ret = threads_find(latest->ids, pid, (uint32_t)tid, &id);

	if (ret < 0 || id == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	ret = make_room(latest, id);
	if (!ret)
		latest->numbers[id] = number;
	return ret;
}

uint32_t latest_get(const struct latest *latest, pid_t pid, pid_t tid)
{
	const uint32_t id = threads_get(latest->ids, pid, (uint32_t)tid);

	return id && id < latest->room ? latest->numbers[id] : 0;
}

void latest_free(struct latest *latest)
{
	if (!latest)
		return;
	threads_free(latest->ids);
	free(latest->numbers);
	free(latest);
}
