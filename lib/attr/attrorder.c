// SPDX-License-Identifier: MIT
/*
 * Attributes objects: the order of timestamps across CPUs.
 */
#include <posixtrace.h>

#include "attr/attr.h"

/**
 * posixtrace_attr_getorder() - get the order of timestamps
 * @attr: attributes object
 * @order: result: POSIXTRACE_ORDER_CAUSAL or POSIXTRACE_ORDER_RELAXED
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @order is NULL.
 */
PXTU_API int posixtrace_attr_getorder(const trace_attr_t *attr, int *order)
{
	if (!pxtu_attr_valid(attr) || !order)
		return EINVAL;
	*order = attr->__order;
	return 0;
}

/**
 * posixtrace_attr_setorder() - set the order of timestamps
 * @attr: attributes object
 * @order: POSIXTRACE_ORDER_CAUSAL or POSIXTRACE_ORDER_RELAXED
 *
 * Return: 0; EINVAL if @attr is not an initialized object, or @order is neither.
 */
PXTU_API int posixtrace_attr_setorder(trace_attr_t *attr, int order)
{
	if (!pxtu_attr_valid(attr) ||
	    (order != POSIXTRACE_ORDER_CAUSAL && order != POSIXTRACE_ORDER_RELAXED))
		return EINVAL;
	attr->__order = order;
	return 0;
}
