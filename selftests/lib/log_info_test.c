// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_get_log_info(): the contents of a log, and its losses. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>

#include "pxt_test.h"
#include "log_reading.h"

FIXTURE(info)
{
	struct log_writer log;
	struct posixtrace_log_info info;
	trace_id_t trid;
};

FIXTURE_SETUP(info)
{
	log_begin(&self->log, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, 2, 0);
	memset(&self->info, 'z', sizeof(self->info));
}

FIXTURE_TEARDOWN(info)
{
	log_free(&self->log);
}

/* Gets the information about a log: before reading it, or after reading it to its end. */
static int get(struct _test_data_info *self, bool read)
{
	struct event event;
	int err = log_open(&self->log, &self->trid);

	if (err)
		return err;
	while (read && log_take(self->trid, &event) == 1)
		;
	err = posixtrace_get_log_info(self->trid, &self->info);
	return posix_trace_close(self->trid) ? -1 : err;
}

TEST_F(info, end_is_reported_when_it_is_final)
{
	log_epochs(&self->log, 1, 3, 10);
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(0, self->info.flags);
	log_end(&self->log, POSIXTRACE_LOG_END_FULL);
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(0, self->info.flags);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	/* Before the first END, no block was written after it. */
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(0, self->info.flags);
	for (size_t i = 0; i < ARRAY_SIZE(self->info.__reserved); i++)
		EXPECT_EQ(0, self->info.__reserved[i]);
}

TEST_F(info, end_of_a_complete_log)
{
	log_epochs(&self->log, 1, 3, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
	EXPECT_EQ(0, self->info.lost);
	EXPECT_EQ(0, self->info.overwritten);
}

TEST_F(info, lost_events_after_the_last_one_are_counted)
{
	log_epochs(&self->log, 1, 1, 10);
	self->log.gap_generation++;
	self->log.gap_first = LOG_TIME0 + 30;
	self->log.lost = 5;
	log_epochs(&self->log, 40, 1, 10);
	/* Without an END block, the number of lost events is known only after the gap was read. */
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(0, self->info.lost);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(5, self->info.lost);
	self->log.end.lost = 9;
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(9, self->info.lost);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(9, self->info.lost);
}

TEST_F(info, forged_end_does_not_hide_lost_events)
{
	self->log.gap_generation++;
	self->log.gap_first = LOG_TIME0 + 1;
	self->log.lost = 5;
	log_epochs(&self->log, 10, 1, 10);
	self->log.end.lost = 2;
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(5, self->info.lost);
}

TEST_F(info, events_that_a_loop_log_has_overwritten)
{
	log_free(&self->log);
	log_begin(&self->log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1, 4096);
	log_epochs(&self->log, 1, 2, 10);
	log_end(&self->log, 0);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(0, self->info.overwritten);
	EXPECT_EQ(0, self->info.flags);
	log_epochs(&self->log, 100, 30, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_LT(0, self->log.end.overwritten);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(self->log.end.overwritten, self->info.overwritten);
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
}

TEST_F(info, damage_is_reported_when_it_is_known)
{
	size_t at;

	log_epochs(&self->log, 1, 1, 10);
	at = self->log.len;
	log_epochs(&self->log, 100, 1, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	/* Damaged events are found when they are read. */
	self->log.data[at + LOG_BLOCK + 20] ^= 1;
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
	ASSERT_EQ(0, get(self, true));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED | POSIXTRACE_LOG_DAMAGED, self->info.flags);
	/* A damaged block header is found immediately. */
	self->log.data[at + 20] ^= 1;
	ASSERT_EQ(0, get(self, false));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED | POSIXTRACE_LOG_DAMAGED, self->info.flags);
}

TEST_F(info, how_much_was_read)
{
	unsigned long long last = 0;
	struct event event;

	log_epochs(&self->log, 1, 50, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
		EXPECT_EQ(self->log.len, self->info.size);
		EXPECT_EQ(0, self->info.read);
		for (int i = 0; i < 500; i++)
			ASSERT_EQ(1, log_take(self->trid, &event));
		ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
		EXPECT_LT(self->log.len / 3, self->info.read);
		EXPECT_GT(self->log.len * 2 / 3, self->info.read);
		last = self->info.read;
		while (log_take(self->trid, &event) == 1)
			;
		ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
		EXPECT_LT(last, self->info.read);
		/* All bytes except the header of the log have been read. */
		EXPECT_EQ(self->log.len - LOG_HEADER, self->info.read);
		ASSERT_EQ(0, posix_trace_rewind(self->trid));
	}
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(info, appended_blocks_are_found)
{
	size_t before;
	int fd;

	log_epochs(&self->log, 1, 1, 10);
	fd = log_file(&self->log);
	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	before = self->log.len;
	self->log.end.lost = 3;
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_write(&self->log, fd, before));
	ASSERT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(self->log.len, self->info.size);
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
	EXPECT_EQ(3, self->info.lost);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

TEST_F(info, wrong_arguments)
{
	struct posixtrace_log_info untouched = self->info;

	log_epochs(&self->log, 1, 1, 10);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_log_info(self->trid, NULL));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(0, memcmp(&untouched, &self->info, sizeof(untouched)));
}

TEST_HARNESS_MAIN
