// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, several threads that read one stream while others use it:
 * Documentation/conformance/xsh_2_11_reading.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "reading.h"
#include "reading_stream.h"

#define WRITERS	2
#define READERS	4
#define EVENTS	200

/* A thread that reads with one of three functions until it gets an end mark. */
struct sharer {
	trace_id_t trid;
	int way;
	unsigned char seen[WRITERS][EVENTS];
	int disorder;
	pthread_t thread;
};

static int share_one(struct sharer *sharer, struct event *event)
{
	if (sharer->way == 0)
		return read_timed(sharer->trid, event, ROOM, &never);
	if (sharer->way == 1)
		return read_next(sharer->trid, event, ROOM);
	/* Yield to the other threads between two calls. */
	for (;;) {
		int err = read_try(sharer->trid, event, ROOM);

		if (err || !event->unavailable)
			return err;
		sched_yield();
	}
}

static void *share(void *arg)
{
	int last[WRITERS] = { -1, -1 };
	struct sharer *sharer = arg;
	struct event event;

	for (;;) {
		int number, writer;

		if (share_one(sharer, &event))
			return sharer;
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		number = event_number(&event);
		if (number < 0)
			return NULL;
		writer = number / EVENTS;
		number %= EVENTS;
		sharer->disorder += number <= last[writer];
		last[writer] = number;
		sharer->seen[writer][number]++;
	}
}

static void *write_events(void *arg)
{
	int index = *(int *)arg;

	run_on(index);
	for (int i = 0; i < EVENTS; i++)
		record_number(index * EVENTS + i);
	return NULL;
}

static void check_shares(struct __test_metadata *_metadata, const struct sharer *sharers)
{
	for (int i = 0; i < WRITERS; i++) {
		for (int j = 0; j < EVENTS; j++) {
			int seen = 0;

			for (int k = 0; k < READERS; k++)
				seen += sharers[k].seen[i][j];
			ASSERT_EQ(1, seen);
		}
	}
	for (int i = 0; i < READERS; i++)
		EXPECT_EQ(0, sharers[i].disorder);
}

static void start_sharers(struct __test_metadata *_metadata, struct sharer *sharers,
			  trace_id_t trid)
{
	for (int i = 0; i < READERS; i++) {
		sharers[i] = (struct sharer){ .trid = trid, .way = i % 3 };
		ASSERT_EQ(0, pthread_create(&sharers[i].thread, NULL, share, &sharers[i]));
	}
}

static void end_sharers(struct __test_metadata *_metadata, struct sharer *sharers)
{
	void *failed;

	for (int i = 0; i < READERS; i++)
		record_number(-1);
	for (int i = 0; i < READERS; i++) {
		ASSERT_EQ(0, pthread_join(sharers[i].thread, &failed));
		EXPECT_EQ(NULL, failed);
	}
}

TEST_F(reading, a13_one_of_several_readers_gets_each_event)
{
	static struct sharer sharers[READERS];
	int indices[WRITERS] = { 0, 1 };
	pthread_t writers[WRITERS];

	start_sharers(_metadata, sharers, self->trid);
	for (int i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, pthread_create(&writers[i], NULL, write_events, &indices[i]));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	end_sharers(_metadata, sharers);
	check_shares(_metadata, sharers);
	EXPECT_EQ(0, take(self->trid, &self->event));
}

struct controlling {
	trace_id_t trid;
	int stop;
	int failed;
};

static void *control(void *arg)
{
	struct controlling *controlling = arg;
	struct posix_trace_status_info status;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = controlling->trid;
	trace_event_set_t set;
	trace_attr_t attr;

	while (!__atomic_load_n(&controlling->stop, __ATOMIC_ACQUIRE)) {
		if (posix_trace_get_status(trid, &status) || posix_trace_get_attr(trid, &attr) ||
		    posix_trace_get_filter(trid, &set) ||
		    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) ||
		    posix_trace_start(trid) ||
		    posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name))
			controlling->failed++;
		sched_yield();
	}
	return NULL;
}

TEST_F(reading, a14_readers_share_while_others_use_the_stream)
{
	struct controlling controlling = { .trid = self->trid };
	static struct sharer sharers[READERS];
	int indices[WRITERS] = { 0, 1 };
	pthread_t thread;

	start_sharers(_metadata, sharers, self->trid);
	ASSERT_EQ(0, pthread_create(&thread, NULL, control, &controlling));
	for (int i = 0; i < WRITERS; i++)
		write_events(&indices[i]);
	__atomic_store_n(&controlling.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, controlling.failed);
	end_sharers(_metadata, sharers);
	check_shares(_metadata, sharers);
}

static void *read_to_the_end(void *arg)
{
	struct sharer *sharer = arg;
	struct event event;
	int err;

	do {
		err = share_one(sharer, &event);
	} while (!err);
	return (void *)(long)err;
}

/* All readers get EINVAL and no other error, whatever they were doing at the shutdown. */
TEST_F(reading, a15_shutdown_while_others_read)
{
	struct sharer sharers[3];
	trace_id_t trid;
	void *err;

	for (int round = 0; round < 10; round++) {
		ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
		for (int i = 0; i < 3; i++) {
			sharers[i] = (struct sharer){ .trid = trid, .way = i };
			ASSERT_EQ(0, pthread_create(&sharers[i].thread, NULL, read_to_the_end,
						    &sharers[i]));
		}
		for (int i = 0; i < 10 * round; i++)
			record_number(i);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, pthread_join(sharers[i].thread, &err));
			EXPECT_EQ(EINVAL, (long)err);
		}
	}
}

TEST_HARNESS_MAIN
