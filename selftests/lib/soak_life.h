/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One life in the soak test: a controller, a stream, processes that record into the stream, and the
 * check of the counters at the end. A seed selects the variant.
 */
#ifndef _SELFTESTS_SOAK_LIFE_H
#define _SELFTESTS_SOAK_LIFE_H

#include <posixtrace.h>
#include <pthread.h>

#include "withlog.h"

#define SOAK_WRITERS	256	/* maximum number of recording threads in one life */
#define SOAK_FACTOR	0x9e3779b97f4a7c15ULL

/* Memory that the processes of a life share with the controller. */
struct soak_account {
	unsigned int writers;			/* threads that have started */
	unsigned int killed;			/* number of threads that were killed halfway */
	unsigned long long generated[SOAK_WRITERS];	/* events, counted after each call */
};

struct soak_event {
	unsigned int writer;
	unsigned int number;
	unsigned long long check;
};

struct soak_life {
	unsigned long long rng;
	struct soak_account *account;
	int policy;
	bool withlog;
	bool inherited;
	bool own;			/* the controller traces itself */
	bool killing;			/* the target is killed halfway */
	unsigned int threads;
	unsigned int children;
	unsigned int events;		/* per thread */
	trace_id_t trid;
	int fd;				/* descriptor of the log */
	unsigned int last[SOAK_WRITERS];
	unsigned long long seen;
	const char *wrong;
};

static inline unsigned int soak_dice(unsigned long long *rng, unsigned int sides)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return (unsigned int)(*rng >> 20) % sides;
}

/* ------------------------------------------------------------------ */
/* Recording								*/

static inline void soak_record(struct soak_account *account, unsigned int events)
{
	unsigned int writer = __atomic_fetch_add(&account->writers, 1, __ATOMIC_RELAXED);
	struct soak_event event = { .writer = writer };

	if (writer >= SOAK_WRITERS)
		abort();
	for (event.number = 1; event.number <= events; event.number++) {
		event.check = (((unsigned long long)writer << 32) + event.number) * SOAK_FACTOR;
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &event, sizeof(event));
		__atomic_store_n(&account->generated[writer], event.number, __ATOMIC_RELAXED);
		if (event.number % 64 == 0)
			sched_yield();
	}
}

static inline void *soak_thread(void *arg)
{
	const struct soak_life *life = arg;

	soak_record(life->account, life->events);
	return NULL;
}

/* Runs all threads of a traced process, and then its children, one after the other. */
static inline int soak_work(const struct soak_life *life)
{
	pthread_t threads[4];
	unsigned int n;
	int status;

	for (n = 0; n < life->threads; n++) {
		if (pthread_create(&threads[n], NULL, soak_thread, (void *)life))
			return 1;
	}
	for (n = 0; n < life->children; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			/* Events of a child that is not traced must not be recorded. */
			if (life->inherited)
				soak_record(life->account, life->events / 8);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 2;
	}
	for (n = 0; n < life->threads; n++)
		pthread_join(threads[n], NULL);
	return 0;
}

/* A child function: starts on request. */
static inline int soak_target(void *arg, const struct talk *talk)
{
	say(talk, 0);
	hear(talk);
	return soak_work(arg);
}

static inline void *soak_work_thread(void *arg)
{
	return (void *)(long)soak_work(arg);
}

/* ------------------------------------------------------------------ */
/* The controller							*/

/* Stores the condition if it is the first one that failed. */
static inline void soak_must(struct soak_life *life, bool holds, const char *what)
{
	if (!holds && !life->wrong)
		life->wrong = what;
}

#define SOAK_MUST(life, condition)	soak_must(life, condition, #condition)

static inline int soak_create(struct soak_life *life, pid_t pid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, 64 << soak_dice(&life->rng, 12));
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, 64);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, life->policy);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, life->inherited ?
						    POSIX_TRACE_INHERITED :
						    POSIX_TRACE_CLOSE_FOR_CHILD);
	if (!err && life->withlog)
		err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (err)
		return err;
	if (!life->withlog)
		return posix_trace_create(pid, &attr, &life->trid);
	life->fd = log_tmpfile();
	return life->fd < 0 ? errno :
	       posix_trace_create_withlog(pid, &attr, life->fd, &life->trid);
}

/*
 * Checks an event: it must be complete, of an existing writer, and later than the writer's previous
 * one.
 */
static inline void soak_look(struct soak_life *life, const struct posix_trace_event_info *info,
			     const void *data, size_t len)
{
	struct soak_event event;

	if (info->posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	SOAK_MUST(life, len == sizeof(event));
	if (len != sizeof(event))
		return;
	memcpy(&event, data, sizeof(event));
	SOAK_MUST(life, event.writer < SOAK_WRITERS);
	if (event.writer >= SOAK_WRITERS)
		return;
	SOAK_MUST(life, event.check ==
		  (((unsigned long long)event.writer << 32) + event.number) * SOAK_FACTOR);
	SOAK_MUST(life, event.number > life->last[event.writer]);
	life->last[event.writer] = event.number;
	life->seen++;
}

/* Reads all available events of a stream or a log. */
static inline void soak_read(struct soak_life *life, trace_id_t trid)
{
	struct posixtrace_batch_event events[64];
	unsigned long long buffer[512];
	size_t count, i;
	int err;

	do {
		err = posixtrace_getevents(trid, events, 64, buffer, sizeof(buffer), &count,
					   POSIXTRACE_NOWAIT);
		SOAK_MUST(life, !err);
		for (i = 0; !err && i < count; i++)
			soak_look(life, &events[i].event, events[i].data, events[i].data_len);
	} while (!err && count);
}

/* Makes calls of the controller that do not change the counters. */
static inline void soak_meddle(struct soak_life *life)
{
	struct posix_trace_status_info status;
	trace_event_set_t set;

	switch (soak_dice(&life->rng, 6)) {
	case 0:
		SOAK_MUST(life, !posix_trace_get_status(life->trid, &status));
		break;
	case 1:
		SOAK_MUST(life, !posix_trace_start(life->trid));
		break;
	case 2:
		posix_trace_eventset_empty(&set);
		posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set);
		SOAK_MUST(life, !posix_trace_set_filter(life->trid, &set,
							POSIX_TRACE_SET_EVENTSET));
		break;
	case 3:
		if (life->withlog)
			SOAK_MUST(life, !posix_trace_flush(life->trid));
		break;
	default:
		sched_yield();
	}
	if (!life->withlog)
		soak_read(life, life->trid);
}

/*
 * Checks the counters when the processes have ended: every event must have been recorded or
 * dropped, and every recorded one read or overwritten.
 */
static inline void soak_sum(struct soak_life *life)
{
	struct posixtrace_stats_info stats;
	unsigned long long generated = 0;
	unsigned int n;

	for (n = 0; n < life->account->writers; n++)
		generated += life->account->generated[n];
	SOAK_MUST(life, !posix_trace_stop(life->trid));
	if (!life->withlog)
		soak_read(life, life->trid);
	SOAK_MUST(life, !posixtrace_get_stats(life->trid, &stats));
	SOAK_MUST(life, !stats.damaged);
	if (stats.untraced)
		return;
	SOAK_MUST(life, stats.recorded + stats.dropped >= generated);
	/* A killed thread may have recorded an event without counting it. */
	SOAK_MUST(life, stats.recorded + stats.dropped <= generated +
		  (life->killing ? life->account->writers : 0));
	if (life->withlog)
		return;
	SOAK_MUST(life, stats.read == life->seen);
	SOAK_MUST(life, stats.recorded == stats.read + stats.overwritten + stats.skipped);
}

static inline void soak_read_log(struct soak_life *life)
{
	trace_id_t trid;
	int err = posix_trace_open(life->fd, &trid);

	SOAK_MUST(life, !err);
	if (err)
		return;
	soak_read(life, trid);
	SOAK_MUST(life, !posix_trace_close(trid));
}

static inline void soak_end(struct soak_life *life)
{
	SOAK_MUST(life, !posix_trace_shutdown(life->trid));
	if (life->withlog)
		soak_read_log(life);
}

/* The target is another process. */
static inline void soak_other(struct soak_life *life)
{
	struct child child;

	SOAK_MUST(life, !child_start(&child, soak_target, life));
	hear(&child.talk);
	SOAK_MUST(life, !soak_create(life, child.pid));
	SOAK_MUST(life, !life->wrong && !posix_trace_start(life->trid));
	if (life->wrong) {
		child_kill(&child);
		return;
	}
	say(&child.talk, 0);
	do {
		soak_meddle(life);
		if (life->killing && soak_dice(&life->rng, 50) == 0)
			kill(child.pid, SIGKILL);
	} while (!is_zombie(child.pid));
	child_wait(&child);
}

/* The controller traces itself. */
static inline void soak_self(struct soak_life *life)
{
	pthread_t thread;
	void *ret = NULL;

	SOAK_MUST(life, !soak_create(life, 0));
	SOAK_MUST(life, !life->wrong && !posix_trace_start(life->trid));
	if (life->wrong || pthread_create(&thread, NULL, soak_work_thread, life))
		return;
	do {
		soak_meddle(life);
	} while (pthread_tryjoin_np(thread, &ret));
	SOAK_MUST(life, !ret);
}

/*
 * Runs one life in a new process. Returns NULL, or the condition that failed. If the life is to be
 * killed, does not return.
 */
static inline const char *soak_live(unsigned long long seed, struct soak_account *account)
{
	static struct soak_life life;

	life = (struct soak_life){ .rng = seed * SOAK_FACTOR | 1, .account = account, .fd = -1 };
	memset(account, 0, sizeof(*account));
	life.withlog = soak_dice(&life.rng, 3) == 0;
	life.policy = life.withlog ? POSIX_TRACE_FLUSH :
		      soak_dice(&life.rng, 2) ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL;
	life.inherited = soak_dice(&life.rng, 2);
	life.own = soak_dice(&life.rng, 3) == 0;
	life.killing = !life.own && soak_dice(&life.rng, 4) == 0;
	life.threads = 1 + soak_dice(&life.rng, 3);
	/* No children if the target is killed: they would still record after that. */
	life.children = life.killing ? 0 : soak_dice(&life.rng, 8);
	life.events = 1U << (4 + soak_dice(&life.rng, 9));
	if (life.own)
		soak_self(&life);
	else
		soak_other(&life);
	if (!life.wrong)
		soak_sum(&life);
	if (!life.wrong)
		soak_end(&life);
	return life.wrong;
}

#endif /* _SELFTESTS_SOAK_LIFE_H */
