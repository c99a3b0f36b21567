/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_COUNTER_H
#define PXT_COUNTER_H

struct posixtrace_clock;

void pxt_counter_begin(struct posixtrace_clock *clock);
void pxt_counter_end(void);

#endif /* PXT_COUNTER_H */
