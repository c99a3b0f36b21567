/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each thread of a trace was doing: in a log, when recording started; in a stream, now. The
 * number of states is limited.
 */
#ifndef POSIXTRACE_SNAPSHOT_H
#define POSIXTRACE_SNAPSHOT_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/holder.h"
#include "event/kevent.h"
#include "event/source.h"

#define SNAPSHOT_MAX	(1U << 16)

struct snapshot;

/**
 * snapshot_read() - read the states in a log, or of the threads of a stream
 * @source: the log or stream
 * @snapshot: where to store them; empty without kernel events
 *
 * Return: 0 or a negative error number.
 */
int snapshot_read(struct source *source, struct snapshot **snapshot);

/* snapshot_get() - get the states in the order of their times, valid until snapshot_free() */
const struct posixtrace_thread_state *snapshot_get(const struct snapshot *snapshot, size_t *count);

/**
 * struct snapshot_walk - a position in the states of a trace, which advances as events are read
 * @next: the next state
 * @left: number of states left
 * @complete_from: no events are missing after this time; UINT64_MAX: unknown
 *
 * A thread that has no event between @complete_from and the time of its state was in that state
 * during all of this period.
 */
struct snapshot_walk {
	const struct posixtrace_thread_state *next;
	size_t left;
	uint64_t complete_from;
};

/* snapshot_begin() - begin a walk, before the first event; the caller keeps the snapshot */
void snapshot_begin(struct snapshot_walk *walk, const struct snapshot *snapshot);

/**
 * snapshot_next() - get the next state that can be used
 * @walk: all zero, or from snapshot_begin()
 * @until: time of the next event
 *
 * Return: the state, or NULL if there is none before that time.
 */
const struct posixtrace_thread_state *snapshot_next(struct snapshot_walk *walk, uint64_t until);

/**
 * snapshot_see() - note an event; first call snapshot_next() to get the states before the event
 * @walk: all zero, or from snapshot_begin()
 * @event: the event
 * @lost: events before @event are missing or were left out
 */
void snapshot_see(struct snapshot_walk *walk, const struct event *event, bool lost);

/**
 * snapshot_event() - make an event that identifies the thread of a state
 * @source: the log or stream, read up to the time of the state
 * @state: the state
 * @event: where to store the event, with the ids and the life of the thread and the time of the
 *	state
 *
 * Return: 0 or -ENOMEM.
 */
int snapshot_event(struct source *source, const struct posixtrace_thread_state *state,
		   struct event *event);

/* snapshot_call() - get the system call of a state as the fields of a syscall_entry; false: none */
bool snapshot_call(const struct posixtrace_thread_state *state, struct kevent *entry);

/* snapshot_ns() - convert the time of a state to ns */
uint64_t snapshot_ns(const struct timespec *time);

/**
 * snapshot_futex() - get the memory at the address of the futex for which a thread waits
 * @state: a state
 * @words: where to store it
 *
 * Return: true if the thread waits for a futex.
 */
bool snapshot_futex(const struct posixtrace_thread_state *state, struct holder_words *words);

void snapshot_free(struct snapshot *snapshot);

#endif /* POSIXTRACE_SNAPSHOT_H */
