/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAIT_H
#define PXT_WAIT_H

#include "stream.h"

int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);

#endif /* PXT_WAIT_H */
