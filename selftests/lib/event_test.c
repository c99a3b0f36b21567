// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event(): the order of the events of a thread that records on all CPUs, and
 * descriptors that the program closes.
 */
#define _GNU_SOURCE
#include "event_stream.h"

TEST_F(event, events_are_reported_in_the_order_of_their_recording)
{
	unsigned long long last = 0;
	struct event event;

	for (int i = 0; i < 300; i++) {
		posix_trace_event(self->id, &i, sizeof(i));
		if (i % 16 == 0)
			run_on(i / 16);
	}
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

/* ------------------------------------------------------------------ */
/* Descriptors that a program closes without the library's knowledge	*/

/* Closes all descriptors, and opens others with the same numbers, as a daemon does. */
static int close_all(void *arg, const struct talk *talk)
{
	(void)arg;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 7);
	say(talk, 0);
	if (hear(talk))
		return 1;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 7);
	for (int fd = 3; fd < 64; fd++) {
		if (fd != talk->in && fd != talk->out)
			close(fd);
	}
	for (int i = 0; i < 30; i++) {
		if (open("/dev/null", O_RDWR) < 0)
			return 2;
	}
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "after", 6);
	/* The library has not closed the program's files. */
	for (int i = 0; i < 30; i++) {
		if (fcntl(i + 3, F_GETFD) < 0)
			return 3;
	}
	say(talk, 0);
	return 0;
}

TEST(program_can_close_all_descriptors)
{
	struct event event;
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, close_all, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_STREQ("before", (char *)event.data);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_STREQ("after", (char *)event.data);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
