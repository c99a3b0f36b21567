/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_EVENTID_H
#define PXT_EVENTID_H

#include <linux/types.h>

struct posixtrace_eventid;
struct posixtrace_log_name;
struct pxt_author;
struct pxt_description;
struct pxt_table;

int pxt_eventid_open(struct pxt_table *table, u64 types, struct pxt_author *author,
		     struct posixtrace_eventid *arg, struct pxt_description *description);
int pxt_eventid_name(struct pxt_table *table, u64 types, struct posixtrace_eventid *arg);
u32 pxt_eventid_list(struct pxt_table *table, u64 types, u32 first, u32 *ids, u32 count);
u32 pxt_eventid_names(struct pxt_table *table, u32 first, struct posixtrace_log_name *names,
		      u32 count);

#endif /* PXT_EVENTID_H */
