// SPDX-License-Identifier: GPL-2.0
/* A worker: its threads, its rights, and the signals that interrupt it. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uapi_fuzz.h"

#define FILE_SIZE_LIMIT	(1UL << 20)

struct shared *shared;

static struct objects objects;
static struct actor actors[THREADS_MAX];
static char stacks[THREADS_MAX][256 << 10] __attribute__((aligned(4096)));

void map_shared(int fd)
{
	void *where = mmap((void *)SHARED_ADDRESS, sizeof(*shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (where != (void *)SHARED_ADDRESS)
		_exit(99);
	shared = where;
}

static void arena_init(char *arena)
{
	sys(SYS_mprotect, arena + ARENA_HOLE, 4096, PROT_NONE);
	sys(SYS_mmap, arena + ARENA_CONST, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, SHARED_FD,
	    arena - (char *)shared);
}

void actor_init(struct actor *a, unsigned int worker, unsigned int thread, uint64_t seed)
{
	memset(a, 0, sizeof(*a));
	a->objects = &objects;
	a->worker = &shared->workers[worker];
	a->thread = thread;
	a->want = PARTS;
	a->arena = shared->arenas[worker][thread];
	a->random = mix(seed ^ (uint64_t)thread << 32);
}

static void timer(unsigned int milliseconds, int signal, int notify, bool again)
{
	struct sigevent event = { .sigev_notify = notify, .sigev_signo = signal };
	struct itimerspec when = {
		.it_value.tv_sec = milliseconds / 1000,
		.it_value.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	int id;

	if (again)
		when.it_interval = when.it_value;
	event._sigev_un._tid = sys(SYS_gettid);
	if (!sys(SYS_timer_create, CLOCK_MONOTONIC, &event, &id))
		sys(SYS_timer_settime, id, 0, &when, NULL);
}

/* Sends signals to the calling thread, so that it never waits forever. */
void interrupt_every(unsigned int milliseconds)
{
	timer(milliseconds, SIGALRM, SIGEV_THREAD_ID, true);
}

void end_after(unsigned int seconds)
{
	timer(seconds * 1000, SIGKILL, SIGEV_SIGNAL, false);
}

static void nothing(int signal)
{
	(void)signal;
}

/* Blocks signals, until the handlers are installed, or unblocks them. */
void block_signals(bool block)
{
	uint64_t set = 1ULL << (SIGALRM - 1) | 1ULL << (SIGUSR1 - 1) | 1ULL << (SIGIO - 1);

	sys(SYS_rt_sigprocmask, block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL, sizeof(set));
}

static void signals_init(void)
{
	struct sigaction interrupts = { .sa_handler = nothing };
	struct sigaction restarts = { .sa_handler = nothing, .sa_flags = SA_RESTART };

	access_init();
	sigaction(SIGALRM, &interrupts, NULL);
	sigaction(SIGUSR1, &restarts, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	block_signals(false);
}

/* Drops the capabilities that override limits. */
static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (sys(SYS_capget, &head, data))
		return;
	data[0].effective &= ~(1U << CAP_IPC_LOCK | 1U << CAP_SYS_RESOURCE);
	data[0].permitted &= data[0].effective;
	sys(SYS_capset, &head, data);
}

/* Chooses the rights of a worker: some may do anything, some have limits, some are other users. */
static void rights_init(unsigned int number)
{
	struct rlimit file = { FILE_SIZE_LIMIT, FILE_SIZE_LIMIT };
	struct rlimit memlock = { 8UL << 20, 64UL << 20 };
	struct rlimit core = { 0, 0 };

	setrlimit(RLIMIT_FSIZE, &file);
	setrlimit(RLIMIT_CORE, &core);
	if (number % 4 == 0)
		return;
	setrlimit(RLIMIT_MEMLOCK, &memlock);
	if (number % 4 == 3) {
		sys(SYS_setresgid, 1000, 1000, 1000);
		sys(SYS_setresuid, 1000, 1000, 1000);
	} else {
		drop_rights();
	}
	/* Allow workers of the same user to trace this one. */
	sys(SYS_prctl, PR_SET_DUMPABLE, 1);
}

static bool is_done(void)
{
	uint64_t calls = shared->options.calls;

	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED) ||
	       (calls && __atomic_load_n(&shared->calls, __ATOMIC_RELAXED) >= calls);
}

static void *run(void *arg)
{
	struct actor *a = arg;

	if (!shared->options.alone)
		interrupt_every(50);
	cover_start(a);
	while (!is_done())
		run_program(a);
	return NULL;
}

/*
 * Starts a thread with a stack in this program. Calls may unmap a stack of the C library, but not
 * this one.
 */
static void start_thread(struct actor *a, char *stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stacks[0]));
	pthread_create(&thread, &attr, run, a);
	pthread_attr_destroy(&attr);
}

int worker_main(unsigned int number, uint64_t seed)
{
	uint64_t first_cpu = 1;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signals_init();
	/*
	 * The layout of a stream depends on the order in which writers begin, so make that
	 * repeatable.
	 */
	if (shared->options.alone)
		sys(SYS_sched_setaffinity, 0, sizeof(first_cpu), &first_cpu);
	for (i = 0; i < ARENAS; i++)
		arena_init(shared->arenas[number][i]);
	/* Open the files of KCOV before rights_init(), because they belong to root. */
	for (i = 0; i < shared->options.threads; i++) {
		actor_init(&actors[i], number, i, seed);
		cover_open(&actors[i]);
	}
	rights_init(number);
	for (i = 1; i < shared->options.threads; i++)
		start_thread(&actors[i], stacks[i]);
	run(&actors[0]);
	/* Do not clean up, because the other threads may be at any point. */
	sys(SYS_exit_group, 0);
	return 0;
}

/* The main function of a program that was executed with inherited files. */
int short_main(unsigned int number, uint64_t seed)
{
	struct call call;
	struct actor a;
	int fd, i;

	signals_init();
	end_after(4);
	if (!shared->options.alone)
		interrupt_every(20);
	arena_init(shared->arenas[number][THREADS_MAX]);
	actor_init(&a, number, THREADS_MAX, seed);
	for (fd = 3; fd < 64; fd++) {
		if (sys(SYS_fcntl, fd, 1 /* F_GETFD */) < 0)
			continue;
		/* The role is unknown, and does not matter. */
		add_file(&a, fd)->role = next_random(&a.random) % ROLE_ANY;
	}
	for (i = 0; i < 8; i++) {
		random_call(&a, &call);
		run_call(&a, &call);
	}
	return 0;
}
