// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of each record, and how rarely it must be stored. Threads and processes record in turn
 * on one CPU, with restartable sequences or through the module.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

#include "family.h"
#include "pxt_test.h"
#include "sequences.h"
#include "uapi.h"

/* The data of the events. */
struct data {
	__u64 number;
	__u64 more;
};

static void record_data(__u64 number)
{
	const struct data data = { .number = number };

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &data, sizeof(data));
}

/*
 * Creates a stream without the library, so that the test can examine its memory. It has space for
 * all events.
 */
static int open_running(struct stream *stream, int inherited)
{
	int err;

	create_init(&stream->arg, 0);
	stream->arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	stream->arg.attr.stream_size = 1 << 20;
	stream->arg.attr.inherited = inherited;
	err = stream_open(stream);
	return err ? err : stream_start(stream);
}

/* Reads the next user event. Returns the result of stream_take(). */
static int take_record(struct stream *stream, struct record *record, struct data *data)
{
	int ret;

	do {
		ret = stream_take(stream, record, data, sizeof(*data));
	} while (ret == 1 && record->event_id < POSIXTRACE_ID_UNNAMED);
	return ret;
}

/* ------------------------------------------------------------------ */
/* One thread								*/

#define EVENTS	2000

FIXTURE(alone)
{
	struct stream stream;
};

FIXTURE_VARIANT(alone)
{
	bool sequences;
};

FIXTURE_VARIANT_ADD(alone, sequence) { true };
FIXTURE_VARIANT_ADD(alone, command) { false };

FIXTURE_SETUP(alone)
{
	if (!variant->sequences)
		ASSERT_EQ(0, forgo_sequences());
	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, open_running(&self->stream, POSIXTRACE_CLOSE_FOR_CHILD));
}

FIXTURE_TEARDOWN(alone)
{
	stream_close(&self->stream);
}

/* An event takes 16 bytes plus its data. In addition, each sub-buffer has the writer once. */
TEST_F(alone, event_with_16_bytes_of_data_takes_32)
{
	unsigned int bytes = 0, writers = 0, subbufs;
	struct record record;
	struct data data;

	for (int i = 0; i < EVENTS; i++)
		record_data(i);
	for (int i = 0; i < EVENTS; i++) {
		ASSERT_EQ(1, take_record(&self->stream, &record, &data));
		ASSERT_EQ(i, data.number);
		ASSERT_EQ(32 + 32 * record.writers, record.size);
		ASSERT_EQ(getpid(), record.pid);
		ASSERT_EQ(syscall(SYS_gettid), record.tid);
		ASSERT_EQ((uintptr_t)pthread_self(), record.thread_id);
		bytes += record.size;
		writers += record.writers;
	}
	subbufs = EVENTS / ((self->stream.ctrl->subbuf_size - 32) / 32) + 1;
	TH_LOG("%u bytes for %u events, %u of them name their writer", bytes, EVENTS, writers);
	/* After an interruption, the next sequence may have to name the writer again. */
	EXPECT_LE(subbufs, writers);
	EXPECT_GE(subbufs + (variant->sequences ? EVENTS / 50 : 0), writers);
	EXPECT_GT(EVENTS * 33, bytes);
}

/* Records in a process without enough address space to map its first stream. */
static int record_with_little_room(void *arg, const struct talk *talk)
{
	struct rlimit limit = { 0, RLIM_INFINITY };

	(void)arg;
	say(talk, 0);
	if (hear(talk) < 0)
		return 1;
	limit.rlim_cur = memory_in_use() + (4 << 20);
	if (setrlimit(RLIMIT_AS, &limit))
		return 2;
	for (int i = 0; i < EVENTS; i++)
		record_data(i);
	say(talk, 0);
	return 0;
}

TEST(event_has_its_process_if_another_stream_cannot_be_mapped)
{
	struct stream streams[2];
	struct record record;
	struct child child;
	struct data data;

	ASSERT_EQ(0, child_start(&child, record_with_little_room, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	for (int i = 0; i < 2; i++) {
		create_init(&streams[i].arg, child.pid);
		streams[i].arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
		streams[i].arg.attr.stream_size = i ? 1 << 20 : 16 << 20;
		ASSERT_EQ(0, stream_open(&streams[i]));
		ASSERT_EQ(0, stream_start(&streams[i]));
	}
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	for (int i = 0; i < 2; i++) {
		for (int number = 0; number < EVENTS; number++) {
			ASSERT_EQ(1, take_record(&streams[i], &record, &data));
			ASSERT_EQ(number, data.number);
			ASSERT_EQ(child.pid, record.pid);
			ASSERT_EQ(child.pid, record.tid);
		}
		stream_close(&streams[i]);
	}
	EXPECT_EQ(0, child_wait(&child));
}

/*
 * A record has only the lower half of its time. The upper half is taken from its writer, and is
 * valid for POSIXTRACE_WRITER_SPAN. Wait for longer than that, like an idle program.
 */
TEST_F(alone, event_long_after_the_writer_was_named_has_its_own_time)
{
	const struct timespec span = { .tv_sec = POSIXTRACE_WRITER_SPAN / 1000000000 + 1 };
	struct record record;
	struct data data;
	__u64 times[4];

	record_data(0);
	record_data(1);
	ASSERT_EQ(0, nanosleep(&span, NULL));
	record_data(2);
	record_data(3);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(1, take_record(&self->stream, &record, &data));
		ASSERT_EQ(i, data.number);
		times[i] = record.timestamp;
		if (i == 2)
			EXPECT_EQ(1, record.writers);
	}
	EXPECT_LE(times[1] + POSIXTRACE_WRITER_SPAN, times[2]);
	EXPECT_GT(times[1] + 30 * POSIXTRACE_WRITER_SPAN, times[2]);
	EXPECT_LE(times[0], times[1]);
	EXPECT_LE(times[2], times[3]);
}

/* Threads that run one after the other, so that the C library gives them the same pthread_t. */
#define HEIRS	10

struct heir {
	pthread_t thread;
	__u64 number;
	pid_t tid;
};

static void *record_and_die(void *arg)
{
	struct heir *heir = arg;

	heir->tid = syscall(SYS_gettid);
	record_data(heir->number);
	return NULL;
}

TEST_F(alone, reused_pthread_t)
{
	struct heir heirs[HEIRS];
	struct record record;
	struct data data;
	int again = 0;

	for (int i = 0; i < HEIRS; i++) {
		heirs[i] = (struct heir){ .number = i };
		ASSERT_EQ(0, pthread_create(&heirs[i].thread, NULL, record_and_die, &heirs[i]));
		ASSERT_EQ(0, pthread_join(heirs[i].thread, NULL));
		again += i && heirs[i].thread == heirs[i - 1].thread;
	}
	EXPECT_LT(0, again);
	for (int i = 0; i < HEIRS; i++) {
		ASSERT_EQ(1, take_record(&self->stream, &record, &data));
		EXPECT_EQ(i, data.number);
		EXPECT_EQ(getpid(), record.pid);
		EXPECT_EQ(heirs[i].tid, record.tid);
		EXPECT_EQ((uintptr_t)heirs[i].thread, record.thread_id);
		EXPECT_EQ(1, record.writers);
	}
}

/* ------------------------------------------------------------------ */
/* Threads in turn							*/

#define TURNS	100
#define PER_TURN	3	/* events that are recorded in each turn */

struct partner {
	pthread_t thread;
	struct partner *other;
	sem_t turn;
	bool sequences;
	pid_t tid;
	int number;	/* number of its first event */
	int status;
};

static void *take_turns(void *arg)
{
	struct partner *partner = arg;

	partner->tid = syscall(SYS_gettid);
	partner->status = run_on(0) < 0 || (!partner->sequences && forgo_sequences());
	for (int i = 0; i < TURNS; i++) {
		sem_wait(&partner->turn);
		for (int k = 0; k < PER_TURN; k++)
			record_data((2 * i + partner->number) * PER_TURN + k);
		sem_post(&partner->other->turn);
	}
	return NULL;
}

FIXTURE(turns)
{
	struct stream stream;
	struct partner partner[2];
};

FIXTURE_VARIANT(turns)
{
	bool sequences[2];
};

FIXTURE_VARIANT_ADD(turns, sequences) { { true, true } };
FIXTURE_VARIANT_ADD(turns, commands) { { false, false } };
FIXTURE_VARIANT_ADD(turns, sequence_and_command) { { true, false } };

FIXTURE_SETUP(turns)
{
	ASSERT_EQ(0, open_running(&self->stream, POSIXTRACE_CLOSE_FOR_CHILD));
}

FIXTURE_TEARDOWN(turns)
{
	stream_close(&self->stream);
}

TEST_F(turns, each_event_has_its_thread)
{
	struct partner *partner = self->partner;
	unsigned int needless = 0;
	struct record record;
	struct data data;

	for (int i = 0; i < 2; i++) {
		partner[i] = (struct partner){
			.other = &partner[!i],
			.sequences = variant->sequences[i],
			.number = i,
		};
		ASSERT_EQ(0, sem_init(&partner[i].turn, 0, !i));
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&partner[i].thread, NULL, take_turns, &partner[i]));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(partner[i].thread, NULL));
		ASSERT_EQ(0, partner[i].status);
	}
	for (int i = 0; i < 2 * TURNS; i++) {
		for (int k = 0; k < PER_TURN; k++) {
			ASSERT_EQ(1, take_record(&self->stream, &record, &data));
			ASSERT_EQ(i * PER_TURN + k, data.number);
			ASSERT_EQ(getpid(), record.pid);
			ASSERT_EQ(partner[i % 2].tid, record.tid);
			ASSERT_EQ((uintptr_t)partner[i % 2].thread, record.thread_id);
			if (k)
				needless += record.writers;
			else
				ASSERT_EQ(1, record.writers);
		}
	}
	EXPECT_EQ(0, take_record(&self->stream, &record, &data));
	/*
	 * Within a turn, a record stores the same writer again only at the start of a sub-buffer
	 * and after an interrupted sequence.
	 */
	EXPECT_GT(TURNS / 4, needless);
}

/* ------------------------------------------------------------------ */
/* Processes that record in turn. All have the same pthread_t, and may have the same thread id. */

static int record_in_child(void *arg)
{
	const int *number = arg;

	if (run_on(0) < 0)
		return 1;
	record_data(*number);
	return 0;
}

FIXTURE(family)
{
	struct stream stream;
};

FIXTURE_VARIANT(family)
{
	bool sequences;
	pid_t (*make)(family_fn fn, void *arg);
};

FIXTURE_VARIANT_ADD(family, fork) { true, by_fork };
FIXTURE_VARIANT_ADD(family, fork_without_sequences) { false, by_fork };
FIXTURE_VARIANT_ADD(family, vfork) { true, by_vfork };
/* ThreadSanitizer does not support two processes that share their memory. */
#if !PXT_TSAN
FIXTURE_VARIANT_ADD(family, clone_vm) { true, by_clone_vm };
#endif

FIXTURE_SETUP(family)
{
	if (!variant->sequences)
		ASSERT_EQ(0, forgo_sequences());
	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, open_running(&self->stream, POSIXTRACE_INHERITED));
}

FIXTURE_TEARDOWN(family)
{
	stream_close(&self->stream);
}

TEST_F(family, each_event_has_its_process)
{
	pid_t pid, pids[20];
	struct record record;
	struct data data;
	int number;

	for (int i = 0; i < 20; i++) {
		record_data(3 * i);
		number = 3 * i + 1;
		pids[i] = variant->make(record_in_child, &number);
		ASSERT_LT(0, pids[i]);
		ASSERT_EQ(0, ended(pids[i]));
		record_data(3 * i + 2);
	}
	for (int i = 0; i < 60; i++) {
		ASSERT_EQ(1, take_record(&self->stream, &record, &data));
		pid = i % 3 == 1 ? pids[i / 3] : getpid();
		ASSERT_EQ(i, data.number);
		ASSERT_EQ(pid, record.pid);
		ASSERT_EQ(pid, record.tid);
		ASSERT_EQ((uintptr_t)pthread_self(), record.thread_id);
		if (i % 3)
			ASSERT_EQ(1, record.writers);
	}
}

TEST_HARNESS_MAIN
