/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_GATE_H
#define PXT_GATE_H

#include <linux/mm.h>
#include <linux/stddef.h>

#include "target/target.h"

/* The clock, which is mapped behind it, is one for all. */
#define PXT_GATE_SIZE	PAGE_ALIGN(offsetof(struct posixtrace_gate, clock))

int pxt_gate_make(struct pxt_target *target);
void pxt_gate_outdate(struct pxt_target *target);
int pxt_gate_link(struct pxt_target *target, struct pxt_stream *stream);
int pxt_gate_inherit(struct pxt_target *target, struct pxt_stream *stream);
void pxt_gate_gone(struct pxt_stream *stream);
void pxt_gate_open(struct pxt_target *target);
void pxt_gate_leave(struct pxt_target *target, struct pxt_stream *stream);
void pxt_gate_unlink(struct pxt_stream *stream);
void pxt_gate_set_stream(struct pxt_stream *stream, bool on);
void pxt_gate_set_filter(struct pxt_stream *stream, const struct posixtrace_event_set *filter);
void pxt_gate_set_type(struct pxt_target *target, u32 id);
void pxt_gate_synchronize(struct pxt_stream *stream);

#endif /* PXT_GATE_H */
