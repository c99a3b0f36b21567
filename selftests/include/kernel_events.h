/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for tests of kernel events: a process that causes known ones, the kernel's own counters
 * to compare with, and an array of the events in a stream or log.
 */
#ifndef _SELFTESTS_KERNEL_EVENTS_H
#define _SELFTESTS_KERNEL_EVENTS_H

#include <posixtrace.h>
#include <stdint.h>

#include "trace_test.h"

#define CLASS_SCHED	0
#define CLASS_FAULT	1
#define CLASS_SIGNAL	2
#define CLASS_SYSCALL	3
#define CLASS_IRQ	4
#define CLASS_PROCESS	5
#define CLASS_STRINGS	6

/* Labels of sched_switch_out.reason and .state, and of sched_wakeup.by */
enum { PREEMPTED, BLOCKED, IO, ENDED };
enum { STATE_RUNNING, STATE_SLEEPING, STATE_DEAD = 5 };
enum {
	BY_ANOTHER, BY_THREAD, BY_INTERRUPT, BY_SOFTIRQ, BY_TIMER, BY_CHILD, BY_SIGNAL, BY_KERNEL
};

/* Labels of signal_generate.by and .result, signal_deliver.action and irq.kind */
enum { SENT_BY_ANOTHER, SENT_BY_THREAD, SENT_BY_KERNEL };
enum { SIGNAL_DELIVERED, SIGNAL_IGNORED, SIGNAL_PENDING };
enum { ACTION_DEFAULT, ACTION_IGNORED, ACTION_HANDLER };
enum { KIND_IRQ, KIND_SOFTIRQ, KIND_VECTOR };

/* Event data, as in the descriptions of the types. */
union kernel_data {
	int32_t tid;
	struct {
		int32_t tid, prio;
		uint8_t state, reason, pad[2];
		int32_t next_tid, next_prio;
	} out;
	struct {
		int32_t tid, prio;
		uint64_t runnable;
		int32_t prev_tid, prev_prio;
	} in;
	struct {
		int32_t tid, prio;
		uint32_t target_cpu;
		uint8_t by, new, pad[2];
		int32_t waker_pid, waker_tid;
	} wakeup;
	struct {
		int32_t tid, child_pid, child_tid;
	} fork;
	struct {
		int32_t tid;
		char filename[256];
	} exec;
	struct {
		int32_t tid, exit_code;
		uint8_t group_dead;
	} exit;
	struct {
		int32_t tid;
		char oldcomm[16], newcomm[16];
	} rename;
	struct {
		int32_t tid, sig, code;
		uint8_t by, group, result, pad;
		int32_t sender_pid, sender_tid;
	} generate;
	struct {
		int32_t tid, sig, code;
		uint8_t action, pad[3];
		uint64_t flags;
	} deliver;
	struct {
		int32_t tid;
		uint8_t user, write, exec, protection;
		uint64_t address, ip;
	} fault;
	struct {
		int32_t tid, nr;
		uint64_t args[6];
		uint8_t compat;
		char name[32];
	} call;
	struct {
		int32_t tid, nr;
		int64_t result;
		uint8_t compat, pad;
		uint16_t error;
		char name[32];
	} result;
	struct {
		int32_t tid;
		uint32_t number;
		uint64_t duration;
		uint8_t kind, nested;
		char name[32];
	} irq;
	struct {
		int32_t tid, nr;
		uint64_t address;
		uint8_t arg, state;
		char value[256];
	} text;
	struct {
		int32_t tid;
		uint64_t address, ip;
		uint32_t lock;
		int32_t owner;
		uint32_t kind;
		uint8_t operation, known, same_ids;
	} __attribute__((__packed__)) futex;
};

struct kernel_event {
	trace_event_id_t id;
	pid_t pid;
	unsigned int cpu;
	unsigned long long time;
	unsigned long long thread;
	union kernel_data data;
};

/* The event types, in the order of their ids. */
struct kernel_type {
	trace_event_id_t id;
	unsigned int class;		/* POSIXTRACE_CLASS_* */
	const char *name;
};

/* Returns the next type of the given classes after @last (NULL: the first one); NULL at the end. */
const struct kernel_type *kernel_type_next(unsigned int classes, const struct kernel_type *last);

/* All events of a stream, except system events of the standard, which are only counted. */
struct kernel_events {
	struct kernel_event *event;
	size_t count;
	unsigned int starts;
	unsigned int stops;		/* manual and automatic */
	unsigned int automatic_stops;
	unsigned int overflows;
	unsigned int errors;		/* POSIX_TRACE_ERROR */
	unsigned int late;
	unsigned long long filter;	/* time of the last POSIX_TRACE_FILTER */
	unsigned long long lost;	/* number of events lost before the last event */
};

/* Appends the available events. Returns 0 or an error number. */
int kernel_events_read(struct kernel_events *events, trace_id_t trid);
void kernel_events_free(struct kernel_events *events);
size_t kernel_events_count(const struct kernel_events *events, trace_event_id_t id);

/* Returns the number of switches from threads that blocked or ended. */
size_t kernel_events_blocked(const struct kernel_events *events);

/*
 * Counts and prints sequences of events that are impossible, such as a thread that runs on two
 * CPUs, or runs without a wake-up.
 */
int kernel_events_impossible(const struct kernel_events *events);

/*
 * Creates a stream that never becomes full in these tests; kernel_small_stream() creates a small
 * one.
 */
int kernel_stream(pid_t pid, unsigned int classes, int policy, trace_id_t *trid);
int kernel_small_stream(pid_t pid, unsigned int classes, int policy, trace_id_t *trid);

/* Like kernel_stream(), but with a log. The stream flushes automatically. */
int kernel_withlog(pid_t pid, unsigned int classes, size_t size, int log_policy, int fd,
		   trace_id_t *trid);

/* ------------------------------------------------------------------ */
/* The worker								*/

/* Tasks of the worker. n is the number that is passed to worker_do(). */
enum {
	DO_NOTHING,
	DO_EVENT,		/* records n events */
	DO_PING_PONG,		/* two threads on one CPU wake each other n times */
	DO_CHILDREN,		/* creates n children, then reports the pid and status of each */
	DO_THREAD,		/* creates a thread that renames itself and ends */
	DO_CALLS,		/* calls getppid() n times, then lseek() with the arguments below */
	DO_FAULTS,		/* causes page faults, then reports the address of the pages */
	DO_SIGNALS,		/* sends SIGUSR1 to itself n times */
	DO_SPIN,		/* computes on CPU 0 for n milliseconds */
	DO_STORM_BEGIN,		/* creates n threads, which sleep */
	DO_STORM,		/* each of these threads yields n times and sometimes sleeps */
	DO_STORM_END,		/* ends them */
};

/* The main function of a worker: reports that it runs, and then the end of each task. */
int worker(void *arg, const struct talk *talk);

/* Makes a worker execute a task, and waits for its end. Returns 0 on success. */
int worker_do(const struct child *worker, long task, long number);

/* Arguments of lseek() that no program passes by chance. */
#define CALL_FD		-77L
#define CALL_OFFSET	0x1122334455667788L
#define CALL_WHENCE	99L

/*
 * Numbers of page faults that DO_FAULTS causes. It writes to the first pages itself, and makes the
 * kernel write to the others.
 */
#define FAULTS_WRITE	20
#define FAULTS_KERNEL	10

/* Starts a task without waiting for it: the caller must receive the result. */
int worker_do_later(const struct child *worker, long task, long number);

/* Numbers of switches from the kernel's counters, summed over all threads. */
struct switches {
	unsigned long long voluntary;
	unsigned long long involuntary;
};

/* Waits until all threads of the worker sleep, then reads their counters. */
struct switches worker_switches(const struct child *worker);

#endif /* _SELFTESTS_KERNEL_EVENTS_H */
