// SPDX-License-Identifier: GPL-2.0
/*
 * Finds processes by reading /proc: see whom.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/scan.h"
#include "session/session.h"
#include "session/whom.h"
#include "util/message.h"

#define CGROUPS	"/sys/fs/cgroup"

/* ------------------------------------------------------------------ */
/* Conditions								*/

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Adds a condition. Takes ownership of @rule.text. */
static int add_rule(struct whom *whom, struct whom_rule rule)
{
	struct whom_rule *more = reallocarray(whom->rules, whom->nr_rules + 1, sizeof(*more));

	if (!more) {
		free(rule.text);
		return -ENOMEM;
	}
	whom->rules = more;
	more[whom->nr_rules++] = rule;
	return 0;
}

int whom_add_pid(struct whom *whom, pid_t pid)
{
	return add_rule(whom, (struct whom_rule){ .kind = WHOM_PID, .pid = pid });
}

static int add_pid_or_name(struct whom *whom, const char *option, const char *text)
{
	struct whom_rule rule = { .kind = WHOM_NAME };
	unsigned long pid;
	int err;

	if (is_number(text)) {
		err = option_number(option, text, 1, SESSION_PID_MAX, &pid);
		return err ? err : whom_add_pid(whom, (pid_t)pid);
	}
	rule.text = strdup(text);
	return rule.text ? add_rule(whom, rule) : -ENOMEM;
}

int whom_add_pids(struct whom *whom, const char *option, const char *list)
{
	char *copy = strdup(list), *rest = copy, *text;
	int err = copy ? 0 : -ENOMEM;

	while (!err && rest) {
		text = strsep(&rest, ",");
		if (*text) {
			err = add_pid_or_name(whom, option, text);
		} else {
			tell("%s: an empty name (got \"%s\")", option, list);
			err = -EINVAL;
		}
	}
	free(copy);
	return err;
}

int whom_add_user(struct whom *whom, const char *option, const char *text)
{
	const struct passwd *user = getpwnam(text);
	struct whom_rule rule = { .kind = WHOM_USER };
	unsigned long uid;

	if (user) {
		rule.uid = user->pw_uid;
	} else if (is_number(text)) {
		if (option_number(option, text, 0, UINT_MAX - 1, &uid))
			return -EINVAL;
		rule.uid = (uid_t)uid;
	} else {
		tell("%s: no such user (got \"%s\"): give a user name or a user id",
		     option, text);
		return -EINVAL;
	}
	rule.text = strdup(text);
	return rule.text ? add_rule(whom, rule) : -ENOMEM;
}

bool whom_read_file(int proc, pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* Reads the path of the control group of a process, in the unified hierarchy. */
static bool read_cgroup(int proc, pid_t pid, char *path, size_t size)
{
	char *line;

	if (!whom_read_file(proc, pid, "cgroup", path, size))
		return false;
	for (line = path; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		memmove(path, line + 3, strlen(line + 3) + 1);
		return true;
	}
	return false;
}

static int cgroup_of_pid(const char *option, const char *text, char *path, size_t size)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned long pid;
	bool known;

	if (proc < 0)
		return -errno;
	if (option_number(option, text, 1, SESSION_PID_MAX, &pid)) {
		close(proc);
		return -EINVAL;
	}
	known = read_cgroup(proc, (pid_t)pid, path, size);
	close(proc);
	if (known)
		return 0;
	tell("%s: process %lu has no control group of version 2: use --pid", option, pid);
	return -ESRCH;
}

int whom_add_cgroup(struct whom *whom, const char *option, const char *text)
{
	struct whom_rule rule = { .kind = WHOM_CGROUP };
	char path[PATH_MAX];
	size_t len;
	int err;

	if (is_number(text)) {
		err = cgroup_of_pid(option, text, path, sizeof(path));
		if (err)
			return err;
	} else {
		if (!strncmp(text, CGROUPS "/", strlen(CGROUPS "/")))
			text += strlen(CGROUPS);
		snprintf(path, sizeof(path), "%s%s", *text == '/' ? "" : "/", text);
	}
	for (len = strlen(path); len && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	rule.text = strdup(path);
	return rule.text ? add_rule(whom, rule) : -ENOMEM;
}

/* ------------------------------------------------------------------ */
/* Processes								*/

bool whom_has_name(int proc, pid_t pid, const char *name)
{
	char text[PATH_MAX], path[64];
	ssize_t len;

	if (whom_read_file(proc, pid, "comm", text, sizeof(text))) {
		text[strcspn(text, "\n")] = '\0';
		if (!strcmp(text, name))
			return true;
	}
	snprintf(path, sizeof(path), "%d/exe", (int)pid);
	len = readlinkat(proc, path, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return !strcmp(basename(text), name);
}

static bool is_of_user(int proc, pid_t pid, uid_t uid)
{
	struct stat stat;
	char path[32];

	snprintf(path, sizeof(path), "%d/task", (int)pid);
	return !fstatat(proc, path, &stat, 0) && stat.st_uid == uid;
}

static bool is_in_cgroup(int proc, pid_t pid, const char *group)
{
	const size_t len = strlen(group);
	char path[PATH_MAX];

	return read_cgroup(proc, pid, path, sizeof(path)) && !strncmp(path, group, len) &&
	       (!path[len] || path[len] == '/');
}

static bool matches(const struct whom_rule *rule, int proc, pid_t pid)
{
	switch (rule->kind) {
	case WHOM_PID:
		return pid == rule->pid;
	case WHOM_NAME:
		return whom_has_name(proc, pid, rule->text);
	case WHOM_USER:
		return is_of_user(proc, pid, rule->uid);
	default:
		return is_in_cgroup(proc, pid, rule->text);
	}
}

static struct whom_process *find(const struct whom *whom, pid_t pid)
{
	for (size_t i = 0; i < whom->nr_processes; i++) {
		if (whom->processes[i].pid == pid)
			return &whom->processes[i];
	}
	return NULL;
}

/* Returns the parent of a process; 0 for kernel threads, zombies and processes that have ended. */
static pid_t parent_of(int proc, pid_t pid)
{
	char text[1024], state;
	const char *end;
	int parent;
	unsigned int flags;

	if (!whom_read_file(proc, pid, "stat", text, sizeof(text)))
		return 0;
	/* The program name is in parentheses and may contain any characters. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %*d %*d %*d %*d %u", &state, &parent, &flags) != 3)
		return 0;
	/* PF_KTHREAD */
	if (state == 'Z' || state == 'X' || flags & 0x00200000)
		return 0;
	return parent ? parent : 1;
}

static int select_process(struct whom *whom, pid_t pid, bool named)
{
	struct whom_process *more;

	more = reallocarray(whom->processes, whom->nr_processes + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	whom->processes = more;
	more[whom->nr_processes++] = (struct whom_process){ .pid = pid, .named = named };
	return 0;
}

static int look_at(struct whom *whom, int proc, pid_t pid)
{
	pid_t parent = find(whom, pid) || pid == getpid() ? 0 : parent_of(proc, pid);

	if (!parent)
		return 0;
	for (size_t i = 0; i < whom->nr_rules; i++) {
		if (whom->rules[i].kind != WHOM_PID && matches(&whom->rules[i], proc, pid))
			return select_process(whom, pid, false);
	}
	return whom->children && find(whom, parent) ? select_process(whom, pid, false) : 0;
}

static int look_at_all(struct whom *whom)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (is_number(entry->d_name))
			err = look_at(whom, dirfd(dir), (pid_t)strtol(entry->d_name, NULL, 10));
	}
	closedir(dir);
	return err;
}

/*
 * Finds all processes that match. /proc may list a child before its parent, so repeat the search
 * until no new process is found.
 */
static int look(struct whom *whom)
{
	bool by_pid = !whom->children;
	size_t before;
	int err = 0;

	for (size_t i = 0; i < whom->nr_rules; i++)
		by_pid &= whom->rules[i].kind == WHOM_PID;
	if (by_pid)
		return 0;
	do {
		before = whom->nr_processes;
		err = look_at_all(whom);
	} while (!err && whom->nr_processes > before);
	return err;
}

static int complain_of_rule(const struct whom_rule *rule)
{
	static const struct {
		const char *what, *advice;
	} kinds[] = {
		[WHOM_NAME] = { "with the name", "--wait=NAME waits until one starts" },
		[WHOM_USER] = {
			"of the user", "start one first, or trace its parent with --inherit",
		},
		[WHOM_CGROUP] = {
			"in the control group", "/proc/PID/cgroup names the group of a process",
		},
	};

	tell("no process %s \"%s\": %s", kinds[rule->kind].what, *rule->text ? rule->text : "/",
	     kinds[rule->kind].advice);
	return -ESRCH;
}

/*
 * Checks that each condition selects a process. For ids this is not needed: the kernel rejects
 * wrong ids when the stream is created.
 */
static int check_rules(const struct whom *whom, int proc)
{
	for (size_t i = 0; i < whom->nr_rules; i++) {
		const struct whom_rule *rule = &whom->rules[i];
		bool found = rule->kind == WHOM_PID;

		for (size_t j = 0; !found && j < whom->nr_processes; j++)
			found = matches(rule, proc, whom->processes[j].pid);
		if (!found)
			return complain_of_rule(rule);
	}
	return 0;
}

/*
 * Moves a process that is linked with the library to the front, because it may have event types:
 * the stream gets the type table of its first process.
 */
static void begin_with_types(struct whom *whom)
{
	struct scan found;
	int err;

	if (whom->nr_processes < 2)
		return;
	err = scan(&found);
	for (size_t i = 0; !err && i < found.nr_programs; i++) {
		struct whom_process *process = find(whom, found.programs[i].pid), first;

		if (!process)
			continue;
		first = *process;
		*process = whom->processes[0];
		whom->processes[0] = first;
		break;
	}
	scan_free(&found);
}

int whom_find(struct whom *whom)
{
	int err = 0, proc;

	for (size_t i = 0; !err && i < whom->nr_rules; i++) {
		if (whom->rules[i].kind == WHOM_PID && !find(whom, whom->rules[i].pid))
			err = select_process(whom, whom->rules[i].pid, true);
	}
	if (!err)
		err = look(whom);
	if (err)
		return err;
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = proc < 0 ? -errno : check_rules(whom, proc);
	if (proc >= 0)
		close(proc);
	if (!err)
		begin_with_types(whom);
	return err;
}

static const struct whom_process *next_unseen(struct whom *whom)
{
	for (size_t i = 0; i < whom->nr_processes; i++) {
		if (whom->processes[i].seen)
			continue;
		whom->processes[i].seen = true;
		return &whom->processes[i];
	}
	return NULL;
}

const struct whom_process *whom_next(struct whom *whom)
{
	const struct whom_process *process = next_unseen(whom);

	return process || look(whom) ? process : next_unseen(whom);
}

void whom_free(struct whom *whom)
{
	for (size_t i = 0; i < whom->nr_rules; i++)
		free(whom->rules[i].text);
	free(whom->rules);
	free(whom->processes);
}
