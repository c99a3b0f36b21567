/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PROGRAM_H
#define PXT_PROGRAM_H

#include <linux/kref.h>
#include <linux/types.h>

/**
 * struct pxt_program - the command line of a process
 * @kref: one per target and roster that has it
 * @size: bytes of @text
 * @text: the arguments, each with its NUL at the end
 *
 * Constant.
 */
struct pxt_program {
	struct kref kref;
	u32 size;
	char text[];
};

struct pxt_program *pxt_program_capture(void);
void pxt_program_get(struct pxt_program *program);
void pxt_program_put(struct pxt_program *program);

#endif /* PXT_PROGRAM_H */
