/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PROGRAM_H
#define PXT_PROGRAM_H

struct pxt_text;

struct pxt_text *pxt_program_capture(struct pxt_text *old);

#endif /* PXT_PROGRAM_H */
