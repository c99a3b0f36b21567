// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, the members of an event that is read:
 * Documentation/conformance/xsh_2_11_reading.rst. See xsh_2_11_reading_order_test.c for the
 * order, xsh_2_11_reading_shared_test.c for several readers, and
 * xsh_2_11_reading_waiting_test.c for waiting, signals and cancellation.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "function.h"
#include "reading.h"
#include "reading_stream.h"

TEST_F(reading, a01_event_id_is_the_id_of_its_type)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[2];

	ASSERT_EQ(0, posix_trace_eventid_open("first", &ids[0]));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "second", &ids[1]));
	for (int i = 0; i < 2; i++)
		posix_trace_event(ids[i], NULL, 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_EQ(ids[i], self->event.info.posix_event_id);
		ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid,
							  self->event.info.posix_event_id, name));
		EXPECT_STREQ(i ? "second" : "first", name);
	}
}

static int record_once(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	record_number(1);
	return 0;
}

TEST_F(reading, a02_pid_is_the_pid_of_the_traced_process)
{
	struct child child;
	trace_id_t trid;

	record_number(0);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	ASSERT_EQ(0, trace_child(&child, record_once, NULL, &trid));
	ASSERT_EQ(1, take_user(trid, &self->event));
	EXPECT_EQ(child.pid, self->event.info.posix_pid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static void *record_in_thread(void *arg)
{
	record_number(*(int *)arg);
	return NULL;
}

TEST_F(reading, a03_thread_id_is_the_id_of_the_thread)
{
	int numbers[] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, record_in_thread, &numbers[i]));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	record_number(2);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_TRUE(pthread_equal(threads[event_number(&self->event)],
					  self->event.info.posix_thread_id));
	}
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_TRUE(pthread_equal(pthread_self(), self->event.info.posix_thread_id));
}

/* The barrier after the call prevents a tail call. */
#define CALL(call)	({ int ret = (call); __asm__ volatile("" ::: "memory"); ret; })

__attribute__((__noinline__))
static void call_event(void)
{
	record_number(1);
	__asm__ volatile("" ::: "memory");
}

__attribute__((__noinline__))
static int call_start(trace_id_t trid)
{
	return CALL(posix_trace_start(trid));
}

__attribute__((__noinline__))
static int call_stop(trace_id_t trid)
{
	return CALL(posix_trace_stop(trid));
}

__attribute__((__noinline__))
static int call_set_filter(trace_id_t trid, const trace_event_set_t *set)
{
	return CALL(posix_trace_set_filter(trid, set, POSIX_TRACE_SET_EVENTSET));
}

TEST_F(reading, a04_program_address_of_a_user_event)
{
	const void *address;

	call_event();
	call_event();
	ASSERT_EQ(1, take(self->trid, &self->event));
	address = self->event.info.posix_prog_address;
	EXPECT_TRUE(is_in_function(address, call_event));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(address, self->event.info.posix_prog_address);
}

TEST_F(reading, a05_program_address_of_controller_calls)
{
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, call_set_filter(self->trid, &set));
	ASSERT_EQ(0, call_stop(self->trid));
	ASSERT_EQ(0, call_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_FILTER, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in_function(self->event.info.posix_prog_address, call_set_filter));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in_function(self->event.info.posix_prog_address, call_stop));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_START, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in_function(self->event.info.posix_prog_address, call_start));
}

static void *stop_in_thread(void *arg)
{
	return posix_trace_stop(*(trace_id_t *)arg) ? arg : NULL;
}

/*
 * The event has the process and thread of the controller that calls, although another process is
 * traced.
 */
TEST_F(reading, a06_process_and_thread_of_controller_calls)
{
	struct child child;
	pthread_t thread;
	trace_id_t trid;
	void *failed;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_in_thread, &trid));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(pthread_self(), self->event.info.posix_thread_id));
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(thread, self->event.info.posix_thread_id));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* A stream that fills up stops by itself. */
TEST_F(reading, a07_no_process_and_no_thread)
{
	char data[256] = "";
	trace_id_t trid;
	int found = 0;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	for (int i = 0; i < 600; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(1, take(trid, &self->event));
	while (take(trid, &self->event) == 1) {
		if (self->event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		EXPECT_EQ(0, self->event.info.posix_pid);
		EXPECT_EQ(0, self->event.info.posix_thread_id);
		EXPECT_EQ(NULL, self->event.info.posix_prog_address);
		found++;
	}
	/* STOP, OVERFLOW, RESUME, START */
	EXPECT_EQ(4, found);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(reading, a08_time_of_generation)
{
	unsigned long long before[20], after;

	for (int i = 0; i < 20; i++) {
		before[i] = now();
		run_on(i / 3);
		record_number(i);
	}
	after = now();
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_LE(before[i], event_time(&self->event));
		EXPECT_GE(i < 19 ? before[i + 1] : after, event_time(&self->event));
	}
}

TEST_F(reading, a09_resolution_of_the_time_is_in_the_attributes)
{
	struct timespec resolution, real;
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getclockres(&attr, &resolution));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &real));
	EXPECT_EQ(real.tv_sec, resolution.tv_sec);
	EXPECT_EQ(real.tv_nsec, resolution.tv_nsec);
}

TEST_HARNESS_MAIN
