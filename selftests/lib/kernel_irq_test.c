// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts in streams that request them. Those of a thread that computes must be recorded, must
 * not overlap, and must belong to the thread that ran. A sleeping reader must not cause any.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <stdlib.h>

#include "pxt_test.h"
#include "kernel_events.h"

#define MILLISECONDS	400

FIXTURE(kernel)
{
	struct child worker;
	trace_id_t trid;
	struct kernel_events events;
	unsigned long long before;
	unsigned long long after;
};

/* Returns the number of device and timer interrupts on CPU 0, from the kernel's own counters. */
static unsigned long long interrupts_of_cpu0(void)
{
	unsigned long long sum = 0, count;
	FILE *file = fopen("/proc/interrupts", "r");
	char line[4096], *at;

	while (file && fgets(line, sizeof(line), file)) {
		at = strchr(line, ':');
		count = at ? strtoull(at + 1, &at, 10) : 0;
		/* The tracepoints do not cover non-maskable interrupts and machine checks. */
		if (!strstr(line, "NMI:") && !strstr(line, "MCP:"))
			sum += count;
	}
	if (file)
		fclose(file);
	return sum;
}

FIXTURE_SETUP(kernel)
{
	ASSERT_EQ(0, child_start(&self->worker, worker, NULL));
	ASSERT_EQ(0, hear(&self->worker.talk));
	/* The threads of the worker stay on CPU 0 from now on. */
	ASSERT_EQ(0, worker_do(&self->worker, DO_SPIN, 1));
	ASSERT_EQ(0, kernel_stream(self->worker.pid,
				   POSIXTRACE_CLASS_IRQ | POSIXTRACE_CLASS_SCHED,
				   POSIX_TRACE_UNTIL_FULL, &self->trid));
	self->before = interrupts_of_cpu0();
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_SPIN, MILLISECONDS));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	self->after = interrupts_of_cpu0();
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	ASSERT_EQ(0, self->events.lost);
}

FIXTURE_TEARDOWN(kernel)
{
	child_kill(&self->worker);
	posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

TEST_F(kernel, interrupts_of_a_thread_that_computes_are_recorded)
{
	unsigned int hard = 0, soft = 0;
	const struct kernel_event *event;

	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id != POSIXTRACE_IRQ)
			continue;
		EXPECT_EQ(self->worker.pid, event->pid);
		EXPECT_LE(event->data.irq.kind, KIND_VECTOR);
		EXPECT_NE('\0', event->data.irq.name[0]);
		hard += event->data.irq.kind != KIND_SOFTIRQ;
		soft += event->data.irq.kind == KIND_SOFTIRQ;
	}
	/* The scheduler tick occurs at least 100 times a second. */
	EXPECT_LE(MILLISECONDS / 10 / 2, hard);
	/* The kernel's count also includes the interrupts of other threads. */
	EXPECT_LE(hard, self->after - self->before);
	TH_LOG("%u interrupts and %u softirqs, the kernel counts %llu", hard, soft,
	       self->after - self->before);
}

TEST_F(kernel, interrupts_do_not_overlap_unless_they_are_nested)
{
	unsigned long long end = 0, begin, sum = 0, first = 0, last = 0;
	const struct kernel_event *event;

	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->cpu != 0)
			continue;
		first = first ? first : event->time;
		last = event->time;
		if (event->id != POSIXTRACE_IRQ || event->data.irq.nested)
			continue;
		begin = event->time - event->data.irq.duration;
		EXPECT_LE(end, begin);
		end = event->time;
		sum += event->data.irq.duration;
	}
	EXPECT_LT(0, sum);
	EXPECT_LT(sum, last - first);
}

TEST_F(kernel, interrupts_belong_to_the_thread_that_runs)
{
	/*
	 * -1: unknown before the first switch, because the thread may already be running at the
	 * start.
	 */
	int running = -1;

	for (size_t i = 0; i < self->events.count; i++) {
		const struct kernel_event *event = &self->events.event[i];

		if (event->cpu != 0)
			continue;
		if (event->id == POSIXTRACE_SWITCH_IN)
			running = event->data.tid;
		else if (event->id == POSIXTRACE_SWITCH_OUT)
			running = 0;
		else if (event->id == POSIXTRACE_IRQ && running >= 0)
			EXPECT_EQ(running, event->data.tid);
	}
}

/* ------------------------------------------------------------------ */
/* Readers								*/

FIXTURE(reader)
{
	struct child worker;
	trace_id_t trid;
};

FIXTURE_SETUP(reader)
{
	ASSERT_EQ(0, child_start(&self->worker, worker, NULL));
	ASSERT_EQ(0, hear(&self->worker.talk));
	ASSERT_EQ(0, kernel_stream(self->worker.pid, POSIXTRACE_CLASS_IRQ, POSIX_TRACE_LOOP,
				   &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(reader)
{
	child_kill(&self->worker);
	posix_trace_shutdown(self->trid);
}

/* Waits up to ten seconds for the next event. */
static int wait_for(trace_id_t trid, struct event *event)
{
	struct timespec limit = to_timespec(now() + pxt_time_scale() * 10 * NSEC);

	return posix_trace_timedgetnext_event(trid, &event->info, event->data,
					      sizeof(event->data), &event->len,
					      &event->unavailable, &limit);
}

static bool is_of_the_reader(const struct event *event)
{
	union kernel_data data;

	memcpy(&data, event->data, sizeof(data));
	return event->info.posix_event_id == POSIXTRACE_IRQ &&
	       (!strncmp(data.irq.name, "irq_work", 8) || !strncmp(data.irq.name, "IRQ work", 8));
}

/* If each interrupt woke the reader, the wake-up would cause the next interrupt. */
TEST_F(reader, sleeping_reader_causes_no_interrupts_and_gets_all)
{
	unsigned int own = 0, count = 0;
	struct event event = { .len = 0 };

	ASSERT_EQ(0, worker_do_later(&self->worker, DO_SPIN, MILLISECONDS));
	for (unsigned long long end = now() + MILLISECONDS * 1000000ULL; now() < end; ) {
		ASSERT_EQ(0, wait_for(self->trid, &event));
		count += event.info.posix_event_id == POSIXTRACE_IRQ;
		own += is_of_the_reader(&event);
	}
	ASSERT_EQ(0, hear(&self->worker.talk));
	EXPECT_LT(0, count);
	/* START has caused one interrupt. The kernel may have caused others. */
	EXPECT_LE(own, 10);
	TH_LOG("%u interrupts, %u of them for wake-ups", count, own);
}

TEST_HARNESS_MAIN
