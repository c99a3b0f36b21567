// SPDX-License-Identifier: GPL-2.0
/*
 * An attacking user does everything that costs others CPU time: its processes flush many logs, fill
 * streams that flush automatically, create and close streams with kernel events, or try to, end
 * logs that a kernel thread writes, map a stream many times, trace thousands of sleeping processes,
 * and wait for events of a process with many threads: each alone, and all together. The victims are
 * processes of other users, in a different cgroup or on a different CPU. They must get about as
 * much CPU time, and do about as much, as next to the same number of processes that only compute.
 *
 * The attackers alternate between attacking and ordinary work, so that other load on the machine
 * affects both phases equally.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <posixtrace.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "calls.h"
#include "cpugroup.h"
#include "credentials.h"
#include "uapi.h"
#include "withlog.h"

#define PHASE_MS	1500
/*
 * Wait until the effects of the previous phase have passed. Kernel threads may run 10 ms ahead of
 * their budget of 1 % after a pause, which a phase without attackers is.
 */
#define SETTLE_MS	700
#define ROUNDS		3	/* each round has two phases */
#define SERIES		4	/* repeat, because the host of an emulated machine may be busy */
#define VICTIMS_MAX	16
#define STILL_GETS	95	/* percent of the CPU time next to ordinary processes */
/* More function-call interrupts a second than beside ordinary work: two users have 100 each. */
#define CALLS_MAX	250

#define ATTACKER	65534
#define REFUSED		65533	/* has all streams that a user may have */
#define VICTIM		1000

#define LOGS		29	/* for each of two attackers */
#define USER_STREAMS	64
#define MAPPINGS	20000
#define MAPPINGS_STEP	500
#define SLEEPERS	2000
#define NAMES		4000
#define FLUSHES		100
#define THREADS		300	/* more than a synchronization looks at without a pause */

#define ATTACKERS_MAX	16
#define ALL		-1

enum mode { PREPARING, WORKING, ATTACKING, OVER };

/* What a victim does that has a CPU for itself. */
enum kind { COMPUTES, SWITCHES, MAPS, KINDS };

static const char *const kinds[] = { "loop", "ping-pong", "mmap" };

/* Memory shared by all processes. */
struct arena {
	int turns;			/* a futex: a count of changes of the next members */
	int mode;
	int which;			/* number of the attacker, or ALL */
	int kind;
	int held[ATTACKERS_MAX];	/* the attack has its mappings or targets */
	int error;			/* of an attacker, or 0 */
	struct {
		uint64_t rounds;
		char pad[56];
	} pinned[KINDS];
};

static struct arena *arena;

static const char *const groups[] = { "victims", "pinned", "attackers" };

#define GROUPS	(sizeof(groups) / sizeof(groups[0]))

/* Wakes all that wait for a change of the arena. */
static void announce(void)
{
	__atomic_add_fetch(&arena->turns, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &arena->turns, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Waits for a change after @turns was read. */
static void wait_for_turn(int turns)
{
	syscall(SYS_futex, &arena->turns, FUTEX_WAIT, turns, NULL, NULL, 0);
}

/* Computes for about ten microseconds on an emulated processor. */
static void compute(void)
{
	for (int i = 0; i < 1000; i++)
		__asm__ volatile ("");
}

static int victim(void *arg, const struct talk *talk)
{
	(void)arg;
	if (cpugroup_enter("victims") || become_user(VICTIM))
		return 1;
	say(talk, 0);
	while (LOAD(arena->mode) != OVER)
		compute();
	return 0;
}

static int echo(void *arg, const struct talk *talk)
{
	(void)arg;
	while (hear(talk) >= 0)
		say(talk, 0);
	return 0;
}

struct pinned {
	unsigned int cpu;
	enum kind kind;
};

/* Runs on a separate CPU. Each kind has its turns. */
static int pinned_victim(void *arg, const struct talk *talk)
{
	const struct pinned *pinned = arg;
	struct child partner;
	struct stream stream;
	int err = 0;
	void *at;

	if (run_on(pinned->cpu) < 0 || cpugroup_enter("pinned") || become_user(VICTIM))
		return 1;
	if (pinned->kind == SWITCHES)
		err = child_start(&partner, echo, NULL);
	if (pinned->kind == MAPS)
		err = stream_create(&stream, 0);
	say(talk, err);
	while (!err && LOAD(arena->mode) != OVER) {
		int turns = LOAD(arena->turns);

		if (LOAD(arena->kind) != (int)pinned->kind && LOAD(arena->mode) != OVER) {
			wait_for_turn(turns);
			continue;
		}
		switch (pinned->kind) {
		case SWITCHES:
			say(&partner.talk, 0);
			err = (int)hear(&partner.talk);
			break;
		case MAPS:
			at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, stream.fd,
				  stream.arg.ctrl.offset);
			err = at == MAP_FAILED ? -errno : munmap(at, 4096);
			break;
		default:
			compute();
		}
		__atomic_add_fetch(&arena->pinned[pinned->kind].rounds, 1, __ATOMIC_RELAXED);
	}
	if (pinned->kind == SWITCHES)
		child_wait(&partner);
	return err ? 2 : 0;
}

/* ------------------------------------------------------------------ */
/* Attackers								*/

static int file;

static int begin_work(void)
{
	file = memfd_create("work", MFD_CLOEXEC);
	return file < 0 ? errno : 0;
}

/*
 * The ordinary load, with which attacks are compared. It includes system calls: where processors
 * share caches and execution units, any code of the kernel slows down the neighbour more than an
 * empty loop does.
 */
static void work(void)
{
	static char data[4096];

	if (pwrite(file, data, sizeof(data), 0) != sizeof(data))
		__atomic_store_n(&arena->error, EIO, __ATOMIC_RELAXED);
	compute();
}

struct attack {
	const char *name;
	uid_t user;
	/* The victim on a separate CPU that notices most of it */
	enum kind kind;
	/* Prepares the attack. Returns 0 or an error number. */
	int (*begin)(void);
	/* One step of the attack. */
	void (*step)(void);
	/* Acquires what the attack holds in each phase. Returns 0 or negative errno. */
	int (*enter)(void);
	void (*leave)(void);
};

/* The attack of this process. */
static int own;

/* Number of attackers with limits. One without follows, which attacks alone. */
#define LIMITED		8

static bool turn(enum mode mode)
{
	int which = LOAD(arena->which);

	return LOAD(arena->mode) == (int)mode && (which == own || (which == ALL && own < LIMITED));
}

/* Processes that sleep until this attacker kills them. */
static pid_t sleepers[SLEEPERS];
static int slept;

static int add_sleepers(int count)
{
	pid_t pid;

	for (; count; count--) {
		pid = fork();
		if (pid < 0)
			return errno;
		if (!pid) {
			for (;;)
				pause();
		}
		sleepers[slept++] = pid;
	}
	return 0;
}

static trace_id_t trids[LOGS];

static int begin_logs(const struct log_kind *kind)
{
	trace_attr_t attr;
	int err = withlog_attr(kind, &attr);

	for (int i = 0; i < LOGS && !err; i++)
		err = withlog_create_patiently(0, &attr, log_tmpfile(), &trids[i]);
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

/* CREATE that must fail, after the user has all streams. */
static int begin_refused(void)
{
	int err = add_sleepers(3);

	for (int i = 0; i < USER_STREAMS && !err; i++) {
		struct stream held;

		create_init(&held.arg, sleepers[i % 3]);
		held.arg.attr.stream_size = 0;
		err = -stream_open(&held);
	}
	return err;
}

static void refused(void)
{
	create_init(&stream.arg, 0);
	stream.arg.attr.classes = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_FAULT |
				  POSIXTRACE_CLASS_SIGNAL | POSIXTRACE_CLASS_PROCESS;
	if (!stream_open(&stream)) {
		__atomic_store_n(&arena->error, EEXIST, __ATOMIC_RELAXED);
		stream_close(&stream);
	}
}

static int null;

static int begin_end(void)
{
	char name[TRACE_EVENT_NAME_MAX];
	trace_event_id_t id;
	int err = 0;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < NAMES && !err; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		err = posix_trace_eventid_open(name, &id);
	}
	return null < 0 ? errno : err;
}

/* The kernel thread writes this log: a write to a device could block. */
static void end(void)
{
	struct posixtrace_origin origin = { .prog_address = 1 };
	int err;

	create_init(&stream.arg, 0);
	stream.fd = device_open();
	stream.arg.log_fd = null;
	stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	err = command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg);
	if (!err)
		err = stream_start(&stream);
	for (int i = 0; i < FLUSHES && !err; i++)
		err = command(stream.fd, POSIXTRACE_IOC_FLUSH, &origin);
	close(stream.fd);
}

static int begin_map(void)
{
	return -stream_create(&stream, 0);
}

/* One range, so that one call removes all mappings. */
static char *mappings;

static void map_some(int first, int count)
{
	for (int i = first; i < first + count; i++)
		mmap(mappings + i * 4096L, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, stream.fd,
		     stream.arg.ctrl.offset);
}

static int enter_map(void)
{
	mappings = mmap(NULL, MAPPINGS * 4096L, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mappings == MAP_FAILED)
		return -errno;
	for (int i = 0; i < MAPPINGS && turn(ATTACKING); i += MAPPINGS_STEP)
		map_some(i, MAPPINGS_STEP);
	return 0;
}

/* Replaces some of the mappings. */
static void map(void)
{
	map_some(0, MAPPINGS_STEP);
}

static void leave_map(void)
{
	munmap(mappings, MAPPINGS * 4096L);
}

static int begin_sleep(void)
{
	return add_sleepers(SLEEPERS);
}

static int enter_sleep(void)
{
	int err;

	create_init(&stream.arg, sleepers[0]);
	stream.arg.attr.classes = POSIXTRACE_CLASS_SCHED;
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	err = stream_open(&stream);
	if (!err)
		err = stream_start(&stream);
	for (int i = 1; i < SLEEPERS && !err && turn(ATTACKING); i++)
		err = command(stream.fd, POSIXTRACE_IOC_ADD, &sleepers[i]);
	return err;
}

static void sleep_on(void)
{
	compute();
}

static void leave_sleep(void)
{
	stream_close(&stream);
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
	for (int turns = LOAD(arena->turns); LOAD(arena->mode) != OVER; turns = LOAD(arena->turns))
		wait_for_turn(turns);
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
	{ "flush", ATTACKER, COMPUTES, begin_flush, flush, NULL, NULL },
	{ "fill", ATTACKER, COMPUTES, begin_fill, fill, NULL, NULL },
	{ "create", ATTACKER, COMPUTES, NULL, create, NULL, NULL },
	{ "refused create", REFUSED, COMPUTES, begin_refused, refused, NULL, NULL },
	{ "end", ATTACKER, COMPUTES, begin_end, end, NULL, NULL },
	{ "map", ATTACKER, MAPS, begin_map, map, enter_map, leave_map },
	{ "sleep", ATTACKER, SWITCHES, begin_sleep, sleep_on, enter_sleep, leave_sleep },
	{ "wait", ATTACKER, COMPUTES, begin_wait, wait_for_events, NULL, NULL },
	{ "end without a budget", 0, COMPUTES, begin_end, end, NULL, NULL },
};

#define ATTACKERS	((int)(sizeof(attacks) / sizeof(attacks[0])))

/* A thread of its own attacks, because a step can take long: CREATE waits for a budget. */
static void *attack_in_turns(void *arg)
{
	const struct attack *attack = &attacks[own];
	bool attacking = false;
	int err;

	(void)arg;
	for (;;) {
		int turns = LOAD(arena->turns);
		bool wanted = turn(ATTACKING);

		if (wanted != attacking && attack->enter) {
			err = 0;
			if (wanted)
				err = attack->enter();
			else
				attack->leave();
			if (err)
				__atomic_store_n(&arena->error, -err, __ATOMIC_RELAXED);
			__atomic_store_n(&arena->held[own], wanted, __ATOMIC_RELEASE);
			announce();
		}
		attacking = wanted;
		if (attacking)
			attack->step();
		else
			wait_for_turn(turns);
	}
	return NULL;
}

static int attacker(void *arg, const struct talk *talk)
{
	const struct attack *attack = arg;
	const struct rlimit processes = { 2 * SLEEPERS, 2 * SLEEPERS };
	int err = cpugroup_enter("attackers");
	pthread_t thread;

	own = attack - attacks;
	if (!err)
		err = setrlimit(RLIMIT_NPROC, &processes) ? -errno : 0;
	if (!err && attack->user)
		err = become_user(attack->user);
	if (!err && attack->begin)
		err = attack->begin();
	if (!err)
		err = pthread_create(&thread, NULL, attack_in_turns, NULL);
	if (!err)
		err = begin_work();
	say(talk, err);
	while (LOAD(arena->mode) != OVER) {
		int turns = LOAD(arena->turns);

		if (turn(WORKING))
			work();
		else if (LOAD(arena->mode) != OVER)
			wait_for_turn(turns);
	}
	for (int i = 0; i < slept; i++)
		kill(sleepers[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* ------------------------------------------------------------------ */
/* What the victims get							*/

/* Sums over the phases of one kind. */
struct share {
	unsigned long long group;	/* CPU time in nanoseconds of the victims in the group */
	unsigned long long pinned;	/* its CPU time if it computes, otherwise its rounds */
	unsigned long long calls;	/* function-call interrupts of its CPU */
	unsigned long long elapsed;	/* nanoseconds */
};

FIXTURE(siege)
{
	struct child attacker[ATTACKERS_MAX];
	struct child victim[VICTIMS_MAX];
	struct child pinned[KINDS];
	unsigned int victims;
	unsigned int last;		/* the CPU of the pinned victims */
	struct share working;
	struct share attacking;
};

/* All processes except the pinned victims run on the other CPUs. */
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
	for (int i = 0; i < KINDS; i++) {
		struct pinned pinned = { self->last, i };

		ASSERT_EQ(0, child_start(&self->pinned[i], pinned_victim, &pinned));
		ASSERT_EQ(0, hear(&self->pinned[i].talk));
	}
	ASSERT_EQ(0, leave_the_last_cpu(self->last));
	for (int i = 0; i < ATTACKERS; i++) {
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
	announce();
	for (unsigned int i = 0; i < self->victims; i++)
		EXPECT_EQ(0, child_wait(&self->victim[i]));
	for (int i = 0; i < KINDS; i++)
		EXPECT_EQ(0, child_wait(&self->pinned[i]));
	for (int i = 0; i < ATTACKERS; i++)
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

/*
 * The loop of a victim is faster or slower with what the other processors do, if they share caches
 * or are emulated. So its CPU time counts, which lacks only the interrupts.
 */
static struct share so_far(const FIXTURE_DATA(siege) * self)
{
	long long calls[CPUS_MAX] = { 0 };
	int kind = LOAD(arena->kind);
	struct share share = {
		.pinned = kind == COMPUTES ? cpu_time_of(self->pinned[kind].pid) / 1000 :
					     LOAD(arena->pinned[kind].rounds),
		.elapsed = clock_now(CLOCK_MONOTONIC),
	};

	count_calls(calls);
	share.calls = calls[self->last];
	for (unsigned int i = 0; i < self->victims; i++)
		share.group += cpu_time_of(self->victim[i].pid);
	return share;
}

static void phase(const FIXTURE_DATA(siege) * self, enum mode mode, struct share *sum)
{
	const struct timespec settle = to_timespec(SETTLE_MS * 1000000ULL);
	const struct timespec time = to_timespec(PHASE_MS * 1000000ULL);
	int which = LOAD(arena->which);
	struct share before, after;

	__atomic_store_n(&arena->mode, mode, __ATOMIC_RELEASE);
	announce();
	/* Not for all attackers: together, they take too long to prepare themselves. */
	while (which != ALL) {
		int turns = LOAD(arena->turns);

		if (LOAD(arena->held[which]) == (mode == ATTACKING && attacks[which].enter))
			break;
		wait_for_turn(turns);
	}
	nanosleep(&settle, NULL);
	before = so_far(self);
	nanosleep(&time, NULL);
	after = so_far(self);
	sum->group += after.group - before.group;
	sum->pinned += after.pinned - before.pinned;
	sum->calls += after.calls - before.calls;
	sum->elapsed += after.elapsed - before.elapsed;
}

/*
 * Returns true if the victims get at least STILL_GETS percent of the CPU time that they had next to
 * ordinary processes.
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

/* Returns @count per second. */
static unsigned long long per_second(unsigned long long count, const struct share *share)
{
	return count * 1000 / (share->elapsed / 1000000);
}

static void print_share(const char *what, const char *kind, const struct share *working,
			const struct share *attacking)
{
	printf("# %s: another group %llu per mille of a processor, %llu beside others\n", what,
	       rate(attacking->group, attacking->elapsed),
	       rate(working->group, working->elapsed));
	printf("#   %s on another processor %llu a second, %llu beside others\n", kind,
	       per_second(attacking->pinned, attacking), per_second(working->pinned, working));
	printf("#   interrupted %llu times a second, %llu beside others\n",
	       per_second(attacking->calls, attacking), per_second(working->calls, working));
	/* A test ends without writing what is buffered. */
	fflush(stdout);
}

/* Returns true if both victims get their share in the same series. */
static bool series(FIXTURE_DATA(siege) * self, int which, enum kind kind)
{
	struct share *working = &self->working, *attacking = &self->attacking;

	memset(working, 0, sizeof(*working));
	memset(attacking, 0, sizeof(*attacking));
	__atomic_store_n(&arena->kind, kind, __ATOMIC_RELEASE);
	__atomic_store_n(&arena->which, which, __ATOMIC_RELEASE);
	announce();
	for (int i = 0; i < ROUNDS; i++) {
		phase(self, WORKING, working);
		phase(self, ATTACKING, attacking);
	}
	print_share(which == ALL ? "all" : attacks[which].name, kinds[kind], working, attacking);
	return gets(rate(attacking->group, attacking->elapsed),
		    rate(working->group, working->elapsed)) &&
	       gets(per_second(attacking->pinned, attacking),
		    per_second(working->pinned, working)) &&
	       per_second(attacking->calls, attacking) <=
		       per_second(working->calls, working) + CALLS_MAX;
}

static bool one_of_some_series(FIXTURE_DATA(siege) * self, int which, enum kind kind)
{
	for (int i = 0; i < SERIES; i++) {
		if (series(self, which, kind) || !pxt_times_count())
			return true;
	}
	return false;
}

TEST_F_TIMEOUT(siege, other_users_get_their_processor_time, 600)
{
	for (int i = 0; i < LIMITED; i++) {
		EXPECT_TRUE(one_of_some_series(self, i, attacks[i].kind))
			TH_LOG("%s", attacks[i].name);
	}
	for (int i = 0; i < KINDS; i++) {
		EXPECT_TRUE(one_of_some_series(self, ALL, i))
			TH_LOG("all, %s", kinds[i]);
	}
	EXPECT_EQ(0, arena->error);
}

/* Root has no budget. If its victims got their time too, the other case would show nothing. */
TEST_F_TIMEOUT(siege, root_without_a_budget_is_noticed, 120)
{
	bool noticed = false;

	for (int i = 0; i < SERIES && !noticed; i++)
		noticed = !series(self, LIMITED, COMPUTES) || !pxt_times_count();
	EXPECT_TRUE(noticed);
	EXPECT_EQ(0, arena->error);
}

TEST_HARNESS_MAIN
