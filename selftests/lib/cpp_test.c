// SPDX-License-Identifier: GPL-2.0
/*
 * <posixtrace/posixtrace.hpp>: each case runs a case of cpp_helper.cpp.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "pxt_test.h"

static int run(const char *name)
{
	char path[] = "./cpp_helper";
	int status;
	pid_t child = fork();

	if (!child) {
		execl(path, path, name, NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

TEST(stream_moves_with_its_trace)
{
	EXPECT_EQ(0, run("moves"));
}

TEST(errors_are_exceptions)
{
	EXPECT_EQ(0, run("errors"));
}

TEST(attributes_reach_the_stream)
{
	EXPECT_EQ(0, run("attributes"));
}

TEST(values_are_recorded_as_their_bytes)
{
	EXPECT_EQ(0, run("values"));
}

TEST(loop_resumes_after_a_break)
{
	EXPECT_EQ(0, run("iteration"));
}

TEST(events_have_process_thread_and_time)
{
	EXPECT_EQ(0, run("origin"));
}

TEST(fields_have_paths_numbers_and_texts)
{
	EXPECT_EQ(0, run("fields"));
}

TEST(data_that_do_not_match_have_no_fields)
{
	EXPECT_EQ(0, run("mismatch"));
}

TEST(follow_ends_with_the_traced_process)
{
	EXPECT_EQ(0, run("follow"));
}

TEST(log_is_read_again_after_rewind)
{
	EXPECT_EQ(0, run("log"));
}

TEST_HARNESS_MAIN
