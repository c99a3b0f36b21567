/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_DOOR_H
#define PXT_DOOR_H

#include <linux/types.h>

struct pxt_attachment;

/* door.c */
int pxt_door_call(struct pxt_attachment *att);

#endif /* PXT_DOOR_H */
