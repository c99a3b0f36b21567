// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points with the same name: each event must have the fields of its own point. Trace points
 * in processes that share memory: each event must have the type of its own process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <posixtrace.h>
#include <posixtrace/points.h>
#include <stdbool.h>

#include "points_plugin.h"
#include "pxt_test.h"
#include "family.h"

#define NAME_SIZE	(TRACE_EVENT_NAME_MAX + 1)

POSIXTRACE_POINT(plain);
POSIXTRACE_POINT(cache_get, (u32, id), (text, key));
POSIXTRACE_POINT(strings, (string, one), (u16, number), (string, two), (text, rest));
POSIXTRACE_POINT(number, (u32, value));

/* Returns true if the next event has this type and description. */
static bool next_is(trace_id_t trid, const char *name, const char *description)
{
	char found[NAME_SIZE], text[POSIXTRACE_DESCRIPTION_MAX + 1] = "";
	struct event event;
	int err;

	if (take_user(trid, &event) != 1 ||
	    posix_trace_eventid_get_name(trid, event.info.posix_event_id, found))
		return false;
	err = posixtrace_eventid_get_description(trid, event.info.posix_event_id, text,
						 sizeof(text), NULL);
	if (strcmp(name, found) || strcmp(description, text))
		printf("# %s: \"%s\", not %s: \"%s\"\n", found, text, name, description);
	return (!err || err == ENOENT) && !strcmp(name, found) && !strcmp(description, text);
}

FIXTURE(names)
{
	trace_id_t trid;
	void *plugin;
	void (*plugin_cache_get)(double value);
	void (*plugin_plain)(void);
	void (*plugin_strings)(const char *one);
};

FIXTURE_SETUP(names)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	self->plugin = dlopen(PLUGIN, RTLD_NOW);
	ASSERT_NE(NULL, self->plugin);
	*(void **)&self->plugin_cache_get = dlsym(self->plugin, "plugin_cache_get");
	*(void **)&self->plugin_plain = dlsym(self->plugin, "plugin_plain");
	*(void **)&self->plugin_strings = dlsym(self->plugin, "plugin_strings");
	ASSERT_TRUE(next_is(self->trid, "plugin:loaded", ""));
}

FIXTURE_TEARDOWN(names)
{
	posix_trace_shutdown(self->trid);
	dlclose(self->plugin);
}

TEST_F(names, second_point_with_other_fields_has_its_own_name)
{
	for (int i = 0; i < 2; i++) {
		posixtrace_point_cache_get(1, "key", 3);
		self->plugin_cache_get(0.5);
		EXPECT_TRUE(next_is(self->trid, "cache_get", "{u32 id;text key;}"));
		EXPECT_TRUE(next_is(self->trid, "cache_get#2", "{f64 value;}"));
	}
}

TEST_F(names, order_of_the_points_does_not_matter)
{
	self->plugin_cache_get(0.5);
	posixtrace_point_cache_get(1, "key", 3);
	EXPECT_TRUE(next_is(self->trid, "cache_get", "{f64 value;}"));
	EXPECT_TRUE(next_is(self->trid, "cache_get#2", "{u32 id;text key;}"));
}

TEST_F(names, points_with_the_same_fields_share_their_name)
{
	static const char fields[] = "{string one;u16 number;string two;text rest;}";

	posixtrace_point_strings("one", 2, "three", "four", 4);
	self->plugin_strings("one");
	EXPECT_TRUE(next_is(self->trid, "strings", fields));
	EXPECT_TRUE(next_is(self->trid, "strings", fields));
}

TEST_F(names, point_without_fields_is_shown_without_fields)
{
	self->plugin_plain();
	posixtrace_point_plain();
	POSIXTRACE_MARK("cache_get");
	posixtrace_point_cache_get(1, "key", 3);
	EXPECT_TRUE(next_is(self->trid, "plain", "{u8 number;}"));
	EXPECT_TRUE(next_is(self->trid, "plain#2", ""));
	EXPECT_TRUE(next_is(self->trid, "cache_get", ""));
	EXPECT_TRUE(next_is(self->trid, "cache_get#2", "{u32 id;text key;}"));
}

/* posix_trace_eventid_open() with such a name returns the type of the first point. */
TEST_F(names, name_means_the_type_of_the_first_point)
{
	trace_event_id_t id, opened;

	posixtrace_point_cache_get(1, "key", 3);
	self->plugin_cache_get(0.5);
	ASSERT_EQ(0, posix_trace_eventid_open("cache_get", &id));
	ASSERT_EQ(0, posixtrace_eventid_open("cache_get", "{u32 id; text key;}", &opened));
	EXPECT_EQ(id, opened);
	EXPECT_EQ(EEXIST, posixtrace_eventid_open("cache_get", "{f64 value;}", &opened));
	EXPECT_EQ(EEXIST, posixtrace_eventid_open("cache_get", NULL, &opened));
	ASSERT_EQ(0, posixtrace_eventid_open("cache_get#2", "{ f64 value; }", &opened));
	EXPECT_NE(id, opened);
}

/* ------------------------------------------------------------------ */
/* Shared memory							*/

/* Opens its types in another order than the parent. */
static int reach_in_child(void *arg)
{
	trace_event_id_t id;

	(void)arg;
	if (posix_trace_eventid_open("filler of the child", &id))
		return 1;
	posixtrace_point_number(1);
	return 0;
}

typedef pid_t (*birth_fn)(family_fn fn, void *arg);

FIXTURE(sharing)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(sharing)
{
	birth_fn by;
	bool attached;	/* the parent has attached before the child exists */
	bool traced;
};

FIXTURE_VARIANT_ADD(sharing, vfork) { by_vfork, false, false };
FIXTURE_VARIANT_ADD(sharing, vfork_of_an_attached_process) { by_vfork, true, false };
FIXTURE_VARIANT_ADD(sharing, vfork_of_a_traced_process) { by_vfork, true, true };
FIXTURE_VARIANT_ADD(sharing, clone_vm) { by_clone_vm, false, false };
FIXTURE_VARIANT_ADD(sharing, clone_vm_of_an_attached_process) { by_clone_vm, true, false };
FIXTURE_VARIANT_ADD(sharing, clone_vm_of_a_traced_process) { by_clone_vm, true, true };
FIXTURE_VARIANT_ADD(sharing, clone_vfork) { by_clone_vfork, false, false };
FIXTURE_VARIANT_ADD(sharing, clone_vfork_of_a_traced_process) { by_clone_vfork, true, true };

FIXTURE_SETUP(sharing)
{
}

FIXTURE_TEARDOWN(sharing)
{
	posix_trace_shutdown(self->trid);
}

/* Runs in a separate process, because the test has already attached. */
static int reach_in_parent(const struct _fixture_variant_sharing *variant, const struct talk *talk)
{
	trace_event_id_t id;

	if (variant->attached)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	say(talk, 0);
	hear(talk);
	if (ended(variant->by(reach_in_child, NULL)))
		return 1;
	say(talk, 0);
	hear(talk);
	if (posix_trace_eventid_open("filler of the parent", &id) ||
	    posix_trace_eventid_open("another filler", &id))
		return 2;
	posix_trace_event(id, NULL, 0);
	posixtrace_point_number(2);
	posixtrace_point_number(3);
	return 0;
}

static int parent(void *arg, const struct talk *talk)
{
	return reach_in_parent(arg, talk);
}

TEST_F(sharing, point_reached_first_by_a_child_keeps_its_meaning)
{
	struct child child;

	PXT_NOT_WITH_TSAN("does not support two processes that share their memory");
	ASSERT_EQ(0, child_start(&child, parent, (void *)variant));
	ASSERT_EQ(0, hear(&child.talk));
	if (variant->traced)
		ASSERT_EQ(0, start_family_stream(child.pid, &self->trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	if (!variant->traced)
		ASSERT_EQ(0, start_family_stream(child.pid, &self->trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	if (variant->traced)
		EXPECT_TRUE(next_is(self->trid, "number", "{u32 value;}"));
	EXPECT_TRUE(next_is(self->trid, "another filler", ""));
	EXPECT_TRUE(next_is(self->trid, "number", "{u32 value;}"));
	EXPECT_TRUE(next_is(self->trid, "number", "{u32 value;}"));
}

TEST_HARNESS_MAIN
