// SPDX-License-Identifier: GPL-2.0
/*
 * No log is lost if something happens during a snapshot of the flight recorder: a signal handler
 * forks, the stream ends, another thread rotates the log or writes to a closed standard error.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "flight.h"

FIXTURE(during)
{
	struct flight run;
};

FIXTURE_VARIANT(during)
{
	const char *action;
	bool forks;
	int logs;	/* number of logs with events; 1: all events are in the same log */
	int files;
};

FIXTURE_VARIANT_ADD(during, fork_before_rotate) { "fork before ROTATE", true, 2, 2 };
FIXTURE_VARIANT_ADD(during, fork_after_rotate) { "fork after ROTATE", true, 2, 2 };
FIXTURE_VARIANT_ADD(during, fork_before_open) { "fork before open", true, 2, 2 };
FIXTURE_VARIANT_ADD(during, fork_in_get_recorder) { "fork in share", true, 2, 2 };
FIXTURE_VARIANT_ADD(during, end_of_the_stream) { "end", false, 2, 2 };
FIXTURE_VARIANT_ADD(during, early_end_of_the_stream) { "early end", false, 1, 2 };
FIXTURE_VARIANT_ADD(during, rotate) { "rotate", false, 2, 2 };
FIXTURE_VARIANT_ADD(during, write_to_closed_standard_error) { "complain", false, 2, 2 };
FIXTURE_VARIANT_ADD(during, limit_of_descriptors) { "limit", false, 1, 1 };

static void begin(struct __test_metadata *_metadata, struct flight *run)
{
	ASSERT_EQ(0, flight_begin(run));
	run->program = "./flight_snapshot_helper";
	run->pattern = "%p.log";
}

FIXTURE_SETUP(during)
{
	begin(_metadata, &self->run);
}

FIXTURE_TEARDOWN(during)
{
	flight_end(&self->run);
}

static void expect_success(struct __test_metadata *_metadata, const struct flight *run)
{
	EXPECT_EQ(0, run->status) TH_LOG("%s", run->out);
}

/* Expects a complete log with the numbers from @first to @last. */
static void expect_numbers(struct __test_metadata *_metadata, const struct flight *run, pid_t pid,
			   unsigned int number, int first, int last)
{
	struct log_content content;

	flight_read(run, pid, number, &content);
	EXPECT_EQ(0, content.err) TH_LOG("log %u", number);
	EXPECT_EQ(last - first + 1, content.numbers);
	EXPECT_EQ(first, content.first);
	EXPECT_EQ(last, content.last);
	EXPECT_EQ(0, content.holes);
	EXPECT_EQ(0, content.errors);
}

TEST_F(during, no_event_is_lost)
{
	const int last = variant->logs == 1 ? 19 : 9;

	if (variant->forks)
		PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, flight_run(&self->run, variant->action));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, last);
	if (variant->logs == 2)
		expect_numbers(_metadata, &self->run, self->run.pid, 1, 10, 19);
	EXPECT_EQ(variant->files, flight_files(&self->run, false));
}

FIXTURE(children)
{
	struct flight run;
};

FIXTURE_SETUP(children)
{
	begin(_metadata, &self->run);
	self->run.options = "children";
}

FIXTURE_TEARDOWN(children)
{
	flight_end(&self->run);
}

TEST_F(children, child_has_its_own_recorder)
{
	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, flight_run(&self->run, "fork in share"));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, atoi(self->run.out), 0, 20, 24);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 9);
	expect_numbers(_metadata, &self->run, self->run.pid, 1, 10, 19);
	EXPECT_EQ(3, flight_files(&self->run, false));
}

TEST_HARNESS_MAIN
