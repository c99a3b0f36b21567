// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for futexes: see locks.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/locks.h"
#include "util/threads.h"

struct locks {
	struct threads *addresses;	/* assigns numbers to pairs of process and futex address */
	struct threads *numbers;	/* assigns numbers to pairs of address number and holder */
	struct locks_sum *sums;		/* index: number in @numbers minus 1 */
	size_t count;
	size_t room;
};

int locks_new(struct locks **locks)
{
	struct locks *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = threads_new(LOCKS_MAX, &new->addresses);
	if (!err)
		err = threads_new(LOCKS_MAX, &new->numbers);
	if (err)
		locks_free(new);
	else
		*locks = new;
	return err;
}

static int add_sum(struct locks *locks, const struct locks_sum *wait)
{
	size_t room = locks->room ? 2 * locks->room : 64;
	struct locks_sum *more;

	if (locks->count == locks->room) {
		more = reallocarray(locks->sums, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		locks->sums = more;
		locks->room = room;
	}
	locks->sums[locks->count++] = (struct locks_sum){
		.process = wait->process, .address = wait->address, .holder = wait->holder,
	};
	return 0;
}

int locks_add(struct locks *locks, const struct locks_sum *wait, uint64_t ns)
{
	struct locks_sum *sum;
	uint32_t address, number;
	/* threads_find() accepts any pair of numbers, not only ids of threads. */
	int ret = threads_find(locks->addresses, (pid_t)wait->process, wait->address, &address);

	if (ret >= 0 && address != THREADS_OTHERS)
		ret = threads_find(locks->numbers, (pid_t)address, wait->holder, &number);
	if (ret < 0 || address == THREADS_OTHERS || number == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	if (number > locks->count) {
		ret = add_sum(locks, wait);
		if (ret)
			return ret;
	}
	sum = &locks->sums[number - 1];
	sum->count++;
	sum->time += ns;
	if (ns > sum->longest)
		sum->longest = ns;
	return 0;
}

const struct locks_sum *locks_sums(const struct locks *locks, size_t *count)
{
	*count = locks->count;
	return locks->sums;
}

void locks_free(struct locks *locks)
{
	if (!locks)
		return;
	threads_free(locks->addresses);
	threads_free(locks->numbers);
	free(locks->sums);
	free(locks);
}
