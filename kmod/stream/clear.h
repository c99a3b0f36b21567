/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CLEAR_H
#define PXT_CLEAR_H

struct pxt_stream;

int pxt_clear_logged(struct pxt_stream *stream);
int pxt_clear(struct pxt_stream *stream);

#endif /* PXT_CLEAR_H */
