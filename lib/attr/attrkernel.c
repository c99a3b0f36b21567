// SPDX-License-Identifier: MIT
/*
 * Attributes objects: events of the kernel.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getkernel() - which events of the kernel a stream has
 * @attr: attributes object
 * @classes: where to write them: POSIXTRACE_CLASS_*
 *
 * Return: 0; EINVAL if @attr is no initialized object, or @classes is NULL.
 */
PXTU_API int posixtrace_attr_getkernel(const trace_attr_t *attr, unsigned int *classes)
{
	if (!pxtu_attr_valid(attr) || !classes)
		return EINVAL;
	*classes = attr->__kernel;
	return 0;
}

/**
 * posixtrace_attr_setkernel() - choose events of the kernel
 * @attr: attributes object
 * @classes: POSIXTRACE_CLASS_*; 0 for none
 *
 * Whether the module and the kernel can record them is known when a stream is created.
 *
 * Return: 0; EINVAL if @attr is no initialized object, or @classes has other bits.
 */
PXTU_API int posixtrace_attr_setkernel(trace_attr_t *attr, unsigned int classes)
{
	if (!pxtu_attr_valid(attr) || classes & ~(unsigned int)POSIXTRACE_CLASS_ALL)
		return EINVAL;
	attr->__kernel = classes;
	return 0;
}
