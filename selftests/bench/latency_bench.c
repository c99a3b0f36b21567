// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how long a real-time thread waits for its processor while the module is busy. As in
 * cyclictest, one thread per processor wakes up each millisecond, alternately during other kernel
 * work and during work of the module. If the module disables interrupts or preemption for long, the
 * waits during its work are longer.
 *
 * Another process does the work, because fork() makes the pages of its process read-only, and a
 * thread that writes to them waits until the fork() has finished.
 *
 * usage: latency_bench [SECONDS [ROUNDS]]	SECONDS per round
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#define CPUS_MAX	64
#define WORKS_MAX	8
#define INTERVAL	1000000L	/* ns */
#define NSEC		1000000000L
#define BINS		100000		/* each is 1 us wide; the last bin has all longer waits */

struct cpu {
	pthread_t thread;
	int number;
	unsigned int *bins;
	long max;		/* ns */
};

struct load {
	void *(*const *works)(void *arg);
	const char *name;
};

static struct cpu cpus[CPUS_MAX];
static int nr_cpus;
static int stop_measuring, stop_load;
static unsigned long done[WORKS_MAX];	/* rounds done by each thread of the work */
static trace_id_t trid;		/* the stream of the load */

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "latency_bench: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static bool stopped(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ */
/* Measurement								*/

static void note(struct cpu *cpu, const struct timespec *wanted)
{
	struct timespec now;
	long late, bin;

	clock_gettime(CLOCK_MONOTONIC, &now);
	late = (now.tv_sec - wanted->tv_sec) * NSEC + now.tv_nsec - wanted->tv_nsec;
	bin = late / 1000 < BINS ? late / 1000 : BINS - 1;
	cpu->bins[bin < 0 ? 0 : bin]++;
	if (late > cpu->max)
		cpu->max = late;
}

static void *measure(void *arg)
{
	struct sched_param param = { .sched_priority = 98 };
	struct cpu *cpu = arg;
	struct timespec next;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu->number, &set);
	check(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), "setaffinity");
	check(pthread_setschedparam(pthread_self(), SCHED_FIFO, &param), "setschedparam");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!stopped(&stop_measuring)) {
		next.tv_nsec += INTERVAL;
		if (next.tv_nsec >= NSEC) {
			next.tv_nsec -= NSEC;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		note(cpu, &next);
	}
	return NULL;
}

/* ------------------------------------------------------------------ */

/* Counts a round of a work thread. Returns false if the thread must stop. */
static bool goes_on(void *count)
{
	++*(unsigned long *)count;
	return !stopped(&stop_load);
}

/* Work for the kernel without the module				*/

static void *copy(void *arg)
{
	static char data[65536];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	check(zero < 0 || file < 0 ? errno : 0, "open");
	while (goes_on(arg)) {
		if (read(zero, data, sizeof(data)) != sizeof(data) ||
		    pwrite(file, data, sizeof(data), 0) != sizeof(data))
			break;
	}
	close(zero);
	close(file);
	return arg;
}

static void *map(void *arg)
{
	while (goes_on(arg)) {
		void *place = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (place != MAP_FAILED)
			munmap(place, 1 << 20);
	}
	return arg;
}

static void *multiply(void *arg)
{
	while (goes_on(arg)) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return arg;
}

/* ------------------------------------------------------------------ */
/* Work for the module							*/

static trace_id_t make_stream(size_t size, int policy, int fd)
{
	trace_attr_t attr;
	trace_id_t made;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamsize(&attr, size), "setstreamsize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, policy), "setstreamfullpolicy");
	check(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), "setinherited");
	check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP), "setlogfullpolicy");
	if (fd < 0)
		check(posix_trace_create(0, &attr, &made), "create");
	else
		check(posix_trace_create_withlog(0, &attr, fd, &made), "create_withlog");
	check(posix_trace_start(made), "start");
	return made;
}

static void *record(void *arg)
{
	static const char data[1024];

	while (goes_on(arg)) {
		for (unsigned int i = 0; i < 1000; i++)
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, i % sizeof(data));
	}
	return arg;
}

static void *control(void *arg)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	trace_event_set_t set;
	char data[1024];
	int none = 0;
	size_t len;

	posix_trace_eventset_empty(&set);
	while (goes_on(arg)) {
		posix_trace_stop(trid);
		posix_trace_start(trid);
		posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
		posix_trace_get_status(trid, &status);
		for (int i = 0; i < 1000 && !none; i++)
			posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &none);
		posix_trace_clear(trid);
	}
	return arg;
}

/* Creates large streams, because the module has work to do for each sub-buffer. */
static void *create(void *arg)
{
	while (goes_on(arg))
		check(posix_trace_shutdown(make_stream(16 << 20, POSIX_TRACE_LOOP, -1)),
		      "shutdown");
	return arg;
}

static void *flush(void *arg)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	trace_id_t withlog;

	check(fd < 0 ? errno : 0, "open");
	withlog = make_stream(1 << 20, POSIX_TRACE_FLUSH, fd);
	while (goes_on(arg))
		posix_trace_flush(withlog);
	check(posix_trace_shutdown(withlog), "shutdown");
	close(fd);
	return arg;
}

static void *(*const other_works[])(void *arg) = { copy, copy, map, multiply, NULL };
static void *(*const our_works[])(void *arg) = {
	record, record, control, create, flush, multiply, NULL
};

static const struct load loads[] = {
	{ other_works, "other" },
	{ our_works, "module" },
};

#define LOADS	(sizeof(loads) / sizeof(loads[0]))

/* Runs in the other process: works until standard input ends. */
static int do_work(const char *name)
{
	const struct load *load = loads;
	pthread_t threads[WORKS_MAX];
	char byte = 0;
	int nr, i;

	while (strcmp(load->name, name))
		load++;
	if (load->works == our_works)
		trid = make_stream(256 << 10, POSIX_TRACE_LOOP, -1);
	for (nr = 0; load->works[nr]; nr++)
		check(pthread_create(&threads[nr], NULL, load->works[nr], &done[nr]), "thread");
	check(write(STDIN_FILENO, &byte, 1) == 1 ? 0 : errno, "telling that it works");
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	__atomic_store_n(&stop_load, 1, __ATOMIC_RELAXED);
	printf("# %s: rounds of each kind of work:", name);
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		printf(" %lu", done[i]);
	}
	printf("\n");
	if (load->works == our_works)
		check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}

/* ------------------------------------------------------------------ */

/* Returns the latency in us that @share of all waits do not exceed. */
static long quantile(const unsigned int *bins, double share)
{
	unsigned long long all = 0, sum = 0;
	long bin;

	for (bin = 0; bin < BINS; bin++)
		all += bins[bin];
	for (bin = 0; bin < BINS - 1; bin++) {
		sum += bins[bin];
		if ((double)sum >= share * (double)all)
			break;
	}
	return bin;
}

static void sleep_for(int seconds)
{
	struct timespec time = { .tv_sec = seconds };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR)
		;
}

/* Starts the work, and returns after it has begun. Closing *@end ends the work. */
static pid_t begin_load(const struct load *load, int *end)
{
	char *const argv[] = { "latency_bench", "work", (char *)load->name, NULL };
	posix_spawn_file_actions_t actions;
	int pair[2];
	char byte;
	pid_t pid;

	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? errno : 0, "socketpair");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
	check(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ), "spawn");
	posix_spawn_file_actions_destroy(&actions);
	close(pair[1]);
	check(read(pair[0], &byte, 1) == 1 ? 0 : EIO, "the work");
	*end = pair[0];
	return pid;
}

static void end_load(pid_t pid, int end)
{
	int status;

	shutdown(end, SHUT_WR);
	check(waitpid(pid, &status, 0) == pid && !status ? 0 : EIO, "end of the work");
	close(end);
}

/* Runs one round. Adds the waits to @bins, and returns the longest wait in ns. */
static long run(const struct load *load, int seconds, unsigned int *bins)
{
	long max = 0;
	pid_t pid;
	int end, i;

	pid = begin_load(load, &end);
	stop_measuring = 0;
	for (i = 0; i < nr_cpus; i++) {
		memset(cpus[i].bins, 0, BINS * sizeof(*bins));
		cpus[i].max = 0;
		check(pthread_create(&cpus[i].thread, NULL, measure, &cpus[i]), "thread");
	}
	sleep_for(seconds);
	__atomic_store_n(&stop_measuring, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr_cpus; i++) {
		pthread_join(cpus[i].thread, NULL);
		for (int bin = 0; bin < BINS; bin++)
			bins[bin] += cpus[i].bins[bin];
		max = cpus[i].max > max ? cpus[i].max : max;
	}
	end_load(pid, end);
	return max;
}

int main(int argc, char **argv)
{
	static unsigned int bins[LOADS][BINS];
	int seconds = argc > 1 ? atoi(argv[1]) : 10;
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	long max[LOADS] = { 0 }, longest;

	if (argc == 3 && !strcmp(argv[1], "work"))
		return do_work(argv[2]);
	nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	nr_cpus = nr_cpus < CPUS_MAX ? nr_cpus : CPUS_MAX;
	for (int i = 0; i < nr_cpus; i++) {
		cpus[i].number = i;
		cpus[i].bins = calloc(BINS, sizeof(*cpus[i].bins));
		check(cpus[i].bins ? 0 : ENOMEM, "bins");
	}
	/* Lock all memory, including stacks, so that the measured threads wait for no page. */
	check(mlockall(MCL_CURRENT | MCL_FUTURE) ? errno : 0, "mlockall");
	for (int round = 0; round < rounds; round++) {
		for (unsigned int n = 0; n < LOADS; n++) {
			longest = run(&loads[n], seconds, bins[n]);
			max[n] = longest > max[n] ? longest : max[n];
		}
	}
	for (unsigned int n = 0; n < LOADS; n++) {
		printf("bench: latency_%s_median %ld us\n", loads[n].name, quantile(bins[n], 0.5));
		printf("bench: latency_%s_999 %ld us\n", loads[n].name, quantile(bins[n], 0.999));
		printf("bench: latency_%s_max %ld us\n", loads[n].name, max[n] / 1000);
	}
	return 0;
}
