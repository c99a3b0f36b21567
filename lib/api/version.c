// SPDX-License-Identifier: MIT
/* The version of the library at run time. */
#include "common/pxtu.h"
#include "common/version.h"

/**
 * posixtrace_version() - get the version of the library at run time
 *
 * An extension. POSIXTRACE_VERSION_MAJOR and _MINOR are the version at compile time.
 *
 * Return: a string such as "1.0", valid forever.
 */
PXTU_API const char *posixtrace_version(void)
{
	return PXTU_VERSION;
}
