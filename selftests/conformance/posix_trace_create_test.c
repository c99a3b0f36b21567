// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_create(): Documentation/conformance/posix_trace_create.rst. For calls that
 * fail, are interrupted or cancelled, or run concurrently, see
 * posix_trace_create_errors_test.c.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "create_stream.h"
#include "stream_state.h"

/* ------------------------------------------------------------------ */
/* Every function that may use a trace id of posix_trace_create()	*/

static int use_eventid_equal(trace_id_t trid)
{
	return posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_START) ? 0 : EINVAL;
}

static int use_eventid_get_name(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	return posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name);
}

static int use_eventtypelist_getnext_id(trace_id_t trid)
{
	trace_event_id_t id;
	int unavailable;

	return posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
}

static int use_get_attr(trace_id_t trid)
{
	trace_attr_t attr;

	return posix_trace_get_attr(trid, &attr);
}

static int use_get_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status);
}

static int use_get_filter(trace_id_t trid)
{
	trace_event_set_t set;

	return posix_trace_get_filter(trid, &set);
}

static int use_set_filter(trace_id_t trid)
{
	const trace_event_set_t set = { 0 };

	return posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

static int use_getnext_event(trace_id_t trid)
{
	struct event event;

	return posix_trace_getnext_event(trid, &event.info, event.data, sizeof(event.data),
					 &event.len, &event.unavailable);
}

static int use_timedgetnext_event(trace_id_t trid)
{
	const struct timespec epoch = { 0, 0 };
	struct event event;

	return posix_trace_timedgetnext_event(trid, &event.info, event.data, sizeof(event.data),
					      &event.len, &event.unavailable, &epoch);
}

static int use_trygetnext_event(trace_id_t trid)
{
	struct event event;

	return -take(trid, &event);
}

static int use_trid_eventid_open(trace_id_t trid)
{
	trace_event_id_t id;

	return posix_trace_trid_eventid_open(trid, "create", &id);
}

/*
 * Functions of the stream. In this order, all succeed: the stream then has START and STOP to read.
 */
static const struct use {
	const char *name;
	int (*fn)(trace_id_t trid);
} uses[] = {
	{ "start", posix_trace_start },
	{ "stop", posix_trace_stop },
	{ "getnext_event", use_getnext_event },
	{ "timedgetnext_event", use_timedgetnext_event },
	{ "trygetnext_event", use_trygetnext_event },
	{ "eventid_equal", use_eventid_equal },
	{ "eventid_get_name", use_eventid_get_name },
	{ "eventtypelist_getnext_id", use_eventtypelist_getnext_id },
	{ "eventtypelist_rewind", posix_trace_eventtypelist_rewind },
	{ "get_attr", use_get_attr },
	{ "get_status", use_get_status },
	{ "trid_eventid_open", use_trid_eventid_open },
	{ "set_filter", use_set_filter },
	{ "get_filter", use_get_filter },
	{ "clear", posix_trace_clear },
	{ "shutdown", posix_trace_shutdown },
};

#define NR_USES	(sizeof(uses) / sizeof(uses[0]))

/* ------------------------------------------------------------------ */
/* The new stream							*/

TEST_F(create, a01_creates_a_stream_and_returns_0)
{
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a02_stream_has_the_attributes_of_the_object)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t size;
	int policy;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "attributes"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 50000));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 77));
	ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, 123456));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("attributes", name);
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LE(50000, size);
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(77, size);
	ASSERT_EQ(0, posix_trace_attr_getlogsize(&attr, &size));
	EXPECT_EQ(123456, size);
	ASSERT_EQ(0, posix_trace_attr_getlogfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_APPEND, policy);
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, policy);
	ASSERT_EQ(0, posix_trace_attr_getinherited(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, policy);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* The stream has the max-data-size and the full policy that it reports. */
TEST_F(create, a02_stream_uses_its_attributes)
{
	char data[100] = "";
	struct event event;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 77));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(77, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
	overfill(0);
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a03_object_must_be_initialized)
{
	trace_attr_t attr;

	memset(&attr, 0, sizeof(attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &attr, &self->trid));
	memset(&attr, 0xa5, sizeof(attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &self->trid));
	/* EINVAL takes precedence over ESRCH. */
	EXPECT_EQ(EINVAL, posix_trace_create(INT_MAX, &self->attr, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(create, a04_null_means_the_default_attributes)
{
	int granted_policy, policy;
	size_t granted_size, size;
	trace_attr_t granted;

	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_create(0, NULL, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &granted));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->attr, &size));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&granted, &granted_size));
	EXPECT_LE(size, granted_size);
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&self->attr, &size));
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&granted, &granted_size));
	EXPECT_EQ(size, granted_size);
	ASSERT_EQ(0, posix_trace_attr_getinherited(&self->attr, &policy));
	ASSERT_EQ(0, posix_trace_attr_getinherited(&granted, &granted_policy));
	EXPECT_EQ(policy, granted_policy);
	/* LOOP is the default for a stream without log. */
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&granted, &granted_policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, granted_policy);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a05_later_changes_of_the_object_do_not_matter)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "before"));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "after"));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 65));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	memset(&self->attr, 0xff, sizeof(self->attr));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("before", name);
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(64, size);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* One object can be used to create several streams. */
TEST_F(create, a05_call_does_not_change_the_object)
{
	trace_attr_t before = self->attr;
	trace_id_t other;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &other));
	EXPECT_EQ(0, posix_trace_shutdown(other));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a06_creation_time_is_clock_realtime)
{
	unsigned long long before, created;
	struct timespec time;
	trace_attr_t attr;

	before = now();
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getcreatetime(&attr, &time));
	created = time.tv_sec * NSEC + time.tv_nsec;
	EXPECT_LE(before, created);
	EXPECT_GE(now(), created);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* ------------------------------------------------------------------ */
/* The traced process							*/

TEST_F(create, a07_only_the_process_with_that_id_is_traced)
{
	struct child child;
	struct event event;

	ASSERT_EQ(0, child_start(&child, child_record, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, posix_trace_create(child.pid, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	ASSERT_EQ(2, let_record(&child, 2));
	record_number(3);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(child.pid, event.info.posix_pid);
	EXPECT_EQ(0, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, child_wait(&child));
}

/* The process has not called any function of the library before. */
TEST_F(create, a07_process_is_traced_from_its_first_event)
{
	struct child child;
	struct event event;

	ASSERT_EQ(0, child_start(&child, child_record, NULL));
	ASSERT_EQ(0, posix_trace_create(child.pid, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(1, let_record(&child, 1));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(create, a08_pid_0_is_the_caller)
{
	const pid_t pids[] = { 0, getpid() };
	struct event event;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, posix_trace_create(pids[i], &self->attr, &self->trid));
		ASSERT_EQ(0, posix_trace_start(self->trid));
		record_number(i);
		ASSERT_EQ(1, take_user(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(getpid(), event.info.posix_pid);
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* The trace id								*/

TEST_F(create, a09_functions_of_active_streams_accept_the_trace_id)
{
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	for (unsigned int i = 0; i < NR_USES; i++) {
		EXPECT_EQ(0, uses[i].fn(self->trid))
			TH_LOG("posix_trace_%s()", uses[i].name);
	}
}

TEST_F(create, a10_functions_of_logs_reject_the_trace_id)
{
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_flush(self->trid));
	/* The calls have not changed the stream. */
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a11_new_stream_is_suspended)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	record_number(1);
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
	/* Events before the start are not recorded later either. */
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a12_new_stream_filters_nothing)
{
	const trace_event_set_t empty = { 0 };
	trace_event_set_t filter;
	trace_event_id_t id;
	struct event event;

	memset(&filter, 0xff, sizeof(filter));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(0, memcmp(&empty, &filter, sizeof(filter)));
	ASSERT_EQ(0, posix_trace_eventid_open("filters nothing", &id));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(id, NULL, 0);
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(id, take_id(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a13_one_process_can_create_many_streams)
{
	trace_id_t trid[8];
	struct event event;

	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid[i]));
		for (int j = 0; j < i; j++)
			EXPECT_NE(trid[j], trid[i]);
	}
	/* Each is a separate stream. */
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, posix_trace_start(trid[i]));
		record_number(i);
		ASSERT_EQ(0, posix_trace_stop(trid[i]));
	}
	for (int i = 0; i < 8; i++) {
		EXPECT_EQ(1, take_user(trid[i], &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(0, take_user(trid[i], &event));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

struct system_test {
	trace_attr_t attr;
	trace_id_t trid[STREAMS_MAX];
};

/* Creates as many streams as possible, reports their number, and shuts one down on each request. */
static int create_streams(void *arg, const struct talk *talk)
{
	struct system_test *test = arg;
	int err, n = create_all(0, &test->attr, test->trid, STREAMS_MAX, &err);

	say(talk, n);
	while (hear(talk) != -EPIPE)
		say(talk, n ? posix_trace_shutdown(test->trid[--n]) : -1);
	return 0;
}

TEST_F(create, a14_all_processes_together_can_create_trace_sys_max_streams)
{
	/* The last ones find no room for some of their streams. */
	enum { CHILDREN = TRACE_SYS_MAX / STREAMS_MAX + 1 };
	struct child child[CHILDREN];
	struct system_test test = { .attr = self->attr };
	long streams = 0;

	EXPECT_LE(_POSIX_TRACE_SYS_MAX, TRACE_SYS_MAX);
	for (int i = 0; i < CHILDREN; i++)
		ASSERT_EQ(0, child_start(&child[i], create_streams, &test));
	for (int i = 0; i < CHILDREN; i++)
		streams += hear(&child[i].talk);
	EXPECT_EQ(TRACE_SYS_MAX, streams);
	EXPECT_EQ(EAGAIN, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
	/* The child has shut down one stream, so now this process can create one. */
	EXPECT_EQ(0, let_record(&child[0], 0));
	EXPECT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(EAGAIN, posix_trace_create(0, &self->attr, &test.trid[0]));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	/* End the last child first: it has copies of the pipes of the earlier ones. */
	for (int i = CHILDREN - 1; i >= 0; i--)
		EXPECT_EQ(0, child_wait(&child[i]));
	/*
	 * The streams of the children ended with them, so they no longer count towards the limit.
	 */
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

static int uses_accepted(void *arg, const struct talk *talk)
{
	trace_id_t trid = *(trace_id_t *)arg;
	int count = 0;

	(void)talk;
	for (unsigned int i = 0; i < NR_USES; i++)
		count += uses[i].fn(trid) != EINVAL;
	return count;
}

TEST_F(create, a15_trace_id_is_not_valid_in_a_child)
{
	struct child child;
	struct event event;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	ASSERT_EQ(0, child_start(&child, uses_accepted, &self->trid));
	EXPECT_EQ(0, child_wait(&child));
	/* The parent's stream has not changed. */
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	record_number(2);
	for (int i = 1; i <= 2; i++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* Creates a stream in the child: it does not make the parent's trace id valid in the child. */
static int uses_accepted_beside_own(void *arg, const struct talk *talk)
{
	trace_id_t own;

	if (posix_trace_create(0, NULL, &own))
		return 255;
	/* If the two trace ids are equal, the id is valid, but refers to the child's own stream. */
	return own == *(trace_id_t *)arg ? 0 : uses_accepted(arg, talk);
}

TEST_F(create, a15_trace_id_is_not_valid_in_a_child_with_streams)
{
	struct child child;
	trace_id_t second;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &second));
	ASSERT_EQ(0, child_start(&child, uses_accepted_beside_own, &second));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(second));
	EXPECT_EQ(0, posix_trace_shutdown(second));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_HARNESS_MAIN
