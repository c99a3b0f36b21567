// SPDX-License-Identifier: GPL-2.0
/*
 * The three functions that report events: when they wait, and what they store.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "reading.h"

FIXTURE(getnext)
{
	trace_id_t trid;
};

FIXTURE_SETUP(getnext)
{
	struct event start;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &start));
}

FIXTURE_TEARDOWN(getnext)
{
	posix_trace_shutdown(self->trid);
}

static int getnext(trace_id_t trid, struct event *event)
{
	return posix_trace_getnext_event(trid, &event->info, event->data, sizeof(event->data),
					 &event->len, &event->unavailable);
}

static int timedgetnext(trace_id_t trid, struct event *event, const struct timespec *abstime)
{
	return posix_trace_timedgetnext_event(trid, &event->info, event->data,
					      sizeof(event->data), &event->len,
					      &event->unavailable, abstime);
}

/* ------------------------------------------------------------------ */
/* With an event							*/

TEST_F(getnext, all_three_report_an_event)
{
	const struct timespec past = { 0, 0 };
	struct event event;

	for (int i = 0; i < 3; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	event.unavailable = -1;
	ASSERT_EQ(0, getnext(self->trid, &event));
	EXPECT_EQ(0, event_number(&event));
	EXPECT_EQ(0, event.unavailable);
	event.unavailable = -1;
	ASSERT_EQ(0, timedgetnext(self->trid, &event, &past));
	EXPECT_EQ(1, event_number(&event));
	EXPECT_EQ(0, event.unavailable);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
}

TEST_F(getnext, event_is_reported_once)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	EXPECT_EQ(0, getnext(self->trid, &event));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(getnext, short_buffer_truncates_the_data)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
	memset(event.data, 'z', sizeof(event.data));
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data, 4,
					       &event.len, &event.unavailable));
	EXPECT_EQ(4, event.len);
	EXPECT_EQ(0, memcmp("0123zz", event.data, 6));
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, event.info.posix_truncation_status);
	/* The rest of the data is not reported later. */
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(getnext, no_buffer_at_all)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, NULL, 0,
					       &event.len, &event.unavailable));
	EXPECT_EQ(0, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, event.info.posix_truncation_status);
}

TEST_F(getnext, buffer_of_the_exact_size)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "0123456789", 10);
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data, 10,
					       &event.len, &event.unavailable));
	EXPECT_EQ(10, event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
}

/* Truncated when recorded and when read: the latter is reported. */
TEST_F(getnext, truncated_read_overrides_truncated_record)
{
	struct event event;
	char data[300] = "";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data, 255,
					       &event.len, &event.unavailable));
	EXPECT_EQ(255, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, event.info.posix_truncation_status);
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data, 256,
					       &event.len, &event.unavailable));
	EXPECT_EQ(256, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
}

/* ------------------------------------------------------------------ */
/* Without an event							*/

TEST_F(getnext, try_never_waits)
{
	struct event event;

	event.unavailable = 0;
	EXPECT_EQ(0, posix_trace_trygetnext_event(self->trid, &event.info, event.data, 10,
						  &event.len, &event.unavailable));
	EXPECT_NE(0, event.unavailable);
}

TEST_F(getnext, waits_for_an_event)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "wake", 4);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(0, reader.event.unavailable);
	EXPECT_EQ(0, memcmp("wake", reader.event.data, 4));
}

TEST_F(getnext, waits_repeatedly)
{
	struct reader reader;

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
		ASSERT_EQ(0, reader_end(&reader));
		ASSERT_EQ(i, event_number(&reader.event));
	}
}

TEST_F(getnext, stop_event_wakes_it_up)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(POSIX_TRACE_STOP, reader.event.info.posix_event_id);
}

TEST_F(getnext, shutdown_ends_the_wait)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, reader_end(&reader));
}

static void handler(int signal)
{
	(void)signal;
}

TEST_F(getnext, signal_interrupts_the_wait)
{
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
	/* The interrupted call has consumed no event. */
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	EXPECT_EQ(1, take(self->trid, &reader.event));
}

TEST_F(getnext, two_readers_share_the_events)
{
	struct reader readers[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, reader_start(&readers[i], self->trid, NULL));
	for (int i = 0; i < 2; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, reader_end(&readers[i]));
	EXPECT_EQ(1, event_number(&readers[0].event) + event_number(&readers[1].event));
}

/* ------------------------------------------------------------------ */
/* With a deadline							*/

TEST_F(getnext, deadline_ends_the_wait)
{
	unsigned long long deadline = now() + NSEC / 20;
	const struct timespec abstime = { deadline / NSEC, deadline % NSEC };
	struct event event;

	EXPECT_EQ(ETIMEDOUT, timedgetnext(self->trid, &event, &abstime));
	EXPECT_LE(deadline, now());
}

TEST_F(getnext, deadline_in_the_past)
{
	const struct timespec epoch = { 0, 0 }, before = { -5, 0 };
	struct event event;

	EXPECT_EQ(ETIMEDOUT, timedgetnext(self->trid, &event, &epoch));
	EXPECT_EQ(ETIMEDOUT, timedgetnext(self->trid, &event, &before));
}

TEST_F(getnext, event_before_the_deadline_ends_the_wait)
{
	unsigned long long deadline = now() + 3600 * NSEC;
	const struct timespec abstime = { deadline / NSEC, deadline % NSEC };
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, &abstime));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_GT(deadline, now());
}

TEST_F(getnext, invalid_deadline_matters_only_without_an_event)
{
	const struct timespec bad[] = { { 1, -1 }, { 1, 1000000000 } };
	struct event event;

	for (int i = 0; i < 2; i++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
		EXPECT_EQ(0, timedgetnext(self->trid, &event, &bad[i]));
		EXPECT_EQ(EINVAL, timedgetnext(self->trid, &event, &bad[i]));
	}
}

TEST_F(getnext, signal_interrupts_the_timed_wait)
{
	const struct timespec far = { INT32_MAX, 0 };
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, &far));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
}

/* ------------------------------------------------------------------ */
/* Cancellation loses neither events nor locks				*/

TEST_F(getnext, cancelled_reader_loses_no_event)
{
	struct reader reader;
	struct event event;
	void *result;

	PXT_CANCELS_A_THREAD;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
		ASSERT_EQ(0, pthread_cancel(reader.thread));
		ASSERT_EQ(0, pthread_join(reader.thread, &result));
		EXPECT_EQ(PTHREAD_CANCELED, result);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* ------------------------------------------------------------------ */
/* Arguments								*/

TEST_F(getnext, null_pointers_are_invalid)
{
	const struct timespec epoch = { 0, 0 };
	struct event e;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(self->trid, NULL, e.data, 8, &e.len,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(self->trid, &e.info, NULL, 8, &e.len,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(self->trid, &e.info, e.data, 8, NULL,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(self->trid, &e.info, e.data, 8, &e.len,
						    NULL));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(self->trid, NULL, e.data, 8, &e.len,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(self->trid, &e.info, NULL, 8, &e.len,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(self->trid, &e.info, e.data, 8, NULL,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(self->trid, &e.info, e.data, 8, &e.len,
						       NULL));
	EXPECT_EQ(EINVAL, posix_trace_timedgetnext_event(self->trid, NULL, e.data, 8, &e.len,
							 &e.unavailable, &epoch));
	EXPECT_EQ(EINVAL, posix_trace_timedgetnext_event(self->trid, &e.info, e.data, 8, &e.len,
							 &e.unavailable, NULL));
	/* No event was lost. */
	EXPECT_EQ(1, take(self->trid, &e));
}

TEST_HARNESS_MAIN
