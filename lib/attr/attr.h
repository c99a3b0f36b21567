/* SPDX-License-Identifier: MIT */
/* Attributes objects, as the functions that create and describe streams see them. */
#ifndef PXTU_ATTR_H
#define PXTU_ATTR_H

#include "common/pxtu.h"

/* What trace_attr_t.__magic holds between init and destroy. */
#define PXTU_ATTR_MAGIC		0x50584154545231ULL

/* trace_attr_t.__stream_policy when the program has set none. */
#define PXTU_POLICY_UNSET	(-1)

/**
 * pxtu_attr_valid() - is this an initialized attributes object?
 * @attr: address of it, or NULL
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
 * pxtu_attr_to_uapi() - attributes that a new stream is asked to have
 * @attr: valid attributes object
 * @log: it is going to have a log
 * @uattr: where to write them, all fields
 *
 * A stream-full-policy that was not set becomes the default for such streams.
 */
void pxtu_attr_to_uapi(const trace_attr_t *attr, bool log, struct posixtrace_attr *uattr);

/**
 * pxtu_attr_from_uapi() - attributes that a stream has
 * @attr: attributes object to initialize with them
 * @uattr: as GET_ATTR tells them
 */
void pxtu_attr_from_uapi(trace_attr_t *attr, const struct posixtrace_attr *uattr);

#endif /* PXTU_ATTR_H */
