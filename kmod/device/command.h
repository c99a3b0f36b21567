/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_COMMAND_H
#define PXT_COMMAND_H

#include <linux/compiler_types.h>

struct pxt_stream;
struct pxt_target;

long pxt_command_stream(struct pxt_stream *stream, unsigned int cmd, void __user *arg);
long pxt_command_target(struct pxt_target *target, unsigned int cmd, void __user *arg);

#endif /* PXT_COMMAND_H */
