// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with log while CPUs go offline and come back.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "hotplug.h"
#include "withlog.h"

static const struct log_kind by_hand = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };

FIXTURE(hotplug)
{
	struct child guard;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(hotplug)
{
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	self->fd = log_tmpfile();
	ASSERT_EQ(0, withlog_start(&by_hand, self->fd, &self->trid));
}

FIXTURE_TEARDOWN(hotplug)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

TEST_F(hotplug, flush_writes_the_events_of_an_offline_cpu)
{
	struct log_content content;

	ASSERT_EQ(0, go_to_cpu(1));
	withlog_record(0, 10);
	ASSERT_EQ(0, go_to_cpu(0));
	ASSERT_EQ(0, switch_cpu(1, false));
	withlog_record(10, 10);
	ASSERT_EQ(0, withlog_flush(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 20));
	/* The CPU comes back without an open sub-buffer. */
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, go_to_cpu(1));
	withlog_record(20, 10);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 30));
}

/*
 * In the log, the open sub-buffer of a CPU must follow those that the CPU closed earlier, and
 * precede later ones.
 */
TEST_F(hotplug, events_of_an_offline_cpu_are_in_order)
{
	struct log_content content;

	ASSERT_EQ(0, go_to_cpu(1));
	/* Fill several sub-buffers, the last one only in part. */
	withlog_record(0, 300);
	ASSERT_EQ(0, go_to_cpu(0));
	ASSERT_EQ(0, switch_cpu(1, false));
	withlog_record(300, 100);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, switch_cpu(1, true));
	ASSERT_EQ(0, go_to_cpu(1));
	withlog_record(400, 100);
	ASSERT_EQ(0, go_to_cpu(0));
	ASSERT_EQ(0, switch_cpu(1, false));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 500));
}

struct flusher {
	trace_id_t trid;
	int ended;
	int err;
	int flushes;
};

static void *flush_continuously(void *arg)
{
	struct flusher *flusher = arg;

	while (!flusher->err && !__atomic_load_n(&flusher->ended, __ATOMIC_ACQUIRE)) {
		flusher->err = withlog_flush(flusher->trid);
		flusher->flushes++;
	}
	return NULL;
}

TEST_F(hotplug, flushes_during_hotplug_lose_no_event)
{
	const int rounds = pxt_time_scale() > 1 ? 4 : 10;
	struct flusher flusher = { .trid = self->trid };
	struct log_content content;
	pthread_t thread;
	int count = 0;

	ASSERT_EQ(0, pthread_create(&thread, NULL, flush_continuously, &flusher));
	for (int i = 0; i < rounds; i++) {
		for (int j = 0; j < 20; j++) {
			ASSERT_EQ(0, go_to_cpu(j % 2));
			withlog_record(count, 5);
			count += 5;
		}
		ASSERT_EQ(0, go_to_cpu(0));
		ASSERT_EQ(0, switch_cpu(1, false));
		withlog_record(count, 5);
		count += 5;
		ASSERT_EQ(0, switch_cpu(1, true));
	}
	__atomic_store_n(&flusher.ended, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, flusher.err);
	EXPECT_LT(0, flusher.flushes);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, count)) {
		TH_LOG("%d of %d numbers, %d holes, %d gaps, %d errors, disorder %d",
		       content.numbers, count, content.holes, content.gaps, content.errors,
		       content.disorder);
	}
}

TEST_HARNESS_MAIN
