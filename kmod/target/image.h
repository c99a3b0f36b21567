/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_IMAGE_H
#define PXT_IMAGE_H

#include <linux/bitmap.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

struct pxt_table;
struct pxt_target;
struct pxt_type;

/**
 * struct pxt_image - the names a program has opened
 * @users: authors, and forks that have not started yet
 * @count: number of names
 * @guests: names among them that guests of the table opened first, with this image
 * @known: bit n: type n
 *
 * A child shares the image of its parent. A process that executes a program leaves its image and
 * gets a new one. All fields but @users are under the lock of the table.
 */
struct pxt_image {
	refcount_t users;
	u32 count;
	u32 guests;
	DECLARE_BITMAP(known, POSIXTRACE_ID_MAX);
};

/**
 * struct pxt_guest - resources of a table used by guests
 * @types: names that they opened first
 * @bytes: bytes of descriptions they created
 *
 * A guest is a process without permission to trace the first process of the family: see
 * pxt_table.cred.
 */
struct pxt_guest {
	u32 types;
	u32 bytes;
};

/**
 * struct pxt_author - a process that opens and describes types, or the controller of a stream
 * @number: number of the target; 0 for a controller
 * @process: number of the target that the author opens names for; constant
 * @image: image of that process; NULL only after a failed allocation, until it opens a name. A
 *	reference; under the lock of the table, but the process itself may read it during a fork
 * @guest: resources it uses as a guest; under the lock of the table
 */
struct pxt_author {
	u64 number;
	u64 process;
	struct pxt_image *image;
	struct pxt_guest guest;
};

void pxt_image_put(struct pxt_table *table, struct pxt_image *image);
struct pxt_image *pxt_image_get(const struct pxt_author *author);
struct pxt_image *pxt_image_new(void);
int pxt_image_begin(struct pxt_author *author);
void pxt_image_adopt(struct pxt_table *table, struct pxt_author *author, struct pxt_image *image);
void pxt_image_share(struct pxt_table *table, struct pxt_author *author,
		     const struct pxt_author *of);
void pxt_image_leave(struct pxt_table *table, struct pxt_author *author);
void pxt_image_executed(struct pxt_target *target);
void pxt_image_set(struct pxt_table *table, struct pxt_author *author, struct pxt_image *image);
bool pxt_image_knows(const struct pxt_author *author, const struct pxt_type *type);
void pxt_image_learn(struct pxt_author *author, struct pxt_type *type);

#endif /* PXT_IMAGE_H */
