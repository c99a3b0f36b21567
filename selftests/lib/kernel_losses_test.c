// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with kernel events while filters change, streams are full, processors go offline, readers
 * sleep, and logs are written. Each event must be recorded or counted as lost.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "hotplug.h"
#include "kernel_fixture.h"
#include "withlog.h"

#define SCHED		POSIXTRACE_CLASS_SCHED
#define PROCESS		POSIXTRACE_CLASS_PROCESS
#define BOTH		(SCHED | PROCESS)

#define ROUNDS		200

/* ------------------------------------------------------------------ */
/* Filters								*/

TEST_F(kernel, filters_apply_while_the_stream_runs)
{
	unsigned long long change = 0;
	trace_event_set_t set;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIXTRACE_SWITCH_IN, &set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIXTRACE_WAKEUP, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_stop(self->trid));

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	change = self->events.filter;
	ASSERT_NE(0, change);
	for (int late = 0; late <= 1; late++) {
		unsigned int outs = 0, others = 0;

		for (size_t i = 0; i < self->events.count; i++) {
			if (self->events.event[i].time > change ? !late : late)
				continue;
			outs += self->events.event[i].id == POSIXTRACE_SWITCH_OUT;
			others += self->events.event[i].id == POSIXTRACE_SWITCH_IN ||
				  self->events.event[i].id == POSIXTRACE_WAKEUP;
		}
		EXPECT_LE(10, outs);
		EXPECT_TRUE(late ? others == 0 : others >= 10);
	}
}

TEST_F(kernel, set_of_system_events_filters_all_of_them)
{
	struct posixtrace_kernel_info info;
	trace_event_set_t set;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, BOTH, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(0, self->events.count);
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	EXPECT_EQ(0, info.recorded[CLASS_SCHED]);
	EXPECT_EQ(0, info.dropped[CLASS_SCHED]);
}

/* ------------------------------------------------------------------ */
/* Full streams								*/

/* Filters out all types except sched_switch_out, which the kernel itself counts. */
static int only_switches_out(trace_id_t trid)
{
	trace_event_set_t set;
	int err = posix_trace_eventset_empty(&set);

	for (trace_event_id_t id = POSIXTRACE_SWITCH_IN; !err && id <= POSIXTRACE_RENAME; id++)
		err = posix_trace_eventset_add(id, &set);
	return err ? err : posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

static unsigned long long sum(const struct switches *switches)
{
	return switches->voluntary + switches->involuntary;
}

TEST_F(kernel, until_full_counts_what_it_loses)
{
	struct posixtrace_kernel_info info;
	struct posix_trace_status_info status;
	struct switches before, after;

	ASSERT_EQ(0, kernel_small_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL,
					 &self->trid));
	ASSERT_EQ(0, only_switches_out(self->trid));
	before = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 20 * ROUNDS));
	/* Wait for the work item that suspends the full stream. */
	do {
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_stream_full_status != POSIX_TRACE_FULL);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	after = worker_switches(&self->worker);
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	EXPECT_EQ(sum(&after) - sum(&before), info.recorded[CLASS_SCHED] +
					      info.dropped[CLASS_SCHED]);
	EXPECT_LT(0, info.dropped[CLASS_SCHED]);
	EXPECT_EQ(0, info.overwritten);

	/* The stream restarts after all its events were read. */
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(info.recorded[CLASS_SCHED], self->events.count);
	EXPECT_EQ(1, self->events.automatic_stops);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_LE(10, kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT) -
		      info.recorded[CLASS_SCHED]);
	EXPECT_EQ(1, self->events.overflows);
	EXPECT_LE(info.dropped[CLASS_SCHED], self->events.lost);
}

TEST_F(kernel, loop_keeps_the_last_ones_and_counts_the_others)
{
	struct posixtrace_kernel_info info;
	struct posixtrace_stats_info stats;
	struct switches before, after;
	unsigned long long system;

	ASSERT_EQ(0, kernel_small_stream(self->worker.pid, SCHED, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, only_switches_out(self->trid));
	before = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 20 * ROUNDS));
	after = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	EXPECT_EQ(sum(&after) - sum(&before), info.recorded[CLASS_SCHED]);
	EXPECT_EQ(0, info.dropped[CLASS_SCHED]);
	EXPECT_LT(0, info.overwritten);

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	/* Include START and STOP, which may also be lost. */
	system = self->events.starts + self->events.stops;
	EXPECT_EQ(info.recorded[CLASS_SCHED] + 2,
		  self->events.count + system + stats.system_lost);
	EXPECT_EQ(1, self->events.overflows);
	EXPECT_EQ(stats.system_lost, self->events.lost);
	/* The latest events are still there, and no event among them is missing. */
	ASSERT_LT(0, self->events.count);
	EXPECT_EQ(0, self->events.late);
	for (size_t i = 1; i < self->events.count; i++)
		EXPECT_LE(self->events.event[i - 1].time, self->events.event[i].time);
}

TEST_F(kernel, clear_forgets_events_and_numbers)
{
	struct posixtrace_kernel_info info;

	ASSERT_EQ(0, kernel_small_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL,
					 &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 20 * ROUNDS));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	/* After this CLEAR, a stream that was full is suspended. Stop it in any case. */
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	EXPECT_EQ(0, info.recorded[CLASS_SCHED]);
	EXPECT_EQ(0, info.dropped[CLASS_SCHED]);
	EXPECT_EQ(0, info.overwritten);
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(0, self->events.count);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	EXPECT_EQ(info.recorded[CLASS_SCHED], self->events.count);
	EXPECT_LT(0, self->events.count);
}

TEST_F(kernel, storm_of_many_threads_is_counted_exactly)
{
	struct posixtrace_kernel_info info;
	struct switches before, after;

	for (int loop = 0; loop <= 1; loop++) {
		ASSERT_EQ(0, kernel_small_stream(self->worker.pid, BOTH, loop ?
						 POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
						 &self->trid));
		ASSERT_EQ(0, only_switches_out(self->trid));
		/* Create the threads before the first count. They sleep between the storms. */
		ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_BEGIN, 16));
		before = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		ASSERT_EQ(0, worker_do(&self->worker, DO_STORM, ROUNDS));
		for (int i = 0; i < 10; i++) {
			ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
			ASSERT_EQ(0, worker_do(&self->worker, DO_STORM, ROUNDS));
		}
		after = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		/* A full stream continues counting. */
		ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
		ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
		ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_END, 0));
		EXPECT_EQ(sum(&after) - sum(&before), info.recorded[CLASS_SCHED] +
						      info.dropped[CLASS_SCHED]);
		EXPECT_TRUE(loop ? !info.dropped[CLASS_SCHED] :
				   info.recorded[CLASS_SCHED] == self->events.count);
		EXPECT_EQ(0, self->events.errors);
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		self->trid = 0;
		kernel_events_free(&self->events);
	}
}

TEST_F(kernel, offline_processors_lose_no_event)
{
	struct posixtrace_kernel_info info;
	struct switches before, after;
	struct child guard;

	ASSERT_LE(2, count_cpus());
	for (int loop = 0; loop <= 1; loop++) {
		ASSERT_EQ(0, loop ? kernel_small_stream(self->worker.pid, SCHED, POSIX_TRACE_LOOP,
							&self->trid) :
				    kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL,
						  &self->trid));
		ASSERT_EQ(0, only_switches_out(self->trid));
		ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_BEGIN, 4));
		before = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		ASSERT_EQ(0, hotplug_begin(&guard));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, worker_do_later(&self->worker, DO_STORM, ROUNDS));
			EXPECT_EQ(0, switch_cpu(1, false));
			EXPECT_EQ(0, kernel_events_read(&self->events, self->trid));
			EXPECT_EQ(0, switch_cpu(1, true));
			ASSERT_EQ(0, hear(&self->worker.talk));
		}
		ASSERT_EQ(0, hotplug_end(&guard));
		after = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
		EXPECT_EQ(sum(&after) - sum(&before), info.recorded[CLASS_SCHED] +
						      info.dropped[CLASS_SCHED]);
		ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
		EXPECT_TRUE(loop || info.recorded[CLASS_SCHED] == self->events.count);
		EXPECT_EQ(0, self->events.errors);
		ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_END, 0));
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		self->trid = 0;
		kernel_events_free(&self->events);
	}
}

/* Two streams see each event. The small one loses many. */
TEST_F(kernel, events_of_all_classes_are_counted_exactly_in_a_storm)
{
	unsigned int classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	struct posixtrace_kernel_info info, all;
	struct child guard;
	trace_id_t large;

	ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_BEGIN, 8));
	ASSERT_EQ(0, kernel_small_stream(self->worker.pid, classes, POSIX_TRACE_UNTIL_FULL,
					 &self->trid));
	ASSERT_EQ(0, kernel_stream(self->worker.pid, classes, POSIX_TRACE_LOOP, &large));
	worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_start(large));
	ASSERT_EQ(0, hotplug_begin(&guard));
	ASSERT_EQ(0, worker_do_later(&self->worker, DO_STORM, ROUNDS));
	EXPECT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, hear(&self->worker.talk));
	EXPECT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, hotplug_end(&guard));
	ASSERT_EQ(0, worker_do(&self->worker, DO_SIGNALS, ROUNDS));
	ASSERT_EQ(0, worker_do(&self->worker, DO_CHILDREN, 2));
	for (int i = 0; i < 4; i++)
		hear(&self->worker.talk);
	worker_switches(&self->worker);
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	ASSERT_EQ(0, posixtrace_get_kernel_info(large, &all));
	for (int class = CLASS_SCHED; class <= CLASS_STRINGS; class++) {
		EXPECT_EQ(0, all.dropped[class]);
		EXPECT_EQ(all.recorded[class], info.recorded[class] + info.dropped[class]) {
			TH_LOG("class %d", class);
		}
		EXPECT_EQ(!(classes & 1U << class), !all.recorded[class]) {
			TH_LOG("class %d", class);
		}
	}
	EXPECT_LT(0, info.dropped[CLASS_SYSCALL]);
	ASSERT_EQ(0, worker_do(&self->worker, DO_STORM_END, 0));
	ASSERT_EQ(0, posix_trace_shutdown(large));
}

/* ------------------------------------------------------------------ */
/* Readers								*/

TEST_F(kernel, event_wakes_a_sleeping_reader)
{
	struct event event;
	struct timespec soon;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, PROCESS, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	ASSERT_EQ(0, worker_do_later(&self->worker, DO_THREAD, 0));
	soon = to_timespec(now() + pxt_time_scale() * 20 * NSEC);
	ASSERT_EQ(0, posix_trace_timedgetnext_event(self->trid, &event.info, event.data,
						    sizeof(event.data), &event.len,
						    &event.unavailable, &soon));
	EXPECT_EQ(POSIXTRACE_FORK, event.info.posix_event_id);
	ASSERT_EQ(0, hear(&self->worker.talk));
}

/* An event caused by the reader must not wake the reader. Otherwise each sleep would end itself. */
TEST_F(kernel, reader_that_traces_itself_can_sleep)
{
	struct timespec soon;
	unsigned int count = 0;
	struct event event;
	int err;

	ASSERT_EQ(0, kernel_stream(0, SCHED | POSIXTRACE_CLASS_IRQ, POSIX_TRACE_LOOP,
				   &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	soon = to_timespec(now() + 2 * NSEC);
	do {
		err = posix_trace_timedgetnext_event(self->trid, &event.info, event.data,
						     sizeof(event.data), &event.len,
						     &event.unavailable, &soon);
		count++;
	} while (!err);
	EXPECT_EQ(ETIMEDOUT, err);
	EXPECT_GT(2000, count);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

TEST_F(kernel, log_has_the_same_events_and_their_types)
{
	static char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	static char from_log[POSIXTRACE_DESCRIPTION_MAX + 1];
	unsigned int classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	struct posixtrace_kernel_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	const struct kernel_type *type;
	struct switches before, after;
	trace_event_id_t id;
	int unavailable;
	trace_id_t log;
	int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (unsigned int p = 0; p < 3; p++) {
		size_t recorded = 0;
		int fd = log_tmpfile();

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, kernel_withlog(self->worker.pid, classes, 1 << 20, policies[p], fd,
					    &self->trid));
		ASSERT_EQ(0, posixtrace_eventid_get_description(self->trid, POSIXTRACE_WAKEUP, text,
								sizeof(text), NULL));
		before = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		for (int i = 0; i < 5; i++) {
			ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, ROUNDS));
			ASSERT_EQ(0, worker_do(&self->worker, DO_EVENT, 1));
		}
		after = worker_switches(&self->worker);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
		self->trid = 0;

		ASSERT_EQ(0, posix_trace_open(fd, &log));
		ASSERT_EQ(0, kernel_events_read(&self->events, log));
		EXPECT_EQ(0, self->events.errors);
		EXPECT_EQ(0, self->events.lost);
		EXPECT_EQ(0, kernel_events_impossible(&self->events));
		EXPECT_EQ(5, kernel_events_count(&self->events, POSIX_TRACE_UNNAMED_USEREVENT));
		for (int class = CLASS_SCHED; class <= CLASS_STRINGS; class++)
			recorded += info.recorded[class];
		EXPECT_EQ(recorded + 5, self->events.count);
		EXPECT_EQ(sum(&after) - sum(&before),
			  kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT));
		ASSERT_EQ(0, posix_trace_get_status(log, &status));
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
		type = kernel_type_next(classes, NULL);
		for (;;) {
			ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(log, &id, &unavailable));
			if (unavailable)
				break;
			if (id < POSIXTRACE_SWITCH_OUT || id >= POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			ASSERT_EQ(0, posix_trace_eventid_get_name(log, id, name));
			ASSERT_NE(NULL, type);
			EXPECT_EQ(type->id, id);
			EXPECT_STREQ(type->name, name);
			EXPECT_EQ(0, posixtrace_eventid_get_description(log, id, from_log,
									sizeof(from_log), NULL));
			if (id == POSIXTRACE_WAKEUP)
				EXPECT_STREQ(text, from_log);
			type = kernel_type_next(classes, type);
		}
		EXPECT_EQ(NULL, type);
		ASSERT_EQ(0, posix_trace_close(log));
		close(fd);
		kernel_events_free(&self->events);
	}
}

TEST_F(kernel, log_that_flushes_itself_takes_more_than_the_stream_holds)
{
	struct switches before, after;
	struct posixtrace_log_info info;
	trace_id_t log;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kernel_withlog(self->worker.pid, SCHED, 32 << 10, POSIX_TRACE_APPEND, fd,
				    &self->trid));
	ASSERT_EQ(0, only_switches_out(self->trid));
	before = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10 * ROUNDS));
	after = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	self->trid = 0;
	ASSERT_EQ(0, posix_trace_open(fd, &log));
	ASSERT_EQ(0, kernel_events_read(&self->events, log));
	ASSERT_EQ(0, posixtrace_get_log_info(log, &info));
	/* If the stream was full for a while, the losses are counted. */
	EXPECT_EQ(sum(&after) - sum(&before), self->events.count + info.lost);
	EXPECT_EQ(0, self->events.errors);
	ASSERT_EQ(0, posix_trace_close(log));
	close(fd);
}

TEST_HARNESS_MAIN
