/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects the running processes to trace: by id, name, user or control group, and optionally their
 * children.
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
	bool named;	/* selected by its id, not by other conditions */
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
 * a comma-separated list of ids and names; the name or id of a user; the path of a control group,
 * or the id of a process in it. Return 0, or a negative error number after printing an error.
 */
int whom_add_pids(struct whom *whom, const char *option, const char *list);
int whom_add_user(struct whom *whom, const char *option, const char *text);
int whom_add_cgroup(struct whom *whom, const char *option, const char *text);

/* whom_add_pid() - add a process; returns 0 or -ENOMEM */
int whom_add_pid(struct whom *whom, pid_t pid);

/*
 * whom_find() - find the processes that match now, except this process. If one of them may have
 * event types, it comes first, because a stream gets the types of its first process. Returns 0;
 * -ESRCH after printing which condition selects no process; or another negative error number.
 */
int whom_find(struct whom *whom);

/*
 * whom_next() - get the next process that whom_find() has found. After the last one, searches
 * again, because a process that was not traced yet may have forked others. Returns NULL if there
 * are no more.
 */
const struct whom_process *whom_next(struct whom *whom);

void whom_free(struct whom *whom);

/*
 * whom_has_name() - is this the name of the process's program, or the name that the process has set
 * for itself? @proc is a descriptor of /proc.
 */
bool whom_has_name(int proc, pid_t pid, const char *name);

/*
 * whom_read_file() - read a file of a process up to the first null byte, or as much as @text has
 * room for. @proc is a descriptor of /proc. Returns false on failure.
 */
bool whom_read_file(int proc, pid_t pid, const char *name, char *text, size_t size);

#endif /* POSIXTRACE_WHOM_H */
