// SPDX-License-Identifier: GPL-2.0
/*
 * Fills blocks of a log with updates about its tasks. The task that serves the log takes a batch of
 * threads, writes their blocks, and gives them back. target/logtasks.c adds the threads.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "logthread/taskblocks.h"
#include "target/logtasks.h"

static void take(struct pxt_logtasks *tasks, struct list_head *list)
{
	struct pxt_logtask *thread;
	struct pxt_logtask_taken *taken;
	u32 i;

	list_for_each_entry(thread, list, list) {
		/*
		 * Stop at a live thread that was added or given back in this round, see
		 * pxt_logtasks_begin(): otherwise new threads, or a thread that keeps changing its
		 * name, would keep the caller busy forever. Ended threads of this round are in
		 * pxt_logtasks.later.
		 */
		if (tasks->nr_taken == PXT_LOGTASKS_BATCH || thread->round == tasks->round)
			return;
		taken = &tasks->taken[tasks->nr_taken++];
		thread->busy = true;
		taken->thread = thread;
		taken->changes = thread->changes;
		taken->looks = thread->looks;
		for (i = 0; i < PXT_TEXTS; i++) {
			taken->since[i] = thread->text_since[i];
			taken->text[i] = thread->text_unwritten[i] ? thread->text[i] : NULL;
			if (taken->text[i])
				pxt_text_get(taken->text[i]);
		}
	}
}

/**
 * pxt_logtasks_begin() - start to write the current updates
 * @tasks: tasks of the log that the caller serves
 *
 * Starts a new round. In a round, pxt_logtasks_take() takes each thread at most once, and no thread
 * that is added during the round. Therefore a process that creates threads quickly cannot keep
 * events from the log.
 */
void pxt_logtasks_begin(struct pxt_logtasks *tasks)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	tasks->round++;
	list_splice_tail_init(&tasks->later, &tasks->ended);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
}

/**
 * pxt_logtasks_take() - take threads with unwritten data
 * @tasks: the previous batch was given back by pxt_logtasks_give_back()
 *
 * Context: may sleep.
 * Return: false if no thread has unwritten data.
 */
bool pxt_logtasks_take(struct pxt_logtasks *tasks)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	tasks->nr_taken = 0;
	take(tasks, &tasks->ended);
	take(tasks, &tasks->live);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return tasks->nr_taken;
}

/**
 * pxt_logtasks_fill_names() - fill in the names of the taken threads
 * @tasks: after pxt_logtasks_take()
 * @ns: pid namespace of the controller
 * @to: room for PXT_LOGTASKS_NAMES_MAX
 *
 * Return: number of names.
 */
u32 pxt_logtasks_fill_names(struct pxt_logtasks *tasks, struct pid_namespace *ns,
			    struct posixtrace_log_task *to)
{
	const struct pxt_logtask *thread;
	unsigned long flags;
	u32 count = 0, i, n;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	for (i = 0; i < tasks->nr_taken; i++) {
		thread = tasks->taken[i].thread;
		for (n = 0; n < thread->unwritten; n++, count++) {
			to[count].pid = pid_nr_ns(thread->tgid, ns);
			to[count].tid = pid_nr_ns(thread->pid, ns);
			to[count].start = thread->start;
			to[count].since = thread->name[n].since;
			memcpy(to[count].name, thread->name[n].comm, sizeof(to[count].name));
		}
	}
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	return count;
}

/* Returns false if there is not enough room. */
static bool put_program(const struct pxt_logtask_taken *taken, struct pid_namespace *ns, void *to,
			size_t room, u32 *size)
{
	const struct pxt_text *program = taken->text[PXT_TEXT_PROGRAM];
	struct posixtrace_log_program *head = to + *size;
	u32 step = POSIXTRACE_LOG_PROGRAM_STEP(program->size);

	if (*size + step > room)
		return false;
	memset(head, 0, step);
	head->pid = pid_nr_ns(taken->thread->tgid, ns);
	head->size = program->size;
	head->start = taken->thread->start;
	head->since = taken->since[PXT_TEXT_PROGRAM];
	memcpy(head->text, program->data, program->size);
	*size += step;
	return true;
}

/**
 * pxt_logtasks_fill_programs() - fill in the command lines of the taken threads
 * @tasks: after pxt_logtasks_take()
 * @ns: pid namespace of the controller
 * @to: payload of a block
 * @room: bytes at @to, enough for one command line
 * @cursor: zeroed at first; advances past what was filled in
 * @count: number of command lines
 *
 * Return: bytes of payload; 0 when all are done.
 */
u32 pxt_logtasks_fill_programs(struct pxt_logtasks *tasks, struct pid_namespace *ns, void *to,
			       size_t room, struct pxt_logtask_cursor *cursor, u32 *count)
{
	u32 size = 0;

	for (*count = 0; cursor->first < tasks->nr_taken; cursor->first++) {
		const struct pxt_logtask_taken *taken = &tasks->taken[cursor->first];

		if (!taken->text[PXT_TEXT_PROGRAM])
			continue;
		if (!put_program(taken, ns, to, room, &size))
			break;
		++*count;
	}
	return size;
}

/* Copy mappings from @pos of the text to @to. Returns false if not all fit. */
static bool put_mappings(const struct pxt_logtask_taken *taken, struct pid_namespace *ns, void *to,
			 size_t room, u32 *pos, u32 *size, u32 *count)
{
	const struct pxt_text *mappings = taken->text[PXT_TEXT_MAPPINGS];
	const struct posixtrace_log_mapping *from;
	struct posixtrace_log_mapping *head;
	u32 step;

	for (; mappings && *pos < mappings->size; *pos += step) {
		from = (const void *)(mappings->data + *pos);
		step = POSIXTRACE_LOG_MAPPING_STEP(from->size);
		/* Skip a mapping that was removed before the stream existed. */
		if (from->since < taken->looks)
			continue;
		if (*size + step > room)
			return false;
		head = to + *size;
		memcpy(head, from, step);
		head->pid = pid_nr_ns(taken->thread->tgid, ns);
		head->start = taken->thread->start;
		head->since = taken->since[PXT_TEXT_MAPPINGS];
		*size += step;
		++*count;
	}
	return true;
}

/**
 * pxt_logtasks_fill_mappings() - fill in the mappings of the taken threads
 * @tasks: after pxt_logtasks_take()
 * @ns: pid namespace of the controller
 * @to: payload of a block
 * @room: bytes at @to, enough for one mapping
 * @cursor: zeroed at first; advances past what was filled in
 * @count: number of mappings
 *
 * Return: bytes of payload; 0 when all are done.
 */
u32 pxt_logtasks_fill_mappings(struct pxt_logtasks *tasks, struct pid_namespace *ns, void *to,
			       size_t room, struct pxt_logtask_cursor *cursor, u32 *count)
{
	u32 size = 0;

	*count = 0;
	while (cursor->first < tasks->nr_taken &&
	       put_mappings(&tasks->taken[cursor->first], ns, to, room, &cursor->pos, &size,
			    count)) {
		cursor->first++;
		cursor->pos = 0;
	}
	return size;
}

/* Called with the lock. Returns the thread if it was removed. */
static struct pxt_logtask *give_back(struct pxt_logtasks *tasks,
				     const struct pxt_logtask_taken *taken, bool written)
{
	struct pxt_logtask *thread = taken->thread;

	thread->busy = false;
	thread->round = tasks->round;
	if (!written || thread->changes != taken->changes) {
		list_move_tail(&thread->list, thread->has_ended ? &tasks->later : &tasks->live);
		return NULL;
	}
	if (thread->has_ended && tasks->keeps_ended) {
		list_move_tail(&thread->list, &tasks->kept);
		return NULL;
	}
	thread->name[0] = *pxt_logtask_last_name(thread);
	thread->unwritten = 0;
	memset(thread->text_unwritten, 0, sizeof(thread->text_unwritten));
	if (!thread->has_ended) {
		list_del_init(&thread->list);
		return NULL;
	}
	pxt_logtasks_remove(tasks, thread);
	return thread;
}

/**
 * pxt_logtasks_give_back() - give the taken threads back
 * @tasks: after pxt_logtasks_take()
 * @written: their data is in the log
 *
 * Context: may sleep.
 */
void pxt_logtasks_give_back(struct pxt_logtasks *tasks, bool written)
{
	struct pxt_logtask *thread;
	unsigned long flags;
	u32 i, kind;

	for (i = 0; i < tasks->nr_taken; i++) {
		raw_spin_lock_irqsave(&tasks->lock, flags);
		thread = give_back(tasks, &tasks->taken[i], written);
		raw_spin_unlock_irqrestore(&tasks->lock, flags);
		for (kind = 0; kind < PXT_TEXTS; kind++)
			pxt_text_put(tasks->taken[i].text[kind]);
		if (thread)
			pxt_logtask_free(thread);
	}
	tasks->nr_taken = 0;
}

/**
 * pxt_logtasks_restart() - mark everything as unwritten
 * @tasks: the log no longer contains any of its data
 *
 * Context: may sleep.
 */
void pxt_logtasks_restart(struct pxt_logtasks *tasks)
{
	struct pxt_logtask *thread;
	unsigned long flags;
	u32 i, kind;

	raw_spin_lock_irqsave(&tasks->lock, flags);
	list_splice_init(&tasks->kept, &tasks->ended);
	raw_spin_unlock_irqrestore(&tasks->lock, flags);
	for (i = 0; i < ARRAY_SIZE(tasks->threads); i++) {
		raw_spin_lock_irqsave(&tasks->lock, flags);
		hlist_for_each_entry(thread, &tasks->threads[i], node) {
			thread->unwritten = max(thread->unwritten, 1U);
			for (kind = 0; kind < PXT_TEXTS; kind++)
				thread->text_unwritten[kind] = thread->text[kind];
			pxt_logtasks_note_news(tasks, thread);
		}
		raw_spin_unlock_irqrestore(&tasks->lock, flags);
		cond_resched();
	}
}
