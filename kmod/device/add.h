/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ADD_H
#define PXT_ADD_H

#include <linux/types.h>

struct pxt_stream;

int pxt_add(struct pxt_stream *stream, pid_t nr);

#endif /* PXT_ADD_H */
