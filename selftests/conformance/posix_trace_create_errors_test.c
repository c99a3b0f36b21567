// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of posix_trace_create() that fail, are interrupted or cancelled, or run in several
 * threads concurrently: Documentation/conformance/posix_trace_create.rst
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "create_stream.h"
#include "stream_state.h"

TEST_F(create, a16_result_is_written_only_on_success)
{
	errno = 4711;
	EXPECT_EQ(ESRCH, posix_trace_create(INT_MAX, &self->attr, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_NE(UNTOUCHED, self->trid);
	/* The error is only in the return value. */
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, a17_eagain_beyond_the_limit_of_a_process)
{
	trace_id_t trid[STREAMS_MAX + 1];
	int err;

	EXPECT_EQ(STREAMS_MAX, create_all(0, &self->attr, trid, STREAMS_MAX + 1, &err));
	EXPECT_EQ(EAGAIN, err);
	EXPECT_EQ(0, posix_trace_shutdown(trid[7]));
	EXPECT_EQ(0, posix_trace_create(0, &self->attr, &trid[7]));
	EXPECT_EQ(EAGAIN, posix_trace_create(0, &self->attr, &trid[STREAMS_MAX]));
	for (int i = 0; i < STREAMS_MAX; i++)
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
}

/* A stream exists if and only if the call returned 0, interrupted or not. */
TEST_F(create, a18_interrupted_call_leaves_no_stream_behind)
{
	int created = 0, err;

	ASSERT_EQ(0, signals_begin());
	for (int i = 0; signals_handled < 10 || i < 40; i++) {
		self->trid = UNTOUCHED;
		err = posix_trace_create(0, &self->attr, &self->trid);
		if (err == EINTR) {
			ASSERT_EQ(UNTOUCHED, self->trid);
			continue;
		}
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
		created++;
	}
	ASSERT_EQ(0, signals_end());
	EXPECT_LT(0, created);
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

TEST_F(create, a19_einval_for_flush_without_log)
{
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

/* Invalid attributes are an error for any process. */
TEST_F(create, a19_einval_precedes_esrch)
{
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	EXPECT_EQ(EINVAL, posix_trace_create(INT_MAX, &self->attr, &self->trid));
}

TEST_F(create, a20_enomem_without_memory_for_the_stream)
{
	struct rlimit limit, small;
	int err;

	PXT_NOT_WITH_TSAN("wants memory, too");
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 1 << 20));
	/* The process gets no more memory, even if the machine has some. */
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &limit));
	small = (struct rlimit){ .rlim_cur = 4096, .rlim_max = limit.rlim_max };
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &small));
	err = posix_trace_create(0, &self->attr, &self->trid);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_EQ(ENOMEM, err);
	EXPECT_EQ(UNTOUCHED, self->trid);
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 8 << 10));
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

struct permission_test {
	trace_attr_t attr;
	pid_t pid;
	uid_t uid;
};

/* Creates a stream on the process as another user, and returns the error. */
static int create_as(void *arg, const struct talk *talk)
{
	struct permission_test *test = arg;
	trace_id_t trid;

	(void)talk;
	if (setgid(test->uid) || setuid(test->uid))
		return 255;
	return posix_trace_create(test->pid, &test->attr, &trid);
}

static int record_as(void *arg, const struct talk *talk)
{
	struct permission_test *test = arg;

	return setgid(test->uid) || setuid(test->uid) ? 255 : child_record(arg, talk);
}

TEST_F(create, a21_eperm_without_the_right_to_trace)
{
	struct permission_test test = { self->attr, getpid(), 65534 };
	struct child child;

	if (geteuid())
		SKIP(return, "needs root to become another user");
	ASSERT_EQ(0, child_start(&child, create_as, &test));
	EXPECT_EQ(EPERM << 8, child_wait(&child));
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

TEST_F(create, a21_no_error_with_the_right_to_trace)
{
	struct permission_test test = { .attr = self->attr, .uid = 65534 };
	struct child child;

	if (geteuid())
		SKIP(return, "needs root to trace all processes");
	ASSERT_EQ(0, child_start(&child, record_as, &test));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, posix_trace_create(child.pid, &self->attr, &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(create, a22_esrch_without_such_a_process)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	child_kill(&child);
	EXPECT_EQ(ESRCH, posix_trace_create(child.pid, &self->attr, &self->trid));
	EXPECT_EQ(ESRCH, posix_trace_create(INT_MAX, &self->attr, &self->trid));
	EXPECT_EQ(ESRCH, posix_trace_create(-1, &self->attr, &self->trid));
	EXPECT_EQ(ESRCH, posix_trace_create(-getpid(), &self->attr, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

struct other_thread {
	pthread_mutex_t lock;
	pid_t tid;
};

static void *report_tid(void *arg)
{
	struct other_thread *other = arg;

	__atomic_store_n(&other->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	/* Stay alive until the test has finished. */
	pthread_mutex_lock(&other->lock);
	pthread_mutex_unlock(&other->lock);
	return NULL;
}

TEST_F(create, a22_esrch_for_a_thread_id)
{
	struct other_thread other = { PTHREAD_MUTEX_INITIALIZER, 0 };
	pthread_t thread;
	pid_t tid;

	pthread_mutex_lock(&other.lock);
	ASSERT_EQ(0, pthread_create(&thread, NULL, report_tid, &other));
	while (!(tid = __atomic_load_n(&other.tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	EXPECT_EQ(ESRCH, posix_trace_create(tid, &self->attr, &self->trid));
	pthread_mutex_unlock(&other.lock);
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

TEST_F(create, a23_einval_for_a_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, NULL));
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

static void *create_cancelled(void *arg)
{
	trace_id_t trid;

	pthread_cancel(pthread_self());
	if (posix_trace_create(0, arg, &trid))
		return arg;
	/* The call has created a stream despite the cancellation. */
	return posix_trace_shutdown(trid) ? arg : NULL;
}

TEST_F(create, a24_cancelled_call_leaves_no_stream_behind)
{
	pthread_t thread;
	void *result;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, create_cancelled, &self->attr));
		ASSERT_EQ(0, pthread_join(thread, &result));
		EXPECT_NE(&self->attr, result);
	}
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

struct creator {
	pthread_t thread;
	const trace_attr_t *attr;
	int failed;
};

static void *create_and_use(void *arg)
{
	struct creator *creator = arg;
	trace_id_t trid;

	for (int i = 0; i < 10; i++) {
		if (posix_trace_create(0, creator->attr, &trid) ||
		    posix_trace_start(trid) || posix_trace_stop(trid) ||
		    take_all(trid) < 2 || posix_trace_shutdown(trid))
			creator->failed++;
	}
	return NULL;
}

TEST_F(create, a25_threads_can_call_it_at_the_same_time)
{
	struct creator creator[4];

	for (int i = 0; i < 4; i++) {
		creator[i] = (struct creator){ .attr = &self->attr };
		ASSERT_EQ(0, pthread_create(&creator[i].thread, NULL, create_and_use,
					    &creator[i]));
	}
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(creator[i].thread, NULL));
		EXPECT_EQ(0, creator[i].failed);
	}
	EXPECT_TRUE(all_slots_are_free(&self->attr));
}

TEST_HARNESS_MAIN
