/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_NOTES_H
#define PXT_NOTES_H

struct pxt_log;

int pxt_notes_write(struct pxt_log *log);

#endif /* PXT_NOTES_H */
