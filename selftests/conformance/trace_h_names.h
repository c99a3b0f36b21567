/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uses every name of the page of <trace.h> as the page specifies. "make -C lib
 * check-headers" compiles it as C and as C++; it is also a part of trace_h_test.c.
 */
#ifndef TRACE_H_NAMES_H
#define TRACE_H_NAMES_H

#include <trace.h>
/* Define macros of other headers first: they must not change our constants. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* These constants must be usable in preprocessor conditions. */
#if _POSIX_TRACE != 200809L || _POSIX_TRACE_EVENT_FILTER != 200809L || \
	_POSIX_TRACE_INHERIT != 200809L || _POSIX_TRACE_LOG != 200809L
#error an option is not there
#endif
#if TRACE_EVENT_NAME_MAX < 30 || TRACE_NAME_MAX < 8 || TRACE_SYS_MAX < 8 || \
	TRACE_USER_EVENT_MAX < 32
#error a limit is too low
#endif

struct trace_h_constant {
	const char *name;
	long value;
};

#define CONSTANT(name)	{ #name, (long)(name) }

static const struct trace_h_constant trace_h_constants[] __attribute__((__unused__)) = {
	CONSTANT(POSIX_TRACE_ALL_EVENTS),
	CONSTANT(POSIX_TRACE_APPEND),
	CONSTANT(POSIX_TRACE_CLOSE_FOR_CHILD),
	CONSTANT(POSIX_TRACE_FILTER),
	CONSTANT(POSIX_TRACE_FLUSH),
	CONSTANT(POSIX_TRACE_FLUSH_START),
	CONSTANT(POSIX_TRACE_FLUSH_STOP),
	CONSTANT(POSIX_TRACE_FLUSHING),
	CONSTANT(POSIX_TRACE_FULL),
	CONSTANT(POSIX_TRACE_LOOP),
	CONSTANT(POSIX_TRACE_NO_OVERRUN),
	CONSTANT(POSIX_TRACE_NOT_FLUSHING),
	CONSTANT(POSIX_TRACE_NOT_FULL),
	CONSTANT(POSIX_TRACE_INHERITED),
	CONSTANT(POSIX_TRACE_NOT_TRUNCATED),
	CONSTANT(POSIX_TRACE_OVERFLOW),
	CONSTANT(POSIX_TRACE_OVERRUN),
	CONSTANT(POSIX_TRACE_RESUME),
	CONSTANT(POSIX_TRACE_RUNNING),
	CONSTANT(POSIX_TRACE_START),
	CONSTANT(POSIX_TRACE_STOP),
	CONSTANT(POSIX_TRACE_SUSPENDED),
	CONSTANT(POSIX_TRACE_SYSTEM_EVENTS),
	CONSTANT(POSIX_TRACE_TRUNCATED_READ),
	CONSTANT(POSIX_TRACE_TRUNCATED_RECORD),
	CONSTANT(POSIX_TRACE_UNNAMED_USER_EVENT),
	CONSTANT(POSIX_TRACE_UNTIL_FULL),
	CONSTANT(POSIX_TRACE_WOPID_EVENTS),
	/* Other pages of the standard specify these constants. */
	CONSTANT(POSIX_TRACE_ADD_EVENTSET),
	CONSTANT(POSIX_TRACE_ERROR),
	CONSTANT(POSIX_TRACE_SET_EVENTSET),
	CONSTANT(POSIX_TRACE_SUB_EVENTSET),
	CONSTANT(POSIX_TRACE_UNNAMED_USEREVENT),
};

#undef CONSTANT

/*
 * Declares the functions of the page again, in its order: a prototype that differs from the header
 * is a compile error.
 */
#ifdef __cplusplus
extern "C" {
#endif
int (posix_trace_attr_destroy)(trace_attr_t *);
int (posix_trace_attr_getclockres)(const trace_attr_t *, struct timespec *);
int (posix_trace_attr_getcreatetime)(const trace_attr_t *, struct timespec *);
int (posix_trace_attr_getgenversion)(const trace_attr_t *, char *);
int (posix_trace_attr_getinherited)(const trace_attr_t *__restrict, int *__restrict);
int (posix_trace_attr_getlogfullpolicy)(const trace_attr_t *__restrict, int *__restrict);
int (posix_trace_attr_getlogsize)(const trace_attr_t *__restrict, size_t *__restrict);
int (posix_trace_attr_getmaxdatasize)(const trace_attr_t *__restrict, size_t *__restrict);
int (posix_trace_attr_getmaxsystemeventsize)(const trace_attr_t *__restrict, size_t *__restrict);
int (posix_trace_attr_getmaxusereventsize)(const trace_attr_t *__restrict, size_t,
					   size_t *__restrict);
int (posix_trace_attr_getname)(const trace_attr_t *, char *);
int (posix_trace_attr_getstreamfullpolicy)(const trace_attr_t *__restrict, int *__restrict);
int (posix_trace_attr_getstreamsize)(const trace_attr_t *__restrict, size_t *__restrict);
int (posix_trace_attr_init)(trace_attr_t *);
int (posix_trace_attr_setinherited)(trace_attr_t *, int);
int (posix_trace_attr_setlogfullpolicy)(trace_attr_t *, int);
int (posix_trace_attr_setlogsize)(trace_attr_t *, size_t);
int (posix_trace_attr_setmaxdatasize)(trace_attr_t *, size_t);
int (posix_trace_attr_setname)(trace_attr_t *, const char *);
int (posix_trace_attr_setstreamfullpolicy)(trace_attr_t *, int);
int (posix_trace_attr_setstreamsize)(trace_attr_t *, size_t);
int (posix_trace_clear)(trace_id_t);
int (posix_trace_close)(trace_id_t);
int (posix_trace_create)(pid_t, const trace_attr_t *__restrict, trace_id_t *__restrict);
int (posix_trace_create_withlog)(pid_t, const trace_attr_t *__restrict, int,
				 trace_id_t *__restrict);
void (posix_trace_event)(trace_event_id_t, const void *__restrict, size_t);
int (posix_trace_eventid_equal)(trace_id_t, trace_event_id_t, trace_event_id_t);
int (posix_trace_eventid_get_name)(trace_id_t, trace_event_id_t, char *);
int (posix_trace_eventid_open)(const char *__restrict, trace_event_id_t *__restrict);
int (posix_trace_eventset_add)(trace_event_id_t, trace_event_set_t *);
int (posix_trace_eventset_del)(trace_event_id_t, trace_event_set_t *);
int (posix_trace_eventset_empty)(trace_event_set_t *);
int (posix_trace_eventset_fill)(trace_event_set_t *, int);
int (posix_trace_eventset_ismember)(trace_event_id_t, const trace_event_set_t *__restrict,
				    int *__restrict);
int (posix_trace_eventtypelist_getnext_id)(trace_id_t, trace_event_id_t *__restrict,
					   int *__restrict);
int (posix_trace_eventtypelist_rewind)(trace_id_t);
int (posix_trace_flush)(trace_id_t);
int (posix_trace_get_attr)(trace_id_t, trace_attr_t *);
int (posix_trace_get_filter)(trace_id_t, trace_event_set_t *);
int (posix_trace_get_status)(trace_id_t, struct posix_trace_status_info *);
int (posix_trace_getnext_event)(trace_id_t, struct posix_trace_event_info *__restrict,
				void *__restrict, size_t, size_t *__restrict, int *__restrict);
int (posix_trace_open)(int, trace_id_t *);
int (posix_trace_rewind)(trace_id_t);
int (posix_trace_set_filter)(trace_id_t, const trace_event_set_t *, int);
int (posix_trace_shutdown)(trace_id_t);
int (posix_trace_start)(trace_id_t);
int (posix_trace_stop)(trace_id_t);
int (posix_trace_timedgetnext_event)(trace_id_t, struct posix_trace_event_info *__restrict,
				     void *__restrict, size_t, size_t *__restrict,
				     int *__restrict, const struct timespec *__restrict);
int (posix_trace_trid_eventid_open)(trace_id_t, const char *__restrict,
				    trace_event_id_t *__restrict);
int (posix_trace_trygetnext_event)(trace_id_t, struct posix_trace_event_info *__restrict,
				   void *__restrict, size_t, size_t *__restrict, int *__restrict);
#ifdef __cplusplus
}
#endif

struct trace_h_function {
	const char *name;
	void (*address)(void);
};

#define ADDRESS(name)	{ #name, (void (*)(void))(name) }

static const struct trace_h_function trace_h_functions[] __attribute__((__unused__)) = {
	ADDRESS(posix_trace_attr_destroy),
	ADDRESS(posix_trace_attr_getclockres),
	ADDRESS(posix_trace_attr_getcreatetime),
	ADDRESS(posix_trace_attr_getgenversion),
	ADDRESS(posix_trace_attr_getinherited),
	ADDRESS(posix_trace_attr_getlogfullpolicy),
	ADDRESS(posix_trace_attr_getlogsize),
	ADDRESS(posix_trace_attr_getmaxdatasize),
	ADDRESS(posix_trace_attr_getmaxsystemeventsize),
	ADDRESS(posix_trace_attr_getmaxusereventsize),
	ADDRESS(posix_trace_attr_getname),
	ADDRESS(posix_trace_attr_getstreamfullpolicy),
	ADDRESS(posix_trace_attr_getstreamsize),
	ADDRESS(posix_trace_attr_init),
	ADDRESS(posix_trace_attr_setinherited),
	ADDRESS(posix_trace_attr_setlogfullpolicy),
	ADDRESS(posix_trace_attr_setlogsize),
	ADDRESS(posix_trace_attr_setmaxdatasize),
	ADDRESS(posix_trace_attr_setname),
	ADDRESS(posix_trace_attr_setstreamfullpolicy),
	ADDRESS(posix_trace_attr_setstreamsize),
	ADDRESS(posix_trace_clear),
	ADDRESS(posix_trace_close),
	ADDRESS(posix_trace_create),
	ADDRESS(posix_trace_create_withlog),
	ADDRESS(posix_trace_event),
	ADDRESS(posix_trace_eventid_equal),
	ADDRESS(posix_trace_eventid_get_name),
	ADDRESS(posix_trace_eventid_open),
	ADDRESS(posix_trace_eventset_add),
	ADDRESS(posix_trace_eventset_del),
	ADDRESS(posix_trace_eventset_empty),
	ADDRESS(posix_trace_eventset_fill),
	ADDRESS(posix_trace_eventset_ismember),
	ADDRESS(posix_trace_eventtypelist_getnext_id),
	ADDRESS(posix_trace_eventtypelist_rewind),
	ADDRESS(posix_trace_flush),
	ADDRESS(posix_trace_get_attr),
	ADDRESS(posix_trace_get_filter),
	ADDRESS(posix_trace_get_status),
	ADDRESS(posix_trace_getnext_event),
	ADDRESS(posix_trace_open),
	ADDRESS(posix_trace_rewind),
	ADDRESS(posix_trace_set_filter),
	ADDRESS(posix_trace_shutdown),
	ADDRESS(posix_trace_start),
	ADDRESS(posix_trace_stop),
	ADDRESS(posix_trace_timedgetnext_event),
	ADDRESS(posix_trace_trid_eventid_open),
	ADDRESS(posix_trace_trygetnext_event),
};

#undef ADDRESS

/* The types of the members of the two structures. */
struct trace_h_members {
	trace_event_id_t *posix_event_id;
	pid_t *posix_pid;
	void **posix_prog_address;
	pthread_t *posix_thread_id;
	struct timespec *posix_timestamp;
	int *posix_truncation_status;
	int *status[7];
};

static inline struct trace_h_members
trace_h_members(struct posix_trace_event_info *event, struct posix_trace_status_info *status)
{
	struct trace_h_members members;

	members.posix_event_id = &event->posix_event_id;
	members.posix_pid = &event->posix_pid;
	members.posix_prog_address = &event->posix_prog_address;
	members.posix_thread_id = &event->posix_thread_id;
	members.posix_timestamp = &event->posix_timestamp;
	members.posix_truncation_status = &event->posix_truncation_status;
	members.status[0] = &status->posix_stream_full_status;
	members.status[1] = &status->posix_stream_overrun_status;
	members.status[2] = &status->posix_stream_status;
	members.status[3] = &status->posix_log_full_status;
	members.status[4] = &status->posix_log_overrun_status;
	members.status[5] = &status->posix_stream_flush_error;
	members.status[6] = &status->posix_stream_flush_status;
	return members;
}

/* Compiles only if each type is complete, also in an array; trace_h_test.c copies elements. */
struct trace_h_types {
	size_t size;
	trace_attr_t attr[2];
	trace_event_id_t event_id[2];
	trace_event_set_t event_set[2];
	trace_id_t id[2];
};

/* Calls a function, or a macro of the same name. */
static inline void trace_h_record(trace_event_id_t id, const void *data, size_t size)
{
	posix_trace_event(id, data, size);
	(posix_trace_event)(id, data, size);
}

#endif /* TRACE_H_NAMES_H */
