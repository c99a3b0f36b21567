/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SOCKNAME_H
#define PXT_SOCKNAME_H

#include <linux/types.h>

struct pid_namespace;
struct socket;

void pxt_sockname_put(const struct socket *socket, struct pid_namespace *ns, char *to, size_t size);

#endif /* PXT_SOCKNAME_H */
