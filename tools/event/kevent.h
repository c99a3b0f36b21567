/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel events as C structures. Logs may be forged, so do not trust any value.
 */
#ifndef POSIXTRACE_KEVENT_H
#define POSIXTRACE_KEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/source.h"

#define KEVENT_ARGS		6	/* arguments of a system call */
#define KEVENT_CALL_NAME	40	/* bytes of a system call or interrupt name */
#define KEVENT_ERROR		8	/* size of the text of an error number */
#define KEVENT_ERROR_MAX	4095	/* the largest error number of a system call */

/* Text in the data of the event; may contain any bytes. */
struct kevent_text {
	const char *at;
	size_t len;
};

/**
 * struct kevent - fields of a kernel event; 0 or "" if its type lacks the field
 *
 * Fields are named as in the descriptions: see Documentation/kernel-events.rst. Enumerations are
 * numbers in the order of their labels there. Ids of processes and threads, and numbers of
 * processors, are as in hosts.h.
 */
struct kevent {
	int64_t tid;
	int64_t prio;
	int64_t state;		/* KEVENT_STATE_*; syscall_text: KEVENT_TEXT_* */
	int64_t reason;		/* why a thread left the CPU: KEVENT_IO and others */
	int64_t next_tid;
	int64_t next_prio;
	int64_t runnable;	/* ns, as uint64_t */
	int64_t prev_tid;
	int64_t prev_prio;
	int64_t target_cpu;
	int64_t by;		/* KEVENT_BY_* */
	int64_t new;
	int64_t waker_pid;
	int64_t waker_tid;
	int64_t orig_cpu;
	int64_t dest_cpu;
	int64_t child_pid;
	int64_t child_tid;
	int64_t exit_code;
	int64_t group_dead;
	int64_t sig;
	int64_t code;
	int64_t group;
	int64_t result;		/* result of a system call; signal_generate: KEVENT_* */
	int64_t sender_pid;
	int64_t sender_tid;
	int64_t action;		/* KEVENT_DEFAULT and others */
	int64_t flags;
	int64_t user;
	int64_t write;
	int64_t exec;
	int64_t protection;
	int64_t address;
	int64_t ip;
	int64_t nr;
	int64_t compat;
	int64_t number;
	int64_t duration;	/* ns, as uint64_t */
	int64_t kind;		/* KEVENT_IRQ and others; kind of mutex of a futex_wait */
	int64_t nested;
	int64_t operation;	/* FUTEX_WAIT and others */
	int64_t known;
	int64_t same_ids;
	int64_t lock;
	int64_t owner;
	int64_t arg;
	int64_t args[KEVENT_ARGS];
	struct kevent_text name;	/* system call or interrupt; "" in exits of older logs */
	struct kevent_text value;	/* value of an argument */
	struct kevent_text filename;
	struct kevent_text oldcomm;
	struct kevent_text newcomm;
};

/* kevent.state */
enum {
	KEVENT_STATE_R, KEVENT_STATE_S, KEVENT_STATE_D, KEVENT_STATE_T, KEVENT_STATE_t,
	KEVENT_STATE_X, KEVENT_STATE_Z, KEVENT_STATE_P, KEVENT_STATE_I, KEVENT_STATES
};

/* kevent.state of a text */
enum { KEVENT_TEXT_WHOLE, KEVENT_TEXT_CUT, KEVENT_TEXT_ABSENT };

/* kevent.reason */
enum { KEVENT_PREEMPTED, KEVENT_BLOCKED, KEVENT_IO, KEVENT_ENDED };

/* kevent.by of a wake-up */
enum {
	KEVENT_BY_ANOTHER, KEVENT_BY_THREAD, KEVENT_BY_INTERRUPT, KEVENT_BY_SOFTIRQ,
	KEVENT_BY_TIMER, KEVENT_BY_CHILD, KEVENT_BY_SIGNAL, KEVENT_BY_KERNEL
};

/* kevent.action */
enum { KEVENT_DEFAULT, KEVENT_IGNORED, KEVENT_HANDLER };

/* kevent.kind */
enum { KEVENT_IRQ, KEVENT_SOFTIRQ, KEVENT_VECTOR };

/**
 * kevent_read() - decode a kernel event
 * @event: any event
 * @kevent: where to store the fields; texts are valid as long as the data of @event
 *
 * Return: true if @event is a complete kernel event whose description has all fields of the type,
 * and whose thread ids are in the valid range.
 */
bool kevent_read(const struct event *event, struct kevent *kevent);

/* kevent_is_complete() - check if kevent_read() succeeds, which is much faster for common events */
bool kevent_is_complete(const struct event *event);

/**
 * kevent_call_name() - get the name of a system call
 * @kevent: fields of a syscall_entry
 * @name: where to store the name, which may be truncated and contain any bytes; "system call N" if
 *	unknown
 */
void kevent_call_name(const struct kevent *kevent, char name[KEVENT_CALL_NAME]);

/**
 * kevent_error() - get the name of the error that a system call returned
 * @event: a syscall_exit
 * @kevent: its fields
 * @room: buffer for the number of the error, if the log does not have the name (older modules)
 *
 * Return: the name, or "none"; valid as long as @room and the description.
 */
struct kevent_text kevent_error(const struct event *event, const struct kevent *kevent,
				char room[KEVENT_ERROR]);

/* kevent_irq_kind() - get the name of the kind of an interrupt; "" if unknown */
const char *kevent_irq_kind(const struct kevent *kevent);

/**
 * kevent_irq_name() - get the name of an interrupt
 * @kevent: fields of an irq
 * @room: buffer for "vector 236" if the interrupt has no name
 *
 * Return: the name, valid as long as @room and the data of the event.
 */
struct kevent_text kevent_irq_name(const struct kevent *kevent, char room[KEVENT_CALL_NAME]);

/**
 * kevent_leaves() - check if a syscall_exit may end a system call
 * @exit: fields of the exit
 * @nr: number of the system call
 *
 * After the return from a signal handler, the number in the exit is -1, because the kernel no
 * longer knows it.
 */
static inline bool kevent_leaves(const struct kevent *exit, int64_t nr)
{
	return exit->nr == nr || exit->nr == -1;
}

#endif /* POSIXTRACE_KEVENT_H */
