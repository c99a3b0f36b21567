/* SPDX-License-Identifier: GPL-2.0 */
/* Sets and gets parameters of the loaded module, as an administrator does. */
#ifndef _SELFTESTS_PARAMETER_H
#define _SELFTESTS_PARAMETER_H

#include <stddef.h>

/* Sets a parameter. Returns 0 or negative errno. */
int parameter_set(const char *name, const char *value);

/* Gets a parameter. @value does not include the newline. Returns 0 or negative errno. */
int parameter_get(const char *name, char *value, size_t size);

#endif /* _SELFTESTS_PARAMETER_H */
