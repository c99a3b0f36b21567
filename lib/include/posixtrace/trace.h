/* SPDX-License-Identifier: MIT */
/*
 * <trace.h> - the Tracing option of POSIX.1-2017 for Linux.
 *
 * libposixtrace implements it on top of the posixtrace kernel module.
 * Documentation/conformance.rst lists the choices that the standard leaves open.
 *
 * This header defines only the names of the standard; identifiers that start with two
 * underscores are private to the library. A program may define any other name as a macro
 * before including this header, because even the parameters have reserved names.
 */
#ifndef _POSIXTRACE_TRACE_H
#define _POSIXTRACE_TRACE_H	1

#include <sys/types.h>

#ifdef __GLIBC__
/*
 * In a strict mode (-std=c11 without _POSIX_C_SOURCE), the public headers of glibc hide types
 * that the structures below need. These headers define only those types.
 */
#include <bits/posix_opt.h>
#include <bits/pthreadtypes.h>
#include <bits/types/struct_timespec.h>
#else
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The C library defines these as -1, because it does not implement tracing. */
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE			200809L
#define _POSIX_TRACE_EVENT_FILTER	200809L
#define _POSIX_TRACE_INHERIT		200809L
#define _POSIX_TRACE_LOG		200809L

/* Minimum values that the standard requires. */
#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX	30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX		8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX		8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX	32
#endif

/*
 * Limits of this implementation. The limits of names do not count the terminating null byte, so
 * an array for a name needs one more byte.
 */
#define TRACE_EVENT_NAME_MAX	63	/* name of a trace event type */
#define TRACE_NAME_MAX		63	/* name of a stream, generation version */
#define TRACE_SYS_MAX		256	/* trace streams on the system */
#define TRACE_USER_EVENT_MAX	1024	/* user event types of a program */

/* Trace stream identifier; valid ones are 1 or more. */
typedef int trace_id_t;

/* Trace event type identifier; valid ones are below 4096. */
typedef unsigned int trace_event_id_t;

/* Set of trace event types; plain data that can be copied. */
typedef struct {
	unsigned long long __bits[64];
} trace_event_set_t;

/* Trace stream attributes; plain data that can be copied. */
typedef struct {
	unsigned long long __magic;
	int __inherited;
	int __stream_policy;
	int __log_policy;
	unsigned int __clock_resolution;
	unsigned long long __stream_size;
	unsigned long long __max_data_size;
	unsigned long long __log_size;
	unsigned long long __creation_time;
	char __name[TRACE_NAME_MAX + 1];
	char __version[TRACE_NAME_MAX + 1];
	unsigned long long __wakeup_bytes;
	unsigned long long __wakeup_ns;
	int __order;
	unsigned int __kernel;
	int __compression;
	int __reserved1;
	unsigned long long __reserved[5];
} trace_attr_t;

/* One reported trace event. */
struct posix_trace_event_info {
	trace_event_id_t posix_event_id;	/* type of the event */
	pid_t posix_pid;			/* process that generated it, or 0 */
	void *posix_prog_address;		/* instruction after the call, or null */
	pthread_t posix_thread_id;		/* thread that generated it, or 0 */
	struct timespec posix_timestamp;	/* CLOCK_REALTIME */
	int posix_truncation_status;		/* POSIX_TRACE_*TRUNCATED* */
	int __reserved1;
	unsigned long long __reserved2[3];
};

/* Status of a trace stream. */
struct posix_trace_status_info {
	int posix_stream_status;		/* POSIX_TRACE_RUNNING, _SUSPENDED */
	int posix_stream_full_status;		/* POSIX_TRACE_FULL, _NOT_FULL */
	int posix_stream_overrun_status;	/* POSIX_TRACE_OVERRUN, _NO_OVERRUN */
	int posix_stream_flush_status;		/* POSIX_TRACE_FLUSHING, _NOT_FLUSHING */
	int posix_stream_flush_error;		/* 0 or an error number */
	int posix_log_overrun_status;		/* POSIX_TRACE_OVERRUN, _NO_OVERRUN */
	int posix_log_full_status;		/* POSIX_TRACE_FULL, _NOT_FULL */
	int __reserved1;
	unsigned long long __reserved2[4];
};

/* System trace event types. */
#define POSIX_TRACE_ERROR		1U
#define POSIX_TRACE_START		2U
#define POSIX_TRACE_STOP		3U
#define POSIX_TRACE_OVERFLOW		4U
#define POSIX_TRACE_RESUME		5U
#define POSIX_TRACE_FLUSH_START		6U
#define POSIX_TRACE_FLUSH_STOP		7U
#define POSIX_TRACE_FILTER		8U

/* The user trace event type without a name; the standard uses both spellings. */
#define POSIX_TRACE_UNNAMED_USEREVENT	64U
#define POSIX_TRACE_UNNAMED_USER_EVENT	POSIX_TRACE_UNNAMED_USEREVENT

/* Values of posix_stream_status. */
#define POSIX_TRACE_RUNNING		1
#define POSIX_TRACE_SUSPENDED		2

/* Values of posix_stream_full_status and posix_log_full_status. */
#define POSIX_TRACE_NOT_FULL		0
#define POSIX_TRACE_FULL		1

/* Values of posix_stream_overrun_status and posix_log_overrun_status. */
#define POSIX_TRACE_NO_OVERRUN		0
#define POSIX_TRACE_OVERRUN		1

/* Values of posix_stream_flush_status. */
#define POSIX_TRACE_NOT_FLUSHING	0
#define POSIX_TRACE_FLUSHING		1

/* Values of posix_truncation_status. */
#define POSIX_TRACE_NOT_TRUNCATED	0
#define POSIX_TRACE_TRUNCATED_RECORD	1
#define POSIX_TRACE_TRUNCATED_READ	2

/* Inheritance policies. */
#define POSIX_TRACE_CLOSE_FOR_CHILD	0
#define POSIX_TRACE_INHERITED		1

/* Full policies: the first three are for streams, all but FLUSH for logs. */
#define POSIX_TRACE_LOOP		0
#define POSIX_TRACE_UNTIL_FULL		1
#define POSIX_TRACE_FLUSH		2
#define POSIX_TRACE_APPEND		3

/* Argument "what" of posix_trace_eventset_fill(). */
#define POSIX_TRACE_WOPID_EVENTS	1
#define POSIX_TRACE_SYSTEM_EVENTS	2
#define POSIX_TRACE_ALL_EVENTS		3

/* Argument "how" of posix_trace_set_filter(). */
#define POSIX_TRACE_SET_EVENTSET	1
#define POSIX_TRACE_ADD_EVENTSET	2
#define POSIX_TRACE_SUB_EVENTSET	3

/*
 * All functions except posix_trace_event() and posix_trace_eventid_equal() return 0 or an
 * error number. They do not set errno.
 */

/* Attributes objects */
int posix_trace_attr_destroy(trace_attr_t *__attr);
int posix_trace_attr_getclockres(const trace_attr_t *__attr, struct timespec *__resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *__attr, struct timespec *__createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *__attr, char *__genversion);
int posix_trace_attr_getinherited(const trace_attr_t *__restrict __attr,
				  int *__restrict __inheritancepolicy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *__restrict __attr,
				      int *__restrict __logpolicy);
int posix_trace_attr_getlogsize(const trace_attr_t *__restrict __attr,
				size_t *__restrict __logsize);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *__restrict __attr,
				    size_t *__restrict __maxdatasize);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *__restrict __attr,
					   size_t *__restrict __eventsize);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *__restrict __attr, size_t __data_len,
					 size_t *__restrict __eventsize);
int posix_trace_attr_getname(const trace_attr_t *__attr, char *__tracename);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *__restrict __attr,
					 int *__restrict __streampolicy);
int posix_trace_attr_getstreamsize(const trace_attr_t *__restrict __attr,
				   size_t *__restrict __streamsize);
int posix_trace_attr_init(trace_attr_t *__attr);
int posix_trace_attr_setinherited(trace_attr_t *__attr, int __inheritancepolicy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *__attr, int __logpolicy);
int posix_trace_attr_setlogsize(trace_attr_t *__attr, size_t __logsize);
int posix_trace_attr_setmaxdatasize(trace_attr_t *__attr, size_t __maxdatasize);
int posix_trace_attr_setname(trace_attr_t *__attr, const char *__tracename);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *__attr, int __streampolicy);
int posix_trace_attr_setstreamsize(trace_attr_t *__attr, size_t __streamsize);

/* Streams and logs */
int posix_trace_clear(trace_id_t __trid);
int posix_trace_close(trace_id_t __trid);
int posix_trace_create(pid_t __pid, const trace_attr_t *__restrict __attr,
		       trace_id_t *__restrict __trid);
int posix_trace_create_withlog(pid_t __pid, const trace_attr_t *__restrict __attr, int __file_desc,
			       trace_id_t *__restrict __trid);
int posix_trace_flush(trace_id_t __trid);
int posix_trace_get_attr(trace_id_t __trid, trace_attr_t *__attr);
int posix_trace_get_filter(trace_id_t __trid, trace_event_set_t *__set);
int posix_trace_get_status(trace_id_t __trid, struct posix_trace_status_info *__statusinfo);
int posix_trace_open(int __file_desc, trace_id_t *__trid);
int posix_trace_rewind(trace_id_t __trid);
int posix_trace_set_filter(trace_id_t __trid, const trace_event_set_t *__set, int __how);
int posix_trace_shutdown(trace_id_t __trid);
int posix_trace_start(trace_id_t __trid);
int posix_trace_stop(trace_id_t __trid);

/* Event types and sets of them */
int posix_trace_eventid_equal(trace_id_t __trid, trace_event_id_t __event1,
			      trace_event_id_t __event2);
int posix_trace_eventid_get_name(trace_id_t __trid, trace_event_id_t __event, char *__event_name);
int posix_trace_eventid_open(const char *__restrict __event_name,
			     trace_event_id_t *__restrict __event_id);
int posix_trace_trid_eventid_open(trace_id_t __trid, const char *__restrict __event_name,
				  trace_event_id_t *__restrict __event);
int posix_trace_eventtypelist_getnext_id(trace_id_t __trid, trace_event_id_t *__restrict __event,
					 int *__restrict __unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t __trid);
int posix_trace_eventset_add(trace_event_id_t __event_id, trace_event_set_t *__set);
int posix_trace_eventset_del(trace_event_id_t __event_id, trace_event_set_t *__set);
int posix_trace_eventset_empty(trace_event_set_t *__set);
int posix_trace_eventset_fill(trace_event_set_t *__set, int __what);
int posix_trace_eventset_ismember(trace_event_id_t __event_id,
				  const trace_event_set_t *__restrict __set,
				  int *__restrict __ismember);

/* Recording and reading */
void posix_trace_event(trace_event_id_t __event_id, const void *__restrict __data_ptr,
		       size_t __data_len);
int posix_trace_getnext_event(trace_id_t __trid, struct posix_trace_event_info *__restrict __event,
			      void *__restrict __data, size_t __num_bytes,
			      size_t *__restrict __data_len, int *__restrict __unavailable);
int posix_trace_timedgetnext_event(trace_id_t __trid,
				   struct posix_trace_event_info *__restrict __event,
				   void *__restrict __data, size_t __num_bytes,
				   size_t *__restrict __data_len, int *__restrict __unavailable,
				   const struct timespec *__restrict __abstime);
int posix_trace_trygetnext_event(trace_id_t __trid,
				 struct posix_trace_event_info *__restrict __event,
				 void *__restrict __data, size_t __num_bytes,
				 size_t *__restrict __data_len, int *__restrict __unavailable);

#if defined __GNUC__ && !defined __POSIX_TRACE_NO_INLINE
/*
 * An event that no stream records costs a load and a branch. The gate has one word for each
 * event type, after a page of other fields; the kernel writes it.
 */
extern unsigned int __posix_trace_gate[1024 + 4096 + 1024 + 1024];

static inline __attribute__((__always_inline__)) void
__posix_trace_event(trace_event_id_t __event_id, const void *__restrict __data_ptr,
		    size_t __data_len)
{
	const unsigned int *__word = &__posix_trace_gate[1024 + (__event_id & 4095)];

	if (__builtin_expect(__atomic_load_n(__word, __ATOMIC_RELAXED) != 0, 0))
		posix_trace_event(__event_id, __data_ptr, __data_len);
	/* Prevent a tail call: the recorded return address must be in the caller. */
	__asm__ __volatile__ ("");
}

/* Without parentheses, the name refers to the function of the library. */
#define posix_trace_event(event_id, data_ptr, data_len) \
	__posix_trace_event(event_id, data_ptr, data_len)
#endif

#ifdef __cplusplus
}
#endif

#endif /* _POSIXTRACE_TRACE_H */
