// SPDX-License-Identifier: GPL-2.0
/*
 * Who pays for writing logs: the controller, through its cgroup, whatever it does. The attackers
 * are ordinary users, because root may use any amount of CPU time.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "cpugroup.h"
#include "credentials.h"
#include "kthreads.h"
#include "logends.h"
#include "trace_test.h"
#include "uapi.h"
#include "withlog.h"

/* The first user; see next_user(). */
#define USER		1000

/* Maximum number of measurements in one case. Each has a different user. */
#define USERS_MAX	16

/* The total number of the attackers' streams: all that a user may have. */
#define STREAMS		64

/*
 * Numbers of victims and of attackers: at least as many as there are processors, up to SIDE_MAX. A
 * process can have at most 31 streams that trace itself.
 */
#define SIDE_MIN	4
#define SIDE_MAX	8
#define EACH_MAX	(STREAMS / SIDE_MIN)

#define MSEC		1000000ULL

/* Duration of a measurement. */
#define SECONDS		3

/* Number of measurements. One of them must show the expected share. */
#define TRIES		4

/* Value of cpu.max: a tenth of a processor. */
#define LIMIT		"10000 100000"

/* ------------------------------------------------------------------ */
/* The attackers							*/

static int side(void)
{
	return get_nprocs() > SIDE_MIN ? SIDE_MAX : SIDE_MIN;
}

/* The streams of one attacker. */
static int each(void)
{
	return STREAMS / side();
}

static void spin(void)
{
	for (;;)
		;
}

/* The kernel threads of many logs may use up the user's budget before all logs are created. */
static int create_patiently(struct stream *stream)
{
	int err;

	do {
		err = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	} while (err == -EAGAIN);
	return err;
}

/* Streams with rings as logs, which do not fill the memory. */
static int make_by_library(trace_id_t *trids, int stream_policy)
{
	const struct log_kind kind = { stream_policy, POSIX_TRACE_LOOP, 64 << 10 };
	trace_attr_t attr;
	int err = 0;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, 1);
	posix_trace_attr_setmaxdatasize(&attr, 64);
	posix_trace_attr_setstreamfullpolicy(&attr, kind.stream_policy);
	posix_trace_attr_setlogfullpolicy(&attr, kind.log_policy);
	posix_trace_attr_setlogsize(&attr, kind.log_size);
	for (int i = 0; i < each() && !err; i++) {
		err = withlog_create_patiently(0, &attr, log_tmpfile(), &trids[i]);
		if (!err)
			err = posix_trace_start(trids[i]);
	}
	return err;
}

static int flush_by_library(const struct talk *talk)
{
	trace_id_t trids[EACH_MAX];
	int err = make_by_library(trids, POSIX_TRACE_LOOP);

	say(talk, err);
	for (int i = 0; !err; i = (i + 1) % each())
		err = posix_trace_flush(trids[i]);
	return err;
}

static int flush_by_command(const struct talk *talk)
{
	struct posixtrace_origin origin = { .prog_address = 1 };
	struct stream streams[EACH_MAX];
	int err = 0;

	for (int i = 0; i < each() && !err; i++) {
		create_init(&streams[i].arg, 0);
		streams[i].fd = device_open();
		streams[i].arg.log_fd = log_tmpfile();
		streams[i].arg.attr.log_policy = POSIXTRACE_POLICY_LOOP;
		streams[i].arg.attr.log_size = 64 << 10;
		err = create_patiently(&streams[i]);
		if (!err)
			err = stream_start(&streams[i]);
	}
	say(talk, err);
	for (int i = 0; !err; i = (i + 1) % each())
		err = command(streams[i].fd, POSIXTRACE_IOC_FLUSH, &origin);
	return err;
}

/* Records until it is killed. The streams flush automatically. */
static int record(const struct talk *talk)
{
	trace_id_t trids[EACH_MAX];
	int err = make_by_library(trids, POSIX_TRACE_FLUSH);
	trace_event_id_t id = withlog_type();
	const char data[48] = { 0 };

	say(talk, err);
	while (!err)
		posix_trace_event(id, data, sizeof(data));
	return err;
}

static int end_logs(const struct talk *talk)
{
	return end_logs_by(each(), open("/dev/null", O_WRONLY | O_CLOEXEC), NULL, talk);
}

/* ------------------------------------------------------------------ */

/* A process in a cgroup. */
struct part {
	const char *group;
	uid_t user;
	int (*run)(const struct talk *talk);	/* NULL: a busy loop */
};

static int play(void *arg, const struct talk *talk)
{
	const struct part *part = arg;
	int err = cpugroup_enter(part->group);

	if (!err)
		err = become_user(part->user);
	if (!err && part->run)
		return part->run(talk);
	say(talk, err);
	if (!err)
		spin();
	return 1;
}

/* Processor time of each group during a measurement. */
struct times {
	unsigned long long wall;
	unsigned long long victims;
	unsigned long long attackers;
	unsigned long long threads;	/* of logs, that still exist */
	unsigned long long workers;	/* of the kernel, which make streams full */
	unsigned long long all;		/* of the machine */
};

static void look(struct times *times)
{
	times->wall = clock_now(CLOCK_MONOTONIC);
	times->victims = cpugroup_time("victims");
	times->attackers = cpugroup_time("attackers");
	times->threads = kthread_time("posixtrace/");
	times->workers = kthread_time("kworker/u");
	times->all = cpugroup_time(".");
}

/*
 * Returns a user without earlier logs: ending 60 logs uses up a user's budget of CPU time, and the
 * user cannot create more of them for some seconds. Each case runs in a separate process, so the
 * ids of the users of two cases differ.
 */
static uid_t next_user(void)
{
	static unsigned int users;

	return USER + getpid() * USERS_MAX + users++;
}

/*
 * Lets attackers run, with a limit as in cpu.max or next to victims. Returns 0 or negative errno.
 */
static int measure(const char *limit, int (*attack)(const struct talk *talk), struct times *times)
{
	uid_t user = next_user();
	struct part parts[] = { { "attackers", user, attack }, { "victims", user, NULL } };
	int count = limit ? side() : 2 * side(), started = 0;
	struct child children[2 * SIDE_MAX];
	struct times before;
	int err = 0;

	/* The attackers create their streams before the victims start. */
	for (; started < count && !err; started++) {
		err = child_start(&children[started], play, &parts[started / side()]);
		if (!err)
			err = (int)hear(&children[started].talk);
	}
	if (!err && limit)
		err = cpugroup_limit("attackers", limit);
	look(&before);
	poll(NULL, 0, SECONDS * 1000);
	look(times);
	times->wall -= before.wall;
	times->victims -= before.victims;
	times->attackers -= before.attackers;
	times->threads -= before.threads;
	times->workers -= before.workers;
	times->all -= before.all;
	printf("# wall %llu ms: victims %llu, attackers %llu", times->wall / MSEC,
	       times->victims / MSEC, times->attackers / MSEC);
	printf(", threads %llu, workers %llu, all %llu\n", times->threads / MSEC,
	       times->workers / MSEC, times->all / MSEC);
	/* A test ends without writing what is buffered. */
	fflush(stdout);
	/* Lift the limit, so that they end fast. */
	if (limit)
		cpugroup_limit("attackers", "max");
	while (started--)
		child_kill(&children[started]);
	return err;
}

/* Returns 0 or negative errno: -ENOENT if the kernel lacks the cpu controller. */
static int make_groups(void)
{
	int err = cpugroup_begin();

	if (!err)
		err = cpugroup_make("victims");
	if (!err)
		err = cpugroup_make("attackers");
	return err;
}

static void remove_groups(void)
{
	cpugroup_remove("victims");
	cpugroup_remove("attackers");
	cpugroup_end();
}

/*
 * Measures how much processor time victims get next to attackers, compared with their time next to
 * as many busy loops. Returns this percentage, or negative errno. Measures several times: a machine
 * that stalls a processor spoils one measurement, but an attack that takes more than its share
 * spoils all of them.
 */
static int victims_get(int (*attack)(const struct talk *talk))
{
	struct times loops, times;
	int percent = 0, err = 0;

	for (int i = 0; i < TRIES && percent < 95 && !err; i++) {
		err = measure(NULL, NULL, &loops);
		if (!err)
			err = measure(NULL, attack, &times);
		if (!err && !pxt_times_count())
			return 100;
		if (!err)
			percent = (int)(100 * times.victims * (loops.wall / MSEC) /
					(loops.victims * (times.wall / MSEC)));
	}
	return err ? err : percent;
}

FIXTURE(share)
{
};

FIXTURE_VARIANT(share)
{
	int (*attack)(const struct talk *talk);
};

FIXTURE_VARIANT_ADD(share, flushes_of_the_library) { flush_by_library };
FIXTURE_VARIANT_ADD(share, flushes_by_command) { flush_by_command };
FIXTURE_VARIANT_ADD(share, streams_that_flush_themselves) { record };

FIXTURE_SETUP(share)
{
	int err = make_groups();

	if (err == -ENOENT) {
		cpugroup_end();
		PXT_SKIP_IN_SETUP("kernel without cgroups of processor time");
	}
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(share)
{
	remove_groups();
}

TEST_F_TIMEOUT(share, leaves_others_as_much_as_busy_loops_do, 240)
{
	EXPECT_LE(95, victims_get(variant->attack));
}

/*
 * Returns how long everything besides the attackers' group may run: 2 % of the time of one
 * processor.
 */
static unsigned long long allowance(const struct times *times)
{
	return 2 * times->wall / 100;
}

/*
 * The group may use 10 % of a processor, and together with kernel threads 12 %. The kernel
 * throttles a group a little late: @loops is what busy loops got with the same limit.
 */
static bool within_limit(const struct times *times, const struct times *loops)
{
	unsigned long long sum = times->attackers + times->threads + times->workers;

	return sum <= loops->attackers + allowance(times);
}

/*
 * measure() does not count threads that have ended, so look at everything that runs besides the
 * group. The kernel only samples the time of the root group, but measures the time of other groups.
 */
static bool others_within_limit(const struct times *times, const struct times *loops)
{
	return times->all <= times->attackers + allowance(times) &&
	       times->attackers <= loops->attackers + allowance(times);
}

/*
 * If the processors of the guest stall, the kernel throttles a group so late that even busy loops
 * exceed the limit. Such a measurement does not count.
 */
static bool throttled_in_time(const struct times *loops)
{
	return loops->attackers * 1000 <= loops->wall * 105;
}

/*
 * Returns 1 if one of several measurements is within the limit, 0 if none is, or negative errno.
 * See victims_get() for why one is enough.
 */
static int stays_within(int (*attack)(const struct talk *talk),
			bool (*within)(const struct times *times, const struct times *loops))
{
	struct times loops, times;
	int err = 0, tries = 0;

	for (int i = 0; i < 3 * TRIES && tries < TRIES && !err; i++) {
		err = measure(LIMIT, NULL, &loops);
		if (err || (pxt_times_count() && !throttled_in_time(&loops)))
			continue;
		tries++;
		err = measure(LIMIT, attack, &times);
		if (!err && (within(&times, &loops) || !pxt_times_count()))
			return 1;
	}
	return err;
}

TEST_F_TIMEOUT(share, stays_within_the_limit_of_the_group, 240)
{
	EXPECT_EQ(1, stays_within(variant->attack, within_limit));
}

/* ------------------------------------------------------------------ */
/* Lost events								*/

/* In shared memory: sums over the streams of all recorders. */
struct losses {
	unsigned long long recorded;
	unsigned long long lost;
};

struct recorder {
	uid_t user;
	unsigned long long capabilities;
	struct losses *losses;
};

static int add_losses(struct losses *losses, trace_id_t trid)
{
	struct posixtrace_stats_info stats;
	int err = posixtrace_get_stats(trid, &stats);

	__atomic_fetch_add(&losses->recorded, stats.recorded, __ATOMIC_RELAXED);
	__atomic_fetch_add(&losses->lost, stats.dropped + stats.overwritten + stats.skipped,
			   __ATOMIC_RELAXED);
	return err;
}

/* Records at full speed for SECONDS, from when the parent says so. */
static int record_and_count(void *arg, const struct talk *talk)
{
	const struct ids ids = { 0, 0, 0 };
	struct recorder *recorder = arg;
	trace_id_t trids[EACH_MAX];
	unsigned long long end;
	int err;

	err = recorder->user ? become_user(recorder->user) :
			       become(&ids, recorder->capabilities, -1);
	if (!err)
		err = make_by_library(trids, POSIX_TRACE_FLUSH);
	say(talk, err);
	hear(talk);
	end = clock_now(CLOCK_MONOTONIC) + SECONDS * 1000 * MSEC;
	while (!err && clock_now(CLOCK_MONOTONIC) < end)
		withlog_record(0, 100);
	for (int i = 0; i < each() && !err; i++)
		err = add_losses(recorder->losses, trids[i]);
	return err ? 1 : 0;
}

/* Returns per mille of the events that STREAMS streams lose, or negative errno. */
static int lose(uid_t user, struct losses *losses)
{
	struct recorder recorder = { user, CAP_MASK(CAP_SYS_RESOURCE), losses };
	struct child children[SIDE_MAX];
	int err = 0, started = 0;

	losses->recorded = 0;
	losses->lost = 0;
	for (; started < side() && !err; started++) {
		err = child_start(&children[started], record_and_count, &recorder);
		if (!err)
			err = (int)hear(&children[started].talk);
	}
	for (int i = 0; i < started; i++)
		say(&children[i].talk, 0);
	while (started--) {
		if (child_wait(&children[started]) && !err)
			err = -ECHILD;
	}
	if (err)
		return err;
	printf("# %s: %llu events recorded, %llu lost\n", user ? "limited" : "CAP_SYS_RESOURCE",
	       losses->recorded, losses->lost);
	fflush(stdout);
	return losses->recorded ? (int)(losses->lost * 1000 / losses->recorded) : -ENODATA;
}

FIXTURE(losses)
{
	struct losses *sums;
};

FIXTURE_SETUP(losses)
{
	self->sums = mmap(NULL, sizeof(*self->sums), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->sums);
}

FIXTURE_TEARDOWN(losses)
{
	munmap(self->sums, sizeof(*self->sums));
}

/*
 * All streams of a user, of the smallest size, flush themselves at full speed. They must not lose
 * more events than with kernel threads without a limit: at most a twentieth more.
 */
TEST_F_TIMEOUT(losses, of_streams_that_flush_themselves_do_not_grow_by_the_limit, 240)
{
	bool fits = false;

	for (int i = 0; i < TRIES && !fits; i++) {
		int limited = lose(next_user(), self->sums);
		int unlimited = lose(0, self->sums);

		ASSERT_LE(0, limited);
		ASSERT_LE(0, unlimited);
		fits = limited <= unlimited + 50 || !pxt_times_count();
	}
	EXPECT_TRUE(fits);
}

/* ------------------------------------------------------------------ */
/* Kernel events							*/

/* Each access causes page faults, which fill all streams of the process. */
#define FAULT_PAGES	64

static int fill_by_kernel_events(const struct talk *talk)
{
	struct stream streams[POSIXTRACE_KERNEL_SLOTS_MAX];
	char *pages = mmap(NULL, FAULT_PAGES * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = pages == MAP_FAILED ? -ENOMEM : 0;

	for (int i = 0; i < POSIXTRACE_KERNEL_SLOTS_MAX && !err; i++) {
		create_init(&streams[i].arg, 0);
		streams[i].arg.attr.classes = POSIXTRACE_CLASS_FAULT | POSIXTRACE_CLASS_SCHED;
		streams[i].arg.attr.stream_size = 0;
		streams[i].arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
		err = stream_open(&streams[i]);
		if (!err)
			err = stream_start(&streams[i]);
	}
	say(talk, err);
	while (!err) {
		for (int i = 0; i < FAULT_PAGES; i++)
			pages[i * 4096] = 1;
		madvise(pages, FAULT_PAGES * 4096, MADV_DONTNEED);
		for (int i = 0; i < POSIXTRACE_KERNEL_SLOTS_MAX && !err; i++) {
			struct posixtrace_status status;

			err = stream_status(&streams[i], &status);
			if (err || !(status.flags & POSIXTRACE_STATUS_FULL))
				continue;
			err = command(streams[i].fd, POSIXTRACE_IOC_CLEAR, NULL);
			if (!err)
				err = stream_start(&streams[i]);
		}
	}
	return err;
}

/* ------------------------------------------------------------------ */

FIXTURE(ends)
{
};

FIXTURE_SETUP(ends)
{
	int err = make_groups();

	if (err == -ENOENT) {
		cpugroup_end();
		PXT_SKIP_IN_SETUP("kernel without cgroups of processor time");
	}
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(ends)
{
	remove_groups();
}

/* CREATE waits until the user's kernel threads are within their budget again. */
TEST_F_TIMEOUT(ends, of_logs_stay_within_the_limit_of_the_group, 240)
{
	EXPECT_EQ(1, stays_within(end_logs, others_within_limit));
}

/* A kernel worker makes a stream full, outside of the group. */
TEST_F_TIMEOUT(ends, of_streams_by_kernel_events_stay_within_the_limit_of_the_group, 240)
{
	EXPECT_EQ(1, stays_within(fill_by_kernel_events, within_limit));
}

/* Creates logs that only a kernel thread may write. */
static int hold_logs(const struct talk *talk)
{
	int log = open("/dev/null", O_WRONLY | O_CLOEXEC), err = open_names();
	struct stream stream;

	for (int i = 0; i < each() && !err; i++) {
		create_init(&stream.arg, 0);
		stream.fd = device_open();
		stream.arg.log_fd = log;
		stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
		err = create_patiently(&stream);
		if (!err)
			err = stream_start(&stream);
	}
	say(talk, err);
	if (!err)
		pause();
	return err;
}

/*
 * Opens descriptors that become readable when the kernel threads of logs end. Returns their number,
 * or negative errno.
 */
static int watch_threads(struct pollfd *ends)
{
	pid_t pids[KTHREADS_MAX];
	int count = kthread_find("posixtrace/", pids);

	for (int i = 0; i < count; i++) {
		ends[i].fd = syscall(SYS_pidfd_open, pids[i], 0);
		if (ends[i].fd < 0)
			return -errno;
		ends[i].events = POLLIN;
	}
	return count;
}

static int create_with_log(void *arg, const struct talk *talk)
{
	(void)talk;
	return become_user(*(uid_t *)arg) ? 1 : -end_log(-1);
}

/*
 * Returns after how many nanoseconds the user can create a stream with a log, or 0 on error. CREATE
 * waits for the last ten seconds.
 */
static unsigned long long wait_for_create(uid_t user)
{
	unsigned long long begin = clock_now(CLOCK_MONOTONIC);
	struct child child;
	int err;

	while (!(err = child_start(&child, create_with_log, &user))) {
		err = child_wait(&child);
		if (!WIFEXITED(err) || WEXITSTATUS(err) != EAGAIN)
			break;
		/* Nothing tells when the time is paid back, so ask again each second. */
		sleep(1);
	}
	return err ? 0 : clock_now(CLOCK_MONOTONIC) - begin;
}

/*
 * All logs of a user end together, which ignores the budget: each thread writes the rest of its
 * log. Each ns of this costs 100 ns until the next CREATE.
 */
TEST_F_TIMEOUT(ends, of_all_logs_at_once_are_paid_before_the_next_log, 240)
{
	uid_t user = next_user();
	struct part part = { "attackers", user, hold_logs };
	struct pollfd ends[KTHREADS_MAX];
	struct child children[SIDE_MAX];
	unsigned long long ran, waited;
	struct times begin, end;
	int count;

	for (int i = 0; i < side(); i++) {
		ASSERT_EQ(0, child_start(&children[i], play, &part));
		ASSERT_EQ(0, hear(&children[i].talk));
	}
	count = watch_threads(ends);
	/* Logs of an earlier case may still be ending. */
	ASSERT_LE(STREAMS, count);
	look(&begin);
	for (int i = 0; i < side(); i++)
		kill(children[i].pid, SIGKILL);
	for (int i = 0; i < side(); i++)
		child_wait(&children[i]);
	for (int i = 0; i < count; i++) {
		ASSERT_EQ(1, poll(&ends[i], 1, -1));
		close(ends[i].fd);
	}
	look(&end);
	ran = end.all - begin.all - (end.attackers - begin.attackers);
	waited = wait_for_create(user);
	printf("# %d ends: %llu ms of others in %llu ms, next CREATE %llu ms later\n", count,
	       ran / MSEC, (end.wall - begin.wall) / MSEC, waited / MSEC);
	fflush(stdout);
	EXPECT_LT(0, ran);
	if (pxt_times_count())
		EXPECT_LE(50 * ran, waited);
}

#define STOPS		10

static int end_logs_of_two_threads(void *arg, const struct talk *talk)
{
	int err = become_user(next_user());

	if (err)
		say(talk, err);
	return err ? 1 : end_logs_by(2, -1, arg, talk);
}

/*
 * With two threads that only create and end logs, at least one of them waits nearly always. The
 * logs are regular files, because a stop may interrupt the write of a header to another file.
 */
TEST(create_continues_to_wait_for_the_budget_after_a_stop)
{
	struct ended *ended = mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child child;
	int status, last;

	ASSERT_NE(MAP_FAILED, ended);
	ASSERT_EQ(0, child_start(&child, end_logs_of_two_threads, ended));
	EXPECT_EQ(0, hear(&child.talk));
	for (int i = 0; i < STOPS; i++) {
		kill(child.pid, SIGSTOP);
		ASSERT_EQ(child.pid, waitpid(child.pid, &status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(status));
		last = __atomic_load_n(&ended->logs, __ATOMIC_ACQUIRE);
		kill(child.pid, SIGCONT);
		/* Wait for two more logs, so that a failed CREATE was noticed. */
		while (__atomic_load_n(&ended->logs, __ATOMIC_ACQUIRE) < last + 2)
			sched_yield();
	}
	EXPECT_EQ(0, ended->interrupted);
	child_kill(&child);
	munmap(ended, sizeof(*ended));
}

/* ------------------------------------------------------------------ */
/* The controller itself						*/

#define ROUNDS		150
#define EACH_ROUND	400

/*
 * Records more than 1 % of a processor can write, but too little to fill the stream during a
 * flush.
 */
static int record_evenly(void *arg, const struct talk *talk)
{
	const struct log_kind kind = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
	trace_id_t trid;

	(void)talk;
	if (become_user(next_user()) || withlog_new(0, &kind, *(int *)arg, &trid) ||
	    posix_trace_start(trid))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		withlog_record(i * EACH_ROUND, EACH_ROUND);
		poll(NULL, 0, 20 * pxt_time_scale());
	}
	return posix_trace_shutdown(trid) ? 2 : 0;
}

TEST(log_that_keeps_up_loses_no_event)
{
	struct log_content content;
	int fd = log_tmpfile();
	struct child child;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&child, record_evenly, &fd));
	EXPECT_EQ(0, child_wait(&child));
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, ROUNDS * EACH_ROUND))
		TH_LOG("%d of %d events, %d gaps", content.numbers, ROUNDS * EACH_ROUND,
		       content.gaps);
	close(fd);
}

TEST_HARNESS_MAIN
