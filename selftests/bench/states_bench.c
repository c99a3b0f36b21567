// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of reporting the states of many threads, in a guest with one processor and a
 * clock that counts instructions (selftests/vm/run --icount). Prints lines "NAME VALUE".
 *
 * A real-time thread on the same processor wakes up periodically. Its longest wait shows for how
 * long the module does not yield the processor. The program fails if this is longer than the time
 * for STEP threads plus the longest wait during other work of the kernel: see
 * Documentation/locking.rst ("Walks").
 *
 * usage: states_bench [THREADS]
 */
#include <dirent.h>
#include <linux/futex.h>
#include <linux/posixtrace_log.h>
#include <posixtrace.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "process.h"

#define THREADS		10000
#define STACK		16384
#define REPEATS		5
/* Threads between two calls of cond_resched() (kmod/target/threadstate.c). */
#define STEP		64
/* Nanoseconds between two turns of the real-time thread. */
#define INTERVAL	30000

static int threads = THREADS;
static trace_id_t trid;
static size_t reported;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void check(int error, const char *what)
{
	errno = error;
	if (error)
		die(what);
}

/* ------------------------------------------------------------------ */
/* Traced processes							*/

/*
 * Waits for a futex. This state costs most, because the module also reads the memory of the
 * process.
 */
static void *wait_for_futex(void *arg)
{
	for (;;)
		syscall(SYS_futex, arg, FUTEX_WAIT_PRIVATE, 0, NULL);
	return NULL;
}

static void *wait_for_signal(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int be_many(void *arg, const struct talk *talk)
{
	void *(*const wait)(void *) = arg;
	unsigned int *words = calloc(threads, sizeof(*words));
	pthread_attr_t attr;
	pthread_t thread;
	int i, err = !words;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setguardsize(&attr, 0);
	/* Start at 1, because the main thread is also one. */
	for (i = 1; i < threads && !err; i++)
		err = pthread_create(&thread, &attr, wait, &words[i]);
	if (err)
		return err;
	say(talk, 0);
	hear(talk);
	return 0;
}

static bool all_sleep(pid_t pid)
{
	struct dirent *entry;
	bool asleep = true;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		die("opendir");
	while (asleep && (entry = readdir(tasks)))
		asleep = entry->d_name[0] == '.' || is_asleep(atoi(entry->d_name));
	closedir(tasks);
	return asleep;
}

static void start_process(struct child *child, int (*fn)(void *arg, const struct talk *talk),
			  void *(*wait)(void *))
{
	if (child_start(child, fn, wait) || hear(&child->talk))
		die("child");
	while (!all_sleep(child->pid))
		sched_yield();
}

/* ------------------------------------------------------------------ */
/* Work									*/

static void new_stream(pid_t pid, unsigned int classes, int fd)
{
	trace_attr_t attr;

	check(posix_trace_attr_init(&attr), "attr");
	check(posixtrace_attr_setkernel(&attr, classes), "setkernel");
	/* An APPEND log stores all states. Logs of other policies have a limit for metadata. */
	check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogpolicy");
	check(fd < 0 ? posix_trace_create(pid, &attr, &trid) :
		       posix_trace_create_withlog(pid, &attr, fd, &trid), "create");
}

/* Gets the states of all threads with the command STATES. */
static void ask(void)
{
	static struct posixtrace_thread_state states[64];
	unsigned long long next = 0;
	size_t count;

	for (reported = 0; ; reported += count) {
		check(posixtrace_get_states(trid, states, 64, &count, &next), "get_states");
		if (!count)
			return;
	}
}

static void flush(void)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	struct posix_trace_status_info status;

	check(posix_trace_flush(trid), "flush");
	do {
		nanosleep(&pause, NULL);
		check(posix_trace_get_status(trid, &status), "status");
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	check(status.posix_stream_flush_error, "flushing");
}

/* Starts and flushes: after each start, the next flush writes the states to the log. */
static void start_and_flush(void)
{
	check(posix_trace_start(trid), "start");
	flush();
	check(posix_trace_stop(trid), "stop");
}

/* Clears and flushes: the log then also gets all names, mappings and other metadata again. */
static void clear_and_flush(void)
{
	check(posix_trace_start(trid), "start");
	check(posix_trace_clear(trid), "clear");
	flush();
	check(posix_trace_stop(trid), "stop");
}

/* Makes the kernel work without the module. */
static void copy(void)
{
	static char data[65536];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 1000; i++) {
		if (read(fd, data, sizeof(data)) != sizeof(data))
			die("read");
	}
	close(fd);
}

/* ------------------------------------------------------------------ */
/* Measurement								*/

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median. */
static double measure(void (*fn)(void))
{
	double took[REPEATS];
	long long begin;

	fn();
	for (int i = 0; i < REPEATS; i++) {
		begin = clock_now(CLOCK_MONOTONIC);
		fn();
		took[i] = (double)(clock_now(CLOCK_MONOTONIC) - begin);
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
	return took[REPEATS / 2];
}

static unsigned long long longest;
static bool enough;

static void *take_turns(void *arg)
{
	unsigned long long next = clock_now(CLOCK_MONOTONIC), late;
	struct timespec time;

	while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE)) {
		next += INTERVAL;
		time = to_timespec(next);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		late = clock_now(CLOCK_MONOTONIC) - next;
		if (late > longest)
			longest = late;
		next += late;
	}
	return arg;
}

/* Returns the longest wait of the real-time thread during several rounds of @fn. */
static double measure_wait(void (*fn)(void))
{
	const struct sched_param param = { .sched_priority = 1 };
	pthread_attr_t attr;
	pthread_t thread;

	longest = 0;
	enough = false;
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	check(pthread_create(&thread, &attr, take_turns, NULL), "thread");
	for (int i = 0; i < REPEATS; i++)
		fn();
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return longest;
}

/* ------------------------------------------------------------------ */
/* The log								*/

struct blocks {
	unsigned long long bytes;	/* including the headers */
	unsigned long long states;
};

static void count_blocks(int fd, struct blocks *blocks)
{
	const struct posixtrace_log_block *block;
	struct stat stat;
	off_t pos;
	char *log;

	*blocks = (struct blocks){ 0 };
	if (fstat(fd, &stat))
		die("fstat");
	log = mmap(NULL, stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED)
		die("mmap");
	pos = ((struct posixtrace_log_header *)log)->data_offset;
	while (pos + (off_t)sizeof(*block) <= stat.st_size) {
		block = (void *)(log + pos);
		if (block->magic != POSIXTRACE_LOG_BLOCK_MAGIC)
			break;
		if (block->type == POSIXTRACE_LOG_STATES) {
			blocks->bytes += sizeof(*block) + block->size;
			blocks->states += block->count;
		}
		pos += sizeof(*block) + block->size;
	}
	munmap(log, stat.st_size);
}

static int new_log(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		die("open /tmp");
	return fd;
}

/* ------------------------------------------------------------------ */

static void print(const char *kind, const char *name, double value)
{
	printf("states_%s_%s %.0f\n", kind, name, value);
}

/* Returns the instructions per thread. */
static double measure_command(const char *kind, pid_t pid)
{
	double took;

	new_stream(pid, POSIXTRACE_CLASS_SCHED, -1);
	took = measure(ask);
	if (reported != (size_t)threads)
		die("number of threads");
	print(kind, "command", took / threads);
	return took / threads;
}

/* Starts a log on @pid. Without kernel classes, there are no states. */
static double measure_start(pid_t pid, unsigned int classes)
{
	int fd = new_log();
	double took;

	new_stream(pid, classes, fd);
	took = measure(start_and_flush);
	check(posix_trace_shutdown(trid), "shutdown");
	close(fd);
	return took;
}

/* Returns the longest wait of the real-time thread while a log is written. */
static double measure_log(const char *kind, pid_t pid)
{
	double without = measure_start(pid, 0), with = measure_start(pid, POSIXTRACE_CLASS_SCHED);
	double waited, waited_clear;
	struct blocks blocks;
	int fd = new_log();

	print(kind, "start_log", (with - without) / threads);
	new_stream(pid, POSIXTRACE_CLASS_SCHED, fd);
	start_and_flush();
	waited = measure_wait(start_and_flush);
	print(kind, "wait_start_log", waited);
	count_blocks(fd, &blocks);
	/*
	 * If the writer pauses and continues with the next thread, each state is written exactly
	 * once.
	 */
	if (blocks.states != (REPEATS + 1ULL) * threads) {
		fprintf(stderr, "states_bench: %llu states in the log\n", blocks.states);
		exit(1);
	}
	printf("states_%s_log_bytes %.2f\n", kind, (double)blocks.bytes / blocks.states);
	waited_clear = measure_wait(clear_and_flush);
	print(kind, "wait_clear_log", waited_clear);
	check(posix_trace_shutdown(trid), "shutdown");
	close(fd);
	return waited > waited_clear ? waited : waited_clear;
}

/*
 * Measures threads of one kind. Returns false if the real-time thread waited longer than a step
 * takes.
 */
static bool measure_kind(const char *kind, void *(*wait)(void *), double wait_alone)
{
	struct child child;
	double each, waited, waited_log;

	start_process(&child, be_many, wait);
	each = measure_command(kind, child.pid);
	waited = measure_wait(ask);
	print(kind, "wait_command", waited);
	check(posix_trace_shutdown(trid), "shutdown");
	waited_log = measure_log(kind, child.pid);
	child_kill(&child);
	return waited <= STEP * each + wait_alone && waited_log <= STEP * each + wait_alone;
}

/* Measures the look-up of thread ids that the stream does not trace. */
static void measure_strangers(pid_t pid)
{
	struct child child;
	double alone, beside;

	new_stream(pid, POSIXTRACE_CLASS_SCHED, -1);
	alone = measure(ask);
	start_process(&child, be_many, wait_for_signal);
	beside = measure(ask);
	if (reported != 1)
		die("number of threads");
	print("strangers", "command", (beside - alone) / threads);
	print("strangers", "wait_command", measure_wait(ask));
	check(posix_trace_shutdown(trid), "shutdown");
	child_kill(&child);
}

int main(int argc, char **argv)
{
	struct child idle;
	double alone;
	bool bounded;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		threads = atoi(argv[1]);
	if (threads < 2 || run_on(0))
		die("states_bench [THREADS]");
	start_process(&idle, child_idle, NULL);
	alone = measure_wait(copy);
	printf("states_wait_alone %.0f\n", alone);
	measure_strangers(idle.pid);
	bounded = measure_kind("futex", wait_for_futex, alone);
	bounded = measure_kind("pause", wait_for_signal, alone) && bounded;
	child_kill(&idle);
	if (!bounded) {
		fprintf(stderr, "states_bench: a wait was longer than %d threads take\n", STEP);
		return 1;
	}
	return 0;
}
