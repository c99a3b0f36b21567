// SPDX-License-Identifier: GPL-2.0
/*
 * The name of a thread that executes a program. Events must show the new name from the moment when
 * the kernel renames the thread. That is before the tracing of the new program is permitted.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "exec.h"
#include "kernel_events.h"
#include "withlog.h"

#define NEW_NAME	"exec_helper"
#define CLASSES		(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS)

FIXTURE(exec_name)
{
	struct kernel_events events;
	struct child child;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(exec_name)
{
	static struct program helper = { .path = HELPER, .number = 1 };

	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, child_start(&self->child, execute_on_request, &helper));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, CLASSES, 1 << 20, POSIX_TRACE_APPEND, self->fd,
				    &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	say(&self->child.talk, 0);
	ASSERT_EQ(0, child_wait(&self->child));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, lseek(self->fd, 0, SEEK_SET));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
}

FIXTURE_TEARDOWN(exec_name)
{
	posix_trace_close(self->trid);
	kernel_events_free(&self->events);
	close(self->fd);
}

/* Does the thread have the name of the program at the time of the event? */
static bool has_new_name(trace_id_t trid, const struct kernel_event *event)
{
	struct timespec time = {
		.tv_sec = event->time / NSEC, .tv_nsec = event->time % NSEC,
	};
	char name[POSIXTRACE_THREAD_NAME_SIZE] = "";

	return !posixtrace_get_thread_name(trid, event->pid, event->data.tid, &time, name) &&
	       !strcmp(name, NEW_NAME);
}

TEST_F(exec_name, new_name_holds_from_the_renaming)
{
	unsigned int before = 0, after = 0, renamed = 0;
	unsigned long long renamed_at = 0;

	for (size_t i = 0; i < self->events.count; i++) {
		const struct kernel_event *event = &self->events.event[i];

		/* Events of the program do not contain a thread id. */
		if (event->id >= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		if (event->id == POSIXTRACE_RENAME) {
			ASSERT_STREQ(NEW_NAME, event->data.rename.newcomm);
			renamed_at = event->time;
			renamed++;
		} else if (!renamed) {
			EXPECT_FALSE(has_new_name(self->trid, event));
			before++;
		} else {
			EXPECT_TRUE(has_new_name(self->trid, event))
				TH_LOG("event of type %d, %llu ns after the renaming", event->id,
				       event->time - renamed_at);
			after += event->id == POSIXTRACE_EXEC;
		}
	}
	EXPECT_EQ(1, renamed);
	EXPECT_LT(0, before);
	EXPECT_EQ(1, after);
}

TEST_HARNESS_MAIN
