// SPDX-License-Identifier: GPL-2.0
/*
 * States of threads at a given time: see snapshot.h.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/snapshot.h"
#include "event/hosts.h"

#define BATCH	64

struct snapshot {
	struct posixtrace_thread_state *state;
	size_t count;
	size_t room;
};

uint64_t snapshot_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const struct posixtrace_thread_state *s = a, *t = b;
	uint64_t x = snapshot_ns(&s->time), y = snapshot_ns(&t->time);

	return x < y ? -1 : x > y;
}

static int make_room(struct snapshot *snapshot, size_t count)
{
	size_t more = snapshot->room ? 2 * snapshot->room : 4 * BATCH;
	struct posixtrace_thread_state *state;

	if (snapshot->room - snapshot->count >= count)
		return 0;
	state = reallocarray(snapshot->state, more, sizeof(*state));
	if (!state)
		return -ENOMEM;
	snapshot->state = state;
	snapshot->room = more;
	return 0;
}

/* Makes the ids and the processor of a state unique among hosts. */
static void set_host(struct posixtrace_thread_state *state, unsigned int host)
{
	state->pid = hosts_id(host, state->pid);
	state->tid = hosts_id(host, state->tid);
	state->ppid = hosts_id(host, state->ppid);
	state->cpu = hosts_cpu(host, state->cpu);
}

static int read_states(const struct source *source, size_t log, struct snapshot *snapshot)
{
	const trace_id_t trid = source_log_trid(source, log);
	const unsigned int host = source_log_host(source, log);
	unsigned long long next = 0;
	size_t count;
	int err;

	do {
		err = make_room(snapshot, BATCH);
		if (err)
			return err;
		err = posixtrace_get_states(trid, snapshot->state + snapshot->count, BATCH, &count,
					    &next);
		if (err)
			return err == ENOTSUP ? 0 : -err;
		for (size_t i = 0; i < count; i++)
			set_host(&snapshot->state[snapshot->count++], host);
	} while (count && snapshot->count < SNAPSHOT_MAX);
	return 0;
}

/*
 * Can the states of a log be used among several logs? If other logs have scheduler events but this
 * one does not, its threads would never leave their first state.
 */
static bool is_usable(const struct source *source, size_t log, unsigned int all)
{
	unsigned int classes;

	return source_logs(source) == 1 ||
	       (!source_log_classes(source, log, &classes) &&
		!(all & ~classes & POSIXTRACE_CLASS_SCHED));
}

int snapshot_read(struct source *source, struct snapshot **snapshot)
{
	struct snapshot *new = calloc(1, sizeof(*new));
	unsigned int all;
	int err;

	*snapshot = NULL;
	if (!new)
		return -ENOMEM;
	err = source_get_classes(source, &all);
	for (size_t i = 0; !err && i < source_logs(source); i++) {
		if (is_usable(source, i, all))
			err = read_states(source, i, new);
	}
	if (err) {
		snapshot_free(new);
		return err;
	}
	if (new->count)
		qsort(new->state, new->count, sizeof(*new->state), compare);
	*snapshot = new;
	return 0;
}

const struct posixtrace_thread_state *snapshot_get(const struct snapshot *snapshot, size_t *count)
{
	*count = snapshot->count;
	return snapshot->state;
}

void snapshot_begin(struct snapshot_walk *walk, const struct snapshot *snapshot)
{
	walk->next = snapshot_get(snapshot, &walk->left);
	walk->complete_from = UINT64_MAX;
}

const struct posixtrace_thread_state *snapshot_next(struct snapshot_walk *walk, uint64_t until)
{
	const struct posixtrace_thread_state *state;

	while (walk->left && snapshot_ns(&walk->next->time) < until) {
		state = walk->next++;
		walk->left--;
		if (snapshot_ns(&state->time) >= walk->complete_from)
			return state;
	}
	return NULL;
}

void snapshot_see(struct snapshot_walk *walk, const struct event *event, bool lost)
{
	switch (event->type) {
	case POSIX_TRACE_START:
	case POSIX_TRACE_RESUME:
		walk->complete_from = event->time;
		break;
	case POSIX_TRACE_STOP:
		if (event->partial)
			break;
		walk->complete_from = UINT64_MAX;
		break;
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_ERROR:
		walk->complete_from = UINT64_MAX;
		break;
	default:
		if (lost)
			walk->complete_from = UINT64_MAX;
	}
}

int snapshot_event(struct source *source, const struct posixtrace_thread_state *state,
		   struct event *event)
{
	*event = (struct event){
		.time = snapshot_ns(&state->time),
		.name = "",
		.pid = state->pid,
		.tid = state->tid,
		.cpu = state->cpu,
		.host = source_host_of(source, state->pid),
		.address = state->ip,
		/* Identify the thread as for a user event: the thread existed at that time. */
		.user = true,
		.source = source,
	};
	return source_identify(source, event);
}

bool snapshot_call(const struct posixtrace_thread_state *state, struct kevent *entry)
{
	*entry = (struct kevent){
		.nr = state->call,
		.compat = !!(state->flags & POSIXTRACE_STATE_COMPAT),
		.name = { .at = state->call_name, .len = strlen(state->call_name) },
	};
	for (size_t i = 0; i < KEVENT_ARGS; i++)
		entry->args[i] = (int64_t)state->args[i];
	return state->flags & POSIXTRACE_STATE_CALL;
}

bool snapshot_futex(const struct posixtrace_thread_state *state, struct holder_words *words)
{
	/*
	 * Word 3 of a glibc mutex is its owner. Its kind is word 5, or word 4 in a 32-bit program.
	 */
	const bool compat = state->flags & POSIXTRACE_STATE_COMPAT;

	*words = (struct holder_words){
		.operation = (unsigned int)state->args[1] & FUTEX_CMD_MASK,
		.known = state->flags & POSIXTRACE_STATE_SAME_IDS,
		.lock = state->futex[0],
		.owner = state->futex[2],
		.kind = state->futex[compat ? 3 : 4],
	};
	return state->flags & POSIXTRACE_STATE_FUTEX;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->state);
	free(snapshot);
}
