/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FILES_H
#define PXT_FILES_H

#include <linux/types.h>

struct pid_namespace;
struct posixtrace_file;
struct pxt_link;

/**
 * struct pxt_files_cursor - where to continue
 * @pid: next process id in the namespace; -1 after the last process
 * @fd: next descriptor of that process; 0: start with its row TABLE
 */
struct pxt_files_cursor {
	pid_t pid;
	u32 fd;
};

/* A call needs room for at least this many rows. */
#define PXT_FILES_MIN	16

u32 pxt_files_fill(const struct pxt_link *link, struct pid_namespace *ns,
		   struct posixtrace_file *to, u32 room, struct pxt_files_cursor *cursor);

#endif /* PXT_FILES_H */
