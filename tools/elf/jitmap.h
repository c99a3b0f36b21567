/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A perf map: a file with the functions that a just-in-time compiler has put into anonymous memory.
 * Each line has the start and the size of a function, in hexadecimal digits, and its name.
 */
#ifndef POSIXTRACE_JITMAP_H
#define POSIXTRACE_JITMAP_H

#include <stddef.h>
#include <stdint.h>

struct jitmap;

/* The remaining limits, shared by all maps. */
struct jitmap_budget {
	size_t bytes;
	size_t entries;
};

/**
 * jitmap_new() - create an empty map
 * @fd: a regular file; the map closes it, even after an error
 * @budget: limits of all maps; must outlive the map
 * @map: where to store the map
 *
 * Return: 0 or -ENOMEM.
 */
int jitmap_new(int fd, struct jitmap_budget *budget, struct jitmap **map);

/**
 * jitmap_update() - read the lines that were added to the file
 * @map: the map
 * @written: where to store the time of the last change of the file: ns since the Epoch
 *
 * Skips lines with a wrong format. Leaves out an incomplete last line, which the process may still
 * be writing.
 *
 * Return: 0 or a negative error number: -EFBIG if the file is too large, -ESTALE if it was
 * overwritten from its start. After an error, the map is empty.
 */
int jitmap_update(struct jitmap *map, uint64_t *written);

/**
 * jitmap_find() - find the function that contains an address
 * @map: the map
 * @address: the address
 * @begin: where to store the start of the function
 *
 * If several functions contain the address, the last one in the file counts: the compiler has
 * reused the memory of the others.
 *
 * Return: the name, valid until the next jitmap_update(), or NULL.
 */
const char *jitmap_find(const struct jitmap *map, uint64_t address, uint64_t *begin);

/* jitmap_free() - free the map; @map may be NULL */
void jitmap_free(struct jitmap *map);

#endif /* POSIXTRACE_JITMAP_H */
