// SPDX-License-Identifier: GPL-2.0
/*
 * <trace.h>: names, values and types, as the page of the standard has them.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <trace.h>
/* The constants of the C library must not change what ours said. */
#include <unistd.h>

#include "pxt_test.h"

TEST(options_are_supported)
{
	EXPECT_EQ(200809L, _POSIX_TRACE);
	EXPECT_EQ(200809L, _POSIX_TRACE_EVENT_FILTER);
	EXPECT_EQ(200809L, _POSIX_TRACE_INHERIT);
	EXPECT_EQ(200809L, _POSIX_TRACE_LOG);
}

TEST(limits_are_not_below_the_minimum)
{
	EXPECT_EQ(30, _POSIX_TRACE_EVENT_NAME_MAX);
	EXPECT_EQ(8, _POSIX_TRACE_NAME_MAX);
	EXPECT_EQ(8, _POSIX_TRACE_SYS_MAX);
	EXPECT_EQ(32, _POSIX_TRACE_USER_EVENT_MAX);
	EXPECT_LE(_POSIX_TRACE_EVENT_NAME_MAX, TRACE_EVENT_NAME_MAX);
	EXPECT_LE(_POSIX_TRACE_NAME_MAX, TRACE_NAME_MAX);
	EXPECT_LE(_POSIX_TRACE_SYS_MAX, TRACE_SYS_MAX);
	EXPECT_LE(_POSIX_TRACE_USER_EVENT_MAX, TRACE_USER_EVENT_MAX);
}

static bool distinct(const long *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (values[i] == values[j])
				return false;
		}
	}
	return true;
}

TEST(event_types_are_distinct)
{
	const long values[] = {
		POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW,
		POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
		POSIX_TRACE_FILTER, POSIX_TRACE_UNNAMED_USEREVENT,
	};

	EXPECT_TRUE(distinct(values, ARRAY_SIZE(values)));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_UNNAMED_USER_EVENT);
}

TEST(policies_are_distinct)
{
	const long stream[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	const long log[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	EXPECT_TRUE(distinct(stream, ARRAY_SIZE(stream)));
	EXPECT_TRUE(distinct(log, ARRAY_SIZE(log)));
	EXPECT_NE(POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED);
}

TEST(states_are_distinct)
{
	EXPECT_NE(POSIX_TRACE_RUNNING, POSIX_TRACE_SUSPENDED);
	EXPECT_NE(POSIX_TRACE_FULL, POSIX_TRACE_NOT_FULL);
	EXPECT_NE(POSIX_TRACE_OVERRUN, POSIX_TRACE_NO_OVERRUN);
	EXPECT_NE(POSIX_TRACE_FLUSHING, POSIX_TRACE_NOT_FLUSHING);
}

TEST(states_of_rest_are_zero)
{
	EXPECT_EQ(0, POSIX_TRACE_NOT_FULL);
	EXPECT_EQ(0, POSIX_TRACE_NO_OVERRUN);
	EXPECT_EQ(0, POSIX_TRACE_NOT_FLUSHING);
	EXPECT_EQ(0, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(truncations_are_distinct)
{
	const long values[] = {
		POSIX_TRACE_NOT_TRUNCATED, POSIX_TRACE_TRUNCATED_READ,
		POSIX_TRACE_TRUNCATED_RECORD,
	};

	EXPECT_TRUE(distinct(values, ARRAY_SIZE(values)));
}

TEST(arguments_of_filters_are_distinct)
{
	const long fill[] = {
		POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS, POSIX_TRACE_ALL_EVENTS,
	};
	const long how[] = {
		POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET, POSIX_TRACE_SUB_EVENTSET,
	};

	EXPECT_TRUE(distinct(fill, ARRAY_SIZE(fill)));
	EXPECT_TRUE(distinct(how, ARRAY_SIZE(how)));
}

#define IS_TYPE(type, lvalue)	__builtin_types_compatible_p(type, __typeof__(lvalue))

TEST(event_info_has_its_members)
{
	struct posix_trace_event_info info;

	EXPECT_TRUE(IS_TYPE(trace_event_id_t, info.posix_event_id));
	EXPECT_TRUE(IS_TYPE(pid_t, info.posix_pid));
	EXPECT_TRUE(IS_TYPE(void *, info.posix_prog_address));
	EXPECT_TRUE(IS_TYPE(pthread_t, info.posix_thread_id));
	EXPECT_TRUE(IS_TYPE(struct timespec, info.posix_timestamp));
	EXPECT_TRUE(IS_TYPE(int, info.posix_truncation_status));
}

TEST(status_info_has_its_members)
{
	struct posix_trace_status_info info;

	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_full_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_overrun_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_log_full_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_log_overrun_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_flush_error));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_flush_status));
}

/* Every prototype of the page, and that the library has the symbol. */
TEST(functions_have_their_prototypes)
{
	int (*const by_attr_size[])(const trace_attr_t *restrict, size_t *restrict) = {
		posix_trace_attr_getlogsize, posix_trace_attr_getmaxdatasize,
		posix_trace_attr_getmaxsystemeventsize, posix_trace_attr_getstreamsize,
	};
	int (*const by_attr_int[])(const trace_attr_t *restrict, int *restrict) = {
		posix_trace_attr_getinherited, posix_trace_attr_getlogfullpolicy,
		posix_trace_attr_getstreamfullpolicy,
	};
	int (*const by_attr_time[])(const trace_attr_t *, struct timespec *) = {
		posix_trace_attr_getclockres, posix_trace_attr_getcreatetime,
	};
	int (*const by_attr_name[])(const trace_attr_t *, char *) = {
		posix_trace_attr_getgenversion, posix_trace_attr_getname,
	};
	int (*const set_int[])(trace_attr_t *, int) = {
		posix_trace_attr_setinherited, posix_trace_attr_setlogfullpolicy,
		posix_trace_attr_setstreamfullpolicy,
	};
	int (*const set_size[])(trace_attr_t *, size_t) = {
		posix_trace_attr_setlogsize, posix_trace_attr_setmaxdatasize,
		posix_trace_attr_setstreamsize,
	};
	int (*const by_attr[])(trace_attr_t *) = {
		posix_trace_attr_init, posix_trace_attr_destroy,
	};
	int (*const by_trid[])(trace_id_t) = {
		posix_trace_clear, posix_trace_close, posix_trace_flush, posix_trace_rewind,
		posix_trace_shutdown, posix_trace_start, posix_trace_stop,
		posix_trace_eventtypelist_rewind,
	};
	int (*const getnext[])(trace_id_t, struct posix_trace_event_info *restrict,
			       void *restrict, size_t, size_t *restrict, int *restrict) = {
		posix_trace_getnext_event, posix_trace_trygetnext_event,
	};
	int (*const timedgetnext)(trace_id_t, struct posix_trace_event_info *restrict,
				  void *restrict, size_t, size_t *restrict, int *restrict,
				  const struct timespec *restrict) =
		posix_trace_timedgetnext_event;
	int (*const user_event_size)(const trace_attr_t *restrict, size_t, size_t *restrict) =
		posix_trace_attr_getmaxusereventsize;
	int (*const setname)(trace_attr_t *, const char *) = posix_trace_attr_setname;
	int (*const create)(pid_t, const trace_attr_t *restrict, trace_id_t *restrict) =
		posix_trace_create;
	int (*const create_withlog)(pid_t, const trace_attr_t *restrict, int,
				    trace_id_t *restrict) = posix_trace_create_withlog;
	void (*const event)(trace_event_id_t, const void *restrict, size_t) = posix_trace_event;
	int (*const equal)(trace_id_t, trace_event_id_t, trace_event_id_t) =
		posix_trace_eventid_equal;
	int (*const get_name)(trace_id_t, trace_event_id_t, char *) =
		posix_trace_eventid_get_name;
	int (*const id_open)(const char *restrict, trace_event_id_t *restrict) =
		posix_trace_eventid_open;
	int (*const trid_id_open)(trace_id_t, const char *restrict,
				  trace_event_id_t *restrict) = posix_trace_trid_eventid_open;
	int (*const change_set[])(trace_event_id_t, trace_event_set_t *) = {
		posix_trace_eventset_add, posix_trace_eventset_del,
	};
	int (*const empty)(trace_event_set_t *) = posix_trace_eventset_empty;
	int (*const fill)(trace_event_set_t *, int) = posix_trace_eventset_fill;
	int (*const ismember)(trace_event_id_t, const trace_event_set_t *restrict,
			      int *restrict) = posix_trace_eventset_ismember;
	int (*const next_id)(trace_id_t, trace_event_id_t *restrict, int *restrict) =
		posix_trace_eventtypelist_getnext_id;
	int (*const get_attr)(trace_id_t, trace_attr_t *) = posix_trace_get_attr;
	int (*const get_filter)(trace_id_t, trace_event_set_t *) = posix_trace_get_filter;
	int (*const get_status)(trace_id_t, struct posix_trace_status_info *) =
		posix_trace_get_status;
	int (*const open_log)(int, trace_id_t *) = posix_trace_open;
	int (*const set_filter)(trace_id_t, const trace_event_set_t *, int) =
		posix_trace_set_filter;
	void *const all[] = {
		by_attr_size[0], by_attr_int[0], by_attr_time[0], by_attr_name[0], set_int[0],
		set_size[0], by_attr[0], by_trid[0], getnext[0], timedgetnext, user_event_size,
		setname, create, create_withlog, event, equal, get_name, id_open, trid_id_open,
		change_set[0], empty, fill, ismember, next_id, get_attr, get_filter, get_status,
		open_log, set_filter,
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		EXPECT_NE(NULL, all[i]);
}

TEST_HARNESS_MAIN
