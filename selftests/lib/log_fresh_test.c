// SPDX-License-Identifier: GPL-2.0
/*
 * A log has only data of a process that are valid when its stream starts: no earlier contents of an
 * argument, and no library that was already unloaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <posixtrace.h>

#include "pxt_test.h"
#include "exec.h"
#include "process.h"
#include "withlog.h"

#define PLUGIN		"points_plugin.so"
#define SECRET		"--pw=old"
#define LATER		"--pw=xxx"

FIXTURE(fresh)
{
	int fd, other_fd;
	trace_id_t trid, other;
};

FIXTURE_SETUP(fresh)
{
	self->fd = log_tmpfile();
	self->other_fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other_fd);
}

FIXTURE_TEARDOWN(fresh)
{
	close(self->fd);
	close(self->other_fd);
}

/* Overwrites the first argument, like a program that has received a secret there. */
static void overwrite_argument(const char *text)
{
	memcpy(program_invocation_name, text, strlen(text) + 1);
}

/* Loads the plug-in, which records, and unloads it. */
static bool use_plugin(void)
{
	void *library = dlopen("./" PLUGIN, RTLD_NOW | RTLD_LOCAL);
	void (*record)(int number);

	if (!library)
		return false;
	*(void **)&record = dlsym(library, "plugin_record");
	record(1);
	return !dlclose(library);
}

static int begin(int fd, trace_id_t *trid)
{
	return withlog_begin(0, fd, POSIX_TRACE_APPEND, trid);
}

/* ------------------------------------------------------------------ */
/* Command lines							*/

TEST_F(fresh, argument_that_was_overwritten_before_the_stream)
{
	overwrite_argument(SECRET);
	record_plain(0);
	overwrite_argument(LATER);
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_FALSE(log_file_has(self->fd, SECRET));
	EXPECT_TRUE(log_file_has(self->fd, LATER));
}

TEST_F(fresh, argument_of_the_time_of_an_earlier_stream)
{
	overwrite_argument(SECRET);
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	record_plain(0);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, SECRET));
	overwrite_argument(LATER);
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	EXPECT_FALSE(log_file_has(self->other_fd, SECRET));
	EXPECT_TRUE(log_file_has(self->other_fd, LATER));
}

TEST_F(fresh, argument_of_the_time_before_a_second_stream)
{
	overwrite_argument(SECRET);
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	record_plain(0);
	overwrite_argument(LATER);
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, SECRET));
	EXPECT_FALSE(log_file_has(self->other_fd, SECRET));
	EXPECT_TRUE(log_file_has(self->other_fd, LATER));
}

static int record_once(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	record_plain(1);
	return 0;
}

/*
 * The child is created after the second stream, but before its parent has recorded an event for
 * that stream.
 */
TEST_F(fresh, argument_of_the_parent_of_a_traced_process)
{
	struct child child;

	overwrite_argument(SECRET);
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	record_plain(0);
	overwrite_argument(LATER);
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	ASSERT_EQ(0, child_start(&child, record_once, NULL));
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_FALSE(log_file_has(self->other_fd, SECRET));
	EXPECT_TRUE(log_file_has(self->other_fd, LATER));
}

static int record_nothing(void *arg, const struct talk *talk)
{
	(void)arg;
	record_plain(0);
	say(talk, 0);
	while (hear(talk) == 0)
		say(talk, 0);
	return 0;
}

/* A process that records no events reads its arguments when it next returns to user mode. */
TEST_F(fresh, process_that_records_no_event_looks_at_its_arguments)
{
	struct child child;

	overwrite_argument(LATER);
	ASSERT_EQ(0, child_start(&child, record_nothing, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, withlog_begin(child.pid, self->fd, POSIX_TRACE_APPEND, &self->trid));
	/* This makes the child wake up and return to user mode. */
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, LATER));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* Libraries								*/

TEST_F(fresh, library_that_was_unloaded_before_the_stream)
{
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	record_plain(0);
	ASSERT_TRUE(use_plugin());
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, PLUGIN));
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	EXPECT_FALSE(log_file_has(self->other_fd, PLUGIN));
	EXPECT_TRUE(log_file_has(self->other_fd, "log_fresh_test"));
}

/* The first stream still knows the library, because it has events of the library. */
TEST_F(fresh, library_that_was_unloaded_before_a_second_stream)
{
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	ASSERT_TRUE(use_plugin());
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, PLUGIN));
	EXPECT_FALSE(log_file_has(self->other_fd, PLUGIN));
	EXPECT_TRUE(log_file_has(self->other_fd, "log_fresh_test"));
}

/* Mappings are kept as long as at least one stream exists. */
TEST_F(fresh, library_that_was_unloaded_before_another_stream_ended)
{
	ASSERT_EQ(0, begin(self->fd, &self->trid));
	ASSERT_EQ(0, begin(self->other_fd, &self->other));
	ASSERT_TRUE(use_plugin());
	ASSERT_EQ(0, posix_trace_shutdown(self->other));
	record_plain(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(log_file_has(self->fd, PLUGIN));
	EXPECT_TRUE(log_file_has(self->other_fd, PLUGIN));
}

TEST_HARNESS_MAIN
