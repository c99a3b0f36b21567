/* SPDX-License-Identifier: MIT */
/* Version of the library, and the generation-version attribute. */
#ifndef PXTU_VERSION_H
#define PXTU_VERSION_H

#include "posixtrace.h"

#define PXTU_STRINGIFY1(x)	#x
#define PXTU_STRINGIFY(x)	PXTU_STRINGIFY1(x)

#define PXTU_VERSION	PXTU_STRINGIFY(POSIXTRACE_VERSION_MAJOR) "." \
			PXTU_STRINGIFY(POSIXTRACE_VERSION_MINOR)
#define PXTU_GENERATION	"posixtrace " PXTU_VERSION

#endif /* PXTU_VERSION_H */
