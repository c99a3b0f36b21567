// SPDX-License-Identifier: GPL-2.0
/*
 * The flight recorder of a program: an environment variable starts it. When the program ends for
 * any reason, the kernel writes the last events.
 */
#define _GNU_SOURCE
#include <signal.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "flight.h"

#define PATTERN		"%p.log"

/* Makes the stream so small that it holds only a part of the events of a run. */
#define SMALL		"size=64K"

FIXTURE(flight)
{
	struct flight run;
};

FIXTURE_SETUP(flight)
{
	ASSERT_EQ(0, flight_begin(&self->run));
	self->run.pattern = PATTERN;
}

FIXTURE_TEARDOWN(flight)
{
	flight_end(&self->run);
}

/* Expects a complete log with the numbers from @first to @last. */
static void expect_numbers(struct __test_metadata *_metadata, const struct flight *run, pid_t pid,
			   unsigned int number, int first, int last)
{
	struct log_content content;

	flight_read(run, pid, number, &content);
	EXPECT_EQ(0, content.err) TH_LOG("log %u: %s", number, run->out);
	EXPECT_EQ(last - first + 1, content.numbers);
	EXPECT_EQ(first, content.first);
	EXPECT_EQ(last, content.last);
	EXPECT_EQ(0, content.holes);
	EXPECT_EQ(0, content.errors);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
}

static void expect_success(struct __test_metadata *_metadata, const struct flight *run)
{
	EXPECT_TRUE(WIFEXITED(run->status));
	EXPECT_EQ(0, WEXITSTATUS(run->status)) TH_LOG("%s", run->out);
}

static void expect_killed(struct __test_metadata *_metadata, const struct flight *run)
{
	EXPECT_TRUE(WIFSIGNALED(run->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(run->status)) TH_LOG("%s", run->out);
}

/* ------------------------------------------------------------------ */
/* Ends of the program							*/

FIXTURE(end)
{
	struct flight run;
};

FIXTURE_VARIANT(end)
{
	const char *action;
	int signal;
};

FIXTURE_VARIANT_ADD(end, by_a_segmentation_fault) { "segv", SIGSEGV };
FIXTURE_VARIANT_ADD(end, by_abort) { "abort", SIGABRT };
FIXTURE_VARIANT_ADD(end, by_sigkill) { "kill", SIGKILL };
FIXTURE_VARIANT_ADD(end, by_exit) { "nothing", 0 };

FIXTURE_SETUP(end)
{
	ASSERT_EQ(0, flight_begin(&self->run));
	self->run.pattern = PATTERN;
	self->run.options = SMALL;
}

FIXTURE_TEARDOWN(end)
{
	flight_end(&self->run);
}

TEST_F(end, leaves_the_last_events_in_the_log)
{
	struct log_content content;

	ASSERT_EQ(0, flight_run(&self->run, variant->action));
	EXPECT_EQ(variant->signal, WIFSIGNALED(self->run.status) ?
		  WTERMSIG(self->run.status) : 0);
	EXPECT_STREQ("", self->run.out);
	flight_read(&self->run, self->run.pid, 0, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(FLIGHT_EVENTS - 1, content.last);
	EXPECT_LT(0, content.first);
	EXPECT_EQ(content.last - content.first + 1, content.numbers);
	EXPECT_EQ(0, content.holes);
	EXPECT_EQ(0, content.errors);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

/* ------------------------------------------------------------------ */
/* Without recorder							*/

TEST_F(flight, without_the_variable_there_is_none)
{
	self->run.pattern = NULL;
	self->run.options = "children";
	ASSERT_EQ(0, flight_run(&self->run, "none"));
	expect_success(_metadata, &self->run);
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(0, flight_files(&self->run, false));
}

TEST_F(flight, empty_variable_means_none)
{
	self->run.pattern = "";
	ASSERT_EQ(0, flight_run(&self->run, "none"));
	expect_success(_metadata, &self->run);
	EXPECT_STREQ("", self->run.out);
	EXPECT_EQ(0, flight_files(&self->run, false));
}

/* ------------------------------------------------------------------ */
/* Processes								*/

TEST_F(flight, child_is_not_recorded_and_does_not_end_its_parent)
{
	struct log_content content;

	ASSERT_EQ(0, flight_run(&self->run, "fork"));
	expect_success(_metadata, &self->run);
	flight_read(&self->run, self->run.pid, 0, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(2, content.numbers);
	EXPECT_EQ(0, content.first);
	EXPECT_EQ(2, content.last);
	EXPECT_EQ(1, content.holes);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

TEST_F(flight, child_records_itself_if_the_options_ask_for_it)
{
	pid_t child;

	self->run.options = "children";
	ASSERT_EQ(0, flight_run(&self->run, "daemon"));
	expect_success(_metadata, &self->run);
	child = atoi(self->run.out);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 0);
	expect_numbers(_metadata, &self->run, child, 0, 1, 1);
	EXPECT_EQ(2, flight_files(&self->run, false));
}

TEST_F(flight, program_that_it_executes_has_the_next_log)
{
	ASSERT_EQ(0, flight_run(&self->run, "exec"));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 0);
	expect_numbers(_metadata, &self->run, self->run.pid, 1, 1, 1);
	EXPECT_EQ(2, flight_files(&self->run, false));
}

TEST_F(flight, closing_the_first_descriptors_does_not_end_it)
{
	ASSERT_EQ(0, flight_run(&self->run, "close"));
	expect_success(_metadata, &self->run);
	/* The event with number 2 was recorded after all descriptors had been closed. */
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 1);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

TEST_F(flight, closing_all_descriptors_ends_a_recorder_with_a_trace_id)
{
	ASSERT_EQ(0, flight_run(&self->run, "close_shared"));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 1);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

TEST_F(flight, log_is_written_after_chroot)
{
	struct log_content content;

	self->run.options = SMALL;
	ASSERT_EQ(0, flight_run(&self->run, "chroot"));
	expect_killed(_metadata, &self->run);
	flight_read(&self->run, self->run.pid, 0, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(FLIGHT_EVENTS - 1, content.last);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

/* ------------------------------------------------------------------ */
/* The program and its recorder						*/

TEST_F(flight, streams_of_the_program_are_as_without_it)
{
	self->run.pattern = NULL;
	ASSERT_EQ(0, flight_run(&self->run, "streams"));
	expect_success(_metadata, &self->run);
	self->run.pattern = PATTERN;
	ASSERT_EQ(0, flight_run(&self->run, "streams"));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 0);
}

TEST_F(flight, recorder_obeys_the_program)
{
	ASSERT_EQ(0, flight_run(&self->run, "control"));
	expect_success(_metadata, &self->run);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 9);
	EXPECT_EQ(1, flight_files(&self->run, false));
}

TEST_F(flight, snapshots_are_complete_logs_that_continue_each_other)
{
	struct posixtrace_log_info info;
	unsigned long long series = 0;
	char path[128];
	trace_id_t trid;
	int fd;

	ASSERT_EQ(0, flight_run(&self->run, "snapshots"));
	expect_killed(_metadata, &self->run);
	snprintf(path, sizeof(path), "%s/%d.log\n", self->run.dir, (int)self->run.pid);
	EXPECT_STREQ(path, self->run.out);
	for (unsigned int i = 0; i < 3; i++) {
		expect_numbers(_metadata, &self->run, self->run.pid, i, i * 10, i * 10 + 9);
		fd = flight_open(&self->run, self->run.pid, i);
		ASSERT_EQ(0, posix_trace_open(fd, &trid));
		EXPECT_EQ(0, posixtrace_get_log_info(trid, &info));
		EXPECT_EQ(i + 1, info.part);
		if (!i)
			series = info.series;
		EXPECT_NE(0, info.series);
		EXPECT_EQ(series, info.series);
		EXPECT_EQ(0, posix_trace_close(trid));
		close(fd);
	}
	EXPECT_EQ(3, flight_files(&self->run, false));
}

TEST_F(flight, log_in_a_file_of_the_program_has_no_path)
{
	char path[128];

	ASSERT_EQ(0, flight_run(&self->run, "rotate"));
	expect_success(_metadata, &self->run);
	snprintf(path, sizeof(path), "%s/%d.1.log\n", self->run.dir, (int)self->run.pid);
	EXPECT_STREQ(path, self->run.out);
	expect_numbers(_metadata, &self->run, self->run.pid, 0, 0, 9);
	expect_numbers(_metadata, &self->run, self->run.pid, 1, 20, 29);
	expect_numbers(_metadata, &self->run, self->run.pid, 2, 30, 39);
	EXPECT_EQ(3, flight_files(&self->run, false));
}

TEST_F(flight, options_are_the_attributes_of_the_stream)
{
	unsigned int classes;
	trace_attr_t attr;
	trace_id_t trid;
	size_t size;
	int order, fd;

	self->run.options = " size=1M\tdata-size=100  order=relaxed kernel=sched,process ";
	ASSERT_EQ(0, flight_run(&self->run, "nothing"));
	expect_success(_metadata, &self->run);
	fd = flight_open(&self->run, self->run.pid, 0);
	ASSERT_EQ(0, posix_trace_open(fd, &trid)) TH_LOG("%s", self->run.out);
	ASSERT_EQ(0, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LE(1U << 20, size);
	EXPECT_GT(2U << 20, size);
	EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(100, size);
	EXPECT_EQ(0, posixtrace_attr_getorder(&attr, &order));
	EXPECT_EQ(POSIXTRACE_ORDER_RELAXED, order);
	EXPECT_EQ(0, posixtrace_attr_getkernel(&attr, &classes));
	EXPECT_EQ(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS, classes);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
}

TEST_HARNESS_MAIN
