/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which running processes to trace: by id, by name, of a user, of a control group, and the children
 * of these.
 */
#ifndef POSIXTRACE_WHOM_H
#define POSIXTRACE_WHOM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A condition that selects processes. */
struct whom_rule {
	enum { WHOM_PID, WHOM_NAME, WHOM_USER, WHOM_CGROUP } kind;
	pid_t pid;
	uid_t uid;
	char *text;	/* name, or path of the control group; or NULL */
};

struct whom_process {
	pid_t pid;
	bool named;	/* selected by its id, not by another condition */
	bool seen;	/* whom_next() has returned it */
};

struct whom {
	struct whom_rule *rules;
	size_t nr_rules;
	bool children;	/* select existing children as well */
	struct whom_process *processes;
	size_t nr_processes;
};

/*
 * whom_add_pids(), whom_add_user(), whom_add_cgroup() - add conditions from the value of an option:
 * ids and names with commas between; the name or id of a user; a path, or the id of a process in
 * the control group. Return 0, or a negative error number after printing an error.
 */
int whom_add_pids(struct whom *whom, const char *option, const char *list);
int whom_add_user(struct whom *whom, const char *option, const char *text);
int whom_add_cgroup(struct whom *whom, const char *option, const char *text);

/* whom_add_pid() - add a process; returns 0 or -ENOMEM */
int whom_add_pid(struct whom *whom, pid_t pid);

/*
 * whom_find() - find the processes that match now, without this process. The first process, with
 * which a stream begins, is one that has event types, if there is one. Returns 0; -ESRCH after
 * printing which condition selects no process; or another negative error number.
 */
int whom_find(struct whom *whom);

/*
 * whom_next() - get the next process that whom_find() has found, or look again for others. A new
 * process may have been forked by one that was not traced yet. Returns NULL when there is no other.
 */
const struct whom_process *whom_next(struct whom *whom);

void whom_free(struct whom *whom);

#endif /* POSIXTRACE_WHOM_H */
