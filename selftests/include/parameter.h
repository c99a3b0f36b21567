/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of the loaded module, as the administrator changes them. */
#ifndef _SELFTESTS_PARAMETER_H
#define _SELFTESTS_PARAMETER_H

#include <stddef.h>

/* Returns 0 or negative errno. */
int parameter_set(const char *name, const char *value);

/* Stores the value without its newline. Returns 0 or negative errno. */
int parameter_get(const char *name, char *value, size_t size);

#endif /* _SELFTESTS_PARAMETER_H */
