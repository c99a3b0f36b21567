/* SPDX-License-Identifier: GPL-2.0 */
/* Shows what hanging processes are doing, and kills them. */
#ifndef _SELFTESTS_UAPI_HANG_H
#define _SELFTESTS_UAPI_HANG_H

#include <stdbool.h>
#include <sys/types.h>

struct worker;

bool show_stacks(pid_t pid);
bool waits_for_log(pid_t pid);
void show_session(void);
void kill_session(void);
unsigned int count_log_threads(bool show);
void kill_orphans(const struct worker *workers, unsigned int nr);

#endif /* _SELFTESTS_UAPI_HANG_H */
