// SPDX-License-Identifier: GPL-2.0
/*
 * Names in a file that belong to another log, or not to the time of an event. A reader must show
 * the right name or no name. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>

#include "pxt_test.h"
#include "log_reading.h"

#define RING	((size_t)64 << 10)
#define SECOND	1000000000ULL
#define BIRTH	(100 * SECOND)

FIXTURE(stale)
{
	struct log_writer log, old;
	struct posixtrace_log_info info;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(stale)
{
	log_begin(&self->old, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, 2, RING);
	log_name(&self->old, LOG_FIRST_NAMED, "old first");
	log_name(&self->old, LOG_FIRST_NAMED + 1, "old second");
	log_name(&self->old, LOG_FIRST_NAMED + 2, "old third");
	log_begin(&self->log, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, 2, RING);
	self->log.header.cookie = LOG_COOKIE + 1;
	log_header(&self->log);
	log_epochs(&self->log, 0, 1, 4);
	log_end(&self->log, 0);
	self->fd = -1;
}

FIXTURE_TEARDOWN(stale)
{
	if (self->fd >= 0)
		close(self->fd);
	log_free(&self->log);
	log_free(&self->old);
}

static const char *type_name(trace_id_t trid, trace_event_id_t event)
{
	static char name[TRACE_EVENT_NAME_MAX + 1];

	return posix_trace_eventid_get_name(trid, event, name) ? "none" : name;
}

/* ------------------------------------------------------------------ */
/* Names of event types							*/

/* Copies the names of the old log from a given place on, as if the disk had lost a write. */
static void keep_old_names(struct _test_data_stale *self, unsigned int place, unsigned int count)
{
	const size_t at = self->log.header.names_offset +
			  place * sizeof(struct posixtrace_log_name);

	log_put(&self->log, at, self->old.data + at, count * sizeof(struct posixtrace_log_name));
}

TEST_F(stale, names_that_an_older_log_left_in_the_file)
{
	log_name(&self->log, LOG_FIRST_NAMED, "new first");
	keep_old_names(self, 1, 2);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("new first", type_name(self->trid, LOG_FIRST_NAMED));
	EXPECT_STREQ("none", type_name(self->trid, LOG_FIRST_NAMED + 1));
	EXPECT_STREQ("none", type_name(self->trid, LOG_FIRST_NAMED + 2));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED | POSIXTRACE_LOG_DAMAGED, self->info.flags);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(stale, name_of_an_older_log_in_place_of_a_new_one)
{
	log_name(&self->log, LOG_FIRST_NAMED, "new first");
	log_name(&self->log, LOG_FIRST_NAMED + 1, "new second");
	log_name(&self->log, LOG_FIRST_NAMED + 2, "new third");
	keep_old_names(self, 1, 1);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("new first", type_name(self->trid, LOG_FIRST_NAMED));
	EXPECT_STREQ("none", type_name(self->trid, LOG_FIRST_NAMED + 1));
	EXPECT_STREQ("new third", type_name(self->trid, LOG_FIRST_NAMED + 2));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* The reader still has the previous log open. */
TEST_F(stale, names_of_a_log_that_took_the_place_of_this_one)
{
	self->fd = log_file(&self->old);
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	for (int i = 0; i < 5; i++)
		log_name(&self->log, LOG_FIRST_NAMED + i, "new");
	ASSERT_EQ(0, log_write(&self->log, self->fd, 0));
	EXPECT_STREQ("old third", type_name(self->trid, LOG_FIRST_NAMED + 2));
	EXPECT_STREQ("none", type_name(self->trid, LOG_FIRST_NAMED + 3));
	EXPECT_STREQ("none", type_name(self->trid, LOG_FIRST_NAMED + 4));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(0, self->info.flags);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* ------------------------------------------------------------------ */
/* Names of threads and processes with reused ids			*/

static const struct timespec *at(__u64 time)
{
	static struct timespec ts;

	ts.tv_sec = (LOG_TIME0 + time) / SECOND;
	ts.tv_nsec = (LOG_TIME0 + time) % SECOND;
	return &ts;
}

static const char *name_at(trace_id_t trid, __u64 time)
{
	static char name[POSIXTRACE_THREAD_NAME_SIZE];

	return posixtrace_get_thread_name(trid, 5, 6, at(time), name) ? "none" : name;
}

static const char *program_at(trace_id_t trid, __u64 time)
{
	static char program[POSIXTRACE_PROGRAM_SIZE];

	return posixtrace_get_program(trid, 5, at(time), program, sizeof(program), NULL) ?
	       "none" : program;
}

static const char *path_at(trace_id_t trid, __u64 time)
{
	static struct posixtrace_mapping_info info;

	return posixtrace_get_mapping(trid, 5, at(time), (void *)0x1000, &info) ? "none" :
	       info.path;
}

static int life_at(trace_id_t trid, __u64 time)
{
	struct timespec born, next;

	return posixtrace_get_thread_life(trid, 5, 6, at(time), &born, &next);
}

/*
 * Writes all metadata about a thread and its process, all with the time @born.
 */
static void describe_all(struct log_writer *log, __u64 born)
{
	struct posixtrace_log_mapping mapping = {
		.pid = 5, .start = LOG_TIME0 + born, .since = LOG_TIME0 + born,
		.address = 0x1000, .length = 0x1000,
	};

	log_born_task(log, 5, 6, LOG_TIME0 + born, LOG_TIME0 + born, "second life");
	log_born_program(log, 5, LOG_TIME0 + born, LOG_TIME0 + born, "second", 7);
	log_mapping(log, &mapping, "/second");
}

/* The metadata about the first thread with these ids has been overwritten. */
TEST_F(stale, event_of_a_thread_whose_metadata_was_overwritten)
{
	const __u64 first = BIRTH - SECOND / 2;

	describe_all(&self->log, BIRTH);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("none", name_at(self->trid, first));
	EXPECT_STREQ("none", program_at(self->trid, first));
	EXPECT_STREQ("none", path_at(self->trid, first));
	EXPECT_EQ(ENOENT, life_at(self->trid, first));
	EXPECT_STREQ("second life", name_at(self->trid, BIRTH));
	EXPECT_STREQ("second", program_at(self->trid, BIRTH));
	EXPECT_STREQ("/second", path_at(self->trid, BIRTH));
	EXPECT_EQ(0, life_at(self->trid, BIRTH));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* The clock for births differs slightly from the clock for events. */
TEST_F(stale, first_event_of_a_thread_that_seems_older_than_it)
{
	const __u64 first = BIRTH - SECOND / 1000;

	describe_all(&self->log, BIRTH);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("second life", name_at(self->trid, first));
	EXPECT_STREQ("second", program_at(self->trid, first));
	EXPECT_STREQ("/second", path_at(self->trid, first));
	EXPECT_EQ(0, life_at(self->trid, first));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_HARNESS_MAIN
