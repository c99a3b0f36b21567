/* SPDX-License-Identifier: MIT */
/* Attributes objects, for the functions that create and describe streams. */
#ifndef PXTU_ATTR_H
#define PXTU_ATTR_H

#include "common/pxtu.h"

/* Value of trace_attr_t.__magic between init and destroy. */
#define PXTU_ATTR_MAGIC		0x50584154545231ULL

/* Value of trace_attr_t.__stream_policy if the program has not set it. */
#define PXTU_POLICY_UNSET	(-1)

/**
 * pxtu_attr_valid() - check if this is an initialized attributes object
 * @attr: the object, or NULL
 */
static inline bool pxtu_attr_valid(const trace_attr_t *attr)
{
	return attr && attr->__magic == PXTU_ATTR_MAGIC;
}

/**
 * pxtu_attr_init() - set all attributes to their defaults
 * @attr: attributes object
 */
void pxtu_attr_init(trace_attr_t *attr);

/**
 * pxtu_attr_to_uapi() - convert the attributes for a new stream
 * @attr: valid attributes object
 * @log: the stream will have a log
 * @uattr: result; all fields are set
 *
 * If no stream-full-policy was set, uses the default for a stream with or without log.
 */
void pxtu_attr_to_uapi(const trace_attr_t *attr, bool log, struct posixtrace_attr *uattr);

/**
 * pxtu_attr_from_uapi() - convert the attributes of a stream
 * @attr: attributes object to initialize with them
 * @uattr: from GET_ATTR
 */
void pxtu_attr_from_uapi(trace_attr_t *attr, const struct posixtrace_attr *uattr);

#endif /* PXTU_ATTR_H */
