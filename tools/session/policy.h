/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may trace whom: the module's parameters that say so, the sysctls that they are derived from
 * when the module is loaded, and which of them refused a stream.
 */
#ifndef POSIXTRACE_POLICY_H
#define POSIXTRACE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* policy_read_line() - read a file of sysfs or /proc, without its newline; "-" if there is none */
const char *policy_read_line(const char *path, char *line, size_t size);

/* policy_parameter() - read a parameter of the loaded module; "-" if it cannot be read */
const char *policy_parameter(const char *name, char *value, size_t size);

/*
 * policy_trace_scope(), policy_kernel_classes() - derive the parameters of these names from the
 * sysctls kernel.yama.ptrace_scope and kernel.perf_event_paranoid. Return NULL for the default of
 * the module.
 */
const char *policy_trace_scope(void);
const char *policy_kernel_classes(void);

/* policy_needs_perfmon() - does the module allow the class only with CAP_PERFMON? */
bool policy_needs_perfmon(const char *name);

/*
 * policy_complain_of_kind() - say that a number is no process that can be traced: one of the
 * kernel, one that has ended, or a thread. Returns false if it is none of these.
 */
bool policy_complain_of_kind(pid_t pid);

/* policy_complain() - say why the module does not let the caller trace a process, or its child */
void policy_complain(pid_t pid, bool is_child);

#endif /* POSIXTRACE_POLICY_H */
