// SPDX-License-Identifier: MIT
/*
 * The thread that writes the log of a stream. It stays in the kernel, in WRITE_LOG, so it does not
 * run the program's code. It takes only the signals of the C library and SIGSYS. Without it, a
 * kernel thread writes the log, within a budget of CPU time.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "common/sys.h"
#include "stream/stream.h"
#include "stream/worker.h"

/*
 * A process exits with its last thread. If this thread is the last one, the C library calls exit()
 * in it, and the exit handlers of the program need stack.
 */
#define STACK_SIZE	(256U << 10)

/* prctl() limits the name to 15 bytes. */
#define NAME		"posixtrace-log"

/* Pause after this many interruptions: a filter (seccomp) may return EINTR forever. */
#define INTERRUPTS_MAX	100
#define PAUSE_MS	10

/* Arguments of the worker, on the stack of the thread that creates the stream. */
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
	/* Pairs with the load in wait_taken(), after which the job goes out of scope. */
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

/* Writing a log must not compete with realtime threads: do not inherit their policy. */
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
	 * Block signals for the thread, which inherits the mask. SIGSYS stays unblocked: a filter
	 * with SECCOMP_RET_TRAP sends it to let the program handle a system call, and the kernel
	 * kills the program if the signal is blocked.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = start(&job, STACK_SIZE);
	/* EINVAL: the program has too much thread-local data for this stack. */
	if (err == EINVAL)
		err = start(&job, 0);
	if (!err)
		wait_taken(&job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved_errno;
}
