// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_get_status(): Documentation/conformance/posix_trace_get_status.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "stream_state.h"
#include "log_reading.h"
#include "withlog.h"

TEST_F(stream, a01_current_status)
{
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(variant->policy == POSIX_TRACE_LOOP ? STATE(RUNNING, FULL) :
		  STATE(SUSPENDED, FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(variant->policy == POSIX_TRACE_LOOP ? STATE(RUNNING, NOT_FULL) :
		  STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

TEST_F(stream, a01_status_of_this_stream)
{
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(variant->policy, &other));
	overfill(0);
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(other));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(stream, a02_all_members_are_set)
{
	struct posix_trace_status_info status;

	memset(&status, 0xa5, sizeof(status));
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
}

/* In a stream without log, the log members keep their initial values even after losses. */
TEST_F(stream, a02_all_members_are_set_after_losses)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	memset(&status, 0xa5, sizeof(status));
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
}

/* ------------------------------------------------------------------ */
/* One snapshot								*/

struct party {
	pthread_t thread;
	trace_id_t trid;
	int policy;
	const int *ended;
	int calls;
	int failed;
};

static int is_over(const struct party *party)
{
	return __atomic_load_n(party->ended, __ATOMIC_ACQUIRE);
}

static void *start_and_stop(void *arg)
{
	struct party *party = arg;

	while (!is_over(party)) {
		party->failed += posix_trace_start(party->trid) != 0;
		sched_yield();
		party->failed += posix_trace_stop(party->trid) != 0;
		if (party->calls++ % 8 == 0)
			party->failed += posix_trace_clear(party->trid) != 0;
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct party *party = arg;

	while (!is_over(party)) {
		party->failed += take_all(party->trid) < 0;
		sched_yield();
	}
	return NULL;
}

static void *record_much(void *arg)
{
	struct party *party = arg;

	while (!is_over(party)) {
		for (int i = 0; i < 50; i++)
			record_number(i);
		sched_yield();
	}
	return NULL;
}

static int is_possible(const struct posix_trace_status_info *status, int policy)
{
	int state = status->posix_stream_status << 8 | status->posix_stream_full_status;

	return (state == STATE(RUNNING, NOT_FULL) || state == STATE(SUSPENDED, NOT_FULL) ||
		state == STATE(SUSPENDED, FULL) ||
		(state == STATE(RUNNING, FULL) && policy == POSIX_TRACE_LOOP)) &&
	       (status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN ||
		status->posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN) &&
	       !status->posix_stream_flush_status && !status->posix_stream_flush_error &&
	       !status->posix_log_overrun_status && !status->posix_log_full_status;
}

static void *look(void *arg)
{
	struct posix_trace_status_info status;
	struct party *party = arg;

	while (!is_over(party)) {
		if (posix_trace_get_status(party->trid, &status) ||
		    !is_possible(&status, party->policy))
			party->failed++;
		__atomic_fetch_add(&party->calls, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

TEST_F(stream, a03_values_are_consistent)
{
	void *(*const fns[])(void *) = { look, record_much, start_and_stop, read_all };
	struct party party[4];
	int ended = 0;

	for (int i = 0; i < 4; i++) {
		party[i] = (struct party){
			.trid = self->trid, .policy = variant->policy, .ended = &ended,
		};
		ASSERT_EQ(0, pthread_create(&party[i].thread, NULL, fns[i], &party[i]));
	}
	while (__atomic_load_n(&party[0].calls, __ATOMIC_ACQUIRE) < 500)
		sched_yield();
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(party[i].thread, NULL));
		EXPECT_EQ(0, party[i].failed);
	}
}

/* A full stream is stopped; once restarted, it is not full. */
TEST(a03_until_full_is_never_running_and_full)
{
	void *(*const fns[])(void *) = { look, record_much, read_all };
	struct party party[3];
	trace_id_t trid;
	int ended = 0;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	for (int i = 0; i < 3; i++) {
		party[i] = (struct party){
			.trid = trid, .policy = POSIX_TRACE_UNTIL_FULL, .ended = &ended,
		};
		ASSERT_EQ(0, pthread_create(&party[i].thread, NULL, fns[i], &party[i]));
	}
	while (__atomic_load_n(&party[0].calls, __ATOMIC_ACQUIRE) < 1000)
		sched_yield();
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_join(party[i].thread, NULL));
		EXPECT_EQ(0, party[i].failed);
	}
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* The overrun								*/

TEST_F(stream, a04_overrun_is_reset_by_the_call)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(stream, a04_next_loss_is_reported_again)
{
	int next = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 3; i++) {
		next = overfill(next);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(self->trid));
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	}
}

/* Reading the status resets only the overrun status. */
TEST_F(stream, a04_nothing_else_is_reset)
{
	int state;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	state = state_of(self->trid);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(state, state_of(self->trid));
}

static void *ask_overrun(void *arg)
{
	return (void *)(long)overrun_of(*(trace_id_t *)arg);
}

/* One of several concurrent calls reports the overrun. */
TEST_F(stream, a04_one_of_many_threads_gets_the_overrun)
{
	pthread_t thread[4];
	int overruns = 0;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, ask_overrun, &self->trid));
	for (int i = 0; i < 4; i++) {
		void *result;

		ASSERT_EQ(0, pthread_join(thread[i], &result));
		overruns += (long)result == POSIX_TRACE_OVERRUN;
	}
	EXPECT_EQ(1, overruns);
}

TEST_F(stream, a05_is_written_only_on_success)
{
	struct posix_trace_status_info status, before;

	memset(&status, 0xa5, sizeof(status));
	before = status;
	EXPECT_EQ(EINVAL, posix_trace_get_status(-1, &status));
	EXPECT_EQ(0, memcmp(&before, &status, sizeof(status)));
}

static int get_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status);
}

TEST_F(stream, a06_einval_without_a_stream)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(0, bad_trids_accepted(get_status, self->trid));
	/* The child's call has not reset the overrun status. */
	EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(self->trid));
}

TEST_F(stream, a07_einval_for_a_null_result)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(EINVAL, posix_trace_get_status(self->trid, NULL));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(self->trid));
}

TEST_F(stream, a08_cancelled_thread_holds_no_lock)
{
	int ret = call_trid_cancelled(get_status, self->trid);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(0, get_status(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(stream, a09_reading_and_status_are_independent)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 50; i++) {
		record_number(i);
		ASSERT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
		ASSERT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
	}
	EXPECT_EQ(0, take_all(self->trid));
}

TEST(a11_status_of_a_log)
{
	struct posix_trace_status_info status, again;
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&log, 0, 2, 50);
	log.end.error = EFBIG;
	log.end.lost = 3;
	log_end(&log, POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_FULL);
	ASSERT_EQ(0, log_open(&log, &trid));
	for (int i = 0; i < 3; i++) {
		memset(&status, 0xa5, sizeof(status));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
		EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
		EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
		EXPECT_EQ(EFBIG, status.posix_stream_flush_error);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_log_overrun_status);
		EXPECT_EQ(POSIX_TRACE_FULL, status.posix_log_full_status);
		if (i)
			EXPECT_EQ(0, memcmp(&status, &again, sizeof(status)));
		again = status;
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

TEST(a10_log_overrun_and_flush_error_are_reset_by_each_call)
{
	const struct log_kind loop = { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 16 << 10 };
	const struct log_kind append = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	struct posix_trace_status_info status;
	int fd = log_tmpfile(), pipe[2];
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&loop, fd, &trid));
	withlog_record(0, 700);
	ASSERT_EQ(0, posix_trace_flush(trid));
	do {
		sched_yield();
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	} while (status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN);
	ASSERT_EQ(0, withlog_wait(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	close(fd);

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_EQ(0, withlog_start(&append, pipe[1], &trid));
	close(pipe[0]);
	EXPECT_EQ(EPIPE, withlog_flush(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(EPIPE, posix_trace_shutdown(trid));
	close(pipe[1]);
}

TEST_HARNESS_MAIN
