/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PROCESS_H
#define PXT_PROCESS_H

int pxt_process_init(void);
void pxt_process_exit(void);

#endif /* PXT_PROCESS_H */
