// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a program (image). In POSIX, a child inherits all names of its parent, but a new
 * program starts without the names of the old one. An id has the same meaning for the whole family
 * of processes that share streams, so it has only one meaning in a stream or log.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pxt_test.h"
#include "family.h"
#include "withlog.h"

#define HELPER		"./image_helper"
#define NAMES		(TRACE_USER_EVENT_MAX - 1)
/* -DEXECS=10000 takes too long for each run. */
#ifndef EXECS
#define EXECS		300
#endif
#define SIZE		(4 << 20)
#define NAME_SIZE	(TRACE_EVENT_NAME_MAX + 1)

/*
 * The names that a child opens before it executes the helper, and the instructions of the helper.
 */
struct image {
	const char *own;	/* names that it opens itself first; or NULL */
	int names;
	const char *prefix;
	const char *fields;
	int again;
};

static int open_names(const char *prefix, int count)
{
	char name[NAME_SIZE];
	trace_event_id_t id;

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s %d", prefix, i);
		if (posix_trace_eventid_open(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
			return -1;
		posix_trace_event(id, &i, sizeof(i));
	}
	return 0;
}

static void set_number(const char *name, int value)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

static int execute(void *arg)
{
	const struct image *image = arg;

	if (image->own && open_names(image->own, image->names))
		return 99;
	setenv("IMAGE_PREFIX", image->prefix, 1);
	set_number("IMAGE_NAMES", image->names);
	set_number("IMAGE_AGAIN", image->again);
	unsetenv("IMAGE_FIELDS");
	if (image->fields)
		setenv("IMAGE_FIELDS", image->fields, 1);
	execl(HELPER, HELPER, (char *)NULL);
	return 100;
}

static int run(const struct image *image)
{
	return ended(by_fork(execute, (void *)image));
}

/* ------------------------------------------------------------------ */
/* What a reader sees							*/

/* The name that each id first stood for. */
static char seen[POSIXTRACE_EVENT_ID_MAX][NAME_SIZE];

/* Returns false if the event's type had another name before. */
static bool same_meaning(trace_id_t trid, trace_event_id_t id, char name[NAME_SIZE])
{
	if (posix_trace_eventid_get_name(trid, id, name))
		return false;
	if (!seen[id][0])
		strcpy(seen[id], name);
	return !strcmp(seen[id], name);
}

/* Takes events of the types "PREFIX 0" and so on. Returns how many had the right name. */
static int take_named(trace_id_t trid, const char *prefix, int count)
{
	char name[NAME_SIZE], wanted[NAME_SIZE];
	struct event event;
	int right = 0;

	for (int i = 0; i < count && take_user(trid, &event) == 1; i++) {
		snprintf(wanted, sizeof(wanted), "%s %d", prefix, event_number(&event));
		right += event_number(&event) == i &&
			 same_meaning(trid, event.info.posix_event_id, name) &&
			 !strcmp(name, wanted);
	}
	return right;
}

/* Counts the types with a name in the list of the stream. Stores the last one. */
static int types_named(trace_id_t trid, const char *name, trace_event_id_t *last)
{
	char found[NAME_SIZE];
	trace_event_id_t id;
	int count = 0, none;

	posix_trace_eventtypelist_rewind(trid);
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &none) && !none) {
		if (posix_trace_eventid_get_name(trid, id, found) || strcmp(found, name))
			continue;
		*last = id;
		count++;
	}
	return count;
}

FIXTURE(image)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(image)
{
	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, SIZE, POSIX_TRACE_UNTIL_FULL,
				       &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(image)
{
	posix_trace_shutdown(self->trid);
}

/* ------------------------------------------------------------------ */

TEST_F(image, new_program_can_open_as_many_names_as_the_old_one)
{
	struct image image = { .own = "old", .names = NAMES, .prefix = "new" };

	ASSERT_EQ(0, run(&image));
	EXPECT_EQ(NAMES, take_named(self->trid, "old", NAMES));
	EXPECT_EQ(NAMES, take_named(self->trid, "new", NAMES));
	EXPECT_EQ(0, take_user(self->trid, &self->event));
}

TEST_F(image, same_names_have_the_same_ids_after_exec)
{
	struct image image = { .own = "name", .names = 20, .prefix = "name", .again = 3 };
	trace_event_id_t id;

	ASSERT_EQ(0, run(&image));
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(20, take_named(self->trid, "name", 20));
	EXPECT_EQ(1, types_named(self->trid, "name 7", &id));
}

/* If each program got new ids, these execs would use up all of them. */
TEST_F_TIMEOUT(image, many_execs_of_the_same_names_need_no_more_ids, 30 + EXECS / 10)
{
	struct image image = {
		.names = 50, .prefix = "name", .fields = "{u32 number;}", .again = rounds(EXECS),
	};
	trace_event_id_t id;

	/* Ignore the events: the helper reports if it got a type for each name. */
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, run(&image));
	EXPECT_EQ(1, types_named(self->trid, "name 49", &id));
}

TEST_F(image, same_name_with_other_fields_is_another_type)
{
	struct image first = { .names = 1, .prefix = "name", .fields = "{u32 one;}" };
	struct image second = { .names = 1, .prefix = "name", .fields = "{x32 two;}" };
	struct image none = { .names = 1, .prefix = "name" };
	const struct image *images[] = { &first, &second, &none, &second, &first };
	trace_event_id_t ids[5];
	char text[64];

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, run(images[i]));
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		ids[i] = self->event.info.posix_event_id;
		text[0] = '\0';
		EXPECT_EQ(images[i]->fields ? 0 : ENOENT,
			  posixtrace_eventid_get_description(self->trid, ids[i], text,
							     sizeof(text), NULL));
		EXPECT_STREQ(images[i]->fields ?: "", text);
	}
	EXPECT_NE(ids[0], ids[1]);
	EXPECT_NE(ids[0], ids[2]);
	EXPECT_NE(ids[1], ids[2]);
	EXPECT_EQ(ids[1], ids[3]);
	EXPECT_EQ(ids[0], ids[4]);
	EXPECT_EQ(3, types_named(self->trid, "name 0", &ids[0]));
}

/*
 * Events that the first program recorded have no description. They must not get the description of
 * the second program.
 */
TEST_F(image, program_does_not_describe_what_another_one_recorded)
{
	struct image image = { .names = 1, .prefix = "name" };
	trace_event_id_t id, other;

	ASSERT_EQ(0, run(&image));
	ASSERT_EQ(1, take_user(self->trid, &self->event));
	ASSERT_EQ(0, posix_trace_eventid_open("name 0", &id));
	EXPECT_EQ(self->event.info.posix_event_id, id);
	EXPECT_EQ(EEXIST, posixtrace_eventid_describe(id, "{u32 number;}"));
	/*
	 * This program already has the name without a description, so it cannot be opened with
	 * one.
	 */
	EXPECT_EQ(EEXIST, posixtrace_eventid_open("name 0", "{u32 number;}", &other));
}

TEST_F(image, filter_of_an_old_name_hides_no_new_one)
{
	struct image old = { .names = 1, .prefix = "old" }, new = { .names = 1, .prefix = "new" };
	trace_event_set_t set;

	ASSERT_EQ(0, run(&old));
	ASSERT_EQ(1, take_user(self->trid, &self->event));
	posix_trace_eventset_empty(&set);
	ASSERT_EQ(0, posix_trace_eventset_add(self->event.info.posix_event_id, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, run(&old));
	ASSERT_EQ(0, run(&new));
	EXPECT_EQ(1, take_named(self->trid, "new", 1));
	EXPECT_EQ(0, take_user(self->trid, &self->event));
}

/*
 * The filter lets one name pass before any program has opened it. It must apply to all types of
 * that name, with and without fields.
 */
TEST_F(image, filter_of_a_name_applies_to_all_its_fields)
{
	struct image old = { .names = 2, .prefix = "name" };
	struct image new = { .names = 2, .prefix = "name", .fields = "{u32 number;}" };
	trace_event_id_t wanted;
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "name 1", &wanted));
	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	ASSERT_EQ(0, posix_trace_eventset_del(wanted, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, run(&old));
	ASSERT_EQ(0, run(&new));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		EXPECT_EQ(1, event_number(&self->event));
	}
	EXPECT_EQ(0, take_user(self->trid, &self->event));
}

static int execute_or_open(void *arg)
{
	static const struct image image = { .own = NULL, .names = 3, .prefix = "common",
					    .fields = "{u32 number;}" };
	trace_event_id_t *ids = arg, id;

	/* The child also has the names that the parent has opened. */
	if (posix_trace_eventid_open("common 0", &id) || id != ids[0])
		return 1;
	return execute((void *)&image);
}

TEST_F(image, parent_keeps_its_names_after_exec_of_a_child)
{
	trace_event_id_t ids[3], id;
	char name[NAME_SIZE];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "common %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &ids[i]));
	}
	ASSERT_EQ(0, ended(by_fork(execute_or_open, ids)));
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "common %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
		EXPECT_EQ(ids[i], id);
		posix_trace_event(id, &i, sizeof(i));
	}
	/* The child's types have fields, so they are different. */
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		EXPECT_NE(ids[i], self->event.info.posix_event_id);
	}
	EXPECT_EQ(3, take_named(self->trid, "common", 3));
}

#define COMMON	3

/* Waits for the end of the parent. Its names must still have the same ids. */
static int stay(int end, const trace_event_id_t ids[COMMON])
{
	char name[NAME_SIZE], byte;
	trace_event_id_t id;

	if (read(end, &byte, 1))
		return 1;
	for (int i = 0; i < COMMON; i++) {
		snprintf(name, sizeof(name), "common %d", i);
		if (posix_trace_eventid_open(name, &id) || id != ids[i])
			return 2;
		record_as(id, i);
	}
	if (posix_trace_eventid_open("of the child", &id))
		return 3;
	for (int i = 0; i < COMMON; i++) {
		if (id == ids[i])
			return 4;
	}
	return 0;
}

static int execute_with_child(void *arg)
{
	static const struct image image = { .names = COMMON, .prefix = "common",
					    .fields = "{u32 number;}" };
	trace_event_id_t ids[COMMON];
	char name[NAME_SIZE];
	int ends[2];
	pid_t pid;

	(void)arg;
	for (int i = 0; i < COMMON; i++) {
		snprintf(name, sizeof(name), "common %d", i);
		if (posix_trace_eventid_open(name, &ids[i]))
			return 90;
	}
	if (pipe(ends))
		return 91;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		return stay(ends[0], ids);
	}
	/* The program that is executed keeps the other end open. */
	close(ends[0]);
	return pid < 0 ? 92 : execute((void *)&image);
}

TEST_F(image, child_keeps_its_names_after_exec_of_the_parent)
{
	trace_event_id_t ids[COMMON];

	ASSERT_EQ(0, adopt_orphans());
	ASSERT_LT(0, by_fork(execute_with_child, NULL));
	ASSERT_EQ(0, all_ended());
	/* The types of the new program have fields, so they are different. */
	for (int i = 0; i < COMMON; i++) {
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		ids[i] = self->event.info.posix_event_id;
		EXPECT_EQ(i, event_number(&self->event));
	}
	for (int i = 0; i < COMMON; i++) {
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		EXPECT_NE(ids[i], self->event.info.posix_event_id);
		EXPECT_EQ(i, event_number(&self->event));
	}
	EXPECT_EQ(0, take_user(self->trid, &self->event));
}

/* Without a stream, ids are reused as soon as no program has the name. */
TEST(child_keeps_its_names_after_exec_of_an_untraced_parent)
{
	ASSERT_EQ(0, adopt_orphans());
	ASSERT_LT(0, by_fork(execute_with_child, NULL));
	EXPECT_EQ(0, all_ended());
}

/* A controller sees the event types of the program that the process is executing now. */
TEST(controller_opens_names_of_the_program_that_runs)
{
	struct image image = { .names = 1, .prefix = "name", .fields = "{u32 number;}" };
	trace_event_id_t id, last;
	trace_id_t trid;
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid) {
		char byte;

		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 ? execute(&image) : 98);
	}
	close(ends[0]);
	ASSERT_EQ(0, new_family_stream(pid, POSIX_TRACE_INHERITED, SIZE, POSIX_TRACE_UNTIL_FULL,
				       &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "name 0", &id));
	ASSERT_EQ(1, write(ends[1], "", 1));
	ASSERT_EQ(0, ended(pid));
	ASSERT_EQ(2, types_named(trid, "name 0", &last));
	EXPECT_NE(id, last);
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "name 0", &id));
	EXPECT_EQ(last, id);
	posix_trace_shutdown(trid);
}

/* Only one stream exists at a time, so its shutdown frees the names of programs that have ended. */
TEST(ids_of_ended_programs_are_used_again)
{
	struct image image = { .names = NAMES };
	char prefix[16];
	trace_event_id_t id;
	trace_id_t trid;

	/* Open a name in this process, so that the family still exists when there is no stream. */
	ASSERT_EQ(0, posix_trace_eventid_open("own", &id));
	for (int i = 0; i < 6; i++) {
		snprintf(prefix, sizeof(prefix), "round %d", i);
		image.prefix = prefix;
		memset(seen, 0, sizeof(seen));
		ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, SIZE,
					       POSIX_TRACE_UNTIL_FULL, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		ASSERT_EQ(0, run(&image));
		EXPECT_EQ(NAMES, take_named(trid, prefix, NAMES));
		EXPECT_EQ(1, types_named(trid, "own", &id));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

#define LOGGED	200

static int start_logged(int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, SIZE);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_create_withlog(0, &attr, fd, trid);
	return err ? err : posix_trace_start(*trid);
}

static bool take_logged(trace_id_t log, struct event *event)
{
	do {
		if (posix_trace_getnext_event(log, &event->info, event->data, sizeof(event->data),
					      &event->len, &event->unavailable) ||
		    event->unavailable)
			return false;
	} while (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	return true;
}

/* Counts the events of the log that have the name and the number of what was recorded. */
static int right_in_log(int fd, const char *own, const char *prefix)
{
	char name[NAME_SIZE], old[NAME_SIZE], new[NAME_SIZE];
	struct event event;
	trace_id_t log;
	int right = 0;

	if (lseek(fd, 0, SEEK_SET) || posix_trace_open(fd, &log))
		return -1;
	while (take_logged(log, &event)) {
		snprintf(old, sizeof(old), "%s %d", own, event_number(&event));
		snprintf(new, sizeof(new), "%s %d", prefix, event_number(&event));
		right += same_meaning(log, event.info.posix_event_id, name) &&
			 (!strcmp(name, old) || !strcmp(name, new));
	}
	posix_trace_close(log);
	return right;
}

/*
 * Each log has the events of two programs. The ids of the first log are reused in the second, but
 * within a log each id has one name.
 */
TEST(no_id_has_two_names_in_a_log)
{
	static char first[POSIXTRACE_EVENT_ID_MAX][NAME_SIZE];
	static const char *const own[] = { "old", "older" }, *const prefix[] = { "new", "newer" };
	trace_event_id_t id;
	trace_id_t trid;
	int fd[2], reused = 0;

	/* Open a name in this process, so that the family still exists when there is no stream. */
	ASSERT_EQ(0, posix_trace_eventid_open("own", &id));
	for (int i = 0; i < 2; i++) {
		struct image image = {
			.own = own[i], .names = LOGGED, .prefix = prefix[i], .again = 1,
		};

		fd[i] = log_tmpfile();
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, start_logged(fd[i], &trid));
		ASSERT_EQ(0, run(&image));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
	EXPECT_EQ(3 * LOGGED, right_in_log(fd[0], own[0], prefix[0]));
	memcpy(first, seen, sizeof(seen));
	memset(seen, 0, sizeof(seen));
	EXPECT_EQ(3 * LOGGED, right_in_log(fd[1], own[1], prefix[1]));
	for (unsigned int i = 0; i < POSIXTRACE_EVENT_ID_MAX; i++)
		reused += first[i][0] && seen[i][0];
	EXPECT_LT(0, reused);
	close(fd[0]);
	close(fd[1]);
}

TEST_HARNESS_MAIN
