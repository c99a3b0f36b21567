// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of event types through the library: in streams, and in the logs that the module
 * writes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pxt_test.h"

/* A description, in the form that the library writes. */
#define FIELDS	"{u32 id;text key;}"

#define WORKER	65534

static int description(trace_id_t trid, trace_event_id_t event, char *text, size_t size)
{
	return posixtrace_eventid_get_description(trid, event, text, size, NULL);
}

/* Returns true if the type with this name has this description. */
static int described(trace_id_t trid, const char *name, const char *expected)
{
	char found[TRACE_EVENT_NAME_MAX + 1], text[POSIXTRACE_DESCRIPTION_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_rewind(trid);
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
		if (posix_trace_eventid_get_name(trid, id, found) || strcmp(found, name))
			continue;
		if (description(trid, id, text, sizeof(text)))
			return 0;
		return !strcmp(text, expected);
	}
	return 0;
}

FIXTURE(describe)
{
	trace_id_t trid;
	trace_event_id_t id;
	size_t needed;
	char text[64];
};

FIXTURE_SETUP(describe)
{
	ASSERT_EQ(0, posix_trace_eventid_open("described", &self->id));
	ASSERT_EQ(0, posix_trace_create(getpid(), NULL, &self->trid));
}

FIXTURE_TEARDOWN(describe)
{
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(describe, stream_has_the_description_of_its_process)
{
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	ASSERT_EQ(0, posixtrace_eventid_get_description(self->trid, self->id, self->text,
							sizeof(self->text), &self->needed));
	EXPECT_STREQ(FIELDS, self->text);
	EXPECT_EQ(sizeof(FIELDS), self->needed);
}

TEST_F(describe, controller_describes_the_types_of_the_traced_process)
{
	ASSERT_EQ(0, posixtrace_trid_eventid_describe(self->trid, self->id, FIELDS));
	EXPECT_EQ(EEXIST, posixtrace_eventid_describe(self->id, "{ u64 id; }"));
	EXPECT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	EXPECT_EQ(0, description(self->trid, self->id, self->text, sizeof(self->text)));
	EXPECT_STREQ(FIELDS, self->text);
}

TEST_F(describe, another_description_of_a_type_is_refused)
{
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	EXPECT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	EXPECT_EQ(EEXIST, posixtrace_eventid_describe(self->id, "{ u64 id; }"));
	EXPECT_EQ(EEXIST, posixtrace_trid_eventid_describe(self->trid, self->id, "{ u64 id; }"));
}

TEST_F(describe, worker_that_gave_up_root_does_not_describe_the_types_of_its_server)
{
	int status;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setresuid(WORKER, WORKER, WORKER))
			_exit(1);
		if (posixtrace_eventid_describe(self->id, FIELDS) != EPERM)
			_exit(2);
		/* A refusal does not affect later calls. */
		_exit(posix_trace_eventid_open("own", &self->id) ||
		      posixtrace_eventid_describe(self->id, FIELDS) ? 3 : 0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(0, posixtrace_eventid_describe(self->id, "{ u64 id; }"));
	EXPECT_TRUE(described(self->trid, "own", FIELDS));
}

/* Descriptions are compared without blanks and comments, which the library does not keep. */
TEST_F(describe, descriptions_are_compared_by_their_words)
{
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, "{ u32 id; # number\n\ttext key ; }"));
	EXPECT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	EXPECT_EQ(0, posixtrace_trid_eventid_describe(self->trid, self->id,
						      "{ u32 id; text key; }"));
	ASSERT_EQ(0, description(self->trid, self->id, self->text, sizeof(self->text)));
	EXPECT_STREQ(FIELDS, self->text);
}

TEST_F(describe, wrong_arguments)
{
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(self->id, NULL));
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(self->id, ""));
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(self->id + 1, FIELDS));
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(POSIX_TRACE_UNNAMED_USEREVENT, FIELDS));
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(POSIX_TRACE_START, FIELDS));
	EXPECT_EQ(EINVAL, posixtrace_eventid_describe(self->id, "{ u33 id; }"));
	EXPECT_EQ(EINVAL, posixtrace_trid_eventid_describe(self->trid, self->id, "{ u33 id; }"));
	EXPECT_EQ(EINVAL, posixtrace_trid_eventid_describe(self->trid, self->id, NULL));
	EXPECT_EQ(EINVAL, posixtrace_trid_eventid_describe(self->trid + 1, self->id, FIELDS));
	EXPECT_EQ(ENOENT, description(self->trid, self->id, self->text, sizeof(self->text)));
	EXPECT_EQ(ENOENT, description(self->trid, POSIX_TRACE_START, NULL, 0));
	EXPECT_EQ(EINVAL, description(self->trid, self->id, NULL, 1));
	EXPECT_EQ(EINVAL, description(self->trid, self->id + 1, NULL, 0));
	EXPECT_EQ(EINVAL, description(self->trid + 1, self->id, NULL, 0));
}

TEST_F(describe, too_little_space_is_ERANGE)
{
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	self->text[0] = 'z';
	EXPECT_EQ(ERANGE, posixtrace_eventid_get_description(self->trid, self->id, self->text,
							     sizeof(FIELDS) - 1, &self->needed));
	EXPECT_EQ('z', self->text[0]);
	EXPECT_EQ(sizeof(FIELDS), self->needed);
	EXPECT_EQ(ERANGE, posixtrace_eventid_get_description(self->trid, self->id, NULL, 0,
							     &self->needed));
	EXPECT_EQ(sizeof(FIELDS), self->needed);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

/* About 1500 bytes. */
static void long_description(char *text, int number)
{
	char *at = text + sprintf(text, "{enum{first=0");

	for (int i = 1; i < 120; i++)
		at += sprintf(at, ",value%03d=%d", i, i);
	sprintf(at, "}number%d;}", number);
}

FIXTURE(in_log)
{
	trace_attr_t attr;
	trace_id_t trid, log;
	trace_event_id_t id;
	int fd;
};

FIXTURE_VARIANT(in_log)
{
	int policy;
};

FIXTURE_VARIANT_ADD(in_log, append) { POSIX_TRACE_APPEND };
FIXTURE_VARIANT_ADD(in_log, until_full) { POSIX_TRACE_UNTIL_FULL };
FIXTURE_VARIANT_ADD(in_log, loop) { POSIX_TRACE_LOOP };

FIXTURE_SETUP(in_log)
{
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, variant->policy));
	ASSERT_EQ(0, posix_trace_eventid_open("described", &self->id));
}

FIXTURE_TEARDOWN(in_log)
{
	posix_trace_attr_destroy(&self->attr);
	close(self->fd);
}

TEST_F(in_log, description_is_in_the_log)
{
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	ASSERT_EQ(0, posix_trace_create_withlog(getpid(), &self->attr, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->id, "\1\0\0\0key", 7);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_TRUE(described(self->log, "described", FIELDS));
	EXPECT_EQ(ENOENT, description(self->log, POSIX_TRACE_START, NULL, 0));
	EXPECT_EQ(EINVAL, description(self->log, self->id + 1, NULL, 0));
	EXPECT_EQ(0, posix_trace_close(self->log));
}

/* Types may be described after their names are in the log, even in several blocks. */
TEST_F(in_log, later_descriptions_are_in_the_log)
{
	struct posix_trace_status_info status;
	struct posixtrace_log_info info;
	char text[3000], name[32];
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_create_withlog(getpid(), &self->attr, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->id, "\1\0\0\0key", 7);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	do {
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_FALSE(described(self->log, "described", FIELDS));
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		long_description(text, i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
		ASSERT_EQ(0, posixtrace_eventid_describe(id, text));
	}
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	/* The reader that has the log open also finds them. */
	EXPECT_TRUE(described(self->log, "described", FIELDS));
	for (int i = 0; i < 100; i++) {
		char found[3000];

		long_description(text, i);
		ASSERT_EQ(0, posix_trace_eventid_open("type 0", &id));
		ASSERT_EQ(0, description(self->log, id + i, found, sizeof(found)));
		EXPECT_STREQ(text, found);
	}
	EXPECT_EQ(0, posixtrace_get_log_info(self->log, &info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, info.flags);
	EXPECT_EQ(0, posix_trace_close(self->log));
}

/*
 * A ring may be as large as a file can be, so that it never wraps. If there is then no space for
 * descriptions after it, only the descriptions are lost.
 */
TEST_F(in_log, largest_ring_has_all_events)
{
	struct posix_trace_status_info status;
	const struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	struct posix_trace_event_info event;
	int unavailable, events = 0;
	size_t len;
	char data[64];

	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, SIZE_MAX / 2));
	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	ASSERT_EQ(0, posix_trace_create_withlog(getpid(), &self->attr, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->id, "\1\0\0\0key", 7);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	ASSERT_EQ(0, posix_trace_get_status(self->log, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	while (!posix_trace_getnext_event(self->log, &event, data, sizeof(data), &len,
					  &unavailable) && !unavailable)
		events += event.posix_event_id == self->id;
	EXPECT_EQ(1, events);
	EXPECT_EQ(variant->policy != POSIX_TRACE_LOOP, described(self->log, "described", FIELDS));
	EXPECT_EQ(0, posix_trace_close(self->log));
}

/* A log that restarts contains them again. */
TEST_F(in_log, descriptions_survive_clear)
{
	struct posixtrace_log_info info;

	ASSERT_EQ(0, posixtrace_eventid_describe(self->id, FIELDS));
	ASSERT_EQ(0, posix_trace_create_withlog(getpid(), &self->attr, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->id, "\1\0\0\0key", 7);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_TRUE(described(self->log, "described", FIELDS));
	EXPECT_EQ(0, posixtrace_get_log_info(self->log, &info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, info.flags);
	EXPECT_EQ(0, posix_trace_close(self->log));
}

TEST_HARNESS_MAIN
