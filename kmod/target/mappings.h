/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_MAPPINGS_H
#define PXT_MAPPINGS_H

#include <linux/types.h>

struct pxt_text;

struct pxt_text *pxt_mappings_capture(const struct pxt_text *old, u32 looks, bool again);

#endif /* PXT_MAPPINGS_H */
