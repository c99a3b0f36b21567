// SPDX-License-Identifier: GPL-2.0
/*
 * The columns of all tables: see table_schemas.h.
 */
#include "export/table_schemas.h"

#define SPANS \
	[SPAN_BEGIN] = { "begin_ns", COLUMN_INT64 }, \
	[SPAN_END] = { "end_ns", COLUMN_INT64 }, \
	[SPAN_DURATION] = { "duration_ns", COLUMN_INT64 }, \
	[SPAN_COMPLETE] = { "complete", COLUMN_BOOL }, \
	[SPAN_UTID] = { "utid", COLUMN_UINT32 }, \
	[SPAN_UPID] = { "upid", COLUMN_UINT32 }, \
	[SPAN_PID] = { "pid", COLUMN_INT32 }, \
	[SPAN_TID] = { "tid", COLUMN_INT32 }

static const struct column events[] = {
	[EVENT_TIME] = { "time_ns", COLUMN_INT64 },
	[EVENT_NAME] = { "name", COLUMN_TEXT },
	[EVENT_TYPE] = { "type", COLUMN_UINT32 },
	[EVENT_USER] = { "user", COLUMN_BOOL },
	[EVENT_UTID] = { "utid", COLUMN_UINT32 },
	[EVENT_UPID] = { "upid", COLUMN_UINT32 },
	[EVENT_PID] = { "pid", COLUMN_INT32 },
	[EVENT_TID] = { "tid", COLUMN_INT32 },
	[EVENT_PTHREAD] = { "pthread", COLUMN_UINT64 },
	[EVENT_COMM] = { "comm", COLUMN_TEXT },
	[EVENT_CPU] = { "cpu", COLUMN_UINT32 },
	[EVENT_ADDRESS] = { "address", COLUMN_UINT64 },
	[EVENT_LOST] = { "lost", COLUMN_UINT64 },
	[EVENT_TRUNCATED] = { "truncated", COLUMN_BOOL },
	[EVENT_FIELDS] = { "fields", COLUMN_JSON },
	[EVENT_DATA] = { "data", COLUMN_TEXT },
	[EVENT_HOST] = { "host", COLUMN_TEXT },
	[EVENT_ERROR] = { "error_ns", COLUMN_UINT64 },
	[EVENT_UNORDERED] = { "unordered", COLUMN_BOOL },
};

static const struct column scopes[] = {
	SPANS,
	[SCOPE_NAME] = { "name", COLUMN_TEXT },
	[SCOPE_DEPTH] = { "depth", COLUMN_UINT32 },
	[SCOPE_SELF] = { "self_ns", COLUMN_INT64 },
	[SCOPE_LOST] = { "lost", COLUMN_UINT64 },
	[SCOPE_FIELDS] = { "fields", COLUMN_JSON },
	[SCOPE_END_FIELDS] = { "end_fields", COLUMN_JSON },
};

static const struct column states[] = {
	SPANS,
	[STATE_COLUMN_STATE] = { "state", COLUMN_TEXT },
	[STATE_COLUMN_CPU] = { "cpu", COLUMN_UINT32 },
	[STATE_COLUMN_LETTER] = { "letter", COLUMN_TEXT },
	[STATE_COLUMN_IO] = { "io", COLUMN_BOOL },
	[STATE_COLUMN_PREEMPTED] = { "preempted", COLUMN_BOOL },
	[STATE_COLUMN_CALL] = { "call", COLUMN_TEXT },
	[STATE_COLUMN_BY] = { "woken_by", COLUMN_TEXT },
};

static const struct column waits[] = {
	SPANS,
	[WAIT_STATE] = { "state", COLUMN_TEXT },
	[WAIT_LETTER] = { "letter", COLUMN_TEXT },
	[WAIT_IO] = { "io", COLUMN_BOOL },
	[WAIT_CALL] = { "call", COLUMN_TEXT },
	[WAIT_BY] = { "woken_by", COLUMN_TEXT },
	[WAIT_WAKER_UTID] = { "waker_utid", COLUMN_UINT32 },
	[WAIT_WAKER_PID] = { "waker_pid", COLUMN_INT32 },
	[WAIT_WAKER_TID] = { "waker_tid", COLUMN_INT32 },
	[WAIT_FILE] = { "file", COLUMN_TEXT },
};

static const struct column syscalls[] = {
	SPANS,
	[CALL_NAME] = { "name", COLUMN_TEXT },
	[CALL_NR] = { "nr", COLUMN_INT64 },
	[CALL_COMPAT] = { "compat", COLUMN_BOOL },
	[CALL_CPU] = { "cpu", COLUMN_UINT32 },
	[CALL_LOST] = { "lost", COLUMN_UINT64 },
	[CALL_RESULT] = { "result", COLUMN_INT64 },
	[CALL_ARG] = { "arg0", COLUMN_UINT64 },
	[CALL_ARG + 1] = { "arg1", COLUMN_UINT64 },
	[CALL_ARG + 2] = { "arg2", COLUMN_UINT64 },
	[CALL_ARG + 3] = { "arg3", COLUMN_UINT64 },
	[CALL_ARG + 4] = { "arg4", COLUMN_UINT64 },
	[CALL_ARG + 5] = { "arg5", COLUMN_UINT64 },
	[CALL_FILE] = { "file", COLUMN_TEXT },
};

static const struct column counters[] = {
	[COUNTER_TIME] = { "time_ns", COLUMN_INT64 },
	[COUNTER_NAME] = { "name", COLUMN_TEXT },
	[COUNTER_UTID] = { "utid", COLUMN_UINT32 },
	[COUNTER_UPID] = { "upid", COLUMN_UINT32 },
	[COUNTER_PID] = { "pid", COLUMN_INT32 },
	[COUNTER_TID] = { "tid", COLUMN_INT32 },
	[COUNTER_VALUE] = { "value", COLUMN_DOUBLE },
	[COUNTER_INTEGER] = { "integer", COLUMN_INT64 },
	[COUNTER_UNIT] = { "unit", COLUMN_TEXT },
};

static const struct column processes[] = {
	[PROCESS_UPID] = { "upid", COLUMN_UINT32 },
	[PROCESS_PID] = { "pid", COLUMN_INT32 },
	[PROCESS_NAME] = { "name", COLUMN_TEXT },
	[PROCESS_COMMAND] = { "command", COLUMN_TEXT },
	[PROCESS_FIRST] = { "first_ns", COLUMN_INT64 },
	[PROCESS_LAST] = { "last_ns", COLUMN_INT64 },
	[PROCESS_EVENTS] = { "events", COLUMN_UINT64 },
	[PROCESS_HOST] = { "host", COLUMN_TEXT },
};

static const struct column threads[] = {
	[THREAD_UTID] = { "utid", COLUMN_UINT32 },
	[THREAD_UPID] = { "upid", COLUMN_UINT32 },
	[THREAD_PID] = { "pid", COLUMN_INT32 },
	[THREAD_TID] = { "tid", COLUMN_INT32 },
	[THREAD_PTHREAD] = { "pthread", COLUMN_UINT64 },
	[THREAD_NAME] = { "name", COLUMN_TEXT },
	[THREAD_FIRST] = { "first_ns", COLUMN_INT64 },
	[THREAD_LAST] = { "last_ns", COLUMN_INT64 },
	[THREAD_EVENTS] = { "events", COLUMN_UINT64 },
	[THREAD_HOST] = { "host", COLUMN_TEXT },
};

static const struct column hosts[] = {
	[HOST_NODE] = { "node", COLUMN_TEXT },
	[HOST_RELEASE] = { "release", COLUMN_TEXT },
	[HOST_MACHINE] = { "machine", COLUMN_TEXT },
	[HOST_BOOT_ID] = { "boot_id", COLUMN_TEXT },
	[HOST_REALTIME_OFFSET] = { "realtime_offset_ns", COLUMN_INT64 },
	[HOST_BOOTTIME_OFFSET] = { "boottime_offset_ns", COLUMN_INT64 },
	[HOST_CLOCK] = { "clock", COLUMN_TEXT },
	[HOST_RESOLUTION] = { "resolution_ns", COLUMN_UINT32 },
	[HOST_TRACE] = { "trace", COLUMN_TEXT },
	[HOST_FIRST] = { "first_ns", COLUMN_INT64 },
	[HOST_LAST] = { "last_ns", COLUMN_INT64 },
	[HOST_EVENTS] = { "events", COLUMN_UINT64 },
	[HOST_LOST] = { "lost", COLUMN_UINT64 },
	[HOST_OVERWRITTEN] = { "overwritten", COLUMN_UINT64 },
	[HOST_DAMAGED] = { "damaged", COLUMN_UINT64 },
	[HOST_ENDED] = { "ended", COLUMN_BOOL },
	[HOST_HOST] = { "host", COLUMN_TEXT },
};

static const struct column losses[] = {
	[LOSS_FROM] = { "from_ns", COLUMN_INT64 },
	[LOSS_TO] = { "to_ns", COLUMN_INT64 },
	[LOSS_KIND] = { "kind", COLUMN_TEXT },
	[LOSS_COUNT] = { "count", COLUMN_UINT64 },
};

#define SCHEMA(id, columns) \
	[id] = { #columns, columns, sizeof(columns) / sizeof((columns)[0]) }

const struct table_schema table_schemas[NR_TABLES] = {
	SCHEMA(TABLE_EVENTS, events),
	SCHEMA(TABLE_SCOPES, scopes),
	SCHEMA(TABLE_STATES, states),
	SCHEMA(TABLE_WAITS, waits),
	SCHEMA(TABLE_SYSCALLS, syscalls),
	SCHEMA(TABLE_COUNTERS, counters),
	SCHEMA(TABLE_PROCESSES, processes),
	SCHEMA(TABLE_THREADS, threads),
	SCHEMA(TABLE_HOSTS, hosts),
	SCHEMA(TABLE_LOSSES, losses),
};
