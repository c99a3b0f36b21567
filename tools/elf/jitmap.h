/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A perf map: the functions that a compiler at run time (JIT) has put into anonymous memory. Each
 * line of the file has the begin and the size of a function, as hexadecimal digits, and its name.
 */
#ifndef POSIXTRACE_JITMAP_H
#define POSIXTRACE_JITMAP_H

#include <stddef.h>
#include <stdint.h>

struct jitmap;

/* What all maps together may still take. */
struct jitmap_budget {
	size_t bytes;
	size_t entries;
};

/**
 * jitmap_new() - create an empty map
 * @fd: a regular file; belongs to the map, also after an error
 * @budget: limits of all maps; must outlive the map
 * @map: where to store the map
 *
 * Return: 0 or -ENOMEM.
 */
int jitmap_new(int fd, struct jitmap_budget *budget, struct jitmap **map);

/**
 * jitmap_update() - read the lines that were added to the file
 * @map: the map
 *
 * Skips lines of another form, and a last line without its end: the process may still be writing
 * it.
 *
 * Return: 0, or a negative error number and the map is empty: -EFBIG if the file is too large,
 *	-ESTALE if it was written again from its begin.
 */
int jitmap_update(struct jitmap *map);

/**
 * jitmap_find() - find the function that contains an address
 * @map: the map
 * @address: the address
 * @begin: where to store the start of the function
 *
 * If several functions do, the last one in the file counts: the memory of the others was used
 * again.
 *
 * Return: the name, valid until the next jitmap_update(), or NULL.
 */
const char *jitmap_find(const struct jitmap *map, uint64_t address, uint64_t *begin);

/* jitmap_free() - free the map, or NULL */
void jitmap_free(struct jitmap *map);

#endif /* POSIXTRACE_JITMAP_H */
