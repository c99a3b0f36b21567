// SPDX-License-Identifier: GPL-2.0
/*
 * WAIT: must block until there is a record to read, but no longer.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "writer.h"

FIXTURE(wait)
{
	struct stream stream;
	struct target target;
};

FIXTURE_SETUP(wait)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_sync(&self->target));
}

FIXTURE_TEARDOWN(wait)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static struct posixtrace_wait wait_until(unsigned long long deadline)
{
	return (struct posixtrace_wait){
		.flags = deadline ? POSIXTRACE_WAIT_DEADLINE : 0,
		.deadline = deadline,
	};
}

static int stream_wait(struct stream *stream, unsigned long long deadline)
{
	struct posixtrace_wait wait = wait_until(deadline);

	return command(stream->fd, POSIXTRACE_IOC_WAIT, &wait);
}

/* A thread that calls WAIT, and the result. */
struct waiter {
	struct stream *stream;
	pthread_t thread;
	struct posixtrace_wait wait;
	int ret;
	int tid;
	int blocked;	/* SIGUSR2 is blocked after the wait */
};

static int is_blocked(int signal)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, signal);
}

static void *waiting(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiter->ret = command(waiter->stream->fd, POSIXTRACE_IOC_WAIT, &waiter->wait);
	waiter->blocked = is_blocked(SIGUSR2);
	return NULL;
}

/* Starts a thread and returns once it sleeps in WAIT, the only place where it can sleep. */
static int waiter_start_with(struct waiter *waiter, struct stream *stream,
			     const struct posixtrace_wait *wait)
{
	int err;

	*waiter = (struct waiter){ .stream = stream, .wait = *wait, .ret = 4711 };
	err = pthread_create(&waiter->thread, NULL, waiting, waiter);
	if (err)
		return err;
	falls_asleep(&waiter->tid, NULL);
	return 0;
}

static int waiter_start(struct waiter *waiter, struct stream *stream,
			unsigned long long deadline)
{
	const struct posixtrace_wait wait = wait_until(deadline);

	return waiter_start_with(waiter, stream, &wait);
}

static int waiter_end(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	return waiter->ret;
}

/* ------------------------------------------------------------------ */
/* With an event							*/

TEST_F(wait, returns_immediately_with_an_event)
{
	struct record record;

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, stream_wait(&self->stream, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_EQ(0, stream_wait(&self->stream, 0));
	/* WAIT does not consume the record. */
	EXPECT_EQ(0, stream_wait(&self->stream, 0));
	EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(wait, returns_immediately_with_any_deadline)
{
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, stream_wait(&self->stream, 1));
	EXPECT_EQ(0, stream_wait(&self->stream, ~0ULL));
}

/* The reader has taken one more record than it has reported, and passes that number in @held. */
TEST_F(wait, returns_immediately_when_the_reader_holds_an_event)
{
	struct pollfd pollfd = { .fd = self->stream.fd, .events = POLLIN };

	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	self->stream.reader->held = 1;
	EXPECT_EQ(0, stream_wait(&self->stream, 0));
	EXPECT_EQ(1, poll(&pollfd, 1, 0));
	EXPECT_EQ(POLLIN, pollfd.revents);
	self->stream.reader->held = 0;
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, 1));
}

/* ------------------------------------------------------------------ */
/* Deadline								*/

TEST_F(wait, ends_at_the_deadline)
{
	unsigned long long deadline = now() + NSEC / 20;

	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, deadline));
	EXPECT_LE(deadline, now());
}

TEST_F(wait, ends_immediately_when_the_deadline_has_passed)
{
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, 1));
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, now() - NSEC));
}

TEST_F(wait, distant_deadline_is_no_error)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, ~0ULL));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, waiter_end(&waiter));
}

/* ------------------------------------------------------------------ */
/* Wake-ups								*/

TEST_F(wait, system_event_wakes_it_up)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, waiter_end(&waiter));
}

TEST_F(wait, event_command_wakes_it_up)
{
	struct record record;
	struct waiter waiter;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_EQ(0, waiter_end(&waiter));
}

TEST_F(wait, wake_command_wakes_it_up)
{
	unsigned int mask = 1U << self->stream.arg.slot;
	unsigned long long before;
	struct record record;
	struct waiter waiter;
	struct writer writer;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_EQ(0, writer_event(&writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));

	before = now();
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
		EXPECT_EQ(1, LOAD(writer.wakeup->need_wakeup));
		ASSERT_EQ(0, writer_event(&writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_WAKE, &mask));
		EXPECT_EQ(0, waiter_end(&waiter));
		EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));
	}
	/* If WAKE did not work, the kernel would find each event only after up to half a second. */
	EXPECT_GT(2 * NSEC * pxt_time_scale(), now() - before);
	writer_close(&writer);
}

TEST_F(wait, sees_events_without_a_wake_command)
{
	struct record record;
	struct writer writer;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, writer_event(&writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
		EXPECT_EQ(0, stream_wait(&self->stream, 0));
		EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	}
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, 1));
	writer_close(&writer);
}

/*
 * After a poll() that timed out, no thread waits. The kernel must then clear need_wakeup after a
 * while.
 */
TEST_F(wait, need_wakeup_is_cleared_without_a_waiter)
{
	unsigned long long limit = now() + 10 * NSEC * pxt_time_scale();
	struct pollfd pollfd = { .fd = self->stream.fd, .events = POLLIN };
	struct writer writer;

	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	EXPECT_EQ(0, poll(&pollfd, 1, 1));
	EXPECT_EQ(1, LOAD(writer.wakeup->need_wakeup));
	while (LOAD(writer.wakeup->need_wakeup) && now() < limit)
		sched_yield();
	EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));
	writer_close(&writer);
}

/* A writer with need_wakeup makes a system call for each event. */
TEST_F(wait, poller_that_waits_for_conditions_does_not_slow_writers)
{
	struct pollfd pollfd = { .fd = self->stream.fd, .events = POLLPRI };
	struct writer writer;

	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	EXPECT_EQ(0, poll(&pollfd, 1, 1));
	EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));
	pollfd.events = POLLPRI | POLLIN;
	EXPECT_EQ(0, poll(&pollfd, 1, 1));
	EXPECT_EQ(1, LOAD(writer.wakeup->need_wakeup));
	writer_close(&writer);
}

TEST_F(wait, all_waiters_wake_up)
{
	struct waiter waiters[3];

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, waiter_end(&waiters[i]));
}

TEST_F(wait, shutdown_ends_it)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESHUTDOWN, waiter_end(&waiter));
}

TEST_F(wait, close_ends_it)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	close(self->stream.fd);
	EXPECT_EQ(-ESHUTDOWN, waiter_end(&waiter));
	stream_unmap(&self->stream);
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

static void ignore_signal(int signal)
{
	(void)signal;
}

TEST_F(wait, is_interrupted_by_a_signal)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct waiter waiter;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	ASSERT_EQ(0, pthread_kill(waiter.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, waiter_end(&waiter));
}

TEST_F(wait, signal_with_restart_keeps_waiting)
{
	struct sigaction action = { .sa_handler = ignore_signal, .sa_flags = SA_RESTART };
	struct waiter waiter;
	int ret;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream, 0));
	ASSERT_EQ(0, pthread_kill(waiter.thread, SIGUSR1));
	ASSERT_EQ(0, stream_start(&self->stream));
	ret = waiter_end(&waiter);
	/* The kernel may restart the call or not. The library retries if necessary. */
	EXPECT_TRUE(ret == 0 || ret == -EINTR);
}

/* ------------------------------------------------------------------ */
/* Signals that are unblocked only during the sleep			*/

static const struct posixtrace_wait unblocking = { .unblock = 1ULL << (SIGUSR2 - 1) };

static struct {
	int usr1;
	int usr2;
	int usr2_in_usr1;	/* SIGUSR2 arrived during the handler of SIGUSR1 */
	int usr2_blocked;	/* SIGUSR2 was blocked in that handler */
	int entered;
	int go_on;
} seen;

static void note_usr2(int signal)
{
	(void)signal;
	__atomic_store_n(&seen.usr2, seen.usr2 + 1, __ATOMIC_RELEASE);
}

static void note_usr1(int signal)
{
	(void)signal;
	seen.usr2_blocked = is_blocked(SIGUSR2);
	__atomic_store_n(&seen.entered, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&seen.go_on, __ATOMIC_ACQUIRE))
		;
	getppid();
	seen.usr2_in_usr1 = seen.usr2;
	__atomic_store_n(&seen.usr1, seen.usr1 + 1, __ATOMIC_RELEASE);
}

/* Also blocks SIGUSR2, including in later threads. */
static int handle_both(int flags)
{
	struct sigaction usr1 = { .sa_handler = note_usr1, .sa_flags = flags };
	struct sigaction usr2 = { .sa_handler = note_usr2 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigaction(SIGUSR1, &usr1, NULL) || sigaction(SIGUSR2, &usr2, NULL) ||
	       pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* SIGUSR2 arrives while the handler of SIGUSR1 runs. Returns the result of WAIT. */
static int interrupt_twice(struct waiter *waiter, struct stream *stream)
{
	int err = waiter_start_with(waiter, stream, &unblocking);

	if (!err)
		err = pthread_kill(waiter->thread, SIGUSR1);
	if (err)
		return err;
	while (!__atomic_load_n(&seen.entered, __ATOMIC_ACQUIRE))
		sched_yield();
	pthread_kill(waiter->thread, SIGUSR2);
	__atomic_store_n(&seen.go_on, 1, __ATOMIC_RELEASE);
	return waiter_end(waiter);
}

TEST_F(wait, unblocked_signal_interrupts_it)
{
	struct waiter waiter;

	ASSERT_EQ(0, handle_both(0));
	ASSERT_EQ(0, waiter_start_with(&waiter, &self->stream, &unblocking));
	ASSERT_EQ(0, pthread_kill(waiter.thread, SIGUSR2));
	EXPECT_EQ(-EINTR, waiter_end(&waiter));
	EXPECT_EQ(1, seen.usr2);
	EXPECT_EQ(1, waiter.blocked);
}

TEST_F(wait, earlier_signal_interrupts_it)
{
	struct waiter waiter = { .stream = &self->stream, .wait = unblocking };

	ASSERT_EQ(0, handle_both(0));
	raise(SIGUSR2);
	waiting(&waiter);
	EXPECT_EQ(-EINTR, waiter.ret);
	EXPECT_EQ(1, seen.usr2);
	EXPECT_EQ(1, waiter.blocked);
	/* A call that need not sleep does not unblock SIGUSR2. */
	ASSERT_EQ(0, stream_start(&self->stream));
	raise(SIGUSR2);
	waiting(&waiter);
	EXPECT_EQ(0, waiter.ret);
	EXPECT_EQ(1, seen.usr2);
	EXPECT_EQ(1, waiter.blocked);
}

/* Signals are unblocked for the sleep, not for handlers that interrupt the sleep. */
TEST_F(wait, unblocks_nothing_in_handlers)
{
	struct waiter waiter;

	ASSERT_EQ(0, handle_both(0));
	EXPECT_EQ(-EINTR, interrupt_twice(&waiter, &self->stream));
	EXPECT_EQ(1, seen.usr1);
	EXPECT_EQ(1, seen.usr2_blocked);
	EXPECT_EQ(0, seen.usr2_in_usr1);
	EXPECT_EQ(0, seen.usr2);
	EXPECT_EQ(1, waiter.blocked);
}

TEST_F(wait, unblocked_signal_arrives_after_a_restart)
{
	struct waiter waiter;

	ASSERT_EQ(0, handle_both(SA_RESTART));
	EXPECT_EQ(-EINTR, interrupt_twice(&waiter, &self->stream));
	EXPECT_EQ(1, seen.usr1);
	EXPECT_EQ(0, seen.usr2_in_usr1);
	EXPECT_EQ(1, seen.usr2);
	EXPECT_EQ(1, waiter.blocked);
}

static int wait_forever(void *arg, const struct talk *talk)
{
	struct stream stream;

	(void)arg;
	if (stream_create(&stream, 0))
		return 1;
	say(talk, 0);
	stream_wait(&stream, 0);
	return 2;
}

TEST_F(wait, can_be_killed)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, wait_forever, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	while (!is_asleep(child.pid))
		sched_yield();
	status = child_kill(&child);
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

/* ------------------------------------------------------------------ */
/* Errors								*/

/* Reads all records without releasing sub-buffers. Returns the number of sub-buffers. */
static unsigned int take_all(struct stream *stream, unsigned int nr)
{
	const struct posixtrace_subbuf *subbuf;
	unsigned int i, taken = 0;

	for (i = 0; i < nr; i++) {
		subbuf = stream_subbuf(stream, i);
		if (subbuf->state == POSIXTRACE_SUBBUF_FREE)
			continue;
		stream->reader->consumed[i].position =
			POSIXTRACE_CONSUMED(subbuf->seq, 1, stream_used(stream, subbuf->cpu, i));
		taken++;
	}
	return taken;
}

/*
 * WAIT frees sub-buffers that have been read. Otherwise each call would go through all sub-buffers
 * of the largest stream while it holds the lock, and keep other tasks off the processor.
 */
TEST_F(wait, reads_no_subbuffer_twice)
{
	const struct posixtrace_ctrl *ctrl = self->stream.ctrl;
	unsigned int nr = ctrl->nr_subbufs + ctrl->nr_sys_subbufs, closed = 0;
	char data[200] = "";

	ASSERT_EQ(0, stream_start(&self->stream));
	for (int i = 0; i < 200; i++)
		ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, data,
					  sizeof(data)));
	ASSERT_LT(8, take_all(&self->stream, nr));
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, 1));
	for (unsigned int i = 0; i < nr; i++)
		closed += stream_subbuf(&self->stream, i)->state == POSIXTRACE_SUBBUF_CLOSED;
	EXPECT_EQ(0, closed);
	/* Later events are read as usual. */
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, data, sizeof(data)));
	EXPECT_EQ(0, stream_wait(&self->stream, 1));
}

TEST_F(wait, unknown_flag_is_invalid)
{
	struct posixtrace_wait wait = { .flags = 2 };

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
	wait.flags = 1U << 31;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
}

TEST_F(wait, deadline_without_the_flag_is_invalid)
{
	struct posixtrace_wait wait = { .deadline = 1 };

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
}

TEST_F(wait, reserved_word_is_invalid)
{
	struct posixtrace_wait wait = { .reserved = 1 };

	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WAIT, &wait));
}

TEST_F(wait, bad_address_is_a_fault)
{
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_WAIT, BAD_POINTER));
}

TEST_HARNESS_MAIN
