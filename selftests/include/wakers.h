/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that wake each other: a sleeper, which is traced, and a waker in a different process,
 * which is not traced.
 */
#ifndef _SELFTESTS_WAKERS_H
#define _SELFTESTS_WAKERS_H

#include "kernel_events.h"
#include "process.h"

/* The objects that the sleeper and the waker share. */
struct meeting {
	int in, out;		/* descriptors that the sleeper and the waker use */
	int *tid;		/* shared memory: id of the sleeper, set before it sleeps */
	int *word;		/* in shared memory: a futex */
	pid_t sleeper;		/* process id of the sleeper, set in the waker */
};

/*
 * A way to wake a thread. @open prepares a meeting that both processes inherit. @sleep waits, and
 * returns the id of the process for which it has waited, or 0. @wake wakes the sleeper. All return
 * negative errno on failure.
 */
struct way {
	int (*open)(struct meeting *meeting);
	long (*sleep)(const struct meeting *meeting);
	int (*wake)(const struct meeting *meeting);
	uint8_t by;
};

extern const struct way way_pipe, way_socketpair, way_tcp, way_unix, way_futex, way_epoll,
	way_eventfd, way_io_uring, way_timer, way_signal, way_child, way_threaded_child;

/*
 * The two processes. The caller starts the waker, and the controller of the sleeper starts the
 * sleeper.
 */
struct scene {
	const struct way *way;
	struct meeting meeting;
	int log;		/* descriptor of the log of the stream; 0: none */
	int (*change)(void);	/* called by the waker before its second turn, or NULL */
	struct child sleeper, waker;
	trace_id_t trid;
	struct kernel_events events;
	long result;		/* last result of the sleeper */
};

int scene_open(struct scene *scene, const struct way *way);

/*
 * Starts the waker as user @uid (negative: the calling user). The waker first calls @prepare, if
 * not NULL.
 */
int scene_start_waker(struct scene *scene, int uid, int (*prepare)(void));

/* Starts the sleeper, and a stream of the caller on it. */
int scene_start_sleeper(struct scene *scene, unsigned int classes);

/* Lets the sleeper sleep, and the waker wake it. Reads the events, if there is no log. */
int scene_play(struct scene *scene);
void scene_close(struct scene *scene);

/*
 * Counts the wake-ups of the sleeper since the last scene_play() that were of kind @by and by
 * thread @waker (0: by no thread).
 */
int scene_count(const struct scene *scene, uint8_t by, pid_t waker);

#endif /* _SELFTESTS_WAKERS_H */
