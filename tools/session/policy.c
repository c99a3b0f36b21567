// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing permissions: see policy.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/module.h"
#include "session/policy.h"
#include "util/message.h"

#define DEVICE		"/dev/posixtrace"
#define SYSCTL		"/proc/sys/kernel/"

/* The kernel thread flag in /proc/PID/stat, see include/linux/sched.h. */
#define PF_KTHREAD	0x200000UL

const char *policy_read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	snprintf(line, size, "-");
	if (file) {
		if (fgets(line, size, file))
			line[strcspn(line, "\n")] = '\0';
		fclose(file);
	}
	return line;
}

const char *policy_parameter(const char *name, char *value, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/" MODULE_NAME "/parameters/%s", name);
	return policy_read_line(path, value, size);
}

/* ------------------------------------------------------------------ */
/* From the sysctls							*/

static bool read_sysctl(const char *path, long *value)
{
	char line[32], *end;

	policy_read_line(path, line, sizeof(line));
	*value = strtol(line, &end, 10);
	return end != line && !*end;
}

const char *policy_trace_scope(void)
{
	/*
	 * Names of the values, which the sysctl and the parameter share. Larger values should
	 * be stricter, so treat them as 3.
	 */
	static const char *const scopes[] = { "0", "1", "2", "3" };
	long value;

	if (!read_sysctl(SYSCTL "yama/ptrace_scope", &value) || value < 0)
		return NULL;
	return scopes[value < 3 ? value : 3];
}

const char *policy_kernel_classes(void)
{
	long value;

	/* Only -1 lets all users trace the whole system. */
	if (!read_sysctl(SYSCTL "perf_event_paranoid", &value) || value >= 0)
		return NULL;
	return "irq:user,strings:user,syscall:user";
}

/* ------------------------------------------------------------------ */
/* Refusals								*/

bool policy_needs_perfmon(const char *name)
{
	char value[256], *rest = value, *class;
	size_t len = strlen(name);

	policy_parameter("kernel_classes", value, sizeof(value));
	while ((class = strsep(&rest, ","))) {
		if (!strncmp(class, name, len) && !strcmp(class + len, ":perfmon"))
			return true;
	}
	return false;
}

/* Explains why a trace scope refuses a process that the caller may signal. NULL if it does not. */
static const char *refusal_of(const char *scope, bool is_child)
{
	if (!strcmp(scope, "1") && !is_child)
		return "allows only descendants of the caller";
	if (!strcmp(scope, "2"))
		return "requires CAP_SYS_PTRACE";
	if (!strcmp(scope, "3"))
		return "lets a process trace only itself";
	return NULL;
}

/* Returns why the scope refuses the process, or NULL if it is not the reason. */
static const char *scope_refusal(pid_t pid, bool is_child, char *scope, size_t size)
{
	const char *refusal;

	policy_parameter("trace_scope", scope, size);
	refusal = refusal_of(scope, is_child);
	return refusal && strcmp(scope, "3") && kill(pid, 0) ? NULL : refusal;
}

bool policy_scope_refuses(pid_t pid)
{
	char scope[16];

	return scope_refusal(pid, false, scope, sizeof(scope));
}

/* Reports that the trace scope refuses the process. Returns false if it was not the reason. */
static bool complain_of_scope(pid_t pid, bool is_child)
{
	char scope[16];
	const char *refusal = scope_refusal(pid, is_child, scope, sizeof(scope));

	if (!refusal)
		return false;
	tell("process %d: module parameter trace_scope=%s %s", pid, scope, refusal);
	if (!strcmp(scope, "1"))
		tell("start the program with this command, or trace it as root (CAP_SYS_PTRACE)");
	return true;
}

bool policy_knows_processes(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	bool found = false, ours = false;
	char *line = NULL;
	size_t room = 0;
	int more;

	while (file && !found && getline(&line, &room, file) >= 0) {
		found = !strncmp(line, "NSpid:", 6);
		/* A kernel without pid namespaces has no NSpid line. */
		ours = !found || sscanf(line, "NSpid: %*d %d", &more) != 1;
	}
	free(line);
	if (file)
		fclose(file);
	return ours;
}

/* Reads the state and flags of a process or thread. */
static bool read_kind(pid_t pid, char *state, unsigned long *flags)
{
	char path[32], line[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	policy_read_line(path, line, sizeof(line));
	/* The program name is in parentheses and may contain any characters. */
	end = strrchr(line, ')');
	return end && sscanf(end, ") %c %*d %*d %*d %*d %*d %lu", state, flags) == 2;
}

/* Returns the process of a thread; 0 if unknown. */
static pid_t process_of(pid_t tid)
{
	char path[32], line[128];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	file = fopen(path, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	if (file)
		fclose(file);
	return pid;
}

bool policy_complain_of_kind(pid_t pid)
{
	pid_t process = policy_knows_processes() ? process_of(pid) : 0;
	unsigned long flags;
	char state;

	if (!process || !read_kind(pid, &state, &flags))
		return false;
	if (flags & PF_KTHREAD)
		tell("process %d: a kernel thread, which cannot be traced: use the id of a program",
		     pid);
	else if (process != pid)
		tell("process %d: a thread of process %d: trace that process", pid, process);
	else if (state == 'Z' || state == 'X')
		tell("process %d: has already ended: see --wait in posixtrace-record(1)", pid);
	else
		return false;
	return true;
}

void policy_complain_of_missing(pid_t pid)
{
	if (!policy_complain_of_kind(pid))
		tell("process %d: no such process: see --pid and --wait in posixtrace-record(1)",
		     pid);
}

void policy_complain(pid_t pid, bool is_child)
{
	char mode[16];

	if (access(DEVICE, R_OK | W_OK))
		tell("no permission to open " DEVICE ": module parameter device_mode=%s",
		     policy_parameter("device_mode", mode, sizeof(mode)));
	else if (!complain_of_scope(pid, is_child))
		tell("process %d: no permission to trace it", pid);
	tell("see \"Permissions\" in posixtrace(4)");
}
