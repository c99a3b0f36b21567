// SPDX-License-Identifier: GPL-2.0
/*
 * Small numbers for threads: see threads.h. Implemented as a hash table with open addressing.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/hash.h"
#include "util/threads.h"

struct entry {
	uint64_t thread;
	pid_t pid;
	uint32_t number;	/* 0: empty */
};

struct threads {
	struct entry *entries;
	size_t size;		/* a power of two; more than half of the entries are empty */
	size_t count;
	size_t max;
	bool others;		/* THREADS_OTHERS has been returned */
};

int threads_new(size_t max, struct threads **threads)
{
	struct threads *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->size = 64;
	new->max = max;
	new->entries = calloc(new->size, sizeof(*new->entries));
	if (!new->entries) {
		free(new);
		return -ENOMEM;
	}
	*threads = new;
	return 0;
}

static struct entry *find_entry(const struct threads *threads, pid_t pid, uint64_t thread)
{
	size_t i = hash_pair(thread, (uint64_t)pid);

	for (;; i++) {
		struct entry *entry = &threads->entries[i & (threads->size - 1)];

		if (!entry->number || (entry->thread == thread && entry->pid == pid))
			return entry;
	}
}

static int grow(struct threads *threads)
{
	struct threads bigger = *threads;

	bigger.size *= 2;
	bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < threads->size; i++) {
		const struct entry *old = &threads->entries[i];

		if (old->number)
			*find_entry(&bigger, old->pid, old->thread) = *old;
	}
	free(threads->entries);
	*threads = bigger;
	return 0;
}

int threads_find(struct threads *threads, pid_t pid, uint64_t thread, uint32_t *number)
{
	struct entry *entry = find_entry(threads, pid, thread);
	int err;

	*number = entry->number;
	if (entry->number)
		return 0;
	if (threads->count >= threads->max) {
		bool is_new = !threads->others;

		threads->others = true;
		*number = THREADS_OTHERS;
		return is_new;
	}
	if (threads->count >= threads->size / 2) {
		err = grow(threads);
		if (err)
			return err;
		entry = find_entry(threads, pid, thread);
	}
	entry->pid = pid;
	entry->thread = thread;
	entry->number = ++threads->count;
	*number = entry->number;
	return 1;
}

uint32_t threads_get(const struct threads *threads, pid_t pid, uint64_t thread)
{
	return find_entry(threads, pid, thread)->number;
}

void threads_free(struct threads *threads)
{
	if (!threads)
		return;
	free(threads->entries);
	free(threads);
}
