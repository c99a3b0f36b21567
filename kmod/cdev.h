/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CDEV_H
#define PXT_CDEV_H

#include <linux/fs.h>
#include <linux/mm_types.h>

#include "target/target.h"

struct pxt_stream;

enum pxt_role {
	PXT_ROLE_NONE,
	PXT_ROLE_TAKEN,		/* CREATE or ATTACH is under way */
	PXT_ROLE_STREAM,
	PXT_ROLE_TARGET,
};

/**
 * struct pxt_file - one open file
 * @role: written by CREATE and ATTACH, see begin_role(); read by all
 * @stream: with PXT_ROLE_STREAM; a reference
 * @att: with PXT_ROLE_TARGET
 */
struct pxt_file {
	enum pxt_role role;
	union {
		struct pxt_stream *stream;
		struct pxt_attachment *att;
	};
};

/*
 * The address space that a file of role target belongs to. It may have ended, but the file
 * holds its struct, so no other address space is at the same pointer.
 */
static inline struct mm_struct *pxt_cdev_attached_mm(const struct file *file)
{
	const struct pxt_file *pf = file->private_data;

	return pf->att->mm;
}

int pxt_cdev_init(void);
void pxt_cdev_exit(void);

#endif /* PXT_CDEV_H */
