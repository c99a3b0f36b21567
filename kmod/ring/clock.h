/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CLOCK_H
#define PXT_CLOCK_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct posixtrace_clock;

void pxt_clock_get(void);
void pxt_clock_put(void);
u64 pxt_clock_now(void);
void pxt_clock_pass(u64 time);
u32 pxt_clock_resolution(void);
u32 pxt_clock_counter(void);
struct page *pxt_clock_map(void);
int pxt_clock_init(void);
void pxt_clock_exit(void);

#endif /* PXT_CLOCK_H */
