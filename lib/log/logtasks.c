// SPDX-License-Identifier: MIT
/*
 * Information in a log about threads, processes and the host. Traced processes choose their names
 * and command lines, and how many there are; the file may be forged.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/loghead.h"
#include "log/logtasks.h"

#define ROOM_MIN	64U
/* Larger than the number of names in a log of some gigabytes. Limits the use of memory. */
#define ROOM_MAX	(1U << 20)

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

int pxtu_log_make_room(void *array, size_t size, size_t used, size_t *room)
{
	const size_t more = *room ? 2 * *room : ROOM_MIN;
	void *old, *new;

	if (used < *room)
		return 0;
	if (used >= ROOM_MAX)
		return -ENOSPC;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, more * size);
	if (!new)
		return -ENOMEM;
	memcpy(array, &new, sizeof(new));
	*room = more;
	return 0;
}

static int add_host(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	struct posixtrace_log_host host;

	if (pxtu_log_read(log, &host, sizeof(host), block->offset + log->head.block_size) !=
	    sizeof(host))
		return pxtu_log_failed(log);
	if (!is_terminated(host.node, sizeof(host.node)) ||
	    !is_terminated(host.release, sizeof(host.release)) ||
	    !is_terminated(host.machine, sizeof(host.machine))) {
		log->survey.damaged = true;
		return 0;
	}
	tasks->host = host;
	tasks->hosted = true;
	return 0;
}

static int add_task(struct pxtu_log *log, const struct posixtrace_log_task *from)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	struct pxtu_log_task *task;
	int err;

	if (!is_terminated(from->name, sizeof(from->name))) {
		log->survey.damaged = true;
		return 0;
	}
	err = pxtu_log_make_room(&tasks->task, sizeof(*task), tasks->nr_tasks,
				 &tasks->tasks_room);
	if (err)
		return err == -ENOSPC ? 0 : err;
	task = &tasks->task[tasks->nr_tasks++];
	task->pid = from->pid;
	task->tid = from->tid;
	task->start = from->start;
	task->since = from->since;
	memcpy(task->name, from->name, sizeof(task->name));
	tasks->sorted = false;
	return 0;
}

static int add_tasks(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	__u64 offset = block->offset + log->head.block_size;
	struct posixtrace_log_task task;
	int err = 0;
	__u32 i;

	for (i = 0; i < block->head.count && !err; i++, offset += sizeof(task)) {
		if (pxtu_log_read(log, &task, sizeof(task), offset) != sizeof(task))
			return pxtu_log_failed(log);
		err = add_task(log, &task);
	}
	return err;
}

static int add_program(struct pxtu_log *log, const struct posixtrace_log_program *from,
		       __u64 offset)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	int err = pxtu_log_make_room(&tasks->program, sizeof(*tasks->program),
				     tasks->nr_programs, &tasks->programs_room);

	if (err)
		return err == -ENOSPC ? 0 : err;
	tasks->program[tasks->nr_programs++] = (struct pxtu_log_program){
		.pid = from->pid,
		.size = from->size,
		.start = from->start,
		.since = from->since,
		.offset = offset,
	};
	tasks->sorted = false;
	return 0;
}

static int add_programs(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	const __u64 begin = block->offset + log->head.block_size;
	struct posixtrace_log_program head;
	__u64 pos = 0;
	int err = 0;
	__u32 i;

	for (i = 0; i < block->head.count && !err; i++) {
		if (pos + sizeof(head) > block->head.size ||
		    pxtu_log_read(log, &head, sizeof(head), begin + pos) != sizeof(head) ||
		    !head.size || head.size > POSIXTRACE_LOG_PROGRAM_SIZE ||
		    pos + POSIXTRACE_LOG_PROGRAM_STEP(head.size) > block->head.size) {
			log->survey.damaged = true;
			return pxtu_log_failed(log);
		}
		err = add_program(log, &head, begin + pos + sizeof(head));
		pos += POSIXTRACE_LOG_PROGRAM_STEP(head.size);
	}
	return err;
}

int pxtu_log_add_tasks(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	switch (block->head.type) {
	case POSIXTRACE_LOG_HOST:
		return add_host(log, block);
	case POSIXTRACE_LOG_TASKS:
		return add_tasks(log, block);
	case POSIXTRACE_LOG_PROGRAMS:
		return add_programs(log, block);
	default:
		return 0;
	}
}

/* Combine pid and tid into one number. */
static __u64 ids_of(__s32 pid, __s32 tid)
{
	return (__u64)(__u32)pid << 32 | (__u32)tid;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct pxtu_log_task *s = a, *t = b;
	int order = pxtu_log_compare(ids_of(s->pid, s->tid), ids_of(t->pid, t->tid));

	if (!order)
		order = pxtu_log_compare(s->start, t->start);
	return order ? order : pxtu_log_compare(s->since, t->since);
}

static int compare_programs(const void *a, const void *b)
{
	const struct pxtu_log_program *s = a, *t = b;
	int order = pxtu_log_compare((__u32)s->pid, (__u32)t->pid);

	if (!order)
		order = pxtu_log_compare(s->start, t->start);
	return order ? order : pxtu_log_compare(s->since, t->since);
}

static void sort(struct pxtu_log_tasks *tasks)
{
	if (tasks->sorted)
		return;
	if (tasks->nr_tasks)
		qsort(tasks->task, tasks->nr_tasks, sizeof(*tasks->task), compare_tasks);
	if (tasks->nr_programs)
		qsort(tasks->program, tasks->nr_programs, sizeof(*tasks->program),
		      compare_programs);
	tasks->sorted = true;
}

size_t pxtu_log_count_until(const void *array, size_t count, size_t size, const void *key,
			    int (*order)(const void *a, const void *b))
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (order((const char *)array + middle * size, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Count the names that are not after @key. */
static size_t tasks_until(const struct pxtu_log_tasks *tasks, const struct pxtu_log_task *key)
{
	return pxtu_log_count_until(tasks->task, tasks->nr_tasks, sizeof(*key), key,
				    compare_tasks);
}

static bool is_task(const struct pxtu_log_tasks *tasks, size_t n, const struct pxtu_task *task)
{
	return n < tasks->nr_tasks && tasks->task[n].pid == task->pid &&
	       tasks->task[n].tid == task->tid;
}

/*
 * Set key->start to the birth of the thread that had the ids at the time: the last birth at or
 * before the time. If there is none, take the first one after the time, because births and events
 * have different clocks. If that is more than PXTU_LOG_BIRTH_NS later, the log does not know the
 * thread.
 */
static bool find_birth(struct pxtu_log_tasks *tasks, const struct pxtu_task *task,
		       struct pxtu_log_task *key)
{
	size_t n;

	sort(tasks);
	*key = (struct pxtu_log_task){
		.pid = task->pid, .tid = task->tid, .start = task->time, .since = ~0ULL,
	};
	n = tasks_until(tasks, key);
	if (n && is_task(tasks, n - 1, task))
		n--;
	else if (!is_task(tasks, n, task))
		return false;
	key->start = tasks->task[n].start;
	return pxtu_log_lived(key->start, task->time);
}

/*
 * Returns the last name that the thread had got by the time, or NULL if the log only has later
 * ones. A time shortly before the birth of the thread counts as its birth: see find_birth().
 */
const char *pxtu_log_task(struct pxtu_log *log, const struct pxtu_task *task)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	const struct pxtu_log_task *found;
	struct pxtu_log_task key;
	size_t n;

	if (!find_birth(tasks, task, &key))
		return NULL;
	key.since = task->time > key.start ? task->time : key.start;
	n = tasks_until(tasks, &key);
	if (!n || !is_task(tasks, n - 1, task))
		return NULL;
	found = &tasks->task[n - 1];
	return found->start == key.start && found->name[0] ? found->name : NULL;
}

int pxtu_log_life(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_life *life)
{
	struct pxtu_log_tasks *tasks = &log->survey.tasks;
	struct pxtu_log_task key;
	size_t n;

	if (!find_birth(tasks, task, &key))
		return -ENOENT;
	key.since = ~0ULL;
	n = tasks_until(tasks, &key);
	life->born = key.start;
	life->next = is_task(tasks, n, task) ? tasks->task[n].start : ~0ULL;
	return 0;
}

/* Find a command line as find_birth() and pxtu_log_task() find a name. */
static const struct pxtu_log_program *find_program(struct pxtu_log_tasks *tasks,
						   const struct pxtu_task *task)
{
	struct pxtu_log_program key = {
		.pid = task->pid, .start = task->time, .since = ~0ULL,
	};
	const struct pxtu_log_program *found = tasks->program;
	const size_t count = tasks->nr_programs;
	size_t n;

	sort(tasks);
	n = pxtu_log_count_until(found, count, sizeof(key), &key, compare_programs);
	if (n && found[n - 1].pid == task->pid)
		n--;
	else if (n == count || found[n].pid != task->pid)
		return NULL;
	key.start = found[n].start;
	if (!pxtu_log_lived(key.start, task->time))
		return NULL;
	key.since = task->time > key.start ? task->time : key.start;
	n = pxtu_log_count_until(found, count, sizeof(key), &key, compare_programs);
	if (!n || found[n - 1].pid != task->pid || found[n - 1].start != key.start)
		return NULL;
	return &found[n - 1];
}

int pxtu_log_program(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_text *text)
{
	const struct pxtu_log_program *place = find_program(&log->survey.tasks, task);
	struct posixtrace_log_program head;
	int err;

	if (!place)
		return -ENOENT;
	text->needed = place->size;
	/*
	 * Check the header again: the writer may have restarted the metadata and overwritten this
	 * block.
	 */
	if (pxtu_log_read(log, &head, sizeof(head), place->offset - sizeof(head)) ==
	    sizeof(head) && head.pid == place->pid && head.since == place->since &&
	    head.size == place->size) {
		if (text->room < place->size)
			return 0;
		if (pxtu_log_read(log, text->to, place->size, place->offset) ==
		    (ssize_t)place->size && !text->to[place->size - 1])
			return 0;
	}
	err = pxtu_log_failed(log);
	return err ? err : -ENOENT;
}
