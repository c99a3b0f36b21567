// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_getevents(): many events per call.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "reading.h"

#define BATCH	16

FIXTURE(getevents)
{
	trace_id_t trid;
	struct posixtrace_batch_event events[BATCH];
	unsigned char buffer[1024] __attribute__((aligned(8)));
	size_t count;
	struct event event;
};

FIXTURE_SETUP(getevents)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	self->count = 4711;
	memset(self->buffer, 'z', sizeof(self->buffer));
}

FIXTURE_TEARDOWN(getevents)
{
	posix_trace_shutdown(self->trid);
}

/* The data of the recorded events starts with these bytes. */
static const char text[256] = "0123456789abcdefghijklmnopqrstuvwxyz";

static void record_text(size_t len)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, text, len);
}

/* Gets all available events, with a buffer of @size bytes. */
static int get(struct _test_data_getevents *self, size_t size)
{
	return posixtrace_getevents(self->trid, self->events, BATCH, self->buffer, size,
				    &self->count, POSIXTRACE_NOWAIT);
}

static bool is_text(const struct posixtrace_batch_event *event, size_t len)
{
	return event->data_len == len && !memcmp(event->data, text, len);
}

/* ------------------------------------------------------------------ */
/* Number of events							*/

TEST_F(getevents, gets_all_events)
{
	unsigned long long before = now();

	for (int i = 0; i < 10; i++) {
		run_on(i / 3);
		record_number(i);
	}
	ASSERT_EQ(0, get(self, sizeof(self->buffer)));
	ASSERT_EQ(10, self->count);
	for (int i = 0; i < 10; i++) {
		const struct posixtrace_batch_event *event = &self->events[i];

		ASSERT_EQ(sizeof(int), event->data_len);
		EXPECT_EQ(i, *(int *)event->data);
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event->event.posix_event_id);
		EXPECT_EQ(getpid(), event->event.posix_pid);
		EXPECT_TRUE(pthread_equal(pthread_self(), event->event.posix_thread_id));
		EXPECT_NE(NULL, event->event.posix_prog_address);
		EXPECT_LE(before, event->event.posix_timestamp.tv_sec * NSEC +
				  event->event.posix_timestamp.tv_nsec);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event->event.posix_truncation_status);
	}
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(getevents, gets_at_most_the_requested_number)
{
	int next = 0;

	for (int i = 0; i < 20; i++)
		record_number(i);
	for (size_t max = 1; next < 15; max++) {
		ASSERT_EQ(0, posixtrace_getevents(self->trid, self->events, max, self->buffer,
						  sizeof(self->buffer), &self->count, 0));
		ASSERT_EQ(max, self->count);
		for (size_t i = 0; i < max; i++)
			ASSERT_EQ(next++, *(int *)self->events[i].data);
	}
	for (; next < 20; next++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_EQ(next, event_number(&self->event));
	}
}

/* System events are reported like any others. */
TEST_F(getevents, gets_system_events)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_text(3);
	ASSERT_EQ(0, get(self, sizeof(self->buffer)));
	ASSERT_EQ(3, self->count);
	EXPECT_EQ(POSIX_TRACE_STOP, self->events[0].event.posix_event_id);
	EXPECT_EQ(sizeof(int), self->events[0].data_len);
	EXPECT_EQ(POSIX_TRACE_START, self->events[1].event.posix_event_id);
	EXPECT_EQ(sizeof(trace_event_set_t), self->events[1].data_len);
	EXPECT_TRUE(is_text(&self->events[2], 3));
}

TEST_F(getevents, processor_that_recorded_it)
{
	for (int i = 0; i < 6; i++) {
		run_on(i % 2);
		record_number(i);
	}
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	memset(self->events, 'z', sizeof(self->events));
	ASSERT_EQ(0, get(self, sizeof(self->buffer)));
	ASSERT_EQ(7, self->count);
	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(i, *(int *)self->events[i].data);
		EXPECT_EQ(i % 2, self->events[i].cpu);
		EXPECT_EQ(0, self->events[i].lost);
		for (size_t k = 0; k < ARRAY_SIZE(self->events[i].__reserved); k++)
			EXPECT_EQ(0, self->events[i].__reserved[k]);
	}
	EXPECT_EQ(POSIX_TRACE_STOP, self->events[6].event.posix_event_id);
	EXPECT_EQ(POSIXTRACE_NO_CPU, self->events[6].cpu);
}

/* ------------------------------------------------------------------ */
/* The buffer								*/

TEST_F(getevents, buffer_exactly_full)
{
	for (int i = 0; i < 5; i++)
		record_text(16);
	ASSERT_EQ(0, get(self, 64));
	ASSERT_EQ(4, self->count);
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(self->buffer + 16 * i, self->events[i].data);
		EXPECT_TRUE(is_text(&self->events[i], 16));
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED,
			  self->events[i].event.posix_truncation_status);
	}
	EXPECT_EQ('z', self->buffer[64]);
	ASSERT_EQ(0, get(self, 64));
	ASSERT_EQ(1, self->count);
	EXPECT_TRUE(is_text(&self->events[0], 16));
}

TEST_F(getevents, one_byte_too_small)
{
	record_text(16);
	record_text(16);
	ASSERT_EQ(0, get(self, 31));
	ASSERT_EQ(1, self->count);
	EXPECT_TRUE(is_text(&self->events[0], 16));
	EXPECT_EQ('z', self->buffer[16]);
	/* Another function can still read the second event in full. */
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(16, self->event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	EXPECT_EQ(0, memcmp(self->event.data, text, 16));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(getevents, the_same_event_can_remain_more_than_once)
{
	for (int i = 0; i < 4; i++)
		record_text(24);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, get(self, 40));
		ASSERT_EQ(1, self->count);
		ASSERT_TRUE(is_text(&self->events[0], 24));
	}
	ASSERT_EQ(0, get(self, 40));
	EXPECT_EQ(0, self->count);
}

TEST_F(getevents, data_is_aligned_in_any_buffer)
{
	for (size_t offset = 0; offset < 8; offset++) {
		for (size_t len = 1; len < 12; len += 3)
			record_text(len);
		ASSERT_EQ(0, posixtrace_getevents(self->trid, self->events, BATCH,
						  self->buffer + offset,
						  sizeof(self->buffer) - offset, &self->count,
						  POSIXTRACE_NOWAIT));
		ASSERT_EQ(4, self->count);
		for (int i = 0; i < 4; i++) {
			EXPECT_EQ(0, (uintptr_t)self->events[i].data % 8);
			EXPECT_TRUE(is_text(&self->events[i], 1 + 3 * i));
		}
	}
}

/* The rest of the buffer has space only for the alignment of the data, not for the data. */
TEST_F(getevents, space_for_the_alignment_only)
{
	record_text(9);
	record_text(1);
	ASSERT_EQ(0, get(self, 13));
	ASSERT_EQ(1, self->count);
	ASSERT_EQ(0, get(self, 13));
	ASSERT_EQ(1, self->count);
	EXPECT_TRUE(is_text(&self->events[0], 1));
}

TEST_F(getevents, first_event_is_truncated_if_it_is_larger_than_the_buffer)
{
	record_text(200);
	record_text(8);
	ASSERT_EQ(0, get(self, 100));
	ASSERT_EQ(1, self->count);
	EXPECT_TRUE(is_text(&self->events[0], 100));
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->events[0].event.posix_truncation_status);
	EXPECT_EQ('z', self->buffer[100]);
	ASSERT_EQ(0, get(self, 100));
	ASSERT_EQ(1, self->count);
	EXPECT_TRUE(is_text(&self->events[0], 8));
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->events[0].event.posix_truncation_status);
}

/* max-data-size of the stream is 256. */
TEST_F(getevents, truncated_when_recorded_or_when_read)
{
	char data[300] = "";

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, 257);
	ASSERT_EQ(0, get(self, 256));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(256, self->events[0].data_len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->events[0].event.posix_truncation_status);
	ASSERT_EQ(0, get(self, 255));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(255, self->events[0].data_len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->events[0].event.posix_truncation_status);
}

TEST_F(getevents, no_buffer)
{
	for (int i = 0; i < 3; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	record_text(1);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	ASSERT_EQ(0, posixtrace_getevents(self->trid, self->events, BATCH, NULL, 0, &self->count,
					  POSIXTRACE_NOWAIT));
	ASSERT_EQ(3, self->count);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED,
			  self->events[i].event.posix_truncation_status);
	/* The data of the first event can be truncated, even to 0 bytes. */
	ASSERT_EQ(0, posixtrace_getevents(self->trid, self->events, BATCH, NULL, 0, &self->count,
					  POSIXTRACE_NOWAIT));
	ASSERT_EQ(2, self->count);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, self->events[0].event.posix_truncation_status);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->events[1].event.posix_truncation_status);
}

/*
 * For any sizes of events and buffers, all events come in order, and only the first event of a
 * batch may be truncated.
 */
TEST_F(getevents, random_sizes)
{
	size_t lens[60], next = 0;
	unsigned int seed = 1;

	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
			lens[i] = (unsigned int)rand_r(&seed) % 200;
			record_text(lens[i]);
		}
		for (next = 0; next < ARRAY_SIZE(lens); next += self->count) {
			size_t size = (unsigned int)rand_r(&seed) % 500;

			memset(self->buffer, 'z', sizeof(self->buffer));
			ASSERT_EQ(0, get(self, size));
			ASSERT_LE(1, self->count);
			ASSERT_EQ('z', self->buffer[size]);
			if (lens[next] > size) {
				ASSERT_TRUE(is_text(&self->events[0], size));
				ASSERT_EQ(POSIX_TRACE_TRUNCATED_READ,
					  self->events[0].event.posix_truncation_status);
			}
			for (size_t i = lens[next] > size; i < self->count; i++) {
				ASSERT_TRUE(is_text(&self->events[i], lens[next + i]));
				ASSERT_EQ(POSIX_TRACE_NOT_TRUNCATED,
					  self->events[i].event.posix_truncation_status);
			}
		}
		ASSERT_EQ(ARRAY_SIZE(lens), next);
	}
}

/* ------------------------------------------------------------------ */
/* Gaps									*/

/* OVERFLOW, RESUME and the next event may be in one batch or in several. */
TEST_F(getevents, gap_in_one_batch_or_in_several)
{
	for (size_t max = 1; max <= BATCH; max += 5) {
		unsigned long long last = 0, time;
		int state = 0;

		ASSERT_EQ(0, posix_trace_clear(self->trid));
		for (int i = 0; i < 600; i++)
			record_text(200);
		do {
			/*
			 * The buffer must not contain data of an event that was left for the next
			 * batch.
			 */
			memset(self->buffer, 'z', sizeof(self->buffer));
			ASSERT_EQ(0, posixtrace_getevents(self->trid, self->events, max,
							  self->buffer, sizeof(self->buffer),
							  &self->count, POSIXTRACE_NOWAIT));
			for (size_t i = 0; i < self->count; i++) {
				struct posix_trace_event_info *info = &self->events[i].event;

				time = info->posix_timestamp.tv_sec * NSEC +
				       info->posix_timestamp.tv_nsec;
				ASSERT_LE(last, time);
				last = time;
				/* OVERFLOW and RESUME are adjacent. */
				if (info->posix_event_id == POSIX_TRACE_OVERFLOW)
					state += 1;
				else if (info->posix_event_id == POSIX_TRACE_RESUME)
					state += 10;
				ASSERT_TRUE(state == 0 || state == 11 ||
					    info->posix_event_id == POSIX_TRACE_OVERFLOW);
				if (info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
					ASSERT_TRUE(is_text(&self->events[i], 200));
			}
		} while (self->count);
		EXPECT_EQ(11, state);
	}
}

/* Returns the number of the last event; adds up the events read and those reported as lost. */
static int read_all(struct _test_data_getevents *self, unsigned long long *read,
		    unsigned long long *lost)
{
	int number = -1;

	do {
		if (get(self, sizeof(self->buffer)))
			return -1;
		for (size_t i = 0; i < self->count; i++) {
			if (self->events[i].lost < *lost)
				return -1;
			*lost = self->events[i].lost;
			if (self->events[i].event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			number = *(int *)self->events[i].data;
			(*read)++;
			/* Only one thread records, so all other events before this one are lost. */
			if (number + 1 != (int)(*read + *lost))
				return -1;
		}
	} while (self->count);
	return number;
}

TEST_F(getevents, lost_events_are_counted)
{
	unsigned long long read = 0, lost = 0;
	int number = 0;

	for (int gap = 1; gap <= 3; gap++) {
		unsigned long long before = lost;

		for (int i = 0; i < 6000; i++) {
			run_on(i / 1000 % 2);
			record_number(number++);
		}
		EXPECT_EQ(number - 1, read_all(self, &read, &lost));
		EXPECT_GT(lost, before);
	}
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	record_number(0);
	read = 0;
	lost = 0;
	EXPECT_EQ(0, read_all(self, &read, &lost));
	EXPECT_EQ(0, lost);
}

/* Dropped events are counted when the stream resumes. */
TEST_F(getevents, events_dropped_by_a_full_stream_are_counted)
{
	unsigned long long read = 0, lost = 0;
	trace_id_t trid;
	int number = 0;

	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	self->trid = trid;
	ASSERT_EQ(0, posix_trace_start(trid));
	for (int gap = 1; gap <= 3; gap++) {
		unsigned long long before = lost;

		while (number < gap * 6000)
			record_number(number++);
		/* The stream resumes once it has been emptied. */
		EXPECT_LE(0, read_all(self, &read, &lost));
		EXPECT_GT(lost, before);
		EXPECT_EQ(number, read + lost);
	}
	record_number(number);
	EXPECT_EQ(number, read_all(self, &read, &lost));
}

/* ------------------------------------------------------------------ */
/* Waiting								*/

/* A thread that gets one batch. */
struct batcher {
	trace_id_t trid;
	struct posixtrace_batch_event events[BATCH];
	char buffer[64];
	size_t count;
	int ret;
	int tid;
	int done;
	pthread_t thread;
};

static void *get_batch(void *arg)
{
	struct batcher *batcher = arg;

	__atomic_store_n(&batcher->tid, gettid(), __ATOMIC_RELEASE);
	batcher->ret = posixtrace_getevents(batcher->trid, batcher->events, BATCH,
					    batcher->buffer, sizeof(batcher->buffer),
					    &batcher->count, 0);
	__atomic_store_n(&batcher->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Starts the thread. Returns when it is asleep, or EAGAIN if it need not sleep. */
static int batcher_start(struct batcher *batcher, trace_id_t trid)
{
	int err;

	*batcher = (struct batcher){ .trid = trid, .ret = -1, .count = 4711 };
	err = pthread_create(&batcher->thread, NULL, get_batch, batcher);
	if (err)
		return err;
	return falls_asleep(&batcher->tid, &batcher->done) ? 0 : EAGAIN;
}

static int batcher_end(struct batcher *batcher)
{
	pthread_join(batcher->thread, NULL);
	return batcher->ret;
}

TEST_F(getevents, nowait_does_not_wait)
{
	EXPECT_EQ(0, get(self, sizeof(self->buffer)));
	EXPECT_EQ(0, self->count);
}

TEST_F(getevents, waits_for_the_first_event)
{
	struct batcher batcher;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, batcher_start(&batcher, self->trid));
		record_number(i);
		EXPECT_EQ(0, batcher_end(&batcher));
		ASSERT_EQ(1, batcher.count);
		EXPECT_EQ(i, *(int *)batcher.events[0].data);
	}
}

TEST_F(getevents, shutdown_ends_the_wait)
{
	struct batcher batcher;

	ASSERT_EQ(0, batcher_start(&batcher, self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, batcher_end(&batcher));
}

static int handled;

static void handler(int signal)
{
	(void)signal;
	__atomic_store_n(&handled, handled + 1, __ATOMIC_RELEASE);
}

TEST_F(getevents, signal_interrupts_the_wait)
{
	struct sigaction action = { .sa_handler = handler };
	struct batcher batcher;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, batcher_start(&batcher, self->trid));
	ASSERT_EQ(0, pthread_kill(batcher.thread, SIGUSR1));
	EXPECT_EQ(EINTR, batcher_end(&batcher));
	/* The interrupted call has not consumed an event. */
	record_number(1);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
}

TEST_F(getevents, signal_with_restart_does_not_end_the_wait)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct batcher batcher;

	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, batcher_start(&batcher, self->trid));
	ASSERT_EQ(0, pthread_kill(batcher.thread, SIGUSR1));
	while (!__atomic_load_n(&handled, __ATOMIC_ACQUIRE))
		sched_yield();
	record_number(1);
	EXPECT_EQ(0, batcher_end(&batcher));
	ASSERT_EQ(1, batcher.count);
}

TEST_F(getevents, cancelled_while_it_waits)
{
	struct batcher batcher;
	void *result;

	PXT_CANCELS_A_THREAD;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, batcher_start(&batcher, self->trid));
		if (i % 2)
			record_number(i);
		ASSERT_EQ(0, pthread_cancel(batcher.thread));
		if (!(i % 2))
			record_number(i);
		ASSERT_EQ(0, pthread_join(batcher.thread, &result));
		/*
		 * Either the thread was cancelled, or it has got the event. glibc may report a
		 * thread as cancelled that had just returned from the call.
		 */
		if (!batcher.done) {
			EXPECT_EQ(PTHREAD_CANCELED, result);
			ASSERT_EQ(0, get(self, sizeof(self->buffer)));
			ASSERT_EQ(1, self->count);
			EXPECT_EQ(i, *(int *)self->events[0].data);
		} else {
			ASSERT_EQ(1, batcher.count);
			EXPECT_EQ(i, *(int *)batcher.events[0].data);
		}
	}
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

static void *get_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	return get_batch(arg);
}

/* The call is cancelled even if an event is available, and the event stays in the stream. */
TEST_F(getevents, cancelled_before_it_reads)
{
	struct batcher batcher = { .trid = self->trid };
	void *result;

	record_number(1);
	ASSERT_EQ(0, pthread_create(&batcher.thread, NULL, get_cancelled, &batcher));
	ASSERT_EQ(0, pthread_join(batcher.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	ASSERT_EQ(0, get(self, sizeof(self->buffer)));
	EXPECT_EQ(1, self->count);
}

/*
 * The waiting thread gets the event that does not fit into the batch. The event that woke it is no
 * longer in the stream when it runs: both threads share a CPU, and the waiting thread has the lower
 * priority.
 */
TEST_F(getevents, remaining_event_is_for_other_threads)
{
	const struct sched_param fifo = { .sched_priority = 1 }, other = { 0 };
	struct reader reader;

	run_on(0);
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	ASSERT_EQ(0, pthread_setschedparam(pthread_self(), SCHED_FIFO, &fifo));
	record_number(1);
	record_number(2);
	EXPECT_EQ(0, get(self, 8));
	EXPECT_EQ(1, self->count);
	ASSERT_EQ(0, pthread_setschedparam(pthread_self(), SCHED_OTHER, &other));
	if (reader_sleeps(&reader)) {
		/* The reader missed its wake-up. Record another event to wake it. */
		record_number(3);
		EXPECT_TRUE(false);
	}
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(2, event_number(&reader.event));
}

/* ------------------------------------------------------------------ */
/* Sharing a stream							*/

#define READERS	4
#define EVENTS	600

/* Each thread reads until it gets an end mark, and counts each event. */
struct sharer {
	trace_id_t trid;
	bool batches;
	unsigned char seen[EVENTS];
	int disorder;
	pthread_t thread;
};

static bool share_one(struct sharer *sharer, const void *data, size_t len, int *last)
{
	int number;

	if (len != sizeof(number))
		return true;
	memcpy(&number, data, sizeof(number));
	if (number < 0)
		return false;
	if (number <= *last)
		sharer->disorder++;
	*last = number;
	sharer->seen[number]++;
	return true;
}

static void *share(void *arg)
{
	struct posixtrace_batch_event events[1];
	struct sharer *sharer = arg;
	struct event event;
	int last = -1;
	char buffer[8];
	size_t count;

	/* Get one event at a time: a larger batch would take the end marks of other threads. */
	for (;;) {
		if (sharer->batches) {
			if (posixtrace_getevents(sharer->trid, events, 1, buffer, sizeof(buffer),
						 &count, 0))
				return sharer;
			if (!share_one(sharer, events[0].data, events[0].data_len, &last))
				return NULL;
		} else {
			if (read_next(sharer->trid, &event, sizeof(event.data)))
				return sharer;
			if (!share_one(sharer, event.data, event.len, &last))
				return NULL;
		}
	}
}

TEST_F(getevents, shares_the_events_with_getnext)
{
	static struct sharer sharers[READERS];
	trace_attr_t attr;
	trace_id_t trid;
	void *failed;

	/* Make the stream large enough for all events. */
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	for (int i = 0; i < READERS; i++) {
		sharers[i] = (struct sharer){ .trid = trid, .batches = i % 2 };
		ASSERT_EQ(0, pthread_create(&sharers[i].thread, NULL, share, &sharers[i]));
	}
	for (int i = 0; i < EVENTS; i++) {
		record_number(i);
		if (i % 50 == 0)
			run_on(i / 50);
	}
	for (int i = 0; i < READERS; i++)
		record_number(-1);
	for (int i = 0; i < READERS; i++) {
		ASSERT_EQ(0, pthread_join(sharers[i].thread, &failed));
		EXPECT_EQ(NULL, failed);
		EXPECT_EQ(0, sharers[i].disorder);
	}
	for (int i = 0; i < EVENTS; i++) {
		int seen = 0;

		for (int j = 0; j < READERS; j++)
			seen += sharers[j].seen[i];
		ASSERT_EQ(1, seen);
	}
	EXPECT_EQ(0, take(trid, &self->event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* Arguments								*/

static int get_with(trace_id_t trid, struct posixtrace_batch_event *events, size_t max_events,
		    void *buffer, size_t *count, int flags)
{
	return posixtrace_getevents(trid, events, max_events, buffer, 64, count, flags);
}

TEST_F(getevents, invalid_arguments)
{
	trace_id_t trid;

	record_number(1);
	EXPECT_EQ(EINVAL, get_with(self->trid, NULL, 1, self->buffer, &self->count, 0));
	EXPECT_EQ(EINVAL, get_with(self->trid, self->events, 0, self->buffer, &self->count, 0));
	EXPECT_EQ(EINVAL, get_with(self->trid, self->events, 1, NULL, &self->count, 0));
	EXPECT_EQ(EINVAL, get_with(self->trid, self->events, 1, self->buffer, NULL, 0));
	for (int bit = 1; bit < 31; bit++)
		EXPECT_EQ(EINVAL, get_with(self->trid, self->events, 1, self->buffer,
					   &self->count, 1 << bit));
	EXPECT_EQ(EINVAL, get_with(0, self->events, 1, self->buffer, &self->count, 0));
	EXPECT_EQ(EINVAL, get_with(self->trid + 1, self->events, 1, self->buffer, &self->count,
				   0));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, get_with(trid, self->events, 1, self->buffer, &self->count, 0));
	/* No event was lost. */
	errno = 4711;
	EXPECT_EQ(0, get_with(self->trid, self->events, 1, self->buffer, &self->count, 0));
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(1, self->count);
}

TEST_HARNESS_MAIN
