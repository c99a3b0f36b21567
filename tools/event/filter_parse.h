/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by filter.c and filter_parse.c.
 */
#ifndef POSIXTRACE_FILTER_PARSE_H
#define POSIXTRACE_FILTER_PARSE_H

#include "event/filter.h"

/**
 * struct filter - an expression
 * @nodes: its parts, operands before their operators
 * @nr_nodes: number of @nodes
 * @root: the whole expression, the last of @nodes
 */
struct filter {
	struct filter_node **nodes;
	size_t nr_nodes;
	struct filter_node *root;
};

#endif /* POSIXTRACE_FILTER_PARSE_H */
