/* SPDX-License-Identifier: GPL-2.0 */
/* The build id of a file that may be forged. */
#ifndef POSIXTRACE_BUILD_ID_H
#define POSIXTRACE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

/*
 * build_id_is() - does the file have this build id? Reads some kilobytes at most, whatever the file
 * says. Returns false if the id is not in the first notes, where linkers put it.
 */
bool build_id_is(int fd, const unsigned char *id, size_t size);

#endif /* POSIXTRACE_BUILD_ID_H */
