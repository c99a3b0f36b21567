// SPDX-License-Identifier: MIT
/*
 * Attributes objects: kernel events.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getkernel() - get the kernel events of a stream
 * @attr: attributes object
 * @classes: result: POSIXTRACE_CLASS_*
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @classes is NULL.
 */
PXTU_API int posixtrace_attr_getkernel(const trace_attr_t *attr, unsigned int *classes)
{
	if (!pxtu_attr_valid(attr) || !classes)
		return EINVAL;
	*classes = attr->__kernel;
	return 0;
}

/**
 * posixtrace_attr_setkernel() - choose kernel events
 * @attr: attributes object
 * @classes: POSIXTRACE_CLASS_*; 0 for no kernel events
 *
 * Creating the stream fails if the module or the kernel cannot record them.
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @classes has other bits.
 */
PXTU_API int posixtrace_attr_setkernel(trace_attr_t *attr, unsigned int classes)
{
	if (!pxtu_attr_valid(attr) || classes & ~(unsigned int)POSIXTRACE_CLASS_VALID)
		return EINVAL;
	attr->__kernel = classes;
	return 0;
}
