// SPDX-License-Identifier: GPL-2.0
/*
 * Writes kernel events as ftrace events: see perfetto_ftrace.h. The idle thread stands for all
 * threads that are not traced, because Perfetto does not show the idle thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/snapshot.h"
#include "analyze/switches.h"
#include "analyze/waker.h"
#include "event/event_names.h"
#include "event/hosts.h"
#include "export/perfetto_args.h"
#include "export/perfetto_bundles.h"
#include "export/perfetto_ftrace.h"
#include "export/perfetto_packets.h"
#include "export/proto.h"
#include "util/threads.h"

#define FORKS		1024	/* slots for births; a power of two */
#define IDS_MAX		(1 << 20)	/* limit of thread ids; large enough for most systems */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define PACKET_CLOCK_SNAPSHOT		6

#define SNAPSHOT_CLOCKS			1
#define CLOCK_CLOCK_ID			1
#define CLOCK_TIMESTAMP			2

#define EVENT_COMMON_FLAGS		5
#define EVENT_SCHED_BLOCKED_REASON	18
#define EVENT_SCHED_WAKING		20
#define EVENT_TASK_NEWTASK		235
#define EVENT_TASK_RENAME		236
#define EVENT_SCHED_PROCESS_EXEC	237
#define EVENT_SCHED_PROCESS_EXIT	238
#define EVENT_SCHED_PROCESS_FREE	240
#define EVENT_SCHED_MIGRATE_TASK	491

#define BLOCKED_PID			1
#define BLOCKED_CALLER			2
#define BLOCKED_IO_WAIT			3

#define WAKING_COMM			1
#define WAKING_PID			2
#define WAKING_PRIO			3
#define WAKING_TARGET_CPU		5

#define MIGRATE_COMM			1
#define MIGRATE_PID			2
#define MIGRATE_PRIO			3
#define MIGRATE_ORIG_CPU		4
#define MIGRATE_DEST_CPU		5

#define NEWTASK_PID			1
#define NEWTASK_COMM			2
#define NEWTASK_CLONE_FLAGS		3

#define RENAME_PID			1
#define RENAME_OLDCOMM			2
#define RENAME_NEWCOMM			3

#define EXEC_FILENAME			1
#define EXEC_PID			2
#define EXEC_OLD_PID			3

#define EXIT_COMM			1
#define EXIT_PID			2
#define EXIT_TGID			3

#define FREE_PID			2

/* Values. */
#define CLOCK_ID_REALTIME	1
#define HAS_CLONE_THREAD	0x10000
#define IN_INTERRUPT		0x08	/* TRACE_FLAG_HARDIRQ */
#define IN_SOFTIRQ		0x10	/* TRACE_FLAG_SOFTIRQ */
#define SINCE			(1ULL << 34)	/* ns */

/* Stands for an unknown waker; not a valid thread id. */
#define ANOTHER_TID	INT32_MAX
#define ANOTHER_NAME	"another"

struct fork {
	pid_t child_pid;
	pid_t child_tid;
	pid_t parent_pid;
	pid_t parent_tid;
	uint64_t time;
	uint32_t cpu;
};

/* When, where and by whom a thread is woken. */
struct wakeup {
	uint64_t time;		/* 0: none */
	struct waker by;
	int64_t target_cpu;
};

/*
 * The last thread that had a certain kernel id. @number identifies the thread; 0 means that the id
 * is free. The owner of a main thread also represents its process: @first begins the list of the
 * process's other threads. @first, @of, @next and @previous are indices in perfetto_ftrace.owners,
 * plus 1, or 0.
 */
struct owner {
	uint32_t number;
	pid_t pid;
	pid_t tid;
	uint32_t first;
	uint32_t of;		/* main thread whose list has this thread; 0: none */
	uint32_t next;		/* next thread in that list */
	uint32_t previous;
	bool ended;
	uint64_t time;		/* time of its last event */
	uint32_t cpu;
	uint64_t left;		/* when it left its CPU blocked, without a wake-up since; or 0 */
	struct wakeup early;	/* the last one while it had not left its CPU */
};

struct perfetto_ftrace {
	struct switches *switches;
	struct fork forks[FORKS];	/* index: a hash of child_tid */
	struct threads *ids;		/* thread id -> index in @owners, plus one */
	struct owner *owners;
	size_t nr_owners;		/* number of allocated owners */
	bool has_another;		/* a thread with ANOTHER_NAME was written */
	bool begun;			/* the packets that precede the first bundle were written */
	struct bundles *bundles;
	unsigned int hosts;		/* number of hosts: see hosts.h */
	int64_t shift;			/* what is added to all times */
	struct buffer *to;		/* where to append the fields of the current event */
	struct buffer packets;
};

/* ------------------------------------------------------------------ */
/* Packets								*/

/*
 * Declares the clock of the ftrace events. Perfetto would take their times for CLOCK_BOOTTIME,
 * which a log may lack. The clock starts some time before the event, because others may be older.
 */
static void put_clock(struct perfetto_ftrace *ftrace, uint64_t time)
{
	struct buffer *to = &ftrace->packets;
	const uint64_t since = time > SINCE ? time - SINCE : 0;
	size_t packet = sequences_packet(SEQUENCES_NOW, to);
	size_t snapshot = proto_begin(to, PACKET_CLOCK_SNAPSHOT), clock;

	clock = proto_begin(to, SNAPSHOT_CLOCKS);
	proto_number(to, CLOCK_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_number(to, CLOCK_TIMESTAMP, since + (uint64_t)ftrace->shift);
	proto_end(to, clock);
	clock = proto_begin(to, SNAPSHOT_CLOCKS);
	proto_number(to, CLOCK_CLOCK_ID, SEQUENCES_FTRACE_CLOCK);
	proto_number(to, CLOCK_TIMESTAMP, 0);
	proto_end(to, clock);
	proto_end(to, snapshot);
	proto_end(to, packet);
	bundles_since(ftrace->bundles, since);
}

/* Writes the packets that Perfetto needs before the first event. */
static void begin(struct perfetto_ftrace *ftrace, const struct event *event)
{
	if (!ftrace->begun)
		put_clock(ftrace, event->time);
	ftrace->begun = true;
}

/* Begins an event. End it with end_event(). */
static void begin_event(struct perfetto_ftrace *ftrace, uint32_t cpu, uint64_t time, pid_t tid,
			unsigned int type)
{
	ftrace->to = bundles_begin(ftrace->bundles, cpu, time, tid, type);
}

static void end_event(struct perfetto_ftrace *ftrace)
{
	bundles_end_fields(ftrace->bundles);
	bundles_end(ftrace->bundles);
}

static void put_comm(struct perfetto_ftrace *ftrace, unsigned int field, const char *comm)
{
	if (comm[0])
		perfetto_text(ftrace->to, field, comm, strlen(comm));
}

/* Adds the name of the event's thread at the time of the event. */
static void put_name(struct perfetto_ftrace *ftrace, unsigned int field, const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	if (event_thread_name(event, name))
		put_comm(ftrace, field, name);
}

/* Writes the name of a process: Perfetto uses the initial name of the main thread. */
static void put_process_name(struct perfetto_ftrace *ftrace, unsigned int field,
			     const struct event *event)
{
	char label[LABEL_SIZE];

	event_process_label(event, label);
	put_comm(ftrace, field, label);
}

/* Adds a number that the schema declares as int32. */
static void put_int(struct perfetto_ftrace *ftrace, unsigned int field, int64_t value)
{
	proto_number(ftrace->to, field, (uint64_t)(int64_t)(int32_t)value);
}

/* Adds the id of a process or thread. */
static void put_id(struct perfetto_ftrace *ftrace, unsigned int field, int64_t id)
{
	put_int(ftrace, field, bundles_plain_id(ftrace->bundles, (pid_t)id));
}

static void put_cpu(struct perfetto_ftrace *ftrace, unsigned int field, int64_t cpu)
{
	put_int(ftrace, field, hosts_plain_cpu(ftrace->hosts, (uint32_t)cpu));
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void put_switch(void *arg, uint32_t cpu, uint64_t time, const struct running *prev,
		       int state, const struct running *next)
{
	struct perfetto_ftrace *ftrace = arg;

	bundles_switch(ftrace->bundles, cpu, time, prev, state, next);
}

static void put_blocked_reason(struct perfetto_ftrace *ftrace, const struct event *event,
			       pid_t tid, bool io, uint32_t caller)
{
	begin_event(ftrace, event->cpu, event->time, tid, EVENT_SCHED_BLOCKED_REASON);
	put_id(ftrace, BLOCKED_PID, tid);
	if (caller)
		proto_number(ftrace->to, BLOCKED_CALLER, caller);
	put_int(ftrace, BLOCKED_IO_WAIT, io);
	end_event(ftrace);
}

/* Finds the last owner of a thread id; NULL if out of memory or with too many ids. */
static struct owner *find_owner(struct perfetto_ftrace *ftrace, pid_t tid)
{
	size_t room = ftrace->nr_owners ? 2 * ftrace->nr_owners : 64;
	struct owner *owners;
	uint32_t index;
	int ret = threads_find(ftrace->ids, 0, (uint32_t)tid, &index);

	if (ret < 0 || index == THREADS_OTHERS)
		return NULL;
	if (index > ftrace->nr_owners) {
		owners = reallocarray(ftrace->owners, room, sizeof(*owners));
		if (!owners)
			return NULL;
		memset(owners + ftrace->nr_owners, 0,
		       (room - ftrace->nr_owners) * sizeof(*owners));
		ftrace->owners = owners;
		ftrace->nr_owners = room;
	}
	ftrace->owners[index - 1].tid = tid;
	return &ftrace->owners[index - 1];
}

static struct owner *owner_at(const struct perfetto_ftrace *ftrace, uint32_t place)
{
	return place ? &ftrace->owners[place - 1] : NULL;
}

static uint32_t place_of(const struct perfetto_ftrace *ftrace, const struct owner *owner)
{
	return (uint32_t)(owner - ftrace->owners) + 1;
}

static void leave_process(struct perfetto_ftrace *ftrace, struct owner *owner)
{
	struct owner *previous = owner_at(ftrace, owner->previous);
	struct owner *next = owner_at(ftrace, owner->next);

	if (!owner->of)
		return;
	if (previous)
		previous->next = owner->next;
	else
		owner_at(ftrace, owner->of)->first = owner->next;
	if (next)
		next->previous = owner->previous;
	owner->of = 0;
}

/* Adds a thread that is not the main thread to the process of @main. */
static void join_process(struct perfetto_ftrace *ftrace, struct owner *owner, struct owner *main)
{
	struct owner *next = owner_at(ftrace, main->first);

	leave_process(ftrace, owner);
	owner->of = place_of(ftrace, main);
	owner->previous = 0;
	owner->next = main->first;
	main->first = place_of(ftrace, owner);
	if (next)
		next->previous = main->first;
}

/*
 * Frees a thread id, after the last event of the thread. An ended thread still wakes its parent. If
 * the id had already been freed, Perfetto would attribute the wake-up to a new thread. Perfetto
 * sorts events by time.
 */
static void put_free(struct perfetto_ftrace *ftrace, struct owner *owner)
{
	/* With the same time, this event could be sorted before the last event of the thread. */
	begin_event(ftrace, owner->cpu, owner->time + 1, owner->tid, EVENT_SCHED_PROCESS_FREE);
	put_id(ftrace, FREE_PID, owner->tid);
	end_event(ftrace);
	leave_process(ftrace, owner);
	owner->number = 0;
	owner->ended = false;
	owner->left = 0;
	owner->early.time = 0;
}

/* Frees a process, after its threads: Perfetto forgets the threads of a freed process. */
static void put_free_process(struct perfetto_ftrace *ftrace, struct owner *main)
{
	while (main->first)
		put_free(ftrace, owner_at(ftrace, main->first));
	put_free(ftrace, main);
}

/*
 * Updates the owner of a thread id from an event. If a different thread had the id, frees the old
 * one.
 */
static int see_owner(struct perfetto_ftrace *ftrace, const struct event *event, pid_t tid,
		     uint32_t number)
{
	struct owner *owner = find_owner(ftrace, tid);

	if (!owner)
		return -ENOMEM;
	if (owner->number && owner->number != number) {
		begin(ftrace, event);
		if (tid == owner->pid)
			put_free_process(ftrace, owner);
		else
			put_free(ftrace, owner);
	}
	if (!owner->number || owner->time <= event->time) {
		owner->time = event->time;
		owner->cpu = event->cpu;
	}
	if (owner->pid != event->pid)
		leave_process(ftrace, owner);
	owner->number = number;
	owner->pid = event->pid;
	return 0;
}

static int see_owners(struct perfetto_ftrace *ftrace, const struct event *event, pid_t tid,
		      uint32_t number)
{
	struct owner *owner, *main;
	int err = 0;

	if (event->pid > 0)
		err = see_owner(ftrace, event, event->pid, event->process_life + 1);
	if (err || tid <= 0 || tid == event->pid)
		return err;
	err = see_owner(ftrace, event, tid, number);
	if (err || event->pid <= 0)
		return err;
	/* These calls do not move the array, because both owners already exist. */
	owner = find_owner(ftrace, tid);
	main = find_owner(ftrace, event->pid);
	if (!owner->of)
		join_process(ftrace, owner, main);
	return 0;
}

/* Frees all ended owners, threads before their processes. */
static void put_all_free(struct perfetto_ftrace *ftrace)
{
	for (int mains = 0; mains < 2; mains++) {
		for (size_t i = 0; i < ftrace->nr_owners; i++) {
			struct owner *owner = &ftrace->owners[i];
			bool is_main = owner->tid == owner->pid;

			if (owner->ended && is_main == mains)
				put_free(ftrace, owner);
		}
	}
}

static void note_end(struct perfetto_ftrace *ftrace, pid_t tid)
{
	struct owner *owner = find_owner(ftrace, tid);

	if (owner && owner->number)
		owner->ended = true;
}

static void note_waker(struct perfetto_ftrace *ftrace, const struct event *event, pid_t waker)
{
	struct owner *owner = waker > 0 && waker != ANOTHER_TID ? find_owner(ftrace, waker) : NULL;

	if (!owner || !owner->number || owner->time > event->time)
		return;
	owner->time = event->time;
	owner->cpu = event->cpu;
}

/* Writes that the thread of the event becomes runnable. */
static void put_waking(struct perfetto_ftrace *ftrace, const struct event *event,
		       const struct kevent *kevent, const struct wakeup *wakeup)
{
	const struct waker *by = &wakeup->by;
	unsigned int context = 0;
	pid_t waker = ANOTHER_TID;

	if (by->kind == WAKER_SOFTIRQ)
		context = IN_SOFTIRQ;
	if (by->kind == WAKER_INTERRUPT || by->kind == WAKER_TIMER)
		context = IN_INTERRUPT;
	if (context)
		waker = 0;
	if (by->tid)
		waker = by->tid;
	note_waker(ftrace, event, waker);
	if (waker == ANOTHER_TID && !ftrace->has_another) {
		begin_event(ftrace, event->cpu, wakeup->time, waker, EVENT_TASK_RENAME);
		put_id(ftrace, RENAME_PID, waker);
		put_comm(ftrace, RENAME_NEWCOMM, ANOTHER_NAME);
		end_event(ftrace);
		ftrace->has_another = true;
	}
	begin_event(ftrace, event->cpu, wakeup->time, waker, EVENT_SCHED_WAKING);
	put_name(ftrace, WAKING_COMM, event);
	put_id(ftrace, WAKING_PID, kevent->tid);
	put_int(ftrace, WAKING_PRIO, kevent->prio);
	put_cpu(ftrace, WAKING_TARGET_CPU, wakeup->target_cpu);
	bundles_end_fields(ftrace->bundles);
	if (context)
		proto_number(ftrace->to, EVENT_COMMON_FLAGS, context);
	bundles_end(ftrace->bundles);
}

static void wake(struct perfetto_ftrace *ftrace, const struct event *event,
		 const struct kevent *kevent)
{
	const struct wakeup wakeup = { event->time, waker_of(kevent), kevent->target_cpu };
	struct owner *owner = find_owner(ftrace, (pid_t)kevent->tid);

	if (owner && owner->left)
		owner->left = 0;
	else if (owner)
		owner->early = wakeup;
	put_waking(ftrace, event, kevent, &wakeup);
}

/*
 * Writes the wake-up that Perfetto needs between a blocked thread's switches. It does not look at
 * those before the first switch, and some are not recorded, for example by a filter.
 */
static void put_early_waking(struct perfetto_ftrace *ftrace, const struct event *event,
			     const struct kevent *kevent)
{
	const uint64_t runnable = (uint64_t)kevent->runnable;	/* 0: unknown */
	struct owner *owner = find_owner(ftrace, (pid_t)kevent->tid);
	struct wakeup wakeup = { .target_cpu = event->cpu };

	if (owner && owner->left && runnable && runnable < event->time) {
		wakeup.time = event->time - runnable;
		if (wakeup.time <= owner->left) {
			if (owner->early.time)
				wakeup = owner->early;
			wakeup.time = owner->left + 1;
		}
		if (wakeup.time < event->time)
			put_waking(ftrace, event, kevent, &wakeup);
	}
	if (owner) {
		owner->left = 0;
		owner->early.time = 0;
	}
}

static void put_migrate(struct perfetto_ftrace *ftrace, const struct event *event,
			const struct kevent *kevent)
{
	begin_event(ftrace, event->cpu, event->time, 0, EVENT_SCHED_MIGRATE_TASK);
	put_name(ftrace, MIGRATE_COMM, event);
	put_id(ftrace, MIGRATE_PID, kevent->tid);
	put_int(ftrace, MIGRATE_PRIO, kevent->prio);
	put_cpu(ftrace, MIGRATE_ORIG_CPU, kevent->orig_cpu);
	put_cpu(ftrace, MIGRATE_DEST_CPU, kevent->dest_cpu);
	end_event(ftrace);
}

static struct fork *find_fork(struct perfetto_ftrace *ftrace, pid_t tid)
{
	return &ftrace->forks[(uint32_t)tid % FORKS];
}

static void note_fork(struct perfetto_ftrace *ftrace, const struct event *event,
		      const struct kevent *kevent)
{
	*find_fork(ftrace, kevent->child_tid) = (struct fork){
		.child_pid = kevent->child_pid,
		.child_tid = kevent->child_tid,
		.parent_pid = event->pid,
		.parent_tid = kevent->tid,
		.time = event->time,
		.cpu = event->cpu,
	};
}

/*
 * Writes the birth of a thread, but only when the thread has an event. Perfetto shows a new thread
 * as runnable, and would show it so forever if it has no scheduler events. Threads that are not
 * traced must have no birth at all.
 */
static void put_birth(struct perfetto_ftrace *ftrace, const struct event *event, pid_t tid)
{
	struct fork *fork = find_fork(ftrace, tid);

	if (!tid || fork->child_tid != tid || fork->child_pid != event->pid ||
	    !switches_begun(ftrace->switches))
		return;
	begin_event(ftrace, fork->cpu, fork->time, fork->parent_tid, EVENT_TASK_NEWTASK);
	put_id(ftrace, NEWTASK_PID, tid);
	if (tid == event->pid)
		put_process_name(ftrace, NEWTASK_COMM, event);
	else
		put_name(ftrace, NEWTASK_COMM, event);
	proto_number(ftrace->to, NEWTASK_CLONE_FLAGS,
		     fork->child_pid == fork->parent_pid ? HAS_CLONE_THREAD : 0);
	end_event(ftrace);
	fork->child_tid = 0;
}

static void put_exec(struct perfetto_ftrace *ftrace, const struct event *event,
		     const struct kevent *kevent)
{
	begin_event(ftrace, event->cpu, event->time, kevent->tid, EVENT_SCHED_PROCESS_EXEC);
	perfetto_text(ftrace->to, EXEC_FILENAME, kevent->filename.at, kevent->filename.len);
	put_id(ftrace, EXEC_PID, kevent->tid);
	put_id(ftrace, EXEC_OLD_PID, kevent->tid);
	end_event(ftrace);
}

static void put_rename(struct perfetto_ftrace *ftrace, const struct event *event,
		       const struct kevent *kevent)
{
	begin_event(ftrace, event->cpu, event->time, kevent->tid, EVENT_TASK_RENAME);
	put_id(ftrace, RENAME_PID, kevent->tid);
	perfetto_text(ftrace->to, RENAME_OLDCOMM, kevent->oldcomm.at, kevent->oldcomm.len);
	perfetto_text(ftrace->to, RENAME_NEWCOMM, kevent->newcomm.at, kevent->newcomm.len);
	end_event(ftrace);
}

/* Writes the end of a thread. The last thread of a process has no further sched_switch_out. */
static void put_exit(struct perfetto_ftrace *ftrace, const struct event *event,
		     const struct kevent *kevent, const struct running *running)
{
	begin_event(ftrace, event->cpu, event->time, kevent->tid, EVENT_SCHED_PROCESS_EXIT);
	put_name(ftrace, EXIT_COMM, event);
	put_id(ftrace, EXIT_PID, kevent->tid);
	put_id(ftrace, EXIT_TGID, event->pid);
	end_event(ftrace);
	if (!kevent->group_dead)
		return;
	switches_end_process(ftrace->switches, running, event->time);
	note_end(ftrace, kevent->tid);
	note_end(ftrace, event->pid);
}

static void switch_out(struct perfetto_ftrace *ftrace, const struct event *event,
		       const struct kevent *kevent, const struct running *running)
{
	/* The main thread remains until the process ends. */
	bool ended = kevent->reason == KEVENT_ENDED && running->tid != running->pid;
	struct owner *owner = find_owner(ftrace, (pid_t)kevent->tid);

	if (owner && kevent->state != KEVENT_STATE_R && kevent->reason != KEVENT_ENDED)
		owner->left = event->time;
	switches_out(ftrace->switches, event, kevent, running);
	if (kevent->state == KEVENT_STATE_D || ended)
		switches_finish(ftrace->switches, event->cpu);
	if (kevent->state == KEVENT_STATE_D)
		put_blocked_reason(ftrace, event, kevent->tid, kevent->reason == KEVENT_IO, 0);
	if (ended)
		note_end(ftrace, running->tid);
}

/* Returns 1 if all fields of the event have been written. */
static int put_kernel_event(struct perfetto_ftrace *ftrace, const struct event *event,
			    const struct kevent *kevent, const struct running *running)
{
	switch (event->type) {
	case POSIXTRACE_SWITCH_OUT:
		switch_out(ftrace, event, kevent, running);
		return 1;
	case POSIXTRACE_SWITCH_IN:
		put_early_waking(ftrace, event, kevent);
		switches_in(ftrace->switches, event, kevent, running);
		return 1;
	case POSIXTRACE_WAKEUP:
		wake(ftrace, event, kevent);
		return 1;
	case POSIXTRACE_MIGRATE:
		put_migrate(ftrace, event, kevent);
		return 1;
	case POSIXTRACE_FORK:
		if (kevent->child_tid != kevent->tid)
			note_fork(ftrace, event, kevent);
		break;
	case POSIXTRACE_EXEC:
		put_exec(ftrace, event, kevent);
		break;
	case POSIXTRACE_EXIT:
		put_exit(ftrace, event, kevent, running);
		break;
	case POSIXTRACE_RENAME:
		/* A rename of the main thread would make Perfetto rename the process. */
		if (kevent->tid != event->pid)
			put_rename(ftrace, event, kevent);
		break;
	}
	return 0;
}

static bool is_sched(const struct event *event)
{
	return event->type >= POSIXTRACE_SWITCH_OUT && event->type <= POSIXTRACE_MIGRATE;
}

int perfetto_ftrace_event(struct perfetto_ftrace *ftrace, const struct event *event,
			  const struct kevent *kevent, uint32_t number)
{
	const pid_t tid = kevent ? (pid_t)kevent->tid : event->tid;
	struct running running;
	int err;

	if (event->cpu >= BUNDLES_CPUS)
		return 0;
	if (kevent)
		begin(ftrace, event);
	if (kevent && is_sched(event))
		switches_begin(ftrace->switches);
	err = see_owners(ftrace, event, tid, number);
	if (err)
		return err;
	put_birth(ftrace, event, tid);
	err = switches_see(ftrace->switches, event, kevent, number, &running);
	if (err)
		return err;
	return kevent ? put_kernel_event(ftrace, event, kevent, &running) : 0;
}

int perfetto_ftrace_start(struct perfetto_ftrace *ftrace, const struct event *event,
			  uint32_t number, const struct posixtrace_thread_state *state,
			  uint32_t symbol)
{
	const bool runs = !state->state && state->flags & POSIXTRACE_STATE_RUNNING;
	const uint64_t until = runs ? snapshot_ns(&state->time) : 0;
	int err;

	if (event->cpu >= BUNDLES_CPUS || event->tid <= 0)
		return 0;
	begin(ftrace, event);
	switches_begin(ftrace->switches);
	err = see_owners(ftrace, event, event->tid, number);
	if (!err)
		err = switches_start(ftrace->switches, event, number, until);
	if (!err && state->state)
		put_blocked_reason(ftrace, event, event->tid, state->flags & POSIXTRACE_STATE_IO,
				   symbol);
	return err ? err : 1;
}

bool perfetto_ftrace_runs(const struct perfetto_ftrace *ftrace, const struct event *event,
			  uint32_t number)
{
	return event->cpu < BUNDLES_CPUS &&
	       switches_runs(ftrace->switches, number, event->cpu, event->time);
}

void perfetto_ftrace_write(struct perfetto_ftrace *ftrace, struct buffer *to, bool end)
{
	if (end) {
		switches_finish_all(ftrace->switches);
		put_all_free(ftrace);
	}
	bundles_write(ftrace->bundles, &ftrace->packets, end);
	buffer_put(to, ftrace->packets.data, ftrace->packets.len);
	to->failed |= ftrace->packets.failed;
	buffer_reset(&ftrace->packets);
}

int perfetto_ftrace_new(unsigned int hosts, int64_t shift, struct perfetto_ftrace **ftrace)
{
	struct perfetto_ftrace *new = calloc(1, sizeof(*new));

	if (!new || threads_new(IDS_MAX, &new->ids) || bundles_new(hosts, &new->bundles) ||
	    switches_new(put_switch, new, &new->switches)) {
		perfetto_ftrace_free(new);
		return -ENOMEM;
	}
	new->hosts = hosts;
	new->shift = shift;
	*ftrace = new;
	return 0;
}

void perfetto_ftrace_free(struct perfetto_ftrace *ftrace)
{
	if (!ftrace)
		return;
	switches_free(ftrace->switches);
	threads_free(ftrace->ids);
	free(ftrace->owners);
	bundles_free(ftrace->bundles);
	buffer_free(&ftrace->packets);
	free(ftrace);
}
