/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing permissions: the module parameters that control them, the sysctls from which "load"
 * derives those parameters, and why a stream was refused.
 */
#ifndef POSIXTRACE_POLICY_H
#define POSIXTRACE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* policy_read_line() - read the line in a sysfs or /proc file; "-" if it cannot be read */
const char *policy_read_line(const char *path, char *line, size_t size);

/* policy_parameter() - read a parameter of the loaded module; "-" if it cannot be read */
const char *policy_parameter(const char *name, char *value, size_t size);

/*
 * policy_trace_scope(), policy_kernel_classes() - derive the parameters of these names from the
 * sysctls kernel.yama.ptrace_scope and kernel.perf_event_paranoid. They return NULL for the default
 * of the module.
 */
const char *policy_trace_scope(void);
const char *policy_kernel_classes(void);

/* policy_needs_perfmon() - check if the module requires CAP_PERFMON for the class */
bool policy_needs_perfmon(const char *name);

/*
 * policy_knows_processes() - check if /proc shows processes by their ids in our pid namespace, and
 * is not mounted for another one
 */
bool policy_knows_processes(void);

/*
 * policy_complain_of_kind() - report a pid that cannot be traced: a kernel thread, a process that
 * has ended, or a thread id. Returns false for any other pid, and if its kind is not known.
 */
bool policy_complain_of_kind(pid_t pid);

/*
 * policy_complain() - explain why the module does not let the caller trace a process or its child
 */
void policy_complain(pid_t pid, bool is_child);

#endif /* POSIXTRACE_POLICY_H */
