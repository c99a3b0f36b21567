// SPDX-License-Identifier: MIT
/*
 * Finds the file that a process had mapped at an address, according to the log. The survey has the
 * location of each mapping in the log. In its array, mappings that the module scanned together are
 * consecutive, sorted by address.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/loghead.h"
#include "log/logmappings.h"
#include "log/logtasks.h"

static int add(struct pxtu_log *log, const struct posixtrace_log_mapping *from, __u64 offset)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	int err = pxtu_log_make_room(&tasks->mapping, sizeof(*tasks->mapping),
				     tasks->nr_mappings, &tasks->mappings_room);

	if (err)
		return err == -ENOSPC ? 0 : err;
	tasks->mapping[tasks->nr_mappings++] = (struct pxtu_log_mapping){
		.pid = from->pid,
		.start = from->start,
		.since = from->since,
		.address = from->address,
		.length = from->length,
		.offset = offset,
	};
	tasks->mappings_sorted = false;
	return 0;
}

/* Is the mapping valid, and within the @left bytes of the block? */
static bool is_valid(const struct posixtrace_log_mapping *head, __u64 left)
{
	return head->size && head->size <= POSIXTRACE_LOG_PATH_SIZE &&
	       POSIXTRACE_LOG_MAPPING_STEP(head->size) <= left && head->length &&
	       head->build_id_size <= sizeof(head->build_id);
}

/* Is this the mapping at @place? */
static bool is_of(const struct posixtrace_log_mapping *head, const struct pxtu_log_mapping *place)
{
	return head->pid == place->pid && head->start == place->start &&
	       head->since == place->since && head->address == place->address &&
	       head->length == place->length;
}

int pxtu_log_add_mappings(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	const __u64 begin = block->offset + log->head.block_size;
	struct posixtrace_log_mapping head;
	__u64 pos = 0;
	int err = 0;
	__u32 i;

	for (i = 0; i < block->head.count && !err; i++) {
		if (pos + sizeof(head) > block->head.size ||
		    pxtu_log_read(log, &head, sizeof(head), begin + pos) != sizeof(head) ||
		    !is_valid(&head, block->head.size - pos)) {
			log->survey.damaged = true;
			return pxtu_log_failed(log);
		}
		err = add(log, &head, begin + pos);
		pos += POSIXTRACE_LOG_MAPPING_STEP(head.size);
	}
	return err;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct pxtu_log_mapping *s = a, *t = b;
	int order = pxtu_log_compare((__u32)s->pid, (__u32)t->pid);

	if (!order)
		order = pxtu_log_compare(s->start, t->start);
	if (!order)
		order = pxtu_log_compare(s->since, t->since);
	return order ? order : pxtu_log_compare(s->address, t->address);
}

static void sort(struct pxtu_log_tasks *tasks)
{
	if (!tasks->mappings_sorted && tasks->nr_mappings)
		qsort(tasks->mapping, tasks->nr_mappings, sizeof(*tasks->mapping),
		      compare_mappings);
	tasks->mappings_sorted = true;
}

/* Count the mappings that are not after @key. */
static size_t count_until(const struct pxtu_log_tasks *tasks,
			  const struct pxtu_log_mapping *key)
{
	return pxtu_log_count_until(tasks->mapping, tasks->nr_mappings, sizeof(*key), key,
				    compare_mappings);
}

static bool is_of_process(const struct pxtu_log_tasks *tasks, size_t n, __s32 pid)
{
	return n < tasks->nr_mappings && tasks->mapping[n].pid == pid;
}

/*
 * Set key->start to the birth of the process, and key->since to the last scan of its mappings that
 * is not later than the time. If all scans are later, the mappings at that time are unknown, unless
 * the first scan was at birth. False if the mappings are unknown.
 */
static bool find_look(const struct pxtu_log_tasks *tasks, const struct pxtu_task *task,
		      struct pxtu_log_mapping *key)
{
	size_t n;

	*key = (struct pxtu_log_mapping){
		.pid = task->pid, .start = task->time, .since = ~0ULL, .address = ~0ULL,
	};
	n = count_until(tasks, key);
	if (n && is_of_process(tasks, n - 1, task->pid))
		n--;
	else if (!is_of_process(tasks, n, task->pid))
		return false;
	key->start = tasks->mapping[n].start;
	if (!pxtu_log_lived(key->start, task->time))
		return false;
	key->since = task->time > key->start ? task->time : key->start;
	n = count_until(tasks, key);
	if (!n || !is_of_process(tasks, n - 1, task->pid) ||
	    tasks->mapping[n - 1].start != key->start)
		return false;
	key->since = tasks->mapping[n - 1].since;
	return true;
}

static const struct pxtu_log_mapping *find(struct pxtu_log_tasks *tasks,
					   const struct pxtu_task *task, __u64 address)
{
	const struct pxtu_log_mapping *found;
	struct pxtu_log_mapping key;
	size_t n;

	if (!tasks->nr_mappings)
		return NULL;
	sort(tasks);
	if (!find_look(tasks, task, &key))
		return NULL;
	key.address = address;
	n = count_until(tasks, &key);
	if (!n)
		return NULL;
	found = &tasks->mapping[n - 1];
	if (found->pid != key.pid || found->start != key.start || found->since != key.since ||
	    address - found->address >= found->length)
		return NULL;
	return found;
}

/* Returns 0; -ENOENT if the mapping is no longer in the log; -ENOMEM. */
static int read_mapping(struct pxtu_log *log, const struct pxtu_log_mapping *place,
			struct posixtrace_mapping_info *info)
{
	struct posixtrace_log_mapping head;
	int err;

	memset(info, 0, sizeof(*info));
	/*
	 * Check the header again: the writer may have restarted the metadata and overwritten this
	 * block.
	 */
	if (pxtu_log_read(log, &head, sizeof(head), place->offset) == sizeof(head) &&
	    is_valid(&head, ~0ULL) && is_of(&head, place) &&
	    pxtu_log_read(log, info->path, head.size, place->offset + sizeof(head)) ==
			  (ssize_t)head.size && !info->path[head.size - 1]) {
		info->address = head.address;
		info->size = head.length;
		info->offset = head.offset;
		info->build_id_size = head.build_id_size;
		memcpy(info->build_id, head.build_id, head.build_id_size);
		return 0;
	}
	memset(info, 0, sizeof(*info));
	err = pxtu_log_failed(log);
	return err ? err : -ENOENT;
}

int pxtu_log_mapping(struct pxtu_log *log, const struct pxtu_task *task, __u64 address,
		     struct posixtrace_mapping_info *info)
{
	const struct pxtu_log_mapping *place = find(&log->survey.tasks, task, address);

	return place ? read_mapping(log, place, info) : -ENOENT;
}

int pxtu_log_mappings(struct pxtu_log *log, struct posixtrace_mapping_info *infos, size_t *count,
		      __u64 *next)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	const size_t max = *count;
	int err = 0;

	sort(tasks);
	*count = 0;
	for (; *count < max && *next < tasks->nr_mappings && !err; ++*next) {
		err = read_mapping(log, &tasks->mapping[*next], &infos[*count]);
		if (err == -ENOENT)
			err = 0;
		else if (!err)
			++*count;
	}
	return err;
}
