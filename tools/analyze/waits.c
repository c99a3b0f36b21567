// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of threads: see waits.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/waits.h"
#include "util/threads.h"

struct waits {
	struct threads *calls;	/* assigns numbers to pairs of compat flag and system call number */
	char (*names)[KEVENT_CALL_NAME];	/* index: number in @calls */
	size_t names_room;
	struct threads *sum_numbers;
	struct waits_sum *sums;	/* index: number in @sum_numbers minus 1 */
	size_t nr_sums;
	size_t sums_room;
	struct wait longest[WAITS_LONGEST];
	size_t nr_longest;
};

int waits_new(struct waits **waits)
{
	struct waits *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = threads_new(WAITS_CALLS, &new->calls);
	if (!err)
		err = threads_new(WAITS_SUMS, &new->sum_numbers);
	if (err)
		waits_free(new);
	else
		*waits = new;
	return err;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	threads_free(waits->calls);
	threads_free(waits->sum_numbers);
	free(waits->names);
	free(waits->sums);
	free(waits);
}

/* Grows an array to include @index. */
static int make_room(void **array, size_t *room, size_t index, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (index < *room)
		return 0;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = more;
	return 0;
}

int waits_call(struct waits *waits, const struct kevent *entry, uint32_t *place)
{
	uint32_t number;
	/* The 32-bit interface numbers the system calls differently. */
	int ret = threads_find(waits->calls, !!entry->compat, (uint32_t)entry->nr, &number);

	if (ret < 0)
		return ret;
	*place = WAITS_IN_CALL + number;
	if (ret == 0 || number == THREADS_OTHERS)
		return 0;
	ret = make_room((void **)&waits->names, &waits->names_room, number, sizeof(*waits->names));
	if (!ret)
		kevent_call_name(entry, waits->names[number]);
	return ret;
}

static int add_to_sum(struct waits *waits, const struct wait *wait)
{
	struct waits_sum *sum;
	uint32_t number;
	/* threads_find() accepts any pair of numbers, not only ids of threads. */
	int ret = threads_find(waits->sum_numbers, (pid_t)wait->thread,
			       (uint64_t)wait->place << 1 | wait->io, &number);

	if (ret < 0)
		return ret;
	if (number == THREADS_OTHERS)
		return 0;
	number--;
	if (ret) {
		ret = make_room((void **)&waits->sums, &waits->sums_room, number,
				sizeof(*waits->sums));
		if (ret)
			return ret;
		waits->sums[number] = (struct waits_sum){
			.thread = wait->thread,
			.place = wait->place,
			.io = wait->io,
		};
		waits->nr_sums = number + 1;
	}
	sum = &waits->sums[number];
	sum->count++;
	sum->time += wait->length;
	if (wait->length > sum->longest)
		sum->longest = wait->length;
	return 0;
}

int waits_add(struct waits *waits, const struct wait *wait)
{
	struct wait *longest = waits->longest;
	size_t i = waits->nr_longest;

	if (i < WAITS_LONGEST && wait->length)
		waits->nr_longest++;
	else if (i == WAITS_LONGEST && wait->length > longest[i - 1].length)
		i--;
	else
		return add_to_sum(waits, wait);
	for (; i > 0 && longest[i - 1].length < wait->length; i--)
		longest[i] = longest[i - 1];
	longest[i] = *wait;
	return add_to_sum(waits, wait);
}

const struct waits_sum *waits_sums(const struct waits *waits, size_t *count)
{
	*count = waits->nr_sums;
	return waits->sums;
}

const struct wait *waits_longest(const struct waits *waits, size_t *count)
{
	*count = waits->nr_longest;
	return waits->longest;
}

const char *waits_place_name(const struct waits *waits, uint32_t place)
{
	switch (place) {
	case WAITS_IN_UNKNOWN:
		return "unknown";
	case WAITS_IN_NO_CALL:
		return "no system call";
	case WAITS_IN_FAULT:
		return "page fault";
	case WAITS_IN_CALL:
		return "another system call";
	default:
		return waits->names[place - WAITS_IN_CALL];
	}
}
