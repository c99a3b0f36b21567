/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_KERNELTYPE_H
#define PXT_KERNELTYPE_H

#include <linux/types.h>

/**
 * struct pxt_kernel_type - an event type of the kernel
 * @id: POSIXTRACE_ID_*
 * @class: number of its class
 * @name: derived from the kernel's name for it
 * @description: description of the data, see posixtrace-fields(7)
 *
 * Constant.
 */
struct pxt_kernel_type {
	u32 id;
	u32 class;
	const char *name;
	const char *description;
};

u64 pxt_kernel_types(u64 classes);
const struct pxt_kernel_type *pxt_kernel_type_find(u64 set, u32 id);
const struct pxt_kernel_type *pxt_kernel_type_named(u64 set, const char *name);
const struct pxt_kernel_type *pxt_kernel_type_next(u64 set, const struct pxt_kernel_type *last);
const char *pxt_kernel_names(u64 set, u32 id);

#endif /* PXT_KERNELTYPE_H */
