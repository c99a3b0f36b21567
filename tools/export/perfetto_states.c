// SPDX-License-Identifier: GPL-2.0
/*
 * Thread states at the start of a log, for Perfetto: see perfetto_states.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/snapshot.h"
#include "event/event_names.h"
#include "event/kevent.h"
#include "export/perfetto_args.h"
#include "export/perfetto_states.h"
#include "export/proto.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define PACKET_TIMESTAMP			8
#define PACKET_TIMESTAMP_CLOCK_ID		58
#define PACKET_GENERIC_KERNEL_TASK_STATE	117

#define TASK_COMM				2
#define TASK_TID				3
#define TASK_STATE				4

/* Values. */
#define CLOCK_ID_REALTIME	1
#define TASK_UNKNOWN		0
#define TASK_RUNNABLE		2
#define TASK_INTERRUPTIBLE	4
#define TASK_UNINTERRUPTIBLE	5
#define TASK_STOPPED		6

struct perfetto_states {
	struct perfetto_states_to to;
	struct snapshot_walk walk;
	uint32_t losses;	/* how often all states became unknown, plus 1 */
	uint32_t *known;	/* index: thread number; @losses at the last known state */
};

static bool has_sched(const struct export *export)
{
	return export->kernel && export_kernel_classes(export) & POSIXTRACE_CLASS_SCHED;
}

int perfetto_states_new(struct export *export, const struct perfetto_states_to *to,
			struct perfetto_states **states)
{
	struct perfetto_states *new;
	int err;

	*states = NULL;
	err = has_sched(export) && !export->snapshot ? export_states(export) : 0;
	if (err || !export->snapshot)
		return err;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->to = *to;
	new->losses = 1;
	snapshot_begin(&new->walk, export->snapshot);
	new->known = calloc(EXPORT_THREADS + 1, sizeof(*new->known));
	if (!new->known) {
		perfetto_states_free(new);
		return -ENOMEM;
	}
	*states = new;
	return 0;
}

void perfetto_states_free(struct perfetto_states *states)
{
	if (!states)
		return;
	free(states->known);
	free(states);
}

/* Returns the state of a thread that does not run. */
static uint64_t task_state(const struct posixtrace_thread_state *state)
{
	static const unsigned char task_states[KEVENT_STATES] = {
		[KEVENT_STATE_R] = TASK_RUNNABLE,
		[KEVENT_STATE_S] = TASK_INTERRUPTIBLE,
		[KEVENT_STATE_D] = TASK_UNINTERRUPTIBLE,
		[KEVENT_STATE_T] = TASK_STOPPED,
		[KEVENT_STATE_t] = TASK_STOPPED,
		[KEVENT_STATE_P] = TASK_INTERRUPTIBLE,
		[KEVENT_STATE_I] = TASK_INTERRUPTIBLE,
	};

	return state->state < KEVENT_STATES ? task_states[state->state] : TASK_UNKNOWN;
}

static void put_task(struct packets *packets, const struct event *event, uint64_t state)
{
	const size_t packet = packets_packet(packets, SEQUENCES_NOW);
	struct buffer *to = packets_to(packets);
	char name[LABEL_SIZE];
	size_t task;

	proto_number(to, PACKET_TIMESTAMP, packets_time(packets, event->time));
	proto_number(to, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	task = proto_begin(to, PACKET_GENERIC_KERNEL_TASK_STATE);
	perfetto_label(event, name);
	perfetto_text(to, TASK_COMM, name, strlen(name));
	proto_number(to, TASK_TID, (uint64_t)source_plain_id(event->source, event->tid));
	proto_number(to, TASK_STATE, state);
	proto_end(to, task);
	proto_end(to, packet);
}

/*
 * Names the system call of a blocked thread as if it were a kernel function, because a call that
 * began before the trace has no slice.
 */
static uint32_t find_symbol(struct packets *packets, const struct posixtrace_thread_state *state)
{
	if (!state->state || !(state->flags & POSIXTRACE_STATE_CALL) || !state->call_name[0])
		return 0;
	return packets_symbol(packets, state->call_name);
}

static int put_state(struct perfetto_states *states, const struct event *event, uint32_t number,
		     const struct posixtrace_thread_state *state)
{
	const bool runs = !state->state && state->flags & POSIXTRACE_STATE_RUNNING;
	int ret;

	if (!runs && task_state(state) == TASK_UNKNOWN)
		return 0;
	ret = perfetto_ftrace_start(states->to.ftrace, event, number, state,
				    find_symbol(states->to.packets, state));
	perfetto_ftrace_write(states->to.ftrace, packets_bytes(states->to.packets), false);
	if (ret > 0 && !runs)
		put_task(states->to.packets, event, task_state(state));
	return ret < 0 ? ret : 0;
}

static int use_state(struct perfetto_states *states, struct source *source,
		     const struct posixtrace_thread_state *state)
{
	struct event event;
	uint32_t number;
	int err = snapshot_event(source, state, &event);

	if (event.host != states->to.host)
		return err;
	event.cpu = source_plain_cpu(source, event.cpu);
	/* The thread has been in this state since this time, so the description must begin then. */
	event.time = states->walk.complete_from;
	if (!err)
		err = states->to.find(states->to.to, &event, &number);
	if (err || number == THREADS_OTHERS || states->known[number] == states->losses)
		return err;
	states->known[number] = states->losses;
	return put_state(states, &event, number, state);
}

int perfetto_states_put(struct perfetto_states *states, const struct event *event, bool lost)
{
	const struct posixtrace_thread_state *state;
	int err = 0;

	if (!states)
		return 0;
	while (!err && (state = snapshot_next(&states->walk, event->time)))
		err = use_state(states, event->source, state);
	snapshot_see(&states->walk, event, lost);
	if (lost || event->type == POSIX_TRACE_OVERFLOW ||
	    (event->type == POSIX_TRACE_STOP && !event->partial))
		states->losses++;
	return err;
}

void perfetto_states_see(struct perfetto_states *states, const struct event *event,
			 uint32_t number)
{
	const bool tells = event->type == POSIXTRACE_SWITCH_OUT ||
			   event->type == POSIXTRACE_SWITCH_IN ||
			   event->type == POSIXTRACE_WAKEUP || event_shows_running(event);

	if (states && tells && number != THREADS_OTHERS)
		states->known[number] = states->losses;
}
