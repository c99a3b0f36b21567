// SPDX-License-Identifier: MIT
/*
 * Attributes objects: the policies for full streams, full logs and children. The module
 * implements them.
 */
#include "attr/attr.h"

/**
 * posix_trace_attr_getinherited() - get the policy for children
 * @attr: attributes object
 * @inheritancepolicy: result: POSIX_TRACE_CLOSE_FOR_CHILD or
 *	POSIX_TRACE_INHERITED
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @inheritancepolicy is
 * NULL.
 */
PXTU_API int posix_trace_attr_getinherited(const trace_attr_t *restrict attr,
					   int *restrict inheritancepolicy)
{
	if (!pxtu_attr_valid(attr) || !inheritancepolicy)
		return EINVAL;
	*inheritancepolicy = attr->__inherited;
	return 0;
}

/**
 * posix_trace_attr_setinherited() - set the policy for children
 * @attr: attributes object
 * @inheritancepolicy: POSIX_TRACE_CLOSE_FOR_CHILD or POSIX_TRACE_INHERITED
 *
 * Return: 0; EINVAL if @attr is not an initialized object or the policy is unknown.
 */
PXTU_API int posix_trace_attr_setinherited(trace_attr_t *attr, int inheritancepolicy)
{
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	switch (inheritancepolicy) {
	case POSIX_TRACE_CLOSE_FOR_CHILD:
	case POSIX_TRACE_INHERITED:
		attr->__inherited = inheritancepolicy;
		return 0;
	default:
		return EINVAL;
	}
}

/**
 * posix_trace_attr_getlogfullpolicy() - get the policy for a full log
 * @attr: attributes object
 * @logpolicy: result: POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or
 *	POSIX_TRACE_APPEND
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @logpolicy is NULL.
 */
PXTU_API int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict attr,
					       int *restrict logpolicy)
{
	if (!pxtu_attr_valid(attr) || !logpolicy)
		return EINVAL;
	*logpolicy = attr->__log_policy;
	return 0;
}

/**
 * posix_trace_attr_setlogfullpolicy() - set the policy for a full log
 * @attr: attributes object
 * @logpolicy: POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_APPEND
 *
 * Return: 0; EINVAL if @attr is not an initialized object or the policy is unknown.
 */
PXTU_API int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy)
{
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	switch (logpolicy) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_APPEND:
		attr->__log_policy = logpolicy;
		return 0;
	default:
		return EINVAL;
	}
}

/**
 * posix_trace_attr_getstreamfullpolicy() - get the policy for a full stream
 * @attr: attributes object
 * @streampolicy: result: POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or
 *	POSIX_TRACE_FLUSH; POSIX_TRACE_LOOP if it was not set, although a stream with log
 *	then gets POSIX_TRACE_FLUSH
 *
 * Return: 0; EINVAL if @attr is not an initialized object or @streampolicy is NULL.
 */
PXTU_API int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict attr,
						  int *restrict streampolicy)
{
	if (!pxtu_attr_valid(attr) || !streampolicy)
		return EINVAL;
	if (attr->__stream_policy == PXTU_POLICY_UNSET)
		*streampolicy = POSIX_TRACE_LOOP;
	else
		*streampolicy = attr->__stream_policy;
	return 0;
}

/**
 * posix_trace_attr_setstreamfullpolicy() - set the policy for a full stream
 * @attr: attributes object
 * @streampolicy: POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_FLUSH;
 *	the last one needs a log, so posix_trace_create() fails with it
 *
 * Return: 0; EINVAL if @attr is not an initialized object or the policy is unknown.
 */
PXTU_API int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy)
{
	if (!pxtu_attr_valid(attr))
		return EINVAL;
	switch (streampolicy) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_FLUSH:
		attr->__stream_policy = streampolicy;
		return 0;
	default:
		return EINVAL;
	}
}
