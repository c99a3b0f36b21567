/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing permissions: the module parameters that control them, the sysctls from which "load"
 * derives these parameters, and the reasons why a stream was refused.
 */
#ifndef POSIXTRACE_POLICY_H
#define POSIXTRACE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* policy_read_line() - read the line of a sysfs or /proc file; "-" if it cannot be read */
const char *policy_read_line(const char *path, char *line, size_t size);

/* policy_parameter() - read a parameter of the loaded module; "-" if it cannot be read */
const char *policy_parameter(const char *name, char *value, size_t size);

/*
 * policy_trace_scope(), policy_kernel_classes() - derive the module parameters trace_scope and
 * kernel_classes from the sysctls kernel.yama.ptrace_scope and kernel.perf_event_paranoid. Return
 * NULL for the default of the module.
 */
const char *policy_trace_scope(void);
const char *policy_kernel_classes(void);

/* policy_needs_perfmon() - check if the module requires CAP_PERFMON for a class of kernel events */
bool policy_needs_perfmon(const char *name);

/*
 * policy_knows_processes() - check if /proc is mounted for our pid namespace, so that it shows the
 * process ids that we use
 */
bool policy_knows_processes(void);

/*
 * policy_complain_of_kind() - report a pid that cannot be traced: a kernel thread, a process that
 * has ended, or a thread id. Returns false for any other pid, and if the kind is unknown.
 */
bool policy_complain_of_kind(pid_t pid);

/* policy_complain_of_missing() - report a pid that the module does not know, and why if possible */
void policy_complain_of_missing(pid_t pid);

/*
 * policy_scope_refuses() - check if the module parameter trace_scope is the reason why the module
 * does not let the caller trace a process
 */
bool policy_scope_refuses(pid_t pid);

/*
 * policy_complain() - explain why the module does not let the caller trace a process (@is_child:
 * that is a child of the caller)
 */
void policy_complain(pid_t pid, bool is_child);

#endif /* POSIXTRACE_POLICY_H */
