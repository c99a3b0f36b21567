// SPDX-License-Identifier: GPL-2.0
/*
 * An attacking user does everything that costs others CPU time: its processes flush many logs, fill
 * streams that flush automatically, create and close streams with kernel events, map a stream over
 * and over, and wait for events of a process with many threads. The victims are processes of other
 * users, in a different cgroup or on a different CPU. They must get about as much CPU time as they
 * get next to the same number of processes that only compute.
 *
 * The attackers alternate between attacking and computing every PHASE_MS, so that other load on the
 * machine affects both phases equally.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "cpugroup.h"
#include "credentials.h"
#include "uapi.h"
#include "withlog.h"

#define PHASE_MS	250
#define SETTLE_MS	100	/* wait until the effects of the previous phase have passed */
#define ROUNDS		16	/* each round has two phases */
#define SERIES		3	/* repeat, because the host of an emulated machine may be busy */
#define VICTIMS_MAX	16
#define STILL_GETS	95	/* percent of the CPU time next to processes that compute */

#define ATTACKER	65534
#define VICTIM		1000

#define LOGS		30	/* for each of two attackers */
#define MAPPINGS	500
#define THREADS		300	/* more than a synchronization looks at without a pause */

enum mode { PREPARING, COMPUTING, ATTACKING, OVER };

/* Memory shared by all processes. */
struct arena {
	int mode;
	struct {
		uint64_t rounds;
		char pad[56];
	} pinned;		/* the victim that has a CPU for itself */
};

static struct arena *arena;

static const char *const groups[] = { "victims", "pinned", "attackers" };

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))

/* Computes for about ten microseconds on an emulated processor. */
static void compute(void)
{
	for (int i = 0; i < 1000; i++)
		__asm__ volatile ("");
}

static int victim(void *arg, const struct talk *talk)
{
	const unsigned int *cpu = arg;

	if (cpu && run_on(*cpu) < 0)
		return 1;
	if (cpugroup_enter(cpu ? "pinned" : "victims") || become_user(VICTIM))
		return 2;
	say(talk, 0);
	while (LOAD(arena->mode) != OVER) {
		compute();
		if (cpu)
			__atomic_add_fetch(&arena->pinned.rounds, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Attackers								*/

struct attack {
	const char *name;
	/* Prepares the attack. Returns 0 or an error number. */
	int (*begin)(void);
	/* One step of the attack, which takes a few milliseconds at most. */
	void (*step)(void);
};

static trace_id_t trids[LOGS];

static int begin_logs(const struct log_kind *kind)
{
	int err = 0;

	for (int i = 0; i < LOGS && !err; i++)
		err = withlog_new(0, kind, log_tmpfile(), &trids[i]);
	for (int i = 0; i < LOGS && !err; i++)
		err = posix_trace_start(trids[i]);
	return err;
}

static int begin_flush(void)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 64 << 10 };

	return begin_logs(&kind);
}

static void flush(void)
{
	for (int i = 0; i < LOGS; i++)
		posix_trace_flush(trids[i]);
}

static int begin_fill(void)
{
	const struct log_kind kind = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 64 << 10 };

	return begin_logs(&kind);
}

static void fill(void)
{
	for (int i = 0; i < 100; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
}

static struct stream stream;

/* Each stream has the classes that every user may record. */
static void create(void)
{
	create_init(&stream.arg, 0);
	stream.arg.attr.classes = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_FAULT |
				  POSIXTRACE_CLASS_SIGNAL | POSIXTRACE_CLASS_PROCESS;
	if (!stream_open(&stream))
		stream_close(&stream);
}

static int begin_map(void)
{
	return -stream_create(&stream, 0);
}

static void map(void)
{
	void *at[MAPPINGS];

	for (int i = 0; i < MAPPINGS; i++)
		at[i] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, stream.fd,
			     stream.arg.ctrl.offset);
	for (int i = 0; i < MAPPINGS; i++) {
		if (at[i] != MAP_FAILED)
			munmap(at[i], 4096);
	}
}

static void *sleep_forever(void *talk)
{
	hear(talk);
	return NULL;
}

static int many_threads(void *arg, const struct talk *talk)
{
	struct target target;
	pthread_attr_t attr;
	pthread_t thread;
	long err;

	(void)arg;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	err = target_open(&target);
	for (int i = 0; i < THREADS && !err; i++)
		err = pthread_create(&thread, &attr, sleep_forever, (void *)talk);
	say(talk, err);
	while (LOAD(arena->mode) != OVER)
		usleep(PHASE_MS * 1000);
	_exit(0);
}

static int begin_wait(void)
{
	struct child child;
	int err = child_start(&child, many_threads, NULL);

	if (!err)
		err = hear(&child.talk);
	if (!err)
		err = stream_create(&stream, child.pid);
	if (!err)
		err = stream_start(&stream);
	return -err;
}

/* A deadline in the future makes the reader wait for it. */
static void wait_for_events(void)
{
	struct posixtrace_wait wait = {
		.flags = POSIXTRACE_WAIT_DEADLINE,
		.deadline = now() + 100000,
	};

	command(stream.fd, POSIXTRACE_IOC_WAIT, &wait);
}

static const struct attack attacks[] = {
	{ "flush", begin_flush, flush },
	{ "fill", begin_fill, fill },
	{ "create", NULL, create },
	{ "map", begin_map, map },
	{ "wait", begin_wait, wait_for_events },
};

#define ATTACKERS	(sizeof(attacks) / sizeof(attacks[0]))

static int attacker(void *arg, const struct talk *talk)
{
	const struct attack *attack = arg;
	int err = cpugroup_enter("attackers");

	if (!err)
		err = become_user(ATTACKER);
	if (!err && attack->begin)
		err = attack->begin();
	say(talk, err);
	while (LOAD(arena->mode) != OVER) {
		if (LOAD(arena->mode) == ATTACKING)
			attack->step();
		else
			compute();
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* What the victims get							*/

/* Sums over the phases of one kind. */
struct share {
	unsigned long long group;	/* CPU time in nanoseconds of the victims in the group */
	unsigned long long pinned;	/* rounds of the loop of the pinned victim */
	unsigned long long elapsed;	/* nanoseconds */
};

FIXTURE(siege)
{
	struct child attacker[ATTACKERS];
	struct child victim[VICTIMS_MAX];
	struct child pinned;
	unsigned int victims;
	unsigned int last;		/* the CPU of the pinned victim */
	struct share computing;
	struct share attacking;
};

/* All processes except the pinned victim run on the other CPUs. */
static int leave_the_last_cpu(unsigned int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < last; cpu++)
		CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

FIXTURE_SETUP(siege)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err;

	ASSERT_LE(2, cpus);
	ASSERT_GE(VICTIMS_MAX, cpus);
	self->last = cpus - 1;
	self->victims = cpus - 1;
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, arena);
	err = cpugroup_begin();
	if (err == -ENOENT) {
		cpugroup_end();
		PXT_SKIP_IN_SETUP("kernel without cgroups of processor time");
	}
	ASSERT_EQ(0, err);
	for (size_t i = 0; i < GROUPS; i++)
		ASSERT_EQ(0, cpugroup_make(groups[i]));
	ASSERT_EQ(0, child_start(&self->pinned, victim, &self->last));
	ASSERT_EQ(0, hear(&self->pinned.talk));
	ASSERT_EQ(0, leave_the_last_cpu(self->last));
	for (size_t i = 0; i < ATTACKERS; i++) {
		ASSERT_EQ(0, child_start(&self->attacker[i], attacker, (void *)&attacks[i]));
		ASSERT_EQ(0, hear(&self->attacker[i].talk))
			TH_LOG("%s", attacks[i].name);
	}
	for (unsigned int i = 0; i < self->victims; i++) {
		ASSERT_EQ(0, child_start(&self->victim[i], victim, NULL));
		ASSERT_EQ(0, hear(&self->victim[i].talk));
	}
}

FIXTURE_TEARDOWN(siege)
{
	__atomic_store_n(&arena->mode, OVER, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < self->victims; i++)
		EXPECT_EQ(0, child_wait(&self->victim[i]));
	EXPECT_EQ(0, child_wait(&self->pinned));
	for (size_t i = 0; i < ATTACKERS; i++)
		EXPECT_EQ(0, child_wait(&self->attacker[i]));
	for (size_t i = 0; i < GROUPS; i++)
		EXPECT_EQ(0, cpugroup_remove(groups[i]));
	EXPECT_EQ(0, cpugroup_end());
	munmap(arena, sizeof(*arena));
}

static unsigned long long cpu_time_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_now(clock);
}

static struct share so_far(const FIXTURE_DATA(siege) * self)
{
	struct share share = {
		.pinned = LOAD(arena->pinned.rounds),
		.elapsed = clock_now(CLOCK_MONOTONIC),
	};

	for (unsigned int i = 0; i < self->victims; i++)
		share.group += cpu_time_of(self->victim[i].pid);
	return share;
}

static void phase(const FIXTURE_DATA(siege) * self, enum mode mode, struct share *sum)
{
	const struct timespec settle = to_timespec(SETTLE_MS * 1000000ULL);
	const struct timespec time = to_timespec(PHASE_MS * 1000000ULL);
	struct share before, after;

	__atomic_store_n(&arena->mode, mode, __ATOMIC_RELEASE);
	nanosleep(&settle, NULL);
	before = so_far(self);
	nanosleep(&time, NULL);
	after = so_far(self);
	sum->group += after.group - before.group;
	sum->pinned += after.pinned - before.pinned;
	sum->elapsed += after.elapsed - before.elapsed;
}

/*
 * Returns true if the victims get at least STILL_GETS percent of the CPU time that they had next to
 * processes that compute.
 */
static bool gets(unsigned long long attacked, unsigned long long had)
{
	return attacked * 100 >= had * STILL_GETS;
}

/* Returns @part in per mille of the time. */
static unsigned long long rate(unsigned long long part, unsigned long long elapsed)
{
	return part * 1000 / elapsed;
}

static void series(FIXTURE_DATA(siege) * self)
{
	memset(&self->computing, 0, sizeof(self->computing));
	memset(&self->attacking, 0, sizeof(self->attacking));
	for (int i = 0; i < ROUNDS; i++) {
		phase(self, COMPUTING, &self->computing);
		phase(self, ATTACKING, &self->attacking);
	}
}

TEST_F_TIMEOUT(siege, other_users_get_their_processor_time, 300)
{
	const struct share *computing = &self->computing, *attacking = &self->attacking;
	bool group = false, pinned = false;

	for (int i = 0; i < SERIES && !(group && pinned); i++) {
		series(self);
		group |= gets(rate(attacking->group, attacking->elapsed),
			      rate(computing->group, computing->elapsed));
		pinned |= gets(rate(attacking->pinned, attacking->elapsed / 1000),
			       rate(computing->pinned, computing->elapsed / 1000));
		TH_LOG("another group: %llu per mille of a processor, %llu beside loops",
		       rate(attacking->group, attacking->elapsed),
		       rate(computing->group, computing->elapsed));
		TH_LOG("another processor: %llu rounds, %llu beside loops", attacking->pinned,
		       computing->pinned);
	}
	EXPECT_TRUE(group);
	EXPECT_TRUE(pinned);
}

TEST_HARNESS_MAIN
