// SPDX-License-Identifier: MIT
/* The version that a program runs with. */
#include "common/pxtu.h"
#include "common/version.h"

/**
 * posixtrace_version() - version of the library at run time
 *
 * An extension. Compare with POSIXTRACE_VERSION_MAJOR and _MINOR, the version
 * at compile time.
 *
 * Return: a string such as "1.0", valid for ever.
 */
PXTU_API const char *posixtrace_version(void)
{
	return PXTU_VERSION;
}
