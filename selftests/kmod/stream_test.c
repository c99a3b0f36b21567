// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a stream through its commands: suspended, running, shut down.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

FIXTURE(stream)
{
	struct stream stream;
	struct target target;
};

FIXTURE_SETUP(stream)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(stream)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static unsigned int flags_of(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? ~0U : status.flags;
}

/* ------------------------------------------------------------------ */
/* START and STOP							*/

TEST_F(stream, new_stream_is_suspended_and_empty)
{
	struct record record;

	EXPECT_EQ(0, flags_of(&self->stream));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, start_makes_the_stream_run_and_stop_suspends_it)
{
	EXPECT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	EXPECT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, flags_of(&self->stream));
	EXPECT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
}

TEST_F(stream, start_is_recorded_with_caller_and_filter)
{
	struct posixtrace_event_set filter;
	struct record record;
	unsigned long long before, after;

	memset(&filter, 0xff, sizeof(filter));
	before = now();
	ASSERT_EQ(0, stream_start(&self->stream));
	after = now();
	ASSERT_EQ(1, stream_take(&self->stream, &record, &filter, sizeof(filter)));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	EXPECT_EQ(sizeof(filter), record.data_len);
	EXPECT_EQ(POSIXTRACE_RECORD_SIZE(sizeof(filter)), record.size);
	EXPECT_EQ(0, record.flags);
	EXPECT_EQ(0x1234, record.prog_address);
	EXPECT_EQ(0x5678, record.thread_id);
	EXPECT_EQ(getpid(), record.pid);
	EXPECT_LE(before, record.timestamp);
	EXPECT_GE(after, record.timestamp);
	for (size_t i = 0; i < ARRAY_SIZE(filter.bits); i++)
		EXPECT_EQ(0, filter.bits[i]);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, stop_is_recorded_with_caller_and_zero)
{
	struct record record;
	int automatic = -1;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, stream_stop(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, &automatic, sizeof(automatic)));
	EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
	EXPECT_EQ(sizeof(int), record.data_len);
	EXPECT_EQ(0, automatic);
	EXPECT_EQ(0x4321, record.prog_address);
	EXPECT_EQ(0x8765, record.thread_id);
	EXPECT_EQ(getpid(), record.pid);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, start_while_running_does_nothing)
{
	struct record record;

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, stop_while_suspended_does_nothing)
{
	struct record record;

	EXPECT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, only_events_while_running_are_recorded)
{
	static const unsigned int expected[] = {
		POSIXTRACE_ID_START, POSIXTRACE_ID_UNNAMED, POSIXTRACE_ID_STOP,
		POSIXTRACE_ID_START, POSIXTRACE_ID_STOP,
	};
	struct record record;
	int id = POSIXTRACE_ID_UNNAMED;

	EXPECT_EQ(0, target_event(&self->target, id, NULL, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, target_event(&self->target, id, NULL, 0));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, target_event(&self->target, id, NULL, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, target_event(&self->target, id, NULL, 0));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(expected[i], record.event_id);
	}
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(stream, start_refuses_reserved_words)
{
	struct posixtrace_origin origin;

	for (int i = 0; i < 2; i++) {
		memset(&origin, 0, sizeof(origin));
		origin.reserved[i] = 1;
		EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_START, &origin));
	}
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_START, BAD_POINTER));
	EXPECT_EQ(0, flags_of(&self->stream));
}

TEST_F(stream, stop_refuses_reserved_words)
{
	struct posixtrace_origin origin;

	ASSERT_EQ(0, stream_start(&self->stream));
	for (int i = 0; i < 2; i++) {
		memset(&origin, 0, sizeof(origin));
		origin.reserved[i] = 1;
		EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_STOP, &origin));
	}
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_STOP, BAD_POINTER));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, flags_of(&self->stream));
}

/* ------------------------------------------------------------------ */
/* Status and attributes						*/

TEST_F(stream, status_is_filled_and_its_reserved_words_are_zero)
{
	struct posixtrace_status status;

	memset(&status, 0xff, sizeof(status));
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(0, status.flags);
	EXPECT_EQ(0, status.flush_error);
	EXPECT_EQ(0, status.lost);
	EXPECT_LT(0, status.memory);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(0, status.reserved[i]);
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_GET_STATUS, BAD_POINTER));
}

TEST_F(stream, attributes_are_as_created)
{
	struct posixtrace_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_EQ(POSIXTRACE_CLOSE_FOR_CHILD, attr.inherited);
	EXPECT_EQ(POSIXTRACE_POLICY_LOOP, attr.stream_policy);
	EXPECT_EQ(POSIXTRACE_POLICY_LOOP, attr.log_policy);
	EXPECT_LE(64 << 10, attr.stream_size);
	EXPECT_EQ(256, attr.max_data_size);
	EXPECT_EQ(16 << 20, attr.log_size);
	EXPECT_STREQ("selftest", attr.name);
	EXPECT_EQ(0, strncmp("posixtrace ", attr.version, 11));
	EXPECT_NE(NULL, memchr(attr.version, '\0', sizeof(attr.version)));
	for (size_t i = 0; i < ARRAY_SIZE(attr.reserved); i++)
		EXPECT_EQ(0, attr.reserved[i]);
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, BAD_POINTER));
}

TEST_F(stream, clock_resolution_matches_the_clock)
{
	struct posixtrace_attr attr;
	struct timespec res;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &res));
	EXPECT_EQ(res.tv_nsec, attr.clock_resolution);
}

TEST(creation_time_is_the_time_of_create)
{
	unsigned long long before, after;
	struct posixtrace_attr attr;
	struct stream stream;

	before = now();
	ASSERT_EQ(0, stream_create(&stream, 0));
	after = now();
	ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_LE(before, attr.creation_time);
	EXPECT_GE(after, attr.creation_time);
	stream_close(&stream);
}

/* ------------------------------------------------------------------ */
/* RELEASE								*/

TEST_F(stream, release_refuses_invalid_subbuffers)
{
	struct posixtrace_release release = { .subbuf = 1U << 20 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_RELEASE, &release));
	release.subbuf = self->stream.ctrl->nr_subbufs + self->stream.ctrl->nr_sys_subbufs;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_RELEASE, &release));
	release.subbuf = POSIXTRACE_NONE - 1;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_RELEASE, &release));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_RELEASE, BAD_POINTER));
}

TEST_F(stream, release_refuses_reserved_words)
{
	struct posixtrace_release release = { .subbuf = POSIXTRACE_NONE, .reserved = 1 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_RELEASE, &release));
}

TEST_F(stream, release_of_an_open_subbuffer_is_busy)
{
	struct record record;
	unsigned int i;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	i = stream_oldest(&self->stream, self->stream.ctrl->nr_cpus);
	ASSERT_NE(POSIXTRACE_NONE, i);
	ASSERT_EQ(POSIXTRACE_SUBBUF_OPEN, stream_subbuf(&self->stream, i)->state);
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
}

TEST_F(stream, release_of_an_unread_subbuffer_is_busy)
{
	struct record record;
	unsigned int i;

	/* Record system events until their first sub-buffer is closed, and read none of them. */
	ASSERT_EQ(0, stream_start(&self->stream));
	i = stream_oldest(&self->stream, self->stream.ctrl->nr_cpus);
	ASSERT_NE(POSIXTRACE_NONE, i);
	for (int n = 0; n < 100; n++) {
		if (stream_subbuf(&self->stream, i)->state == POSIXTRACE_SUBBUF_CLOSED)
			break;
		ASSERT_EQ(0, stream_stop(&self->stream));
		ASSERT_EQ(0, stream_start(&self->stream));
	}
	ASSERT_EQ(POSIXTRACE_SUBBUF_CLOSED, stream_subbuf(&self->stream, i)->state);
	EXPECT_EQ(-EBUSY, stream_release(&self->stream, i));
	/* The refused command has not lost a record. */
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
}

TEST_F(stream, release_of_none_starts_no_stream_that_is_not_full)
{
	EXPECT_EQ(0, stream_release(&self->stream, POSIXTRACE_NONE));
	EXPECT_EQ(0, flags_of(&self->stream));
}

/* ------------------------------------------------------------------ */
/* SHUTDOWN								*/

TEST_F(stream, shutdown_frees_the_slot)
{
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_NE(0, self->target.slots[self->stream.arg.slot].heads.size);
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(0, self->target.slots[self->stream.arg.slot].heads.size);
}

TEST_F(stream, shutdown_of_a_running_stream_disables_its_events)
{
	unsigned int slot = self->stream.arg.slot;
	const struct posixtrace_gate *gate = self->target.gate;

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(1U << slot, LOAD(gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, LOAD(gate->enable[POSIXTRACE_ID_UNNAMED]));
}

TEST_F(stream, shutdown_is_seen_in_the_mapping_and_harms_no_reader)
{
	struct record record;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	/*
	 * The mapping shows either scratch pages or the last state. If a read faulted, this test
	 * would be killed.
	 */
	EXPECT_TRUE(LOAD(self->stream.ctrl->size) == 0 ||
		    LOAD(self->stream.ctrl->flags) & POSIXTRACE_CTRL_SHUTDOWN);
	memcpy(&record, self->stream.pool, sizeof(record));
}

TEST_F(stream, close_shuts_down)
{
	unsigned int slot = self->stream.arg.slot;

	ASSERT_EQ(0, stream_start(&self->stream));
	close(self->stream.fd);
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(0, self->target.slots[slot].heads.size);
	EXPECT_EQ(0, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE(after_shutdown)
{
	struct stream stream;
};

FIXTURE_VARIANT(after_shutdown)
{
	unsigned long cmd;
};

FIXTURE_VARIANT_ADD(after_shutdown, CREATE) { POSIXTRACE_IOC_CREATE };
FIXTURE_VARIANT_ADD(after_shutdown, START) { POSIXTRACE_IOC_START };
FIXTURE_VARIANT_ADD(after_shutdown, STOP) { POSIXTRACE_IOC_STOP };
FIXTURE_VARIANT_ADD(after_shutdown, SHUTDOWN) { POSIXTRACE_IOC_SHUTDOWN };
FIXTURE_VARIANT_ADD(after_shutdown, GET_STATUS) { POSIXTRACE_IOC_GET_STATUS };
FIXTURE_VARIANT_ADD(after_shutdown, GET_ATTR) { POSIXTRACE_IOC_GET_ATTR };
FIXTURE_VARIANT_ADD(after_shutdown, EVENT_NAME) { POSIXTRACE_IOC_EVENT_NAME };
FIXTURE_VARIANT_ADD(after_shutdown, EVENT_TYPES) { POSIXTRACE_IOC_EVENT_TYPES };
FIXTURE_VARIANT_ADD(after_shutdown, EVENTID_OPEN) { POSIXTRACE_IOC_EVENTID_OPEN };
FIXTURE_VARIANT_ADD(after_shutdown, WAIT) { POSIXTRACE_IOC_WAIT };
FIXTURE_VARIANT_ADD(after_shutdown, RELEASE) { POSIXTRACE_IOC_RELEASE };
FIXTURE_VARIANT_ADD(after_shutdown, SET_FILTER) { POSIXTRACE_IOC_SET_FILTER };
FIXTURE_VARIANT_ADD(after_shutdown, GET_FILTER) { POSIXTRACE_IOC_GET_FILTER };
FIXTURE_VARIANT_ADD(after_shutdown, CLEAR) { POSIXTRACE_IOC_CLEAR };
FIXTURE_VARIANT_ADD(after_shutdown, GET_STATS) { POSIXTRACE_IOC_GET_STATS };
FIXTURE_VARIANT_ADD(after_shutdown, DESCRIPTION) { POSIXTRACE_IOC_DESCRIPTION };
FIXTURE_VARIANT_ADD(after_shutdown, DESCRIBE) { POSIXTRACE_IOC_DESCRIBE };
FIXTURE_VARIANT_ADD(after_shutdown, DEFER) { POSIXTRACE_IOC_DEFER };

FIXTURE_SETUP(after_shutdown)
{
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
}

FIXTURE_TEARDOWN(after_shutdown)
{
	stream_close(&self->stream);
}

TEST_F(after_shutdown, command_is_refused)
{
	union {
		struct posixtrace_create create;
		struct posixtrace_eventid eventid;
		char all[1024];
	} arg = { .all = { 0 } };

	if (variant->cmd == POSIXTRACE_IOC_CREATE)
		create_init(&arg.create, 0);
	else if (variant->cmd == POSIXTRACE_IOC_EVENTID_OPEN)
		strcpy(arg.eventid.name, "name");
	else if (variant->cmd == POSIXTRACE_IOC_EVENT_NAME)
		arg.eventid.id = POSIXTRACE_ID_START;
	EXPECT_EQ(variant->cmd == POSIXTRACE_IOC_CREATE ? -EBUSY : -ESHUTDOWN,
		  command(self->stream.fd, variant->cmd, &arg));
}

/* ------------------------------------------------------------------ */
/* Several streams and threads						*/

TEST_F(stream, two_streams_of_one_process_get_the_same_events)
{
	struct record record;
	struct stream other;
	char data[16];

	ASSERT_EQ(0, stream_create(&other, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "one", 4));
	ASSERT_EQ(0, stream_start(&other));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "both", 5));
	ASSERT_EQ(0, stream_stop(&self->stream));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "two", 4));

	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_STREQ("one", data);
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_STREQ("both", data);
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));

	ASSERT_EQ(1, stream_take(&other, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	ASSERT_EQ(1, stream_take(&other, &record, data, sizeof(data)));
	EXPECT_STREQ("both", data);
	ASSERT_EQ(1, stream_take(&other, &record, data, sizeof(data)));
	EXPECT_STREQ("two", data);
	EXPECT_EQ(0, stream_take(&other, &record, NULL, 0));
	stream_close(&other);
}

static void *start_and_stop(void *arg)
{
	struct stream *stream = arg;

	for (int i = 0; i < 50; i++) {
		stream_start(stream);
		stream_stop(stream);
	}
	return NULL;
}

/* STARTs and STOPs alternate in the records, whichever thread calls them. */
TEST_F(stream, start_and_stop_of_two_threads_alternate)
{
	unsigned int expected = POSIXTRACE_ID_START;
	struct record record;
	pthread_t threads[2];
	int count = 0;

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, start_and_stop, &self->stream));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	while (stream_take(&self->stream, &record, NULL, 0) == 1) {
		ASSERT_EQ(expected, record.event_id);
		expected = POSIXTRACE_ID_START + POSIXTRACE_ID_STOP - expected;
		count++;
	}
	EXPECT_LE(2, count);
	EXPECT_EQ(POSIXTRACE_ID_START, expected);
}

TEST_HARNESS_MAIN
