// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait for futexes.
 *
 * usage: lock_helper mutexes N
 *	N contentions of mutexes of all kinds. Prints for each its address, and the thread that held
 *	it while another one waited.
 * usage: lock_helper others N
 *	N rounds with each of: semaphores, condition variables, read-write locks, and futexes with
 *	memory that looks like that of a mutex of the other thread. A round is two waits. Prints the
 *	addresses of the memory that the futexes are in.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

#define HOLDERS		4
#define KINDS		6

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ------------------------------------------------------------------ */
/* Mutexes								*/

/* A thread that locks and unlocks mutexes when it is told to. */
struct locker {
	struct talk talk;	/* its own end */
	struct talk other;	/* the end of the main thread */
	pid_t tid;
	char name[16];
};

static pthread_mutex_t *mutexes;

static void init_mutex(pthread_mutex_t *mutex, int kind)
{
	static const int types[] = {
		PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
		PTHREAD_MUTEX_ADAPTIVE_NP,
	};
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (kind < 4)
		pthread_mutexattr_settype(&attr, types[kind]);
	else if (kind == 4)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	else
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (pthread_mutex_init(mutex, &attr))
		fail("mutex");
}

static void *lock_and_unlock(void *arg)
{
	struct locker *locker = arg;
	long i;

	pthread_setname_np(pthread_self(), locker->name);
	locker->tid = gettid();
	say(&locker->talk, 0);
	while ((i = hear(&locker->talk)) >= 0) {
		if (pthread_mutex_lock(&mutexes[i]))
			fail("lock");
		say(&locker->talk, i);
		if (hear(&locker->talk) != i || pthread_mutex_unlock(&mutexes[i]))
			fail("unlock");
		say(&locker->talk, i);
	}
	return NULL;
}

static void start(struct locker *locker, const char *name, int number)
{
	pthread_t thread;
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		fail("pipe");
	locker->talk = (struct talk){ to[0], from[1] };
	locker->other = (struct talk){ from[0], to[1] };
	snprintf(locker->name, sizeof(locker->name), "%s%d", name, number);
	if (pthread_create(&thread, NULL, lock_and_unlock, locker))
		fail("thread");
	hear(&locker->other);
}

static void contend(struct locker *holder, struct locker *waiter, long i)
{
	init_mutex(&mutexes[i], (int)(i % KINDS));
	say(&holder->other, i);
	hear(&holder->other);
	say(&waiter->other, i);
	while (syscall_of(waiter->tid) != SYS_futex)
		sched_yield();
	printf("%p %s-%d\n", (void *)&mutexes[i], holder->name, (int)holder->tid);
	say(&holder->other, i);
	hear(&holder->other);
	hear(&waiter->other);
	say(&waiter->other, i);
	hear(&waiter->other);
}

static void contend_for_mutexes(long count)
{
	struct locker holders[HOLDERS], waiter;

	mutexes = calloc((size_t)count, sizeof(*mutexes));
	if (!mutexes)
		fail("memory");
	start(&waiter, "waiter", 0);
	for (int i = 0; i < HOLDERS; i++)
		start(&holders[i], "holder", i);
	for (long i = 0; i < count; i++)
		contend(&holders[i / KINDS % HOLDERS], &waiter, i);
}

/* ------------------------------------------------------------------ */
/* Others								*/

/* The words of a mutex in glibc. */
struct words {
	uint32_t lock;
	uint32_t count;
	uint32_t owner;
	uint32_t users;
	uint32_t kind;
};

/* Memory with all futexes except the mutexes. */
static struct {
	sem_t ready[2];
	sem_t turn[2];
	pthread_cond_t condition;
	pthread_rwlock_t lock;
	struct words plain[2];
	struct words robust[2];
} objects = {
	.condition = PTHREAD_COND_INITIALIZER,
	.lock = PTHREAD_RWLOCK_INITIALIZER,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static pid_t tids[2];
static long rounds;

static void use_semaphores(int me)
{
	for (long i = 0; i < rounds; i++) {
		if (me)
			sem_wait(&objects.turn[1]);
		sem_post(&objects.turn[!me]);
		if (!me)
			sem_wait(&objects.turn[0]);
	}
}

static void use_condition(int me)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != me)
			pthread_cond_wait(&objects.condition, &mutex);
		turn = !me;
		pthread_mutex_unlock(&mutex);
		pthread_cond_signal(&objects.condition);
	}
}

/* Usually, the first thread keeps the lock until the other one waits for it. */
static void use_rwlock(int me)
{
	for (long i = 0; i < rounds; i++) {
		if (!me) {
			pthread_rwlock_wrlock(&objects.lock);
			sem_post(&objects.turn[1]);
			sched_yield();
			sched_yield();
			pthread_rwlock_unlock(&objects.lock);
			sem_wait(&objects.turn[0]);
			continue;
		}
		sem_wait(&objects.turn[1]);
		if (i % 2)
			pthread_rwlock_wrlock(&objects.lock);
		else
			pthread_rwlock_rdlock(&objects.lock);
		pthread_rwlock_unlock(&objects.lock);
		sem_post(&objects.turn[0]);
	}
}

/* Each thread waits as long as its word says that the other thread has the lock. */
static void use_words(struct words *words, int me, uint32_t locked, uint32_t kind)
{
	struct words *mine = &words[me], *other = &words[!me];

	mine->owner = (uint32_t)tids[!me];
	mine->kind = kind;
	__atomic_store_n(&mine->lock, me ? locked : 0, __ATOMIC_SEQ_CST);
	sem_post(&objects.ready[!me]);
	sem_wait(&objects.ready[me]);
	for (long i = 0; i < rounds; i++) {
		while (__atomic_load_n(&mine->lock, __ATOMIC_SEQ_CST))
			syscall(SYS_futex, &mine->lock, FUTEX_WAIT_PRIVATE, locked, NULL);
		__atomic_store_n(&mine->lock, locked, __ATOMIC_SEQ_CST);
		__atomic_store_n(&other->lock, 0, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &other->lock, FUTEX_WAKE_PRIVATE, 1);
	}
}

static void *take_turns(void *arg)
{
	int me = !!arg;

	run_on(0);
	__atomic_store_n(&tids[me], gettid(), __ATOMIC_SEQ_CST);
	sem_post(&objects.ready[!me]);
	sem_wait(&objects.ready[me]);
	use_semaphores(me);
	use_condition(me);
	use_rwlock(me);
	use_words(objects.plain, me, 2, 0);
	use_words(objects.robust, me, FUTEX_WAITERS | (uint32_t)tids[!me], 0x10);
	return NULL;
}

static void wait_for_others(long count)
{
	pthread_t thread;

	rounds = count;
	for (int i = 0; i < 2; i++) {
		sem_init(&objects.ready[i], 0, 0);
		sem_init(&objects.turn[i], 0, 0);
	}
	printf("%p %p\n", (void *)&objects, (void *)(&objects + 1));
	if (pthread_create(&thread, NULL, take_turns, &rounds))
		fail("thread");
	take_turns(NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 0;

	if (count <= 0)
		return 2;
	if (!strcmp(argv[1], "mutexes"))
		contend_for_mutexes(count);
	else if (!strcmp(argv[1], "others"))
		wait_for_others(count);
	else
		return 2;
	return 0;
}
