/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A storm: several processes share a stream and have more threads than there are processors, with
 * and without restartable sequences. The threads yield, migrate, are interrupted by signals whose
 * handlers record, and run in short turns if the plan requests that. At the end, every event must
 * be accounted for. Include this header in only one file of a program.
 */
#ifndef _SELFTESTS_STORM_H
#define _SELFTESTS_STORM_H

#include <posixtrace.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "family.h"
#include "pxt_test.h"
#include "sequences.h"
#include "trace_test.h"
#include "turns.h"

#define MAX_DATA	512

#define PROCESSES	3
#define THREADS		4
#define WRITERS		(PROCESSES * THREADS)
#define HANDLERS	PROCESSES

/* The data of an event: its writer, its number, its length and a checksum. */
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
	/* Each counter has only one writer. The last ones belong to the signal handlers. */
	__u32 sent[WRITERS + HANDLERS];
	struct who {
		pid_t pid;
		pthread_t thread;
	} who[WRITERS + HANDLERS];
	/* Number of involuntary preemptions of each writer. */
	long interrupted[WRITERS];
	/*
	 * The number of processors on which writers run, from the first one; 0: all. Must not
	 * change while they write.
	 */
	__u32 cpus;
};

static struct post *the_post;
static __u32 my_process;

static int new_wide_stream(pid_t pid, size_t size, int policy, int order, trace_id_t *trid)
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
		err = posixtrace_attr_setorder(&attr, order);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

/* ------------------------------------------------------------------ */
/* Writers								*/

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

	/* Most letters are short. */
	letter.len = letter.number % 16 ? letter.number % 40
					: letter.number * 13 % sizeof(letter.text);
	for (__u32 i = 0; i < letter.len; i++)
		letter.text[i] = letter.number + i * from;
	letter.sum = checksum(&letter);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &letter, 16 + letter.len);
	__atomic_store_n(&post->sent[from], letter.number + 1, __ATOMIC_RELEASE);
}

static void send_from_handler(int signal)
{
	int saved_errno = errno;

	(void)signal;
	/*
	 * Only one thread of the process does not block the signal, so this handler runs in one
	 * thread.
	 */
	send_letter(the_post, WRITERS + my_process);
	errno = saved_errno;
}

/*
 * Hooks of a program: another signal handler, which calls send_from_handler(), and a function that
 * is called after each letter.
 */
static void (*storm_handler)(int signal) = send_from_handler;
static void (*storm_letter_sent)(void);

struct writer {
	pthread_t thread;
	__u32 index;
	int status;
};

/* Returns the number of preemptions of this thread, which includes some voluntary switches. */
static long times_put_aside(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

static void migrate(__u32 n)
{
	run_on(the_post->cpus ? n % the_post->cpus : n);
}

/* @own_doing: number of preemptions that the writer has caused itself. */
static void count_interruptions(__u32 index, long preemptions, long own_doing)
{
	__atomic_store_n(&the_post->interrupted[index], preemptions - own_doing, __ATOMIC_RELAXED);
}

/* Yields, and sometimes migrates. Adds the preemptions that it causes itself to @own_doing. */
static void make_way(__u32 number, __u32 index, long *own_doing)
{
	long before = times_put_aside(), after;

	sched_yield();
	if (number % 8 == 7)
		migrate(number / 8 + index);
	after = times_put_aside();
	*own_doing += after - before;
	count_interruptions(index, after, *own_doing);
}

/*
 * In each process, one thread handles the signals. Every third thread has no restartable sequences.
 */
static void *write_letters(void *arg)
{
	struct writer *writer = arg;
	const struct who me = { getpid(), pthread_self() };
	long own_doing = 0;
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
	if (the_post->cpus)
		migrate(writer->index);
	while (!__atomic_load_n(&the_post->stop, __ATOMIC_ACQUIRE)) {
		__u32 number = the_post->sent[writer->index];

		send_letter(the_post, writer->index);
		if (storm_letter_sent)
			storm_letter_sent();
		if (number % 7 == 0)
			make_way(number / 7, writer->index, &own_doing);
	}
	/* No handler runs after this. */
	if (writer->index % THREADS == 0)
		pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	count_interruptions(writer->index, times_put_aside(), own_doing);
	return NULL;
}

static int write_in_process(void *arg)
{
	const struct timeval time = { .tv_usec = 700 * pxt_time_scale() };
	const struct itimerval often = { time, time }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = storm_handler, .sa_flags = SA_RESTART };
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

/* The first process forks the others, which inherit the stream. */
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

/* ------------------------------------------------------------------ */
/* The reader								*/

struct tally {
	__u32 seen[WRITERS + HANDLERS];	/* number of events of each writer */
	__u32 next[WRITERS + HANDLERS];	/* the smallest number that may follow */
	unsigned long long time[WRITERS + HANDLERS];
	unsigned int wrong;
	unsigned int mistaken;	/* number of events with the wrong thread */
	unsigned int all;
};

static void look_at(struct tally *tally, const struct event *event)
{
	struct letter letter = { .from = ~0U };

	memcpy(&letter, event->data, event->len < sizeof(letter) ? event->len : sizeof(letter));
	if (event->len < 16 || event->len > sizeof(letter) || letter.len != event->len - 16 ||
	    letter.from >= WRITERS + HANDLERS || letter.sum != checksum(&letter) ||
	    letter.number < tally->next[letter.from] ||
	    event_time(event) < tally->time[letter.from]) {
		tally->wrong++;
		return;
	}
	if (event->info.posix_pid != the_post->who[letter.from].pid ||
	    !pthread_equal(event->info.posix_thread_id, the_post->who[letter.from].thread))
		tally->mistaken++;
	tally->next[letter.from] = letter.number + 1;
	tally->time[letter.from] = event_time(event);
	tally->seen[letter.from]++;
	tally->all++;
}

static __u64 sent_by_all(void)
{
	__u64 sum = 0;

	for (int i = 0; i < WRITERS + HANDLERS; i++)
		sum += __atomic_load_n(&the_post->sent[i], __ATOMIC_ACQUIRE);
	return sum;
}

/* Returns the number of dropped or overwritten events, or -1 on error. */
static long long lost(trace_id_t trid, int policy)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		return -1;
	return policy == POSIX_TRACE_LOOP ? stats.overwritten : stats.dropped;
}

/* ------------------------------------------------------------------ */
/* The whole storm							*/

/**
 * struct storm - a plan and its stream
 * @policy: stream-full policy
 * @order: order attribute of the stream
 * @size: size of the stream; more than 1 MB is enough for all events
 * @letters: minimum number of letters
 * @turns: length of a turn in microseconds; 0: no turns except the kernel's. The storm checks that
 *	turns were this short, and continues until they have interrupted writers often enough
 * @is_long_enough: called when there are @letters, to check if the storm may end; or NULL
 * @unread: do not read before that, so that a full stream stays full
 * @child: the first process
 * @trid: the stream
 */
struct storm {
	int policy;
	int order;
	size_t size;
	__u64 letters;
	unsigned int turns;
	bool (*is_long_enough)(void);
	bool unread;
	struct child child;
	trace_id_t trid;
};

static bool storm_is_small(const struct storm *storm)
{
	return storm->size <= 1 << 20;
}

/* Prepares everything that the processes of the storm inherit. */
static int storm_prepare(struct storm *storm)
{
	int err;

	the_post = share(sizeof(*the_post));
	if (!the_post)
		return -ENOMEM;
	if (storm->turns && turns_cpus() < sysconf(_SC_NPROCESSORS_ONLN))
		the_post->cpus = turns_cpus();
	err = child_start(&storm->child, write_in_processes, NULL);
	return err ? err : new_wide_stream(storm->child.pid, storm->size, storm->policy,
					   storm->order, &storm->trid);
}

static void storm_end(struct storm *storm)
{
	posix_trace_shutdown(storm->trid);
}

/*
 * With ThreadSanitizer, a handler runs late or never: only when a function of the C library
 * returns.
 */
static bool all_have_sent(void)
{
	for (int i = 0; i < WRITERS + (PXT_TSAN ? 0 : HANDLERS); i++)
		if (!__atomic_load_n(&the_post->sent[i], __ATOMIC_RELAXED))
			return false;
	return true;
}

static long interruptions(void)
{
	long sum = 0;

	for (int i = 0; i < WRITERS; i++)
		sum += __atomic_load_n(&the_post->interrupted[i], __ATOMIC_RELAXED);
	return sum;
}

/*
 * Should the storm continue? Short turns must interrupt one in 500 letters. The kernel's own turns
 * interrupt one in 1400.
 */
static bool storm_goes_on(const struct storm *storm)
{
	return sent_by_all() < storm->letters || !all_have_sent() ||
	       (storm->turns && interruptions() <= (long)storm->letters / 500) ||
	       (storm->is_long_enough && !storm->is_long_enough());
}

/* Reads until the storm has lasted long enough. */
static void storm_read(struct storm *storm, struct tally *tally)
{
	struct event event;

	say(&storm->child.talk, 0);
	/*
	 * Wait until events were lost, so that the stream becomes full even if reading is faster
	 * than writing.
	 */
	while (storm_is_small(storm) && !lost(storm->trid, storm->policy))
		sched_yield();
	while (storm_goes_on(storm)) {
		if (!storm->unread && take_user(storm->trid, &event) == 1)
			look_at(tally, &event);
		else
			sched_yield();
	}
}

/* Reads the remaining events. Returns the last result. */
static int storm_read_rest(struct storm *storm, struct tally *tally)
{
	struct event event;
	int ret;

	while ((ret = take_user(storm->trid, &event)) == 1)
		look_at(tally, &event);
	return ret;
}

static void storm_add_up(struct __test_metadata *_metadata, const struct storm *storm,
			 const struct tally *tally)
{
	struct posixtrace_stats_info stats;

	ASSERT_EQ(0, posixtrace_get_stats(storm->trid, &stats));
	EXPECT_EQ(0, tally->wrong);
	EXPECT_EQ(0, tally->mistaken);
	EXPECT_EQ(0, stats.untraced);
	EXPECT_EQ(sent_by_all(), stats.recorded + stats.dropped);
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(stats.recorded, tally->all + stats.overwritten + stats.skipped);
	if (storm_is_small(storm)) {
		EXPECT_LT(0, lost(storm->trid, storm->policy));
		return;
	}
	EXPECT_EQ(0, stats.dropped);
	for (int i = 0; i < WRITERS + HANDLERS; i++)
		EXPECT_EQ(the_post->sent[i], tally->seen[i]);
}

static void storm_run(struct __test_metadata *_metadata, struct storm *storm)
{
	struct tally tally = { .wrong = 0 };
	unsigned long long start = now();
	long turns = 0, cpus;

	if (storm->turns)
		ASSERT_EQ(0, turns_begin(storm->turns));
	storm_read(storm, &tally);
	__atomic_store_n(&the_post->stop, 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, child_wait(&storm->child));
	if (storm->turns) {
		turns = turns_end();
		EXPECT_LT(500 / (pxt_time_scale() * pxt_stride()), turns);
		/*
		 * Expect fewer interruptions than turns: many turns preempt a thread that yields,
		 * or the reader. With many processors, some turns preempt no thread.
		 */
		cpus = turns_cpus();
		EXPECT_LT(turns * WRITERS / (cpus > WRITERS ? cpus : WRITERS) / 100,
			  interruptions());
	}
	TH_LOG("%lld letters, %ld turns, %ld interruptions, %lld ms", (long long)sent_by_all(),
	       turns, interruptions(), (now() - start) / 1000000);
	EXPECT_EQ(0, storm_read_rest(storm, &tally));
	storm_add_up(_metadata, storm, &tally);
}

#endif /* _SELFTESTS_STORM_H */
