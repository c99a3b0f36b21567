/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracks of threads over time: state, system call, CPU and interrupts. Each track is a list
 * of stretches without overlaps, in order of time. Between stretches, its value is unknown.
 *
 * Only stretches that overlap a window are kept, so the memory depends on what happens in the
 * windows, not on the length of the log. There are at most TRACKS_MAX stretches of 48 bytes;
 * growing arrays may take twice as much.
 */
#ifndef POSIXTRACE_TRACKS_H
#define POSIXTRACE_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/intervals.h"
#include "analyze/snapshot.h"
#include "analyze/waits.h"
#include "event/event_names.h"
#include "event/source.h"

#define TRACKS_THREADS	(1U << 16)	/* maximum number of threads that are followed */
#define TRACKS_MAX	(1U << 22)	/* maximum number of stretches of all threads */

enum track {
	TRACK_STATE,
	TRACK_PLACE,		/* system call */
	TRACK_CPU,		/* the CPU on which the thread runs or for which it waits */
	TRACK_IRQ,		/* interrupts that are not nested */
	TRACK_FAULT,		/* page faults, drawn with 1 ns because their length is unknown */
	NR_TRACKS,
};

/**
 * struct stretch - a period in which the value of a track is constant
 * @begin: start time
 * @end: end time, later than @begin
 * @arg: first argument of the system call, if @has_arg
 * @what: enum state, number of a place, CPU, or number of an interrupt
 * @cpu: STATE_RUNNING: the CPU, or SOURCE_NO_CPU
 * @holder: blocked: number of the thread that held the lock; 0 if unknown, or if it was not a lock
 * @place: blocked: number of the place for tracks_place_name()
 * @waker: blocked: number of the waker; 0 if it is not a thread, or not a thread that is followed
 * @by: blocked: enum waker_kind, how the wait ended
 * @letter: blocked: state letter of ps(1), or 0
 * @io: blocked: the thread waited for a block device
 * @fault: blocked: the event before the wait was a page fault
 * @has_arg: TRACK_PLACE, or blocked: @arg identifies the object on which the call works, such as a
 *	descriptor; see tracks_arg_name()
 * @preempted: STATE_RUNNABLE: the thread was preempted, not woken
 * @caused: blocked: the wait is explained by what @waker did during that time
 */
struct stretch {
	uint64_t begin;
	uint64_t end;
	uint64_t arg;
	uint32_t what;
	union {
		uint32_t cpu;
		uint32_t holder;
	};
	uint32_t place;
	uint32_t waker;
	uint8_t by;
	char letter;
	bool io;
	bool fault;
	bool has_arg;
	bool preempted;
	bool caused;
};

/**
 * struct track_thread - a thread
 * @pid: its process
 * @tid: its kernel thread id
 * @plain_pid: the process id in the log, to be shown
 * @plain_tid: the thread id in the log, to be shown
 * @key: event_thread_key() of the thread
 * @label: its name and id
 * @born: time of its creation; 0: unknown
 * @parent: number of the thread that created it
 */
struct track_thread {
	pid_t pid;
	pid_t tid;
	pid_t plain_pid;
	pid_t plain_tid;
	uint64_t key;
	char label[LABEL_SIZE];
	uint64_t born;
	uint32_t parent;
};

/* A period of time that is of interest. */
struct window {
	uint64_t begin;
	uint64_t end;
};

struct tracks;

/**
 * tracks_new() - create empty tracks
 * @classes: POSIXTRACE_CLASS_* of the log
 * @windows: the periods to keep, in any order; copied
 * @count: number of windows
 * @tracks: where to store the tracks
 *
 * Return: 0 or -ENOMEM.
 */
int tracks_new(unsigned int classes, const struct window *windows, size_t count,
	       struct tracks **tracks);

/**
 * tracks_start() - use the states of threads at the start of recording
 * @tracks: from tracks_new(), before the first event
 * @snapshot: from snapshot_read(); the caller keeps it until tracks_free()
 */
void tracks_start(struct tracks *tracks, const struct snapshot *snapshot);

/* tracks_event() - process the next event of the log; returns 0 or a negative error number */
int tracks_event(struct tracks *tracks, const struct event *event);

/* tracks_end() - end all stretches, after the last event; returns 0 or a negative error number */
int tracks_end(struct tracks *tracks);

/**
 * tracks_find() - find the first stretch that ends after a time
 * @tracks: after tracks_end()
 * @track: which track
 * @thread: number of the thread
 * @time: the time
 * @end: where to store the end of the array: later stretches follow the result up to here
 *
 * Return: the stretch; @end if there is no such stretch.
 */
const struct stretch *tracks_find(const struct tracks *tracks, enum track track, uint32_t thread,
				  uint64_t time, const struct stretch **end);

/* A period in which a thread ran on a CPU. */
struct track_run {
	uint64_t begin;
	uint64_t end;
	uint32_t cpu;
	uint32_t thread;
};

/* tracks_find_run() - find the first run on a CPU that ends after a time; see tracks_find() */
const struct track_run *tracks_find_run(const struct tracks *tracks, uint32_t cpu, uint64_t time,
					const struct track_run **end);

/* tracks_number() - find the number of a thread by pid and event_thread_key(); 0: not followed */
uint32_t tracks_number(const struct tracks *tracks, pid_t pid, uint64_t key);

/* tracks_thread() - get a thread by its number */
const struct track_thread *tracks_thread(const struct tracks *tracks, uint32_t number);

/* tracks_place_name(), tracks_irq_name() - get the name of a place or interrupt (any bytes) */
const char *tracks_place_name(const struct tracks *tracks, uint32_t place);
const char *tracks_irq_name(const struct tracks *tracks, uint32_t number);

/* tracks_arg_name() - get the name of @arg of a place with @has_arg */
const char *tracks_arg_name(const struct tracks *tracks, uint32_t place);

/* tracks_more() - check if there were more stretches or threads than the limits */
bool tracks_more(const struct tracks *tracks);

void tracks_free(struct tracks *tracks);

#endif /* POSIXTRACE_TRACKS_H */
