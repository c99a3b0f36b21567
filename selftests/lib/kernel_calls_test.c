// SPDX-License-Identifier: GPL-2.0
/*
 * System calls, page faults and signals in streams that request them. The events must have the
 * right number, arguments and results. They must not reveal more about other processes than the
 * controller may know.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "credentials.h"
#include "kernel_fixture.h"
#include "parameter.h"

#define SYSCALL		POSIXTRACE_CLASS_SYSCALL
#define FAULT		POSIXTRACE_CLASS_FAULT
#define SIGNAL		POSIXTRACE_CLASS_SIGNAL

#define ROUNDS		100

/* Number of rounds that fill a small stream. */
#define MANY		40

/* Lets the worker do @task with a stream on it, and reads the events. */
static int trace_task(struct child *worker, unsigned int classes, long task, long number,
		      trace_id_t *trid, struct kernel_events *events)
{
	int err = kernel_stream(worker->pid, classes, POSIX_TRACE_UNTIL_FULL, trid);

	if (!err)
		err = posix_trace_start(*trid);
	if (!err)
		err = worker_do(worker, task, number);
	if (!err)
		err = posix_trace_stop(*trid);
	return err ? err : kernel_events_read(events, *trid);
}

/* ------------------------------------------------------------------ */
/* System calls								*/

TEST_F(kernel, number_of_system_calls_is_exact)
{
	unsigned int entries = 0, exits = 0;
	const struct kernel_event *event;

	ASSERT_EQ(0, trace_task(&self->worker, SYSCALL, DO_CALLS, ROUNDS, &self->trid,
				&self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		EXPECT_EQ(self->worker.pid, event->pid);
		EXPECT_EQ(0, event->data.call.compat && event->id == POSIXTRACE_SYSCALL_ENTRY);
		if (event->data.call.nr != SYS_getppid)
			continue;
		if (event->id == POSIXTRACE_SYSCALL_ENTRY) {
			EXPECT_STREQ("getppid", event->data.call.name);
			EXPECT_EQ(entries, exits);
			entries++;
		} else {
			EXPECT_EQ(POSIXTRACE_SYSCALL_EXIT, event->id);
			EXPECT_EQ(getpid(), event->data.result.result);
			exits++;
			EXPECT_EQ(entries, exits);
		}
	}
	EXPECT_EQ(ROUNDS, entries);
	EXPECT_EQ(ROUNDS, exits);
	EXPECT_EQ(0, self->events.lost);
}

TEST_F(kernel, arguments_and_result_are_correct)
{
	const struct kernel_event *entry = NULL, *exit = NULL;

	ASSERT_EQ(0, trace_task(&self->worker, SYSCALL, DO_CALLS, 0, &self->trid, &self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		if (self->events.event[i].data.call.nr != SYS_lseek)
			continue;
		if (self->events.event[i].id == POSIXTRACE_SYSCALL_ENTRY)
			entry = &self->events.event[i];
		else
			exit = &self->events.event[i];
	}
	ASSERT_NE(NULL, entry);
	ASSERT_NE(NULL, exit);
	EXPECT_STREQ("lseek", entry->data.call.name);
	EXPECT_EQ((uint64_t)CALL_FD, entry->data.call.args[0]);
	EXPECT_EQ(CALL_OFFSET, entry->data.call.args[1]);
	EXPECT_EQ(CALL_WHENCE, entry->data.call.args[2]);
	EXPECT_EQ(-EBADF, exit->data.result.result);
	EXPECT_EQ(EBADF, exit->data.result.error);
	EXPECT_STREQ("lseek", exit->data.result.name);
	EXPECT_LE(entry->time, exit->time);
}

/* Checks the error names that the C library knows, and one that only the kernel has. */
TEST_F(kernel, errors_have_the_names_of_the_kernel)
{
	static const struct {
		int number;
		const char *name;
	} some[] = {
		{ 0, "none" }, { EPERM, "EPERM" }, { EAGAIN, "EAGAIN" }, { EDEADLK, "EDEADLK" },
		{ E2BIG, "E2BIG" }, { ETIMEDOUT, "ETIMEDOUT" }, { EHWPOISON, "EHWPOISON" },
		{ 512, "ERESTARTSYS" },
	};
	char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	struct posixtrace_fields *fields;
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	__u8 data[20] = { 0 };
	__u16 number;
	size_t len;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SYSCALL, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posixtrace_eventid_get_description(self->trid, POSIXTRACE_SYSCALL_EXIT, text,
							sizeof(text), &len));
	ASSERT_EQ(0, posixtrace_fields_parse(text, &fields, NULL));
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		number = (__u16)some[i].number;
		memcpy(data + 18, &number, sizeof(number));
		posixtrace_fields_begin(&walk, fields, data, sizeof(data));
		while (posixtrace_fields_next(&walk, &value) == 1) {
			if (value.field->name && !strcmp(value.field->name, "error"))
				EXPECT_STREQ(some[i].name, value.label);
		}
	}
	posixtrace_fields_free(fields);
}

/* Reports if posixtrace_sysconf() omits the class syscall, and returns the error of CREATE. */
static int create_with_syscalls(void *arg, const struct talk *talk)
{
	trace_attr_t attr;
	trace_id_t trid;
	long classes;
	int err;

	(void)arg;
	if (become_user(12345))
		return 100;
	classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	say(talk, !(classes & SYSCALL));
	err = posix_trace_attr_init(&attr);
	if (!err)
		err = posixtrace_attr_setkernel(&attr, SYSCALL);
	return err ? err : posix_trace_create(0, &attr, &trid);
}

TEST_F(kernel, administrator_may_allow_system_calls_to_all_users)
{
	struct child child;

	ASSERT_EQ(0, parameter_set("kernel_classes", "syscall:user"));
	ASSERT_EQ(0, child_start(&child, create_with_syscalls, NULL));
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
	ASSERT_EQ(0, parameter_set("kernel_classes", "syscall:perfmon"));
	ASSERT_EQ(0, child_start(&child, create_with_syscalls, NULL));
	EXPECT_EQ(1, hear(&child.talk));
	EXPECT_EQ(EPERM, WEXITSTATUS(child_wait(&child)));
}

TEST_F(kernel, full_stream_counts_the_system_calls_that_it_loses)
{
	struct posixtrace_kernel_info info, all;
	trace_id_t large;

	ASSERT_EQ(0, kernel_small_stream(self->worker.pid, SYSCALL, POSIX_TRACE_UNTIL_FULL,
					 &self->trid));
	ASSERT_EQ(0, kernel_stream(self->worker.pid, SYSCALL, POSIX_TRACE_UNTIL_FULL, &large));
	/*
	 * At START, the worker is in a system call that has already begun, so no stream has its
	 * entry.
	 */
	worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_start(large));
	ASSERT_EQ(0, worker_do(&self->worker, DO_CALLS, MANY * ROUNDS));
	worker_switches(&self->worker);
	ASSERT_EQ(0, posixtrace_get_kernel_info(self->trid, &info));
	ASSERT_EQ(0, posixtrace_get_kernel_info(large, &all));
	EXPECT_LT(2 * MANY * ROUNDS, all.recorded[CLASS_SYSCALL]);
	EXPECT_EQ(0, all.dropped[CLASS_SYSCALL]);
	EXPECT_LT(0, info.recorded[CLASS_SYSCALL]);
	EXPECT_LT(0, info.dropped[CLASS_SYSCALL]);
	EXPECT_EQ(all.recorded[CLASS_SYSCALL],
		  info.recorded[CLASS_SYSCALL] + info.dropped[CLASS_SYSCALL]);
	ASSERT_EQ(0, posix_trace_shutdown(large));
}

/* ------------------------------------------------------------------ */
/* Page faults								*/

TEST_F(kernel, each_page_causes_one_page_fault)
{
	unsigned long long page = sysconf(_SC_PAGESIZE), address, at;
	unsigned int by_program = 0, by_kernel = 0;
	const struct kernel_event *event;

	if (!(posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES) & FAULT))
		SKIP(return, "this kernel has no tracepoints of page faults");
	ASSERT_EQ(0, kernel_stream(self->worker.pid, FAULT, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_FAULTS, 0));
	address = hear(&self->worker.talk);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(0, self->events.lost);
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		at = event->data.fault.address;
		if (at < address || at >= address + (FAULTS_WRITE + FAULTS_KERNEL) * page)
			continue;
		/* The pages are written one after the other. */
		EXPECT_EQ(address + (by_program + by_kernel) * page, at);
		EXPECT_TRUE(event->data.fault.write);
		EXPECT_FALSE(event->data.fault.exec);
		EXPECT_FALSE(event->data.fault.protection);
		if (event->data.fault.user) {
			EXPECT_NE(0, event->data.fault.ip);
			by_program++;
		} else {
			/* The event shows no kernel address. */
			EXPECT_EQ(0, event->data.fault.ip);
			by_kernel++;
		}
	}
	EXPECT_EQ(FAULTS_WRITE, by_program);
	EXPECT_EQ(FAULTS_KERNEL, by_kernel);
}

/* ------------------------------------------------------------------ */
/* Signals								*/

TEST_F(kernel, number_of_signals_is_exact)
{
	unsigned int generated = 0, delivered = 0;
	const struct kernel_event *event;

	ASSERT_EQ(0, trace_task(&self->worker, SIGNAL, DO_SIGNALS, ROUNDS, &self->trid,
				&self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		ASSERT_EQ(SIGUSR1, event->data.generate.sig);
		EXPECT_EQ(SI_TKILL, event->data.generate.code);
		if (event->id == POSIXTRACE_SIGNAL_GENERATE) {
			EXPECT_EQ(SENT_BY_THREAD, event->data.generate.by);
			EXPECT_EQ(self->worker.pid, event->data.generate.sender_pid);
			EXPECT_EQ(self->worker.pid, event->data.generate.sender_tid);
			EXPECT_EQ(SIGNAL_DELIVERED, event->data.generate.result);
			EXPECT_FALSE(event->data.generate.group);
			generated++;
		} else {
			EXPECT_EQ(POSIXTRACE_SIGNAL_DELIVER, event->id);
			EXPECT_EQ(ACTION_HANDLER, event->data.deliver.action);
			EXPECT_EQ(SA_RESTART, event->data.deliver.flags & SA_RESTART);
			delivered++;
		}
	}
	EXPECT_EQ(ROUNDS, generated);
	EXPECT_EQ(ROUNDS, delivered);
}

static int send_signal(void *arg, const struct talk *talk)
{
	(void)talk;
	return kill(*(pid_t *)arg, SIGUSR2) ? errno : 0;
}

/* The test is root, so it may know the sender. kernel_waker_rights_test has other senders. */
TEST_F(kernel, sender_of_another_process_is_named)
{
	unsigned int own = 0, others = 0;
	const struct kernel_event *event;
	struct child sender;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SIGNAL, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, kill(self->worker.pid, SIGUSR1));
	ASSERT_EQ(0, child_start(&sender, send_signal, &self->worker.pid));
	ASSERT_EQ(0, child_wait(&sender));
	ASSERT_EQ(0, worker_do(&self->worker, DO_NOTHING, 0));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id != POSIXTRACE_SIGNAL_GENERATE)
			continue;
		EXPECT_EQ(SI_USER, event->data.generate.code);
		EXPECT_TRUE(event->data.generate.group);
		if (event->data.generate.sig == SIGUSR1) {
			EXPECT_EQ(SENT_BY_THREAD, event->data.generate.by);
			EXPECT_EQ(getpid(), event->data.generate.sender_pid);
			own++;
		} else {
			EXPECT_EQ(SIGUSR2, event->data.generate.sig);
			EXPECT_EQ(SENT_BY_THREAD, event->data.generate.by);
			EXPECT_EQ(sender.pid, event->data.generate.sender_pid);
			EXPECT_EQ(sender.pid, event->data.generate.sender_tid);
			others++;
		}
	}
	EXPECT_EQ(1, own);
	EXPECT_EQ(1, others);
}

TEST_F(kernel, end_of_a_child_is_a_signal_of_the_child)
{
	const struct kernel_event *event;
	unsigned int ends = 0;
	long child;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SIGNAL, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_CHILDREN, 1));
	child = hear(&self->worker.talk);
	hear(&self->worker.talk);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id != POSIXTRACE_SIGNAL_GENERATE ||
		    event->data.generate.sig != SIGCHLD)
			continue;
		EXPECT_EQ(self->worker.pid, event->pid);
		EXPECT_EQ(CLD_EXITED, event->data.generate.code);
		EXPECT_EQ(SENT_BY_THREAD, event->data.generate.by);
		EXPECT_EQ(child, event->data.generate.sender_pid);
		EXPECT_EQ(child, event->data.generate.sender_tid);
		EXPECT_EQ(SIGNAL_IGNORED, event->data.generate.result);
		ends++;
	}
	EXPECT_EQ(1, ends);
}

TEST_HARNESS_MAIN
