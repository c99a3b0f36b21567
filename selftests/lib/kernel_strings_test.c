// SPDX-License-Identifier: GPL-2.0
/*
 * Class strings: the texts that are passed to system calls. The events must contain exactly their
 * bytes in memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pxt_test.h"
#include "kernel_events.h"

#define STRINGS		POSIXTRACE_CLASS_STRINGS
#define SYSCALL		POSIXTRACE_CLASS_SYSCALL

#define PAGE		4096
#define LONGEST		255

enum { WHOLE, CUT, ABSENT };

/* Texts for calls. All calls fail, because no file has such a path. */
struct texts {
	char *memory;		/* two pages, and one without access */
	char path[LONGEST + 2];
	char *at_end;		/* ends with the second page */
	char *across;		/* begins in the first page and ends in the second */
	char *endless;		/* without a NUL up to the end of the second page */
	char *untouched;	/* a page that is not in memory */
};

FIXTURE(strings)
{
	struct texts texts;
	uint64_t untouched;	/* address of that page in the child */
	struct child child;
	struct kernel_events events;
	trace_id_t trid;
};

static int make_texts(struct texts *texts)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	texts->untouched = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory == MAP_FAILED || texts->untouched == MAP_FAILED ||
	    mprotect(memory + 2 * PAGE, PAGE, PROT_NONE))
		return -1;
	texts->memory = memory;
	memset(memory, 'm', 2 * PAGE);
	memset(texts->path, 'p', sizeof(texts->path));
	texts->path[0] = '/';
	texts->endless = memory + 2 * PAGE - 5;
	texts->across = strcpy(memory + PAGE - 4, "/across");
	texts->at_end = memory + 100;
	return 0;
}

/* Does not use access(), because the C library might read the text itself. */
static void look_for(const char *path)
{
	syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
}

static int make_calls(void *arg, const struct talk *talk)
{
	char plain[] = "/no such file";
	struct texts *texts = arg;

	/*
	 * Make the texts in the child: their pages must not be in its memory before a call uses
	 * them.
	 */
	if (make_texts(texts))
		return 1;
	texts->path[LONGEST] = '\0';
	say(talk, (long)texts->untouched);
	hear(talk);
	look_for(plain);
	look_for(texts->path);
	texts->path[LONGEST] = 'p';
	texts->path[LONGEST + 1] = '\0';
	look_for(texts->path);
	look_for(texts->across);
	look_for(texts->endless);
	look_for(texts->memory + 2 * PAGE);
	look_for((const char *)-PAGE);
	look_for(NULL);
	look_for("");
	syscall(SYS_renameat, -1, "from", -1, "/to/nowhere");
	/* This argument is the address of bytes, not of a text. */
	if (write(-1, "bytes", 5) >= 0)
		return 1;
	look_for(texts->untouched);
	say(talk, 0);
	hear(talk);
	return 0;
}

FIXTURE_SETUP(strings)
{
	ASSERT_EQ(0, child_start(&self->child, make_calls, &self->texts));
	self->untouched = (uint64_t)hear(&self->child.talk);
}

FIXTURE_TEARDOWN(strings)
{
	child_kill(&self->child);
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

static int trace_calls(struct _test_data_strings *self, unsigned int classes)
{
	int err = kernel_stream(self->child.pid, classes, POSIX_TRACE_UNTIL_FULL, &self->trid);

	if (!err)
		err = posix_trace_start(self->trid);
	say(&self->child.talk, 0);
	if (!err)
		err = hear(&self->child.talk) ? -1 : posix_trace_stop(self->trid);
	return err ?: kernel_events_read(&self->events, self->trid);
}

/* Finds the next text at or after *at, and advances *at past it; NULL at the end. */
static const struct kernel_event *next_text(const struct kernel_events *events, size_t *at)
{
	const struct kernel_event *event;

	while (*at < events->count) {
		event = &events->event[(*at)++];
		if (event->id == POSIXTRACE_SYSCALL_TEXT)
			return event;
	}
	return NULL;
}

TEST_F(strings, texts_are_as_the_call_gets_them)
{
	char longest[LONGEST + 1], filling[6] = "mmmmm";
	const struct kernel_event *event;
	const struct {
		long nr;
		int arg;
		int state;
		const char *value;
	} expected[] = {
		{ SYS_faccessat, 1, WHOLE, "/no such file" },
		{ SYS_faccessat, 1, WHOLE, longest },
		{ SYS_faccessat, 1, CUT, longest },
		{ SYS_faccessat, 1, WHOLE, "/across" },
		{ SYS_faccessat, 1, CUT, filling },
		{ SYS_faccessat, 1, ABSENT, "" },
		{ SYS_faccessat, 1, ABSENT, "" },
		{ SYS_faccessat, 1, WHOLE, "" },
		{ SYS_renameat, 1, WHOLE, "from" },
		{ SYS_renameat, 3, WHOLE, "/to/nowhere" },
		{ SYS_faccessat, 1, ABSENT, "" },
	};
	size_t at = 0;

	memset(longest, 'p', LONGEST);
	longest[0] = '/';
	longest[LONGEST] = '\0';
	ASSERT_EQ(0, trace_calls(self, STRINGS));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		event = next_text(&self->events, &at);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(self->child.pid, event->data.text.tid);
		EXPECT_EQ(expected[i].nr, event->data.text.nr);
		EXPECT_EQ(expected[i].arg, event->data.text.arg);
		EXPECT_EQ(expected[i].state, event->data.text.state) {
			TH_LOG("text %zu: \"%s\"", i, event->data.text.value);
		}
		EXPECT_STREQ(expected[i].value, event->data.text.value);
	}
	EXPECT_EQ(NULL, next_text(&self->events, &at));
	EXPECT_EQ(0, self->events.lost);
}

TEST_F(strings, text_follows_its_call)
{
	const struct kernel_event *event, *entry;
	unsigned int count = 0;
	size_t at = 0;

	ASSERT_EQ(0, trace_calls(self, STRINGS | SYSCALL));
	while ((event = next_text(&self->events, &at))) {
		count++;
		ASSERT_LT(1, at);
		/*
		 * The second text of renameat() follows the first one, so its entry is one event
		 * further back.
		 */
		entry = event - 1 - (event->data.text.arg == 3);
		ASSERT_EQ(POSIXTRACE_SYSCALL_ENTRY, entry->id);
		EXPECT_EQ(entry->data.call.nr, event->data.text.nr);
		EXPECT_EQ(entry->data.call.args[event->data.text.arg], event->data.text.address);
	}
	EXPECT_EQ(11, count);
}

TEST_F(strings, streams_without_the_class_have_none)
{
	unsigned int classes = (unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	size_t at = 0;

	classes &= POSIXTRACE_CLASS_ALL & ~POSIXTRACE_CLASS_IRQ;
	ASSERT_EQ(0, trace_calls(self, classes));
	EXPECT_EQ(NULL, next_text(&self->events, &at));
	EXPECT_LT(10, kernel_events_count(&self->events, POSIXTRACE_SYSCALL_ENTRY));
}

/*
 * A page fault for the page of a text must be caused by the call that reads the text, not by the
 * module.
 */
TEST_F(strings, copy_causes_no_page_fault)
{
	unsigned int faults = 0;

	if (!(posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES) & POSIXTRACE_CLASS_FAULT))
		SKIP(return, "this kernel has no events of page faults");
	ASSERT_EQ(0, trace_calls(self, STRINGS | POSIXTRACE_CLASS_FAULT));
	for (size_t i = 0; i < self->events.count; i++) {
		const struct kernel_event *event = &self->events.event[i];

		if (event->id == POSIXTRACE_PAGE_FAULT &&
		    event->data.fault.address == self->untouched)
			faults++;
	}
	EXPECT_EQ(1, faults);
}

TEST_HARNESS_MAIN
