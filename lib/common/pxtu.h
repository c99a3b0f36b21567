/* SPDX-License-Identifier: MIT */
/*
 * Needed by every file of the library: the mark of exported functions, and access to memory that
 * other threads or processes change.
 */
#ifndef PXTU_H
#define PXTU_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/posixtrace.h>

#include "trace.h"

#define PXTU_API	__attribute__((__visibility__("default")))

#define PXTU_DEVICE	"/dev/posixtrace"

#define pxtu_likely(x)		__builtin_expect(!!(x), 1)
#define pxtu_unlikely(x)	__builtin_expect(!!(x), 0)

/*
 * A single access to memory that another thread, another process or the kernel may change
 * concurrently. The compiler neither tears nor repeats it. A comment at each ordering access names
 * its partner.
 */
#define pxtu_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define pxtu_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define pxtu_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define pxtu_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#define PXTU_NSEC_PER_SEC	1000000000ULL

#define PXTU_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The structure that contains @member at @ptr. */
#define pxtu_container_of(ptr, type, member) \
	((type *)((uintptr_t)(ptr) - offsetof(type, member)))

#endif /* PXTU_H */
