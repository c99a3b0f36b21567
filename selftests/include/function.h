/* SPDX-License-Identifier: GPL-2.0 */
/* Checks if an address is in a function. */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stdbool.h>

/* The longest code of such a function. Instrumented code is longer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FUNCTION_BYTES	2048
#else
#define FUNCTION_BYTES	256
#endif

/* True if @address is in @function, which is short and does not end with a call. */
static inline bool is_in_function(const void *address, const void *function)
{
	return (const char *)address > (const char *)function &&
	       (const char *)address <= (const char *)function + FUNCTION_BYTES;
}

#endif /* FUNCTION_H */
