/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TASKBLOCKS_H
#define PXT_TASKBLOCKS_H

#include <linux/posixtrace_log.h>

#include "target/logtasks.h"

/**
 * struct pxt_logtask_cursor - start of the next block in the texts of the taken threads
 * @first: index of the thread
 * @pos: bytes of its text already written
 */
struct pxt_logtask_cursor {
	u32 first;
	u32 pos;
};

/* Maximum number of names from pxt_logtasks_fill_names(): they fit into a block. */
#define PXT_LOGTASKS_NAMES_MAX	(PXT_LOGTASK_NAMES * PXT_LOGTASKS_BATCH)

static_assert(PXT_LOGTASKS_NAMES_MAX * sizeof(struct posixtrace_log_task) <=
	      POSIXTRACE_LOG_PROGRAM_SIZE);

void pxt_logtasks_begin(struct pxt_logtasks *tasks);
bool pxt_logtasks_take(struct pxt_logtasks *tasks);
u32 pxt_logtasks_fill_names(struct pxt_logtasks *tasks, struct pid_namespace *ns,
			    struct posixtrace_log_task *to);
u32 pxt_logtasks_fill_programs(struct pxt_logtasks *tasks, struct pid_namespace *ns, void *to,
			       size_t room, struct pxt_logtask_cursor *cursor, u32 *count);
u32 pxt_logtasks_fill_mappings(struct pxt_logtasks *tasks, struct pid_namespace *ns, void *to,
			       size_t room, struct pxt_logtask_cursor *cursor, u32 *count);
void pxt_logtasks_give_back(struct pxt_logtasks *tasks, bool written);
void pxt_logtasks_restart(struct pxt_logtasks *tasks);

#endif /* PXT_TASKBLOCKS_H */
