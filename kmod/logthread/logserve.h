/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGSERVE_H
#define PXT_LOGSERVE_H

struct pxt_log;

int pxt_log_serve(struct pxt_log *log);

#endif /* PXT_LOGSERVE_H */
