/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_METADATA_H
#define PXT_METADATA_H

struct pxt_log;

int pxt_metadata_write(struct pxt_log *log);

#endif /* PXT_METADATA_H */
