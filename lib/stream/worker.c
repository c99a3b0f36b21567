// SPDX-License-Identifier: MIT
/*
 * The thread that writes the log of a stream. It stays in the kernel, in WRITE_LOG: it runs none of
 * the program's code, and takes no signal but those of the C library. Without it, a thread of the
 * kernel writes the log, within a budget of processor time.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "common/sys.h"
#include "stream/stream.h"
#include "stream/worker.h"

/*
 * A process ends with its last thread. If that is this one, the C library calls exit(), and so the
 * exit handlers of the program.
 */
#define STACK_SIZE	(256U << 10)

/* The name is one of the limits of prctl(): 15 bytes. */
#define NAME		"posixtrace-log"

/* After so many interruptions, the thread pauses: a filter (seccomp) may answer EINTR forever. */
#define INTERRUPTS_MAX	100
#define PAUSE_MS	10

/* On the stack of the thread that creates the stream. */
struct job {
	int fd;
	__u64 number;
	int taken;
};

static void *write_log(void *arg)
{
	struct job *job = arg;
	__u64 number = job->number;
	int fd = job->fd, interrupts = 0;

	pxtu_thread_name(NAME);
	/* Pairs with the load in wait_taken(): the job is no longer used. */
	pxtu_store_release(&job->taken, 1);
	pxtu_futex_wake(&job->taken);
	while (pxtu_checked_once(fd, number, POSIXTRACE_IOC_WRITE_LOG, NULL) == -EINTR) {
		if (++interrupts % INTERRUPTS_MAX == 0)
			pxtu_pause(PAUSE_MS);
	}
	return NULL;
}

static void wait_taken(struct job *job)
{
	/* Pairs with the store in write_log(). */
	while (!pxtu_load_acquire(&job->taken))
		pxtu_futex_wait(&job->taken, 0);
}

/* A log does not compete with threads that have to be in time. */
static void leave_realtime(pthread_attr_t *attr)
{
	const struct sched_param param = { 0 };
	int policy = sched_getscheduler(0);

	if (policy != SCHED_FIFO && policy != SCHED_RR)
		return;
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attr, SCHED_OTHER);
	pthread_attr_setschedparam(attr, &param);
}

static int start(struct job *job, size_t stack_size)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack_size)
		pthread_attr_setstacksize(&attr, stack_size);
	leave_realtime(&attr);
	err = pthread_create(&thread, &attr, write_log, job);
	pthread_attr_destroy(&attr);
	return err;
}

void pxtu_stream_start_worker(const struct pxtu_stream *stream)
{
	struct job job = { .fd = stream->fd, .number = stream->number };
	sigset_t all, before;
	int saved_errno = errno, err;

	/*
	 * The thread inherits the mask. The kernel ends a program that blocks the signal by which
	 * its filter (SECCOMP_RET_TRAP) lets it answer a system call.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = start(&job, STACK_SIZE);
	/* The program has much thread-local data. */
	if (err == EINVAL)
		err = start(&job, 0);
	if (!err)
		wait_taken(&job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved_errno;
}
