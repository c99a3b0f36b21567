/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_BUILDID_H
#define PXT_BUILDID_H

#include <linux/types.h>

#include <linux/posixtrace_log.h>

u32 pxt_buildid_read(u64 address, u64 length, u8 id[POSIXTRACE_LOG_BUILD_ID_SIZE]);

#endif /* PXT_BUILDID_H */
