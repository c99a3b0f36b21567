// SPDX-License-Identifier: MIT
/*
 * Attributes objects: their lifetime, and the attributes that describe a stream: name,
 * version, times. Policies are in attrpolicy.c, sizes in attrsize.c, wake-ups in attrwakeup.c, the
 * order of timestamps in attrorder.c, kernel events in attrkernel.c, the compression of logs in
 * attrcompression.c.
 */
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "common/version.h"

#define DEFAULT_STREAM_SIZE	(256U << 10)
#define DEFAULT_MAX_DATA_SIZE	1024U
#define DEFAULT_LOG_SIZE	(16U << 20)

#define NSEC_PER_SEC		1000000000U

_Static_assert(TRACE_NAME_MAX + 1 == POSIXTRACE_NAME_SIZE, "names fit");
_Static_assert(sizeof(PXTU_GENERATION) <= POSIXTRACE_NAME_SIZE, "the version is a name");
_Static_assert(TRACE_SYS_MAX == POSIXTRACE_STREAMS_MAX, "one limit");

/* The policies have the same numbers in <trace.h> and in the uapi. */
_Static_assert(POSIX_TRACE_CLOSE_FOR_CHILD == POSIXTRACE_CLOSE_FOR_CHILD, "as in the uapi");
_Static_assert(POSIX_TRACE_INHERITED == POSIXTRACE_INHERITED, "as in the uapi");
_Static_assert(POSIX_TRACE_LOOP == POSIXTRACE_POLICY_LOOP, "as in the uapi");
_Static_assert(POSIX_TRACE_UNTIL_FULL == POSIXTRACE_POLICY_UNTIL_FULL, "as in the uapi");
_Static_assert(POSIX_TRACE_FLUSH == POSIXTRACE_POLICY_FLUSH, "as in the uapi");
_Static_assert(POSIX_TRACE_APPEND == POSIXTRACE_POLICY_APPEND, "as in the uapi");

/* Get the resolution of the clock of the timestamps, in nanoseconds. */
static unsigned int clock_resolution(void)
{
	struct timespec res;

	if (clock_getres(CLOCK_REALTIME, &res) || res.tv_sec)
		return 1;
	return (unsigned int)res.tv_nsec;
}

void pxtu_attr_init(trace_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->__inherited = POSIX_TRACE_CLOSE_FOR_CHILD;
	attr->__stream_policy = PXTU_POLICY_UNSET;
	attr->__log_policy = POSIX_TRACE_LOOP;
	attr->__clock_resolution = clock_resolution();
	attr->__stream_size = DEFAULT_STREAM_SIZE;
	attr->__max_data_size = DEFAULT_MAX_DATA_SIZE;
	attr->__log_size = DEFAULT_LOG_SIZE;
	memcpy(attr->__version, PXTU_GENERATION, sizeof(PXTU_GENERATION));
	attr->__magic = PXTU_ATTR_MAGIC;
}

void pxtu_attr_to_uapi(const trace_attr_t *attr, bool log, struct posixtrace_attr *uattr)
{
	__u32 policy = log ? POSIXTRACE_POLICY_FLUSH : POSIXTRACE_POLICY_LOOP;

	memset(uattr, 0, sizeof(*uattr));
	uattr->inherited = (__u32)attr->__inherited;
	uattr->stream_policy = attr->__stream_policy == PXTU_POLICY_UNSET ?
			       policy : (__u32)attr->__stream_policy;
	uattr->log_policy = (__u32)attr->__log_policy;
	uattr->stream_size = attr->__stream_size;
	uattr->max_data_size = attr->__max_data_size;
	uattr->log_size = attr->__log_size;
	uattr->wakeup_bytes = attr->__wakeup_bytes;
	uattr->wakeup_ns = attr->__wakeup_ns;
	uattr->order = (__u64)attr->__order;
	uattr->classes = attr->__kernel;
	uattr->compression = (__u64)attr->__compression;
	/* Copy only the name, because the program may have written after its end. */
	memcpy(uattr->name, attr->__name, strnlen(attr->__name, sizeof(uattr->name) - 1));
}

void pxtu_attr_from_uapi(trace_attr_t *attr, const struct posixtrace_attr *uattr)
{
	memset(attr, 0, sizeof(*attr));
	attr->__inherited = (int)uattr->inherited;
	attr->__stream_policy = (int)uattr->stream_policy;
	attr->__log_policy = (int)uattr->log_policy;
	attr->__clock_resolution = uattr->clock_resolution;
	attr->__stream_size = uattr->stream_size;
	attr->__max_data_size = uattr->max_data_size;
	attr->__log_size = uattr->log_size;
	attr->__creation_time = uattr->creation_time;
	attr->__wakeup_bytes = uattr->wakeup_bytes;
	attr->__wakeup_ns = uattr->wakeup_ns;
	/* Replace unknown numbers: these may come from a log, where they are not validated. */
	attr->__order = uattr->order == POSIXTRACE_ORDER_RELAXED ? POSIXTRACE_ORDER_RELAXED :
								   POSIXTRACE_ORDER_CAUSAL;
	attr->__kernel = (unsigned int)uattr->classes & POSIXTRACE_CLASS_VALID;
	attr->__compression = uattr->compression == POSIXTRACE_COMPRESS_LZ4 ?
			      POSIXTRACE_COMPRESS_LZ4 : POSIXTRACE_COMPRESS_NONE;
	memcpy(attr->__name, uattr->name, strnlen(uattr->name, sizeof(attr->__name) - 1));
	memcpy(attr->__version, uattr->version,
	       strnlen(uattr->version, sizeof(attr->__version) - 1));
	attr->__magic = PXTU_ATTR_MAGIC;
}

/**
 * posix_trace_attr_init() - initialize an attributes object with the defaults
 * @attr: memory for the object
 *
 * The defaults are: no name, POSIX_TRACE_CLOSE_FOR_CHILD, the stream-full-policy
 * that suits the stream (POSIX_TRACE_LOOP without log, POSIX_TRACE_FLUSH with log),
 * POSIX_TRACE_LOOP for the log, 256 KiB of stream, 1024 bytes of data, 16 MiB of log; each
 * event wakes a sleeping reader immediately; causal order; no kernel events; no compression of the
 * log. The object is plain data: it owns no memory and need not be destroyed.
 *
 * Return: 0; EINVAL if @attr is NULL.
 */
PXTU_API int posix_trace_attr_init(trace_attr_t *attr)
{
	if (!attr)
		return EINVAL;
	pxtu_attr_init(attr);
	return 0;
}

/**
 * posix_trace_attr_destroy() - make an attributes object invalid
 * @attr: attributes object
 *
 * It can be initialized again. Streams created with it do not change.
 *
 * Return: 0; EINVAL if @attr is NULL, not initialized or destroyed already.
 */
PXTU_API int posix_trace_attr_destroy(trace_attr_t *attr)
{
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	attr->__magic = 0;
	return 0;
}

/**
 * posix_trace_attr_getclockres() - get the resolution of the timestamps
 * @attr: attributes object
 * @resolution: result
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @resolution is NULL.
 */
PXTU_API int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution)
{
	if (!pxtu_attr_valid(attr) || !resolution)
		return EINVAL;
	resolution->tv_sec = (time_t)(attr->__clock_resolution / NSEC_PER_SEC);
	resolution->tv_nsec = (long)(attr->__clock_resolution % NSEC_PER_SEC);
	return 0;
}

/**
 * posix_trace_attr_getcreatetime() - get the creation time of the stream
 * @attr: attributes object, filled by posix_trace_get_attr()
 * @createtime: result, in CLOCK_REALTIME; zero if the object does not come
 *	from a stream
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @createtime is NULL.
 */
PXTU_API int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime)
{
	if (!pxtu_attr_valid(attr) || !createtime)
		return EINVAL;
	createtime->tv_sec = (time_t)(attr->__creation_time / NSEC_PER_SEC);
	createtime->tv_nsec = (long)(attr->__creation_time % NSEC_PER_SEC);
	return 0;
}

static void get_name(char *to, const char *from)
{
	size_t len = strnlen(from, TRACE_NAME_MAX);

	memcpy(to, from, len);
	to[len] = '\0';
}

/**
 * posix_trace_attr_getgenversion() - get the version of the tracing system
 * @attr: attributes object
 * @genversion: array of TRACE_NAME_MAX + 1 bytes; the string has fewer than
 *	TRACE_NAME_MAX characters
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @genversion is NULL.
 */
PXTU_API int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion)
{
	if (!pxtu_attr_valid(attr) || !genversion)
		return EINVAL;
	get_name(genversion, attr->__version);
	return 0;
}

/**
 * posix_trace_attr_getname() - get the name of the stream
 * @attr: attributes object
 * @tracename: array of TRACE_NAME_MAX + 1 bytes
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @tracename is NULL.
 */
PXTU_API int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename)
{
	if (!pxtu_attr_valid(attr) || !tracename)
		return EINVAL;
	get_name(tracename, attr->__name);
	return 0;
}

/**
 * posix_trace_attr_setname() - set the name of the stream
 * @attr: attributes object
 * @tracename: name; if it is longer than TRACE_NAME_MAX, its first TRACE_NAME_MAX - 1
 *	characters are used
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @tracename is NULL.
 */
PXTU_API int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename)
{
	size_t len;

	if (!pxtu_attr_valid(attr) || !tracename)
		return EINVAL;
	len = strnlen(tracename, TRACE_NAME_MAX + 1);
	if (len > TRACE_NAME_MAX)
		len = TRACE_NAME_MAX - 1;
	/* The string may be inside the object. */
	memmove(attr->__name, tracename, len);
	memset(attr->__name + len, 0, sizeof(attr->__name) - len);
	return 0;
}
