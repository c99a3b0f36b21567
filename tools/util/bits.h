/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of numbers, such as positions of events. Ranges without a member take no memory.
 */
#ifndef POSIXTRACE_BITS_H
#define POSIXTRACE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITS_MAX	(64U << 20)	/* limit of the bytes of a set, not counting its index */

struct bits;

/* bits_new() - create an empty set; returns 0 or -ENOMEM */
int bits_new(struct bits **bits);

/* bits_set() - add a number; returns 0, -EFBIG if the set would exceed BITS_MAX, or -ENOMEM */
int bits_set(struct bits *bits, uint64_t number);

/* bits_test() - check if a number is in the set */
bool bits_test(const struct bits *bits, uint64_t number);

void bits_free(struct bits *bits);

#endif /* POSIXTRACE_BITS_H */
