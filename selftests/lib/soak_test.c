// SPDX-License-Identifier: GPL-2.0
/*
 * Everything together, for PXT_SOAK_SECONDS (10 by default). Controllers create streams of all
 * kinds, with and without logs, on themselves and on others. Processes fork and are killed, CPUs go
 * offline and come back, and there are attempts to remove the module. The counters of each stream
 * must add up. When all streams are gone, the memory use of the kernel must be back to normal: see
 * Documentation/testing.rst.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "hotplug.h"
#include "memgroup.h"
#include "module.h"
#include "soak_life.h"

#define LIVES		6		/* number of lives at the same time */
#define PERIODS		5		/* memory is checked after each */
#define GROWTH		(8L << 10)	/* KiB, maximum growth since the first period */
#define GROUP_GROWTH	(1L << 10)	/* KiB, maximum growth of the memory cgroup of the lives */

/* Memory in KiB. */
struct soak_memory {
	long kernel;	/* used by the kernel itself, not counting reclaimable memory */
	long group;	/* charged to the cgroup of the lives; -1 if unknown */
};

struct soak {
	struct soak_account account[LIVES];
	char wrong[LIVES][160];
	unsigned long long lives;
	unsigned long long generated;
};

FIXTURE(soak)
{
	struct soak *shared;
	pid_t pid[LIVES];
	unsigned long long seed[LIVES];
	unsigned long long rng;
	unsigned long long killed;
	unsigned long long refused;
	unsigned long long switched;
	struct child guard;
	int device;
	int refcount;		/* includes the reference of this program */
};

FIXTURE_SETUP(soak)
{
	const char *seed = getenv("PXT_SOAK_SEED");

	self->rng = seed ? strtoull(seed, NULL, 0) : now();
	TH_LOG("PXT_SOAK_SEED=%llu", self->rng);
	self->rng |= 1;
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, memgroup_begin("max"));
	self->refcount = module_refcount();
}

FIXTURE_TEARDOWN(soak)
{
	EXPECT_EQ(0, memgroup_end());
	EXPECT_EQ(0, hotplug_end(&self->guard));
	munmap(self->shared, sizeof(*self->shared));
}

/* Starts a new life in place of @i. */
static void life_begin(struct __test_metadata *_metadata, FIXTURE_DATA(soak) * self, int i)
{
	struct soak *shared = self->shared;
	const char *wrong;

	self->seed[i] = ++self->rng;
	shared->wrong[i][0] = '\0';
	self->pid[i] = fork();
	ASSERT_LE(0, self->pid[i]);
	if (self->pid[i])
		return;
	/* An open device keeps the module in use, so only the parent may hold it. */
	close(self->device);
	setpgid(0, 0);
	wrong = memgroup_enter() ? "no memory cgroup"
				 : soak_live(self->seed[i], &shared->account[i]);
	snprintf(shared->wrong[i], sizeof(shared->wrong[i]), "%s", wrong ? wrong : "");
	_exit(wrong ? 1 : 0);
}

static void life_judge(struct __test_metadata *_metadata, FIXTURE_DATA(soak) * self, int i,
		       int status)
{
	const struct soak_account *account = &self->shared->account[i];

	/* Targets of the life may still run. They belong to its process group. */
	kill(-self->pid[i], SIGKILL);
	self->pid[i] = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		self->killed++;
		return;
	}
	EXPECT_EQ(0, status)
		TH_LOG("life %llu: %s", self->seed[i], self->shared->wrong[i]);
	for (unsigned int n = 0; n < account->writers && n < SOAK_WRITERS; n++)
		self->shared->generated += account->generated[n];
	self->shared->lives++;
}

/* Reaps lives that have ended. Returns the number of lives that still run. */
static int lives_look(struct __test_metadata *_metadata, FIXTURE_DATA(soak) * self)
{
	int left = 0, status;

	for (int i = 0; i < LIVES; i++) {
		if (!self->pid[i])
			continue;
		if (waitpid(self->pid[i], &status, WNOHANG) == self->pid[i])
			life_judge(_metadata, self, i, status);
		else
			left++;
	}
	return left;
}

/* Switches CPUs and tries to remove the module, which affects all lives. */
static void interfere(struct __test_metadata *_metadata, FIXTURE_DATA(soak) * self)
{
	unsigned int nr = count_cpus(), i = soak_dice(&self->rng, LIVES);

	switch (soak_dice(&self->rng, 40)) {
	case 0:
		if (self->pid[i])
			kill(self->pid[i], SIGKILL);
		break;
	case 1:
	case 2:
		ASSERT_EQ(0, switch_cpu(1 + soak_dice(&self->rng, nr - 1),
					soak_dice(&self->rng, 2)));
		self->switched++;
		break;
	case 3:
		/* The test itself keeps the device open. */
		ASSERT_NE(0, module_unload());
		self->refused++;
		break;
	default:
		sched_yield();
	}
}

static void soak_until(struct __test_metadata *_metadata, FIXTURE_DATA(soak) * self,
		       unsigned long long end)
{
	self->device = open("/dev/posixtrace", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	while (now() < end) {
		for (int i = 0; i < LIVES; i++) {
			if (!self->pid[i])
				life_begin(_metadata, self, i);
		}
		interfere(_metadata, self);
		lives_look(_metadata, self);
	}
	while (lives_look(_metadata, self))
		sched_yield();
	close(self->device);
	ASSERT_EQ(0, switch_all_on());
}

/* Reads a line of /proc/meminfo, in KiB. */
static long kib_of(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long value = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtol(line + strlen(name) + 1, NULL, 10);
	}
	if (file)
		fclose(file);
	return value;
}

static struct soak_memory look_at_memory(void)
{
	FILE *caches = fopen("/proc/sys/vm/drop_caches", "we");

	if (caches) {
		fputs("3", caches);
		fclose(caches);
	}
	return (struct soak_memory){
		.kernel = kib_of("SUnreclaim") + kib_of("VmallocUsed") + kib_of("Percpu") +
			  kib_of("KernelStack") + kib_of("PageTables"),
		.group = memgroup_shrink() ? -1 : memgroup_current() >> 10,
	};
}

/* Waits for RCU and for log threads, which free the last memory. */
static struct soak_memory settled_memory(struct soak_memory at_most)
{
	unsigned long long end = now() + 20 * pxt_time_scale() * NSEC;
	struct soak_memory memory;

	do {
		memory = look_at_memory();
	} while ((memory.kernel > at_most.kernel || memory.group > at_most.group) && now() < end);
	return memory;
}

TEST_F_TIMEOUT(soak, sums_are_correct_and_nothing_is_leaked, 7200)
{
	const char *seconds = getenv("PXT_SOAK_SECONDS");
	unsigned long long length = (seconds ? atoi(seconds) : 10) * NSEC / PERIODS;
	struct soak_memory at_most = { LONG_MAX, LONG_MAX }, memory;

	for (int period = 0; period < PERIODS; period++) {
		soak_until(_metadata, self, now() + length);
		memory = settled_memory(at_most);
		TH_LOG("period %d: %llu lives, %llu killed, %llu events", period,
		       self->shared->lives, self->killed, self->shared->generated);
		TH_LOG("%llu switches of CPUs, %llu unloads refused", self->switched,
		       self->refused);
		TH_LOG("kernel memory %ld KiB, of the lives' cgroup %ld KiB", memory.kernel,
		       memory.group);
		EXPECT_LE(0, memory.group);
		EXPECT_GE(at_most.kernel, memory.kernel);
		EXPECT_GE(at_most.group, memory.group);
		if (!period) {
			at_most.kernel = memory.kernel + GROWTH;
			at_most.group = memory.group + GROUP_GROWTH;
		}
		EXPECT_EQ(self->refcount, module_refcount());
	}
	EXPECT_LT(0, self->shared->lives);
	EXPECT_LT(0, self->shared->generated);
}

TEST_HARNESS_MAIN
