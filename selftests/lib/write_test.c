// SPDX-License-Identifier: GPL-2.0
/*
 * Records that the process writes itself, in restartable sequences, and those that
 * the module writes for a thread that has none: the same cases for both, and both in
 * one stream.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/time.h>

#include "family.h"
#include "pxt_test.h"
#include "sequences.h"
#include "syscalls.h"
#include "trace_test.h"

#define MAX_DATA	512

static int new_wide_stream(pid_t pid, size_t size, int policy, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, size);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, MAX_DATA);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(&attr, policy);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

/* ------------------------------------------------------------------ */
/* One thread								*/

FIXTURE(way)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(way)
{
	bool sequences;
};

FIXTURE_VARIANT_ADD(way, sequence) { true };
FIXTURE_VARIANT_ADD(way, command) { false };

FIXTURE_SETUP(way)
{
	ASSERT_NE(0, __rseq_size);
	ASSERT_GT(CPU_SETSIZE, own_area()->cpu_id);
	if (!variant->sequences)
		ASSERT_EQ(0, forgo_sequences());
	ASSERT_EQ(0, new_wide_stream(0, 4 << 20, POSIX_TRACE_UNTIL_FULL, &self->trid));
}

FIXTURE_TEARDOWN(way)
{
	posix_trace_shutdown(self->trid);
}

static unsigned char pattern(size_t len, size_t i)
{
	return len * 31 + i * 7 + (i >> 8);
}

static void record_pattern(size_t len)
{
	unsigned char *data = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		data[i] = pattern(len, i);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, len);
	free(data);
}

static bool is_pattern(const struct event *event, size_t len)
{
	size_t kept = len < MAX_DATA ? len : MAX_DATA;

	if (event->len != kept ||
	    event->info.posix_truncation_status !=
	    (kept < len ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED))
		return false;
	for (size_t i = 0; i < kept; i++) {
		if (event->data[i] != pattern(len, i))
			return false;
	}
	return true;
}

TEST_F(way, data_of_any_length_arrives)
{
	struct event event;

	for (size_t len = 0; len <= MAX_DATA + 20; len++)
		record_pattern(len);
	for (size_t len = 0; len <= MAX_DATA + 20; len++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_TRUE(is_pattern(&event, len)) TH_LOG("length %zu", len);
		ASSERT_EQ(getpid(), event.info.posix_pid);
		ASSERT_TRUE(pthread_equal(pthread_self(), event.info.posix_thread_id));
	}
	EXPECT_EQ(0, take_user(self->trid, &event));
}

TEST_F(way, events_of_two_places_have_two_addresses)
{
	struct event first, second;

	record_plain(1);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &first));
	ASSERT_EQ(1, take_user(self->trid, &second));
	EXPECT_NE(NULL, first.info.posix_prog_address);
	EXPECT_NE(first.info.posix_prog_address, second.info.posix_prog_address);
}

/* What CLOCK_REALTIME says before and after is around the time of each event. */
TEST_F(way, time_is_that_of_the_wall_clock)
{
	unsigned long long before, after, last = 0;
	struct event event;

	for (int i = 0; i < rounds(20000); i++) {
		before = now();
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		after = now();
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_LE(before, event_time(&event));
		ASSERT_GE(after, event_time(&event));
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
	}
}

TEST_F(way, each_stream_gets_it)
{
	trace_id_t trid[32];
	struct event event;

	for (int i = 1; i < 32; i++) {
		ASSERT_EQ(0, new_stream(0, i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
					&trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	trid[0] = self->trid;
	for (int number = 0; number < 3; number++)
		record_plain(number);
	for (int i = 0; i < 32; i++) {
		for (int number = 0; number < 3; number++) {
			ASSERT_EQ(1, take_user(trid[i], &event));
			EXPECT_EQ(number, event_number(&event));
		}
		EXPECT_EQ(0, take_user(trid[i], &event));
	}
	for (int i = 1; i < 32; i++)
		posix_trace_shutdown(trid[i]);
}

TEST_F(way, errno_is_kept)
{
	errno = 4711;
	for (int i = 0; i < 1000; i++)
		record_plain(i);
	EXPECT_EQ(4711, errno);
}

/* ------------------------------------------------------------------ */
/* System calls								*/

#define COUNTED	1000

static int record_counted(bool sequences)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || (!sequences && forgo_sequences()))
		return 1;
	/* The controller waits for this one: from here on it is traced. */
	raise(SIGSTOP);
	/* Attaches, and maps the stream. */
	record_plain(0);
	signpost();
	for (int i = 1; i <= COUNTED; i++)
		record_plain(i);
	signpost();
	return 0;
}

static int count_ioctls(bool sequences, trace_id_t *trid)
{
	struct syscalls calls;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(record_counted(sequences));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    new_stream(pid, POSIX_TRACE_LOOP, trid) || posix_trace_start(*trid) ||
	    count_syscalls(&calls, pid) || calls.status)
		return -1;
	return calls.ioctls;
}

TEST(recording_takes_no_system_call_but_for_room)
{
	struct posixtrace_stats_info stats;
	trace_id_t trid;
	int ioctls;

	/* Per sub-buffer one, on each CPU, and some that were disturbed too often. */
	ioctls = count_ioctls(true, &trid);
	EXPECT_LT(0, ioctls);
	EXPECT_GT(COUNTED / 10, ioctls);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(COUNTED + 1, stats.recorded);
	posix_trace_shutdown(trid);

	/* So that this number means something: */
	EXPECT_LE(COUNTED, count_ioctls(false, &trid));
	posix_trace_shutdown(trid);
}

/* ------------------------------------------------------------------ */
/* Many threads, of several processes					*/

#define PROCESSES	3
#define THREADS		4
#define WRITERS		(PROCESSES * THREADS)
#define HANDLERS	PROCESSES

/* Each event says who it is from, how long it is, and has a checksum. */
struct letter {
	__u32 from;
	__u32 number;
	__u32 len;
	__u32 sum;
	unsigned char text[MAX_DATA - 16];
};

struct post {
	struct line line;
	__u32 stop;
	/* Written by the one writer; the last ones are the signal handlers of a process. */
	__u32 sent[WRITERS + HANDLERS];
	struct who {
		pid_t pid;
		pthread_t thread;
	} who[WRITERS + HANDLERS];
};

static __u32 checksum(const struct letter *letter)
{
	__u32 sum = letter->from * 2654435761U + letter->number * 40503U + letter->len;

	for (__u32 i = 0; i < letter->len; i++)
		sum = (sum << 5 | sum >> 27) ^ letter->text[i];
	return sum;
}

static void send_letter(struct post *post, __u32 from)
{
	struct letter letter = { .from = from, .number = post->sent[from] };

	/* Mostly short ones. */
	letter.len = letter.number % 16 ? letter.number % 40
					: letter.number * 13 % sizeof(letter.text);
	for (__u32 i = 0; i < letter.len; i++)
		letter.text[i] = letter.number + i * from;
	letter.sum = checksum(&letter);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &letter, 16 + letter.len);
	__atomic_store_n(&post->sent[from], letter.number + 1, __ATOMIC_RELEASE);
}

static struct post *the_post;
static __u32 my_process;

static void send_from_handler(int signal)
{
	int saved_errno = errno;

	(void)signal;
	/* Blocked in all threads but one. */
	send_letter(the_post, WRITERS + my_process);
	errno = saved_errno;
}

struct writer {
	pthread_t thread;
	__u32 index;
	int status;
};

/* One of the threads takes the signals; every third one has no sequences. */
static void *write_letters(void *arg)
{
	struct writer *writer = arg;
	const struct who me = { getpid(), pthread_self() };
	sigset_t alarm;

	the_post->who[writer->index] = me;
	if (writer->index % THREADS == 0)
		the_post->who[WRITERS + my_process] = me;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (writer->index % THREADS == 0)
		pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	if (writer->index % 3 == 2)
		writer->status = forgo_sequences();
	while (!__atomic_load_n(&the_post->stop, __ATOMIC_ACQUIRE)) {
		__u32 number = the_post->sent[writer->index];

		send_letter(the_post, writer->index);
		if (number % 7 == 0)
			sched_yield();
		if (number % 50 == 49)
			run_on(number / 50 + writer->index);
	}
	/* So that no handler is left behind. */
	if (writer->index % THREADS == 0)
		pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	return NULL;
}

static int write_in_process(void *arg)
{
	const struct itimerval often = { { 0, 700 }, { 0, 700 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = send_from_handler, .sa_flags = SA_RESTART };
	struct writer writers[THREADS];
	sigset_t alarm;
	int i, status = 0;

	my_process = *(__u32 *)arg;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &often, NULL))
		return 1;
	line_up(&the_post->line, PROCESSES);
	for (i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){ .index = my_process * THREADS + i };
		if (pthread_create(&writers[i].thread, NULL, write_letters, &writers[i]))
			return 2;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(writers[i].thread, NULL);
		status |= writers[i].status;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return status ? 3 : 0;
}

/* The first process makes the others, which inherit the stream. */
static int write_in_processes(void *arg, const struct talk *talk)
{
	__u32 numbers[PROCESSES];
	pid_t pids[PROCESSES];
	int i, failed;

	(void)arg;
	hear(talk);
	for (i = 1; i < PROCESSES; i++) {
		numbers[i] = i;
		pids[i] = by_fork(write_in_process, &numbers[i]);
		if (pids[i] < 0)
			return 10;
	}
	numbers[0] = 0;
	failed = write_in_process(&numbers[0]);
	for (i = 1; i < PROCESSES; i++)
		failed |= ended(pids[i]);
	return failed;
}

struct tally {
	__u32 seen[WRITERS + HANDLERS];	/* events */
	__u32 next[WRITERS + HANDLERS];	/* the number that may come at the earliest */
	unsigned int wrong;
	unsigned int mistaken;	/* for one of another thread */
	unsigned int all;
};

static void look_at(struct tally *tally, const struct event *event)
{
	struct letter letter = { .from = ~0U };

	memcpy(&letter, event->data, event->len < sizeof(letter) ? event->len : sizeof(letter));
	if (event->len < 16 || event->len > sizeof(letter) || letter.len != event->len - 16 ||
	    letter.from >= WRITERS + HANDLERS || letter.sum != checksum(&letter) ||
	    letter.number < tally->next[letter.from]) {
		tally->wrong++;
		return;
	}
	if (event->info.posix_pid != the_post->who[letter.from].pid ||
	    !pthread_equal(event->info.posix_thread_id, the_post->who[letter.from].thread))
		tally->mistaken++;
	tally->next[letter.from] = letter.number + 1;
	tally->seen[letter.from]++;
	tally->all++;
}

FIXTURE(storm)
{
	struct child child;
	trace_id_t trid;
};

FIXTURE_VARIANT(storm)
{
	int policy;
	size_t size;
};

/* Room for everything, drops, and overwriting. */
FIXTURE_VARIANT_ADD(storm, that_fits) { POSIX_TRACE_UNTIL_FULL, 48 << 20 };
FIXTURE_VARIANT_ADD(storm, until_full) { POSIX_TRACE_UNTIL_FULL, 32 << 10 };
FIXTURE_VARIANT_ADD(storm, loop) { POSIX_TRACE_LOOP, 32 << 10 };

FIXTURE_SETUP(storm)
{
	the_post = share(sizeof(*the_post));
	ASSERT_NE(NULL, the_post);
	ASSERT_EQ(0, child_start(&self->child, write_in_processes, NULL));
	ASSERT_EQ(0, new_wide_stream(self->child.pid, variant->size, variant->policy,
				     &self->trid));
}

FIXTURE_TEARDOWN(storm)
{
	posix_trace_shutdown(self->trid);
}

static __u64 sent_by_all(void)
{
	__u64 sum = 0;

	for (int i = 0; i < WRITERS + HANDLERS; i++)
		sum += __atomic_load_n(&the_post->sent[i], __ATOMIC_ACQUIRE);
	return sum;
}

/* Events that were dropped, or overwritten; -1 on errors. */
static long long lost(trace_id_t trid, int policy)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		return -1;
	return policy == POSIX_TRACE_LOOP ? stats.overwritten : stats.dropped;
}

TEST_F_TIMEOUT(storm, every_event_is_accounted_for, 120)
{
	const __u64 wanted = rounds(150000);
	struct posixtrace_stats_info stats;
	struct tally tally = { .wrong = 0 };
	struct event event;
	int ret;

	say(&self->child.talk, 0);
	/* However fast this reads, and they write: it gets full. */
	while (variant->size <= 1 << 20 && !lost(self->trid, variant->policy))
		sched_yield();
	while (sent_by_all() < wanted) {
		for (int i = 0; i < 200 && take_user(self->trid, &event) == 1; i++)
			look_at(&tally, &event);
		sched_yield();
	}
	__atomic_store_n(&the_post->stop, 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, child_wait(&self->child));
	while ((ret = take_user(self->trid, &event)) == 1)
		look_at(&tally, &event);
	EXPECT_EQ(0, ret);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));

	EXPECT_EQ(0, tally.wrong);
	EXPECT_EQ(0, tally.mistaken);
	EXPECT_EQ(0, stats.untraced);
	EXPECT_EQ(sent_by_all(), stats.recorded + stats.dropped);
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(stats.recorded, tally.all + stats.overwritten + stats.skipped);
	for (int i = 0; i < WRITERS + HANDLERS; i++)
		EXPECT_LT(0, the_post->sent[i]);
	if (variant->size > 1 << 20) {
		EXPECT_EQ(0, stats.dropped);
		for (int i = 0; i < WRITERS + HANDLERS; i++)
			EXPECT_EQ(the_post->sent[i], tally.seen[i]);
	} else {
		EXPECT_LT(0, lost(self->trid, variant->policy));
	}
}

TEST_HARNESS_MAIN
