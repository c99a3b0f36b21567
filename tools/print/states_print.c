// SPDX-License-Identifier: GPL-2.0
/*
 * Prints tables of what the threads of a trace did: see states_print.h.
 */
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_names.h"
#include "print/cells.h"
#include "print/states_print.h"

#define ROWS_SHOWN	20
#define THREAD_WIDTH	17
#define PLACE_WIDTH	28

/* Arguments that all tables share. */
struct tables {
	const struct states *states;
	const struct states_thread *threads;
	size_t nr_threads;
	struct source *source;
	FILE *to;
	size_t thread_width;
	bool all;
};

/* Finds the thread that had the ids at a time; NULL if unknown. */
static const struct states_thread *find_thread(const struct tables *tables, pid_t pid, pid_t tid,
					       uint64_t time)
{
	const struct states_thread *found = NULL, *thread = tables->threads;

	for (size_t i = 0; i < tables->nr_threads; i++, thread++) {
		if (thread->pid == pid && thread->tid == tid && thread->first <= time)
			found = thread;
	}
	return found;
}

/* Makes a label from the last known name and the id of a thread, or from the id alone. */
static void label_thread(const struct tables *tables, const struct states_thread *thread,
			 char label[LABEL_SIZE])
{
	const struct event event = {
		.pid = thread->pid, .tid = thread->tid, .source = tables->source,
	};

	/*
	 * A stream may know the name by now, so ask again. A log had it at the first event, if at
	 * all.
	 */
	if (tables->source && !source_is_log(tables->source) &&
	    event_thread_label(&event, label))
		return;
	if (thread->label[0])
		memcpy(label, thread->label, LABEL_SIZE);
	else
		event_label(&event, NULL, label);
}

/* Like label_thread(), for a thread without events: uses the name that the thread had at @time. */
static void label_other(const struct tables *tables, pid_t pid, pid_t tid, uint64_t time,
			char label[LABEL_SIZE])
{
	const struct event event = {
		.pid = pid, .tid = tid, .time = time, .source = tables->source,
	};
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	event_label(&event, event_thread_name(&event, name) ? name : NULL, label);
}

static void print_thread(const struct tables *tables, const struct states_thread *thread)
{
	char label[LABEL_SIZE];

	label_thread(tables, thread, label);
	fprintf(tables->to, "%10d  ", (int)source_plain_id(tables->source, thread->pid));
	cells_name(tables->to, label, tables->thread_width);
}

static void print_time(FILE *to, uint64_t ns, bool known)
{
	char text[CELLS_SIZE];

	fprintf(to, " %9s", known ? cells_time(text, ns) : "-");
}

static void print_count(FILE *to, uint64_t count, bool known)
{
	if (known)
		fprintf(to, " %9llu", (unsigned long long)count);
	else
		fprintf(to, " %9s", "-");
}

static void print_place(const struct tables *tables, uint32_t place, bool io)
{
	const char *name = waits_place_name(states_waits(tables->states), place);
	char text[KEVENT_CALL_NAME + 8];

	snprintf(text, sizeof(text), "%s%s", name, io ? " (I/O)" : "");
	fprintf(tables->to, "  ");
	cells_name(tables->to, text, PLACE_WIDTH);
}

/* ------------------------------------------------------------------ */
/* Threads								*/

static int ran_longer(const void *a, const void *b)
{
	const struct states_thread *x = *(const struct states_thread *const *)a;
	const struct states_thread *y = *(const struct states_thread *const *)b;

	if (x->time[STATES_RUNNING] != y->time[STATES_RUNNING])
		return x->time[STATES_RUNNING] < y->time[STATES_RUNNING] ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void print_states(const struct tables *tables, const struct states_thread *thread)
{
	const bool sched = states_has(tables->states, POSIXTRACE_CLASS_SCHED);
	const bool irq = sched && states_has(tables->states, POSIXTRACE_CLASS_IRQ);
	FILE *to = tables->to;

	print_thread(tables, thread);
	print_time(to, thread->lifetime, true);
	print_time(to, thread->time[STATES_RUNNING], sched);
	print_time(to, thread->time[STATES_RUNNABLE], sched);
	print_time(to, thread->time[STATES_BLOCKED], sched);
	print_time(to, thread->time[STATES_UNKNOWN], true);
	print_time(to, thread->io, sched);
	print_time(to, thread->interrupted, irq);
	print_count(to, thread->voluntary, sched);
	print_count(to, thread->preempted, sched);
	print_count(to, thread->faults, states_has(tables->states, POSIXTRACE_CLASS_FAULT));
	print_count(to, thread->calls, states_has(tables->states, POSIXTRACE_CLASS_SYSCALL));
	print_count(to, thread->signals, states_has(tables->states, POSIXTRACE_CLASS_SIGNAL));
	fputc('\n', to);
}

static void print_threads(const struct tables *tables)
{
	const struct states_thread **sorted = calloc(tables->nr_threads + 1, sizeof(*sorted));
	size_t count = 0, shown;

	if (!sorted)
		return;
	for (size_t i = 0; i < tables->nr_threads; i++) {
		if (tables->threads[i].seen)
			sorted[count++] = &tables->threads[i];
	}
	qsort(sorted, count, sizeof(*sorted), ran_longer);
	fprintf(tables->to,
		"\n%10s  %-*s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "PROCESS",
		(int)tables->thread_width, "THREAD", "TIME", "RUNNING", "RUNNABLE", "BLOCKED",
		"UNKNOWN",
		"I/O", "IRQ", "VOLUNTARY", "PREEMPTED", "FAULTS", "SYSCALLS", "SIGNALS");
	shown = tables->all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		print_states(tables, sorted[i]);
	if (shown < count)
		fprintf(tables->to, "%29s threads: use --all\n", "and more");
	if (states_more(tables->states))
		fprintf(tables->to, "%29s threads are not followed\n", "all others");
	free(sorted);
}

/* ------------------------------------------------------------------ */
/* Waits								*/

static int waited_longer(const void *a, const void *b)
{
	const struct waits_sum *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->io - y->io;
}

static void print_sums(const struct tables *tables)
{
	struct waits_sum *sorted;
	const struct waits_sum *sums;
	size_t count, shown;

	sums = waits_sums(states_waits(tables->states), &count);
	sorted = calloc(count + 1, sizeof(*sorted));
	if (!sorted || !count) {
		free(sorted);
		return;
	}
	memcpy(sorted, sums, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), waited_longer);
	fprintf(tables->to, "\n%10s  %-*s  %-*s %9s %9s %9s\n", "PROCESS",
		(int)tables->thread_width, "THREAD", PLACE_WIDTH, "BLOCKED IN", "COUNT", "TIME",
		"LONGEST");
	shown = tables->all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		print_thread(tables, &tables->threads[sorted[i].thread]);
		print_place(tables, sorted[i].place, sorted[i].io);
		print_count(tables->to, sorted[i].count, true);
		print_time(tables->to, sorted[i].time, true);
		print_time(tables->to, sorted[i].longest, true);
		fputc('\n', tables->to);
	}
	if (shown < count)
		fprintf(tables->to, "%29s places: use --all\n", "and more");
	free(sorted);
}

static int lock_waited_longer(const void *a, const void *b)
{
	const struct locks_sum *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->holder < y->holder ? -1 : x->holder > y->holder;
}

static void print_lock(const struct tables *tables, const struct locks_sum *lock)
{
	char label[LABEL_SIZE] = "unknown";
	char address[32];

	if (lock->holder)
		label_thread(tables, &tables->threads[lock->holder - 1], label);
	snprintf(address, sizeof(address), "futex 0x%llx", (unsigned long long)lock->address);
	fprintf(tables->to, "%10d  ",
		(int)source_plain_id(tables->source, (pid_t)lock->process));
	cells_name(tables->to, label, tables->thread_width);
	fprintf(tables->to, "  ");
	cells_name(tables->to, address, PLACE_WIDTH);
	print_count(tables->to, lock->count, true);
	print_time(tables->to, lock->time, true);
	print_time(tables->to, lock->longest, true);
	fputc('\n', tables->to);
}

/* Prints which threads held the locks for which threads waited. */
static void print_locks(const struct tables *tables)
{
	struct locks_sum *sorted;
	const struct locks_sum *sums;
	size_t count, shown;

	sums = locks_sums(states_locks(tables->states), &count);
	sorted = calloc(count + 1, sizeof(*sorted));
	if (!sorted || !count) {
		free(sorted);
		return;
	}
	memcpy(sorted, sums, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), lock_waited_longer);
	fprintf(tables->to, "\n%10s  %-*s  %-*s %9s %9s %9s\n", "PROCESS",
		(int)tables->thread_width, "HELD BY", PLACE_WIDTH, "WAITS FOR", "COUNT", "TIME",
		"LONGEST");
	shown = tables->all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		print_lock(tables, &sorted[i]);
	if (shown < count)
		fprintf(tables->to, "%29s futexes: use --all\n", "and more");
	free(sorted);
}

static void print_waker(const struct tables *tables, const struct wait *wait)
{
	static const char *const others[] = {
		[WAKER_UNKNOWN] = "unknown",
		[WAKER_NONE] = "not woken",
		[WAKER_INTERRUPT] = "an interrupt",
		[WAKER_SOFTIRQ] = "a softirq",
		[WAKER_TIMER] = "a timer",
		[WAKER_CHILD] = "the end of a child",
		[WAKER_SIGNAL] = "a signal",
		[WAKER_KERNEL] = "a thread of the kernel",
		[WAKER_ANOTHER] = "another thread",
	};
	static const char *const how[] = {
		[WAKER_SOFTIRQ] = " in a softirq",
		[WAKER_CHILD] = " by its end",
		[WAKER_SIGNAL] = " by a signal",
		[WAKER_NONE] = NULL,
	};
	const uint64_t woken = wait->begin + wait->length;
	const struct states_thread *waker;
	char label[LABEL_SIZE];

	fprintf(tables->to, "  ");
	if (waker_is_thread(&wait->waker)) {
		waker = find_thread(tables, wait->waker.pid, wait->waker.tid, woken);
		if (waker)
			label_thread(tables, waker, label);
		else
			label_other(tables, wait->waker.pid, wait->waker.tid, woken, label);
		cells_name(tables->to, label, 0);
		fprintf(tables->to, " of process %d%s",
			(int)source_plain_id(tables->source, wait->waker.pid),
			how[wait->waker.kind] ? how[wait->waker.kind] : "");
	} else {
		fprintf(tables->to, "%s", others[wait->waker.kind]);
	}
	fputc('\n', tables->to);
}

/* Prints the longest waits. Their start has the format of "posixtrace dump", to be found there. */
static void print_longest(const struct tables *tables)
{
	const struct wait *wait;
	uint64_t begin;
	size_t count;

	wait = waits_longest(states_waits(tables->states), &count);
	if (!count)
		return;
	fprintf(tables->to, "\n%14s %9s %10s  %-*s  %-*s  %s\n", "LONGEST WAITS", "TIME", "PROCESS",
		(int)tables->thread_width, "THREAD", PLACE_WIDTH, "BLOCKED IN", "WOKEN BY");
	for (size_t i = 0; i < count; i++, wait++) {
		begin = wait->begin - states_first(tables->states);
		fprintf(tables->to, "%10llu.%03llu", (unsigned long long)(begin / 1000),
			(unsigned long long)(begin % 1000));
		print_time(tables->to, wait->length, true);
		fputc(' ', tables->to);
		print_thread(tables, &tables->threads[wait->thread]);
		print_place(tables, wait->place, wait->io);
		print_waker(tables, wait);
	}
}

void states_print(const struct states *states, struct source *source, FILE *to, bool all)
{
	struct tables tables = { .states = states, .source = source, .to = to, .all = all };
	char text[CELLS_SIZE], label[LABEL_SIZE];

	tables.threads = states_threads(states, &tables.nr_threads);
	tables.thread_width = THREAD_WIDTH;
	for (size_t i = 0; i < tables.nr_threads; i++) {
		label_thread(&tables, &tables.threads[i], label);
		cells_widen(&tables.thread_width, label);
	}
	fprintf(to, "%-9s %s\n", "time",
		cells_time(text, states_last(states) - states_first(states)));
	print_threads(&tables);
	print_sums(&tables);
	print_locks(&tables);
	print_longest(&tables);
}
