/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the kernel's process connector: a process has executed a program, or has changed its
 * name. Up to Linux 6.5 this needs CAP_NET_ADMIN; always the initial namespaces of processes, users
 * and networks, and a kernel with CONFIG_PROC_EVENTS.
 */
#ifndef POSIXTRACE_EXEC_EVENTS_H
#define POSIXTRACE_EXEC_EVENTS_H

#include <sys/types.h>

struct exec_event {
	pid_t pid;
	enum { EXEC_EVENT_EXEC, EXEC_EVENT_NAME } kind;
};

/*
 * exec_events_open() - ask the kernel for events. Returns a descriptor to poll for input, or a
 * negative error number if there are none for this process. Call exec_events_close() afterwards.
 */
int exec_events_open(void);

/*
 * exec_events_next() - read an event. Returns 1 if there was one, 0 if there is none; -ENOBUFS if
 * events were lost; another negative error number.
 */
int exec_events_next(int fd, struct exec_event *event);

/* exec_events_close() - end the events */
void exec_events_close(int fd);

#endif /* POSIXTRACE_EXEC_EVENTS_H */
