// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/posixtrace.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../kmod/ring/policy.h"
#include "fake.h"

#define PAGE		4096UL
#define CPUS_MAX	1024
#define SUBBUFS_MAX	8192
#define SYS_SUBBUFS	4U

/* Offsets in the file that holds all shared memory. */
#define GATE_AT		0UL
#define WAKEUP_AT		(GATE_AT + sizeof(struct posixtrace_gate))
#define READER_AT	(WAKEUP_AT + PAGE)
#define CTRL_AT		(READER_AT + (1UL << 20))

static struct {
	pthread_mutex_t lock;	/* guards all members below */
	int memory;		/* the file; 0 before it exists */
	bool counter;
	bool ticks;
	pthread_t ticker;
	struct posixtrace_gate *gate;
	bool attached;
	unsigned int types;

	bool created;
	struct posixtrace_attr attr;
	unsigned int nr_cpus;
	unsigned int processors;	/* 0: as many as the machine has */
	unsigned int nr_subbufs;
	unsigned int subbuf_size;
	struct posixtrace_reader *reader;
	struct posixtrace_ctrl *ctrl;
	struct posixtrace_cpu_head *heads;
	unsigned int *oldest;
	unsigned long long *holders;
	struct posixtrace_subbuf *subbufs;
	size_t heads_at, pool_at, pool_size;
	unsigned int open[CPUS_MAX + 1];
	unsigned int next[SUBBUFS_MAX];	/* next sub-buffer of the same CPU */
	unsigned int youngest[CPUS_MAX + 1];	/* valid if the list of the CPU is not empty */
	unsigned int unused[2][SUBBUFS_MAX];	/* for processes, and for system events */
	unsigned int nr_unused[2];
	unsigned long long seq;
	unsigned long nexts;
} fake = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static unsigned long long monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* ------------------------------------------------------------------ */
/* Gate and clock							*/

#ifdef __x86_64__
/* Measures the rate of the counter, accurately enough for a benchmark. */
static void publish_counter(struct posixtrace_clock *clock)
{
	unsigned long long begin = monotonic(), ticks = __builtin_ia32_rdtsc(), end;

	do {
		end = monotonic();
	} while (end - begin < 20000000);
	ticks = __builtin_ia32_rdtsc() - ticks;
	clock->mult = ((end - begin) << POSIXTRACE_CLOCK_SHIFT) / ticks;
	clock->cycle_last = __builtin_ia32_rdtsc();
	clock->base = monotonic();
	clock->real = clock->base + clock->offset;
	clock->fraction = 0;
	clock->counter = POSIXTRACE_COUNTER_TSC;
}

static void update_counter(struct posixtrace_clock *clock)
{
	/* 64 bits are enough for a few seconds. */
	unsigned long long now = __builtin_ia32_rdtsc();
	unsigned long long units = clock->fraction + (now - clock->cycle_last) * clock->mult;

	__atomic_store_n(&clock->seq, clock->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	clock->cycle_last = now;
	clock->base += units >> POSIXTRACE_CLOCK_SHIFT;
	clock->real = clock->base + clock->offset;
	clock->fraction = units & ((1ULL << POSIXTRACE_CLOCK_SHIFT) - 1);
	__atomic_store_n(&clock->seq, clock->seq + 1, __ATOMIC_RELEASE);
}
#else
static void publish_counter(struct posixtrace_clock *clock)
{
	(void)clock;
}

static void update_counter(struct posixtrace_clock *clock)
{
	(void)clock;
}
#endif

/* Updates the clock, as each tick of the kernel does. */
static void *tick(void *arg)
{
	const struct timespec pause = { .tv_nsec = 4000000 };

	for (;;) {
		pthread_mutex_lock(&fake.lock);
		if (fake.counter)
			update_counter(&fake.gate->clock);
		else
			__atomic_store_n(&fake.gate->clock.base, monotonic(), __ATOMIC_RELAXED);
		pthread_mutex_unlock(&fake.lock);
		nanosleep(&pause, NULL);
	}
	return arg;
}

static void set_clock(void)
{
	struct posixtrace_clock *clock = &fake.gate->clock;
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	clock->offset = real.tv_sec * 1000000000LL + real.tv_nsec - (long long)monotonic();
	clock->wall = clock->offset;
	clock->base = monotonic();
	clock->counter = POSIXTRACE_COUNTER_NONE;
	clock->cycle_last = POSIXTRACE_CYCLE_NONE;
	if (fake.counter)
		publish_counter(clock);
	if (!fake.ticks)
		fake.ticks = !pthread_create(&fake.ticker, NULL, tick, NULL);
}

static int make_memory(void)
{
	if (fake.memory)
		return 0;
	fake.memory = memfd_create("fake module", MFD_CLOEXEC);
	if (fake.memory < 0 || ftruncate(fake.memory, 1L << 32))
		return -errno;
	fake.gate = mmap(NULL, sizeof(*fake.gate), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fake.memory, GATE_AT);
	if (fake.gate == MAP_FAILED)
		return -ENOMEM;
	fake.gate->address_high = getauxval(AT_ENTRY) >> 32;
	return 0;
}

static void open_gate(bool enable)
{
	unsigned int id;

	for (id = POSIXTRACE_ID_UNNAMED; id < POSIXTRACE_ID_MAX; id++)
		__atomic_store_n(&fake.gate->enable[id], enable, __ATOMIC_RELAXED);
	__atomic_fetch_add(&fake.gate->generation, 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ */
/* Sub-buffers								*/

static struct posixtrace_cpu_head *head_of(unsigned int cpu)
{
	return cpu == fake.nr_cpus ? &fake.ctrl->system : &fake.heads[cpu];
}

static unsigned int used_of(unsigned int idx)
{
	return POSIXTRACE_HEAD_POS(head_of(fake.subbufs[idx].cpu)->head) - idx * fake.subbuf_size;
}

static void close_subbuf(unsigned int cpu)
{
	unsigned int idx = fake.open[cpu];
	struct posixtrace_subbuf *subbuf = &fake.subbufs[idx];

	subbuf->used = used_of(idx);
	subbuf->count = POSIXTRACE_HEAD_COUNT(head_of(cpu)->head);
	subbuf->closed = ~0ULL >> 1;
	__atomic_store_n(&subbuf->state, POSIXTRACE_SUBBUF_CLOSED, __ATOMIC_RELEASE);
	fake.open[cpu] = POSIXTRACE_NONE;
}

static void put_unused(unsigned int idx)
{
	bool system = idx >= fake.nr_subbufs;

	fake.unused[system][fake.nr_unused[system]++] = idx;
}

static void set_oldest(unsigned int cpu, unsigned int idx)
{
	unsigned long long bit = 1ULL << cpu % 64, *word = &fake.holders[cpu / 64];

	__atomic_store_n(&fake.oldest[cpu], idx, __ATOMIC_RELEASE);
	__atomic_store_n(word, idx == POSIXTRACE_NONE ? *word & ~bit : *word | bit,
			 __ATOMIC_RELEASE);
}

/* Removes a sub-buffer from the list of its CPU, where it is the first. */
static void release_subbuf(unsigned int idx)
{
	set_oldest(fake.subbufs[idx].cpu, fake.next[idx]);
	fake.subbufs[idx].state = POSIXTRACE_SUBBUF_FREE;
	put_unused(idx);
}

/* Takes an unused sub-buffer. If there is none, takes the one that was closed first. */
static unsigned int take_subbuf(bool system)
{
	unsigned int idx, best = POSIXTRACE_NONE, cpu;

	for (cpu = 0; cpu < fake.nr_cpus && !fake.nr_unused[system]; cpu++) {
		idx = fake.oldest[cpu];
		if (idx != POSIXTRACE_NONE && fake.subbufs[idx].state == POSIXTRACE_SUBBUF_CLOSED &&
		    (best == POSIXTRACE_NONE || fake.subbufs[idx].seq < fake.subbufs[best].seq))
			best = idx;
	}
	if (best != POSIXTRACE_NONE)
		release_subbuf(best);
	if (!fake.nr_unused[system])
		return POSIXTRACE_NONE;
	return fake.unused[system][--fake.nr_unused[system]];
}

static int next_subbuf(unsigned int cpu)
{
	struct posixtrace_cpu_head *head;
	struct posixtrace_subbuf *subbuf;
	unsigned int idx;

	if (fake.open[cpu] != POSIXTRACE_NONE)
		close_subbuf(cpu);
	idx = take_subbuf(cpu == fake.nr_cpus);
	if (idx == POSIXTRACE_NONE)
		return -EAGAIN;
	head = head_of(cpu);
	subbuf = &fake.subbufs[idx];
	subbuf->seq = ++fake.seq;
	subbuf->cpu = cpu;
	subbuf->opened = 0;
	subbuf->state = POSIXTRACE_SUBBUF_OPEN;
	fake.next[idx] = POSIXTRACE_NONE;
	fake.open[cpu] = idx;
	fake.reader->consumed[idx].position = POSIXTRACE_CONSUMED(subbuf->seq, 0, 0);
	*head = (struct posixtrace_cpu_head){
		.head = POSIXTRACE_HEAD(idx * fake.subbuf_size, 0),
		.limit = (idx + 1) * fake.subbuf_size,
		.last = head->last,
		.writer_head = POSIXTRACE_HEAD_NONE,
	};
	if (fake.oldest[cpu] == POSIXTRACE_NONE)
		set_oldest(cpu, idx);
	else
		fake.next[fake.youngest[cpu]] = idx;
	fake.youngest[cpu] = idx;
	fake.nexts++;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Commands								*/

static int attach(struct posixtrace_attach *arg)
{
	int err = make_memory();

	if (err)
		return err;
	fake.attached = true;
	set_clock();
	arg->gate.offset = GATE_AT;
	arg->gate.size = sizeof(*fake.gate);
	arg->target = 1;
	return 0;
}

static int create(struct posixtrace_create *arg)
{
	size_t ctrl_size, heads_size, size;
	void *memory;
	int err = make_memory();

	if (err)
		return err;
	if (fake.created || arg->attr.stream_policy != POSIXTRACE_POLICY_LOOP)
		return -EOPNOTSUPP;
	fake.attr = arg->attr;
	fake.nr_cpus = fake.processors ? fake.processors : sysconf(_SC_NPROCESSORS_CONF);
	fake.subbuf_size = pxt_subbuf_size(arg->attr.stream_size, arg->attr.max_data_size);
	fake.nr_subbufs = arg->attr.stream_size / fake.subbuf_size + fake.nr_cpus + 1;
	if (fake.nr_cpus > CPUS_MAX || fake.nr_subbufs + SYS_SUBBUFS > SUBBUFS_MAX)
		return -ENOMEM;

	size = fake.nr_subbufs + SYS_SUBBUFS;
	ctrl_size = sizeof(*fake.ctrl) + size * sizeof(*fake.subbufs) +
		    (fake.nr_cpus / 64 + 1) * sizeof(*fake.holders) +
		    (fake.nr_cpus + 2) * sizeof(*fake.oldest);
	ctrl_size = (ctrl_size + PAGE - 1) & ~(PAGE - 1);
	heads_size = (fake.nr_cpus * sizeof(*fake.heads) + PAGE - 1) & ~(PAGE - 1);
	fake.pool_size = size * fake.subbuf_size;
	fake.heads_at = CTRL_AT + ctrl_size;
	fake.pool_at = fake.heads_at + heads_size;
	memory = mmap(NULL, fake.pool_at - READER_AT, PROT_READ | PROT_WRITE, MAP_SHARED,
		      fake.memory, READER_AT);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	fake.reader = memory;
	fake.ctrl = memory + (CTRL_AT - READER_AT);
	fake.heads = memory + (fake.heads_at - READER_AT);
	fake.subbufs = (void *)(fake.ctrl + 1);
	fake.holders = (void *)(fake.subbufs + size);
	fake.oldest = (void *)(fake.holders + fake.nr_cpus / 64 + 1);
	memset(memory, 0, fake.pool_at - READER_AT);
	*fake.ctrl = (struct posixtrace_ctrl){
		.size = sizeof(*fake.ctrl),
		.nr_cpus = fake.nr_cpus,
		.nr_subbufs = fake.nr_subbufs,
		.nr_sys_subbufs = SYS_SUBBUFS,
		.subbuf_size = fake.subbuf_size,
		.holders_offset = (char *)fake.holders - (char *)fake.ctrl,
		.oldest_offset = (char *)fake.oldest - (char *)fake.ctrl,
		.subbuf_offset = (char *)fake.subbufs - (char *)fake.ctrl,
	};
	memset(fake.oldest, 0xff, (fake.nr_cpus + 1) * sizeof(*fake.oldest));
	memset(fake.open, 0xff, sizeof(fake.open));
	fake.seq = 0;
	fake.nr_unused[0] = 0;
	fake.nr_unused[1] = 0;
	while (size)
		put_unused(--size);

	arg->reader.offset = READER_AT;
	arg->reader.size = CTRL_AT - READER_AT;
	arg->ctrl.offset = CTRL_AT;
	arg->ctrl.size = ctrl_size;
	arg->heads.offset = fake.heads_at;
	arg->heads.size = heads_size;
	arg->pool.offset = fake.pool_at;
	arg->pool.size = fake.pool_size;
	arg->stream = 1;
	fake.created = true;
	return 0;
}

static int shut_down(void)
{
	fake.created = false;
	open_gate(false);
	munmap(fake.reader, fake.pool_at - READER_AT);
	return 0;
}

static int sync_slots(struct posixtrace_sync *arg)
{
	struct posixtrace_slot *slots = (void *)(uintptr_t)arg->slots;

	memset(slots, 0, POSIXTRACE_SLOTS_MAX * sizeof(*slots));
	arg->generation = fake.gate->generation;
	if (!fake.created)
		return 0;
	slots[0] = (struct posixtrace_slot){
		.heads = { fake.heads_at, fake.pool_at - fake.heads_at },
		.pool = { fake.pool_at, (__u64)fake.nr_subbufs * fake.subbuf_size },
		.wakeup = { WAKEUP_AT, PAGE },
		/* Use a new id each time, or the library would keep the old mapping. */
		.stream = fake.nexts + 1,
		.subbuf_size = fake.subbuf_size,
		.max_data_size = fake.attr.max_data_size,
		.pid = getpid(),
		.flags = POSIXTRACE_SLOT_SAME_IDS |
			 (fake.attr.order ? POSIXTRACE_SLOT_RELAXED : 0),
	};
	return 0;
}

static int map(struct posixtrace_mapping *arg)
{
	int prot = arg->flags & POSIXTRACE_MAPPING_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
	int flags = arg->flags & POSIXTRACE_MAPPING_POPULATE ? MAP_POPULATE : 0;
	void *address = mmap(NULL, arg->map.size, prot, MAP_SHARED | flags, fake.memory,
			     arg->map.offset);

	if (address == MAP_FAILED)
		return -errno;
	arg->address = (uintptr_t)address;
	return 0;
}

static int release(const struct posixtrace_release *arg)
{
	if (arg->subbuf >= fake.nr_subbufs + SYS_SUBBUFS)
		return -EINVAL;
	release_subbuf(arg->subbuf);
	return 0;
}

static int command(unsigned long cmd, void *arg)
{
	const struct posixtrace_checked *checked = arg;

	switch (cmd) {
	case POSIXTRACE_IOC_CHECKED:
		return command(checked->cmd, (void *)(uintptr_t)checked->arg);
	case POSIXTRACE_IOC_INFO:
		((struct posixtrace_info *)arg)->abi_version = POSIXTRACE_ABI_VERSION;
		return 0;
	case POSIXTRACE_IOC_ATTACH:
		return attach(arg);
	case POSIXTRACE_IOC_CREATE:
		return create(arg);
	case POSIXTRACE_IOC_MAP:
		return map(arg);
	case POSIXTRACE_IOC_SYNC:
		return sync_slots(arg);
	case POSIXTRACE_IOC_NEXT:
		return next_subbuf(sched_getcpu());
	case POSIXTRACE_IOC_RELEASE:
		return release(arg);
	case POSIXTRACE_IOC_GET_ATTR:
		memcpy(arg, &fake.attr, sizeof(fake.attr));
		return 0;
	case POSIXTRACE_IOC_EVENTID_OPEN:
		((struct posixtrace_eventid *)arg)->id = POSIXTRACE_ID_UNNAMED + ++fake.types;
		return 0;
	case POSIXTRACE_IOC_START:
		open_gate(true);
		return 0;
	case POSIXTRACE_IOC_STOP:
		open_gate(false);
		return 0;
	case POSIXTRACE_IOC_SHUTDOWN:
		return shut_down();
	}
	/* The benchmarks need no other commands. */
	abort();
}

/* ------------------------------------------------------------------ */
/* Interception of the library's system calls				*/

#define FAKE_FD_MIN	1000	/* higher than any other open descriptor */

static bool is_device(const char *path)
{
	return !strcmp(path, "/dev/posixtrace");
}

static long answer(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

/* Maps the gate, as the library does to attach a program before main(). */
static long map_gate(void *place, size_t size)
{
	struct posixtrace_attach arg;
	long ret;

	pthread_mutex_lock(&fake.lock);
	ret = answer(attach(&arg));
	if (!ret)
		ret = (long)mmap(place, size, PROT_READ, MAP_SHARED | MAP_FIXED, fake.memory,
				 GATE_AT);
	pthread_mutex_unlock(&fake.lock);
	return ret;
}

long __real_syscall(long number, ...);

/* The linker replaces syscall() of the C library with this function (--wrap). */
long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list list;
	int i, err;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);

	if (number == SYS_openat && is_device((const char *)arg[1]))
		return __real_syscall(SYS_fcntl, STDERR_FILENO, F_DUPFD_CLOEXEC, FAKE_FD_MIN);
	if (number == SYS_mmap && (int)arg[4] >= FAKE_FD_MIN)
		return map_gate((void *)arg[0], (size_t)arg[1]);
	if (number == SYS_ioctl && (int)arg[0] >= FAKE_FD_MIN) {
		/* Make a real system call, so that each command has the cost of one. */
		__real_syscall(SYS_getppid);
		pthread_mutex_lock(&fake.lock);
		err = command(arg[1], (void *)arg[2]);
		pthread_mutex_unlock(&fake.lock);
		return answer(err);
	}
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* ------------------------------------------------------------------ */

void fake_clock(bool counter)
{
	pthread_mutex_lock(&fake.lock);
	fake.counter = counter;
	if (fake.attached)
		set_clock();
	pthread_mutex_unlock(&fake.lock);
}

void fake_processors(unsigned int count)
{
	fake.processors = count;
}

unsigned long fake_nexts(void)
{
	return fake.nexts;
}

unsigned long fake_bytes(void)
{
	unsigned long bytes = 0;
	unsigned int cpu, idx;

	pthread_mutex_lock(&fake.lock);
	for (cpu = 0; cpu < fake.nr_cpus; cpu++)
		for (idx = fake.oldest[cpu]; idx != POSIXTRACE_NONE; idx = fake.next[idx])
			bytes += fake.subbufs[idx].state == POSIXTRACE_SUBBUF_OPEN ?
				 used_of(idx) : fake.subbufs[idx].used;
	pthread_mutex_unlock(&fake.lock);
	return bytes;
}
