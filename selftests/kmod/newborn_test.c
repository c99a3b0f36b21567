// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE for a process while it is created. In a new PID namespace, the next id is known in
 * advance, so the controller requests it continuously while the parent forks. It must get ESRCH, or
 * a stream on a process that has inherited everything.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "race.h"
#include "scale.h"
#include "uapi.h"

#define SECONDS		3
#define ROUNDS_MIN	30
#define NAME		"known before birth"

/*
 * Shared by the controller, the forker and the child of each round. Each value is the number of a
 * round, unless its comment says otherwise.
 */
static struct {
	int begin;	/* set by the controller: fork now */
	int stop;	/* set by the controller before that: end instead */
	int traced;	/* set by the controller: a running stream traces the child */
	int recorded;	/* set by the child: it has recorded an event for that stream */
	int gone;	/* set by the forker: its child has ended */
	int pid;	/* set by the forker: the pid of that child */
	int id;		/* set by the child before it records: its id of NAME */
	int parents_id;	/* set by the forker before its first fork: its id of NAME */
} *ring;

static void store(int *p, int value)
{
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

static void await(int *p, int value)
{
	while (LOAD(*p) < value)
		sched_yield();
}

/* In every second round the child lives until it has been traced. */
static bool lives_long(int round)
{
	return round % 2;
}

static int be_child(int round)
{
	struct target target;

	if (target_open(&target))
		return 1;
	store(&ring->id, eventid_open(target.fd, NAME));
	if (target_event(&target, ring->id, &round, sizeof(round)))
		return 2;
	if (lives_long(round)) {
		await(&ring->traced, round);
		if (target_event(&target, ring->id, &round, sizeof(round)))
			return 3;
		store(&ring->recorded, round);
	}
	return 0;
}

struct setting {
	bool named;
	bool inherited;
};

static int be_forker(void *arg, const struct talk *talk)
{
	const struct setting *setting = arg;
	struct target target;
	int status;
	pid_t pid;

	if (target_open(&target))
		return 1;
	if (setting->named)
		ring->parents_id = eventid_open(target.fd, NAME);
	say(talk, 0);
	for (int round = 1; ; round++) {
		await(&ring->begin, round);
		if (LOAD(ring->stop))
			return 0;
		pid = fork();
		if (pid == 0)
			_exit(be_child(round));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 2;
		ring->pid = pid;
		store(&ring->gone, round);
	}
}

/* Retries until CREATE succeeds or the child has ended. */
static int create_at_birth(struct stream *stream, pid_t pid, int round)
{
	int ret, gone;

	do {
		gone = LOAD(ring->gone) == round;
		ret = stream_create(stream, pid);
	} while (ret == -ESRCH && !gone);
	return ret;
}

/* Returns true if the stream has the event that the child recorded. */
static int took(struct stream *stream, int round, pid_t pid)
{
	struct record record;
	int number = 0;

	do {
		if (stream_take(stream, &record, &number, sizeof(number)) != 1)
			return 0;
	} while (record.event_id < POSIXTRACE_ID_UNNAMED);
	return number == round && record.pid == pid && record.tid == pid &&
	       (int)record.event_id == LOAD(ring->id);
}

/* Returns 0, or the number of the failed check. */
static int check_newborn(struct stream *stream, const struct setting *setting, int round, pid_t pid)
{
	int id;

	if (stream_start(stream))
		return 11;
	store(&ring->traced, round);
	id = eventid_open(stream->fd, NAME);
	if (lives_long(round)) {
		await(&ring->recorded, round);
		if (!took(stream, round, pid))
			return 12;
	}
	await(&ring->gone, round);
	/* The id is the same for the parent, the child and the controller. */
	if (setting->named && id != ring->parents_id)
		return 13;
	return id == LOAD(ring->id) ? 0 : 14;
}

static int one_round(const struct setting *setting, struct stream *inherited, int round, pid_t pid)
{
	struct stream stream;
	int ret;

	store(&ring->begin, round);
	ret = create_at_birth(&stream, pid, round);
	if (!ret) {
		ret = check_newborn(&stream, setting, round, pid);
		stream_close(&stream);
	} else if (ret != -ESRCH || lives_long(round)) {
		return 15;
	}
	await(&ring->gone, round);
	if (ret > 0)
		return ret;
	if (ring->pid != pid)
		return 16;
	if (setting->named && LOAD(ring->id) != ring->parents_id)
		return 17;
	if (setting->inherited) {
		for (int i = 0; i < 1 + lives_long(round); i++) {
			if (!took(inherited, round, pid))
				return 18;
		}
	}
	return 0;
}

/* The first process of the namespace: reports the failed check and its round. */
static int control(void *arg, const struct talk *talk)
{
	const struct setting *setting = arg;
	struct stream inherited;
	struct child forker;
	struct race race;
	int ret = 0;

	if (child_start(&forker, be_forker, arg) || hear(&forker.talk))
		return 1;
	create_init(&inherited.arg, forker.pid);
	inherited.arg.attr.inherited = POSIXTRACE_INHERITED;
	if (setting->inherited && (stream_open(&inherited) || stream_start(&inherited)))
		return 2;
	race = race_begin(SECONDS, ROUNDS_MIN);
	while (!ret && race_continues(&race))
		ret = one_round(setting, &inherited, race.rounds, forker.pid + race.rounds);
	say(talk, ret);
	say(talk, race.rounds);
	if (ret) {
		child_kill(&forker);
		return 3;
	}
	store(&ring->stop, 1);
	store(&ring->begin, race.rounds + 1);
	return child_wait(&forker) ? 4 : 0;
}

static int in_a_namespace(void *arg, const struct talk *talk)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return 10;
	pid = fork();
	if (pid == 0)
		_exit(control(arg, talk));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 11;
	return WEXITSTATUS(status);
}

FIXTURE(newborn)
{
	struct child child;
};

FIXTURE_VARIANT(newborn)
{
	bool named;
	bool inherited;
};

FIXTURE_VARIANT_ADD(newborn, of_a_stranger) { false, false };
FIXTURE_VARIANT_ADD(newborn, with_names) { true, false };
FIXTURE_VARIANT_ADD(newborn, with_a_stream) { false, true };
FIXTURE_VARIANT_ADD(newborn, with_both) { true, true };

FIXTURE_SETUP(newborn)
{
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)ring);
}

FIXTURE_TEARDOWN(newborn)
{
}

TEST_F_TIMEOUT(newborn, is_missing_or_complete, 600)
{
	struct setting setting = {
		.named = variant->named,
		.inherited = variant->inherited,
	};
	long rounds;

	ASSERT_EQ(0, child_start(&self->child, in_a_namespace, &setting));
	EXPECT_EQ(0, hear(&self->child.talk));
	rounds = hear(&self->child.talk);
	TH_LOG("%ld rounds", rounds);
	/* race_begin() divides the number by the stride. */
	EXPECT_LE(ROUNDS_MIN / pxt_stride(), rounds);
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* Waiting for one of many new processes				*/

#define NEWBORNS	40

/* Real-time processes on processor 1, which start to run when their parent allows it. */
static struct {
	int ready;	/* set by the parent: all processes are created */
	int release;	/* set by the controller: the parent may let them run */
	int begun;	/* set by the children: how many have run */
	pid_t pids[NEWBORNS];
} *nursery;

static int create_many(void *arg, const struct talk *talk)
{
	const struct sched_param lowest = { .sched_priority = 1 };
	int status;

	(void)arg;
	/* The children inherit policy and processor, so they wait while this process runs. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || run_on(1) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &lowest))
		return 1;
	say(talk, 0);
	hear(talk);
	for (int i = 0; i < NEWBORNS; i++) {
		nursery->pids[i] = fork();
		if (nursery->pids[i] == 0) {
			__atomic_fetch_add(&nursery->begun, 1, __ATOMIC_RELEASE);
			_exit(0);
		}
		if (nursery->pids[i] < 0)
			return 2;
	}
	store(&nursery->ready, 1);
	while (!LOAD(nursery->release))
		;
	for (int i = 0; i < NEWBORNS; i++) {
		if (waitpid(nursery->pids[i], &status, 0) != nursery->pids[i] || status)
			return 3;
	}
	return 0;
}

static int write_setting(const char *path, const char *value)
{
	FILE *file = fopen(path, "we");
	int err = 0;

	if (!file)
		return -errno;
	if (fputs(value, file) < 0)
		err = -EIO;
	return fclose(file) ? -EIO : err;
}

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

FIXTURE(nursery)
{
	struct child parent;
	struct stream inherited;
};

/* Both the setup and the test check this, because SKIP() in a setup does not skip the test. */
static bool has_enough_processors(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) >= 3;
}

FIXTURE_SETUP(nursery)
{
	nursery = mmap(NULL, sizeof(*nursery), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)nursery);
	if (!has_enough_processors())
		return;
	ASSERT_EQ(0, write_setting(RT_RUNTIME, "-1"));
	ASSERT_EQ(0, run_on(0));
	ASSERT_EQ(0, child_start(&self->parent, create_many, NULL));
	ASSERT_EQ(0, hear(&self->parent.talk));
	create_init(&self->inherited.arg, self->parent.pid);
	self->inherited.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&self->inherited));
	say(&self->parent.talk, 0);
	await(&nursery->ready, 1);
}

FIXTURE_TEARDOWN(nursery)
{
	if (!has_enough_processors())
		return;
	stream_close(&self->inherited);
	child_kill(&self->parent);
	EXPECT_EQ(0, write_setting(RT_RUNTIME, "950000"));
}

/* Creates a stream on the first new process. */
struct creator {
	struct stream stream;
	int tid;
	int ret;
};

static void *create_on_first(void *arg)
{
	struct creator *creator = arg;

	store(&creator->tid, syscall(SYS_gettid));
	creator->ret = stream_create(&creator->stream, nursery->pids[0]);
	return NULL;
}

/* Returns how often a thread has gone to sleep, or -1. */
static long times_slept(int tid)
{
	char path[64], line[256];
	long times = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (times < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "voluntary_ctxt_switches: %ld", &times);
	fclose(file);
	return times;
}

/* If a new process woke every waiter, many new processes could wake each of many waiters. */
TEST_F(nursery, only_the_awaited_process_wakes_the_waiter_up)
{
	struct creator creator = { .tid = 0 };
	pthread_t thread;
	cpu_set_t set;
	long slept;

	if (!has_enough_processors())
		SKIP(return, "needs 3 processors");
	ASSERT_EQ(0, pthread_create(&thread, NULL, create_on_first, &creator));
	falls_asleep(&creator.tid, NULL);
	slept = times_slept(creator.tid);
	ASSERT_LE(0, slept);
	CPU_ZERO(&set);
	CPU_SET(2, &set);
	for (int i = 1; i < NEWBORNS; i++)
		ASSERT_EQ(0, sched_setaffinity(nursery->pids[i], sizeof(set), &set));
	await(&nursery->begun, NEWBORNS - 1);
	EXPECT_GT(NEWBORNS / 8, times_slept(creator.tid) - slept);
	EXPECT_TRUE(is_asleep(creator.tid));
	store(&nursery->release, 1);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* The process may have ended before CREATE found it. */
	ASSERT_TRUE(creator.ret == 0 || creator.ret == -ESRCH);
	if (!creator.ret)
		stream_close(&creator.stream);
}

TEST_HARNESS_MAIN
