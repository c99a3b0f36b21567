// SPDX-License-Identifier: GPL-2.0
/*
 * exec, fork(), _Exit() and posix_spawn(): Documentation/conformance/xsh_processes.rst
 */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "family.h"
#include "pxt_test.h"
#include "withlog.h"

#define HELPER	"./named_helper"
#define NAMES	(TRACE_USER_EVENT_MAX - 1)
#define SIZE	(1 << 20)

static int map_names(const char *prefix, int count, trace_event_id_t *last)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	for (int i = 1; i <= count; i++) {
		snprintf(name, sizeof(name), "%s %d", prefix, i);
		if (posix_trace_eventid_open(name, last) ||
		    *last == POSIX_TRACE_UNNAMED_USEREVENT)
			return -1;
	}
	return 0;
}

static int execute(const char *prefix)
{
	execl(HELPER, HELPER, prefix, (char *)NULL);
	return 100;
}

FIXTURE(processes)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(processes)
{
	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, SIZE, POSIX_TRACE_UNTIL_FULL,
				       &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(processes)
{
	posix_trace_shutdown(self->trid);
}

/* Returns true if the next event comes from process @pid and has this number and name. */
static bool next_is(struct _test_data_processes *self, pid_t pid, int number, const char *name)
{
	char found[TRACE_EVENT_NAME_MAX + 1];

	return take_user(self->trid, &self->event) == 1 && self->event.info.posix_pid == pid &&
	       event_number(&self->event) == number &&
	       !posix_trace_eventid_get_name(self->trid, self->event.info.posix_event_id, found) &&
	       !strcmp(found, name);
}

static int record_and_execute(void *arg)
{
	record_plain(7);
	return execute(arg);
}

TEST_F(processes, a01_process_stays_traced_after_exec)
{
	pid_t pid = by_fork(record_and_execute, "new");
	char last[32];

	ASSERT_EQ(0, ended(pid));
	snprintf(last, sizeof(last), "new %d", NAMES);
	EXPECT_TRUE(next_is(self, pid, 7, "posix_trace_unnamed_userevent"));
	EXPECT_TRUE(next_is(self, pid, 1, "new 1"));
	EXPECT_TRUE(next_is(self, pid, 2, last));
	EXPECT_EQ(0, take_user(self->trid, &self->event));
}

static int map_and_execute(void *arg)
{
	trace_event_id_t last;

	return map_names("old", NAMES, &last) ? 99 : execute(arg);
}

TEST_F(processes, a02_new_program_starts_without_names)
{
	pid_t pid = by_fork(map_and_execute, "new");

	ASSERT_EQ(0, ended(pid));
	EXPECT_TRUE(next_is(self, pid, 1, "new 1"));
	/*
	 * The same holds for a third program, even if it maps the same names as the first program.
	 */
	ASSERT_EQ(0, ended(by_fork(map_and_execute, "third")));
	ASSERT_EQ(0, ended(by_fork(map_and_execute, "old")));
}

static int execute_on_request(void *arg, const struct talk *talk)
{
	say(talk, 0);
	return hear(talk) < 0 ? 101 : execute(arg);
}

/* The controller has used up all names of the old image. */
TEST(a03_new_program_starts_without_names_of_the_controller)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 0;
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, execute_on_request, "new"));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_family_stream(child.pid, POSIX_TRACE_INHERITED, SIZE,
				       POSIX_TRACE_UNTIL_FULL, &trid));
	for (int i = 1; i <= NAMES; i++) {
		snprintf(name, sizeof(name), "of the controller %d", i);
		ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, name, &id));
		ASSERT_NE(POSIX_TRACE_UNNAMED_USEREVENT, id);
	}
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "one more", &id));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, id);
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* How a controller ends: it executes another program, or exits. */
struct leaving {
	int log;
	bool executes;
};

static int create_and_leave(void *arg)
{
	static const struct log_kind append = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	const struct leaving *leaving = arg;
	trace_id_t trid;

	if (withlog_new(getppid(), &append, leaving->log, &trid) || posix_trace_start(trid))
		return 1;
	if (leaving->executes)
		return execute("controller");
	_Exit(0);
}

/* The stream of a child traces this process. The stream ends when the child exits or calls exec. */
static void expect_shut_down(struct __test_metadata *_metadata, bool executes)
{
	struct leaving leaving = { .log = log_tmpfile(), .executes = executes };
	struct log_content content;

	ASSERT_LE(0, leaving.log);
	ASSERT_EQ(0, ended(by_fork(create_and_leave, &leaving)));
	/* The stream no longer traces this process. */
	record_plain(1);
	log_content_fd(leaving.log, &content);
	EXPECT_TRUE(log_content_is(&content, 0));
	close(leaving.log);
}

TEST(a04_exec_shuts_down_the_streams_of_a_controller)
{
	expect_shut_down(_metadata, true);
}

static int record_seven(void *arg)
{
	(void)arg;
	record_plain(7);
	return 0;
}

TEST_F(processes, a05_fork_inherits)
{
	pid_t pid = by_fork(record_seven, NULL);

	ASSERT_EQ(0, ended(pid));
	EXPECT_TRUE(next_is(self, pid, 7, "posix_trace_unnamed_userevent"));
}

static int finds_names(void *arg)
{
	trace_event_id_t last, other;

	if (map_names("of the parent", NAMES, &last) || last != *(trace_event_id_t *)arg)
		return 1;
	/* The process has as many names as it can have. */
	return posix_trace_eventid_open("of the child", &other) ||
	       other != POSIX_TRACE_UNNAMED_USEREVENT;
}

TEST_F(processes, a06_fork_inherits_the_names)
{
	trace_event_id_t last;

	ASSERT_EQ(0, map_names("of the parent", NAMES, &last));
	EXPECT_EQ(0, ended(by_fork(finds_names, &last)));
}

TEST(a07_fork_closes_for_the_child)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_CLOSE_FOR_CHILD, SIZE,
				       POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, ended(by_fork(record_seven, NULL)));
	record_plain(8);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(8, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int controls_nothing(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	struct event event;

	return posix_trace_stop(trid) != EINVAL || posix_trace_shutdown(trid) != EINVAL ||
	       take(trid, &event) >= 0;
}

TEST_F(processes, a08_child_does_not_control_the_streams_of_its_parent)
{
	EXPECT_EQ(0, ended(by_fork(controls_nothing, &self->trid)));
	record_plain(9);
	EXPECT_TRUE(next_is(self, getpid(), 9, "posix_trace_unnamed_userevent"));
}

TEST(a09_exit_shuts_down_the_streams_of_a_controller)
{
	expect_shut_down(_metadata, false);
}

TEST_F(processes, a10_posix_spawn_is_traced_and_starts_without_names)
{
	char *const argv[] = { HELPER, "of the parent", NULL };
	trace_event_id_t last;
	pid_t pid;

	ASSERT_EQ(0, map_names("filler", NAMES, &last));
	ASSERT_EQ(0, posix_spawn(&pid, HELPER, NULL, NULL, argv, environ));
	ASSERT_EQ(0, ended(pid));
	EXPECT_TRUE(next_is(self, pid, 1, "of the parent 1"));
}

TEST_HARNESS_MAIN
