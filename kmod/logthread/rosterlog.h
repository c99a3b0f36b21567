/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_ROSTERLOG_H
#define PXT_ROSTERLOG_H

#include <linux/posixtrace_log.h>

#include "target/roster.h"

/**
 * struct pxt_roster_cursor - where in the texts of the taken threads the next block begins
 * @first: index of the thread
 * @pos: bytes of its text that were written
 */
struct pxt_roster_cursor {
	u32 first;
	u32 pos;
};

/* The most that pxt_roster_tasks() writes: it fits into a block. */
#define PXT_ROSTER_TASKS_MAX	(PXT_ROSTER_NAMES * PXT_ROSTER_BATCH)

static_assert(PXT_ROSTER_TASKS_MAX * sizeof(struct posixtrace_log_task) <=
	      POSIXTRACE_LOG_PROGRAM_SIZE);


void pxt_roster_begin(struct pxt_roster *roster);
bool pxt_roster_take(struct pxt_roster *roster);
u32 pxt_roster_tasks(struct pxt_roster *roster, struct pid_namespace *ns,
		     struct posixtrace_log_task *to);
u32 pxt_roster_programs(struct pxt_roster *roster, struct pid_namespace *ns, void *to,
			size_t room, struct pxt_roster_cursor *cursor, u32 *count);
u32 pxt_roster_mappings(struct pxt_roster *roster, struct pid_namespace *ns, void *to,
			size_t room, struct pxt_roster_cursor *cursor, u32 *count);
void pxt_roster_taken(struct pxt_roster *roster, bool written);
void pxt_roster_again(struct pxt_roster *roster);

#endif /* PXT_ROSTERLOG_H */
