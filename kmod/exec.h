/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_EXEC_H
#define PXT_EXEC_H

int pxt_exec_init(void);
void pxt_exec_exit(void);

#endif /* PXT_EXEC_H */
