// SPDX-License-Identifier: GPL-2.0
/*
 * Counts instructions in user space and in the kernel, in a guest with a clock that counts
 * instructions (selftests/vm/run --icount). Prints lines "NAME VALUE".
 *
 * usage: insn_bench [all|recording|processors|interrupts]
 *
 * "recording" measures only the operations whose cost depends on
 * GLIBC_TUNABLES=glibc.pthread.rseq=0, "processors" only those whose cost depends on the number of
 * possible processors. "interrupts" prints the longest time with interrupts off, in microseconds of
 * 1000 instructions each.
 */
#include <fcntl.h>
#include <posixtrace.h>
#include <posixtrace/points.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "process.h"

#define STREAM_SIZE	(1U << 20)
#define NATIVE_SIZE	(8U << 20)	/* as in native_bench */
#define DATA_SIZE	16
#define RECORD_SIZE	32		/* minimum size of a record */
#define DATA_MAX	64
#define REPEATS		15
#define EVENTS		200
#define LIVE_EVENTS	100000
#define BATCH		64
#define STREAMS_MAX	31
#define PROCESSES	200
#define STACK_SIZE	(64 << 10)

/* A trace point whose data has DATA_SIZE bytes. */
POSIXTRACE_POINT(typed, (u32, id), (u32, size), (u64, address));

static unsigned char payload[DATA_SIZE];
static trace_event_id_t type;
static trace_id_t trid[STREAMS_MAX];
static int marker = -1;

/* The guest's clock counts instructions. */
static long long instructions(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* Returns the median, because timer interrupts disturb some measurements. */
static double measure(void (*fn)(void), int count)
{
	long long took[REPEATS], begin, clock;

	clock = instructions();
	clock = instructions() - clock;
	fn();
	for (int i = 0; i < REPEATS; i++) {
		begin = instructions();
		fn();
		took[i] = instructions() - begin - clock;
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
	return (double)took[REPEATS / 2] / count;
}

/* ------------------------------------------------------------------ */
/* Measured operations							*/

static void getppid_once(void)
{
	for (int i = 0; i < EVENTS; i++)
		syscall(SYS_getppid);
}

static void mark(void)
{
	for (int i = 0; i < EVENTS; i++)
		if (write(marker, payload, DATA_SIZE) != DATA_SIZE)
			die("trace_marker");
}

static void record(void)
{
	for (int i = 0; i < EVENTS; i++)
		posix_trace_event(type, payload, DATA_SIZE);
}

static void record_typed(void)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		posixtrace_point_typed(i, DATA_SIZE, (uintptr_t)payload);
}

/* Unrolled, because a loop would cost more than the measured code. */
static void pass_typed(void)
{
#pragma GCC unroll 50
	for (uint32_t i = 0; i < EVENTS; i++)
		posixtrace_point_typed(i, DATA_SIZE, (uintptr_t)payload);
}

static void start_stop(void)
{
	if (posix_trace_stop(trid[0]) || posix_trace_start(trid[0]))
		die("posix_trace_start");
}

static void change_filter(void)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set);
	if (posix_trace_set_filter(trid[0], &set, POSIX_TRACE_SET_EVENTSET))
		die("posix_trace_set_filter");
}

static void read_all(void)
{
	static struct posixtrace_batch_event events[BATCH];
	static unsigned char data[BATCH * DATA_MAX];
	size_t count;

	do {
		if (posixtrace_getevents(trid[0], events, BATCH, data, sizeof(data), &count,
					 POSIXTRACE_NOWAIT))
			die("posixtrace_getevents");
	} while (count);
}

static void read_one_by_one(void)
{
	static unsigned char data[DATA_MAX] __attribute__((__aligned__(8)));
	struct posix_trace_event_info event;
	int unavailable = 0;
	size_t len;

	while (!unavailable)
		if (posix_trace_trygetnext_event(trid[0], &event, data, sizeof(data), &len,
						 &unavailable))
			die("posix_trace_trygetnext_event");
}

/* ------------------------------------------------------------------ */

static size_t stream_size = STREAM_SIZE;

/* Wakes a sleeping reader when @bytes are unread, or after @ns. */
static void open_stream_waking(trace_id_t *stream, size_t bytes, uint64_t ns)
{
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setstreamsize(&attr, stream_size) ||
	    posix_trace_attr_setmaxdatasize(&attr, DATA_MAX) ||
	    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) ||
	    posixtrace_attr_setwakeup(&attr, bytes, ns) ||
	    posix_trace_create(0, &attr, stream) || posix_trace_start(*stream))
		die("posix_trace_create");
	posix_trace_attr_destroy(&attr);
	/* Use all memory of the stream once, so that it is mapped. */
	for (size_t i = 0; i < 2 * stream_size / RECORD_SIZE; i++)
		posix_trace_event(type, payload, DATA_SIZE);
}

static void open_stream(trace_id_t *stream)
{
	open_stream_waking(stream, 0, 0);
}

static void open_types(int count)
{
	trace_event_id_t id;
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		if (posix_trace_eventid_open(name, &id))
			die("posix_trace_eventid_open");
	}
}

/* Returns the mean over many sub-buffers, because each new sub-buffer costs a system call. */
static inline __attribute__((__always_inline__)) double mean_of_many(void (*fn)(void))
{
	long long begin = instructions();

	for (int i = 0; i < LIVE_EVENTS / EVENTS; i++)
		fn();
	return (double)(instructions() - begin) / LIVE_EVENTS;
}

static void measure_recording(void)
{
	struct posixtrace_stats_info stats;

	open_stream(&trid[0]);
	printf("%s %.4g\n", __rseq_size ? "insn_rseq" : "insn_ioctl",
	       mean_of_many(record));
	if (posixtrace_get_stats(trid[0], &stats))
		die("posixtrace_get_stats");
	printf("memory %llu\n", stats.memory);
	posix_trace_shutdown(trid[0]);
}

/* Measures the same events as insn_standin of native_bench, with the module. */
static void measure_module(void)
{
	stream_size = NATIVE_SIZE;
	open_stream(&trid[0]);
	printf("insn_module %.4g\n", mean_of_many(record));
	posix_trace_shutdown(trid[0]);
	stream_size = STREAM_SIZE;
}

/* Measures trace points with three fields, which record as many bytes as record(). */
static void measure_points(void)
{
	open_stream(&trid[0]);
	record_typed();
	printf("insn_typed %.4g\n", mean_of_many(record_typed));
	if (posix_trace_stop(trid[0]))
		die("posix_trace_stop");
	printf("insn_typed_off %.4g\n", mean_of_many(pass_typed));
	posix_trace_shutdown(trid[0]);
}

static void measure_read(const char *name, void (*read)(void))
{
	long long begin, took;

	open_stream(&trid[0]);
	read_all();
	for (int i = 0; i < 10000; i++)
		posix_trace_event(type, payload, DATA_SIZE);
	begin = instructions();
	read();
	took = instructions() - begin;
	printf("%s %.0f\n", name, took / 10000.0);
	posix_trace_shutdown(trid[0]);
}

static void measure_reading(void)
{
	measure_read("insn_read", read_all);
	measure_read("insn_read_one", read_one_by_one);
}

static void measure_types(void)
{
	static const int counts[] = { 10, 100, 1000 };
	int opened = 0;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		/* These types are in addition to the recorded one and the unnamed one. */
		open_types(counts[i]);
		opened = counts[i];
		open_stream(&trid[0]);
		printf("insn_rseq_types_%d %.0f\n", opened, measure(record, EVENTS));
		printf("insn_start_stop_types_%d %.0f\n", opened, measure(start_stop, 1));
		printf("insn_filter_types_%d %.0f\n", opened, measure(change_filter, 1));
		posix_trace_shutdown(trid[0]);
	}
}

static void measure_streams(void)
{
	static const int counts[] = { 1, 4, 32 };
	int opened = 0;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		while (opened < counts[i])
			open_stream(&trid[opened++]);
		printf("insn_rseq_streams_%d %.0f\n", opened, measure(record, EVENTS));
	}
	while (opened)
		posix_trace_shutdown(trid[--opened]);
}

/*
 * Measures recording into a stream that is registered in an epoll instance on which no thread
 * waits.
 */
static void measure_epoll(void)
{
	struct epoll_event ready = { .events = EPOLLIN };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	open_stream(&trid[0]);
	read_all();
	if (epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, posixtrace_fd(trid[0]), &ready))
		die("epoll");
	printf("insn_epoll %.0f\n", measure(record, EVENTS));
	if (epoll_wait(epfd, &ready, 1, 0) != 1)
		die("epoll_wait");
	close(epfd);
	posix_trace_shutdown(trid[0]);
}

static void *read_on(void *arg)
{
	static struct posixtrace_batch_event events[BATCH];
	static unsigned char data[BATCH * DATA_MAX];
	const struct sched_param first = { .sched_priority = 1 };
	size_t count;
	int *tid = arg;

	/* Let the reader keep up: once awake, it runs before the writer. */
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		die("SCHED_FIFO");
	__atomic_store_n(tid, gettid(), __ATOMIC_RELEASE);
	/* Read until the shutdown. */
	while (!posixtrace_getevents(trid[0], events, BATCH, data, sizeof(data), &count, 0))
		;
	return NULL;
}

/*
 * Returns the CPU time of this thread per event. Includes the thread's system calls, but not the
 * reader.
 */
static double own_time(void)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (int i = 0; i < LIVE_EVENTS / EVENTS; i++)
		record();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / LIVE_EVENTS;
}

/* Records events while another thread reads them, and sleeps when the stream is empty. */
static void measure_live(const char *name, bool reads, size_t bytes, uint64_t ns)
{
	pthread_t reader;
	int tid = 0;

	open_stream_waking(&trid[0], bytes, ns);
	read_all();
	if (reads) {
		if (pthread_create(&reader, NULL, read_on, &tid))
			die("pthread_create");
		falls_asleep(&tid, NULL);
	}
	printf("%s %.0f\n", name, own_time());
	posix_trace_shutdown(trid[0]);
	if (reads)
		pthread_join(reader, NULL);
}

static int sleep_forever(void *arg)
{
	for (;;)
		pause();
	return !arg;
}

/* Measures while another process, one of many in the system, shares the memory of this one. */
static void measure_shared_memory(void)
{
	static unsigned char stack[STACK_SIZE] __attribute__((__aligned__(16)));
	pid_t child[PROCESSES];

	open_stream(&trid[0]);
	child[0] = clone(sleep_forever, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	for (int i = 1; i < PROCESSES; i++) {
		child[i] = fork();
		if (!child[i])
			sleep_forever(NULL);
	}
	for (int i = 0; i < PROCESSES; i++)
		if (child[i] < 0)
			die("fork");
	printf("insn_shared_memory %.0f\n", measure(record, EVENTS));
	for (int i = 0; i < PROCESSES; i++)
		if (kill(child[i], SIGKILL) || waitpid(child[i], NULL, 0) < 0)
			die("kill");
	posix_trace_shutdown(trid[0]);
}

/* ------------------------------------------------------------------ */
/* Operations that cost more with more processors			*/

static trace_attr_t plain;
static int log_file = -1;

static void create(void)
{
	if (posix_trace_create(0, &plain, &trid[0]))
		die("posix_trace_create");
}

static void shut_down(void)
{
	if (posix_trace_shutdown(trid[0]))
		die("posix_trace_shutdown");
}

static void clear(void)
{
	if (posix_trace_clear(trid[0]))
		die("posix_trace_clear");
}

static void flush(void)
{
	posix_trace_event(type, payload, DATA_SIZE);
	if (posix_trace_flush(trid[0]))
		die("posix_trace_flush");
}

static void fork_once(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		die("fork");
}

/* Measures @fn; @before and @after run around each call of it, and may be NULL. */
static double measure_after(void (*before)(void), void (*fn)(void), void (*after)(void))
{
	long long took[REPEATS], begin;

	for (int i = 0; i < REPEATS; i++) {
		if (before)
			before();
		begin = now();
		fn();
		took[i] = now() - begin;
		if (after)
			after();
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
	return took[REPEATS / 2];
}

static void open_log(void)
{
	log_file = open("/tmp/insn_bench.log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (log_file < 0 || posix_trace_create_withlog(0, &plain, log_file, &trid[0]) ||
	    posix_trace_start(trid[0]))
		die("posix_trace_create_withlog");
}

static void measure_flush(void)
{
	open_log();
	printf("insn_flush %.0f\n", measure_after(NULL, flush, NULL));
	shut_down();
	close(log_file);
}

/* Uses a stream of default size. */
static void measure_operations(void)
{
	struct posixtrace_stats_info stats;

	if (posix_trace_attr_init(&plain))
		die("posix_trace_attr_init");
	printf("insn_create %.0f\n", measure_after(NULL, create, shut_down));
	printf("insn_shutdown %.0f\n", measure_after(create, shut_down, NULL));
	measure_flush();
	printf("insn_fork_untraced %.0f\n", measure_after(NULL, fork_once, NULL));
	if (posix_trace_attr_setinherited(&plain, POSIX_TRACE_INHERITED))
		die("posix_trace_attr_setinherited");
	create();
	if (posix_trace_start(trid[0]) || posixtrace_get_stats(trid[0], &stats))
		die("posix_trace_start");
	printf("memory_default %llu\n", stats.memory);
	printf("insn_start_stop %.0f\n", measure_after(NULL, start_stop, NULL));
	printf("insn_clear %.0f\n", measure_after(NULL, clear, NULL));
	printf("insn_fork %.0f\n", measure_after(NULL, fork_once, NULL));
	shut_down();
	posix_trace_attr_destroy(&plain);
}

/* ------------------------------------------------------------------ */
/* Interrupts off							*/

#define TRACEFS	"/run/tracing/"

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

static void mount_tracefs(void)
{
	mkdir(TRACEFS, 0700);
	if (mount("none", TRACEFS, "tracefs", 0, NULL))
		die("tracefs");
}

static unsigned int read_microseconds(const char *path)
{
	unsigned int us;
	FILE *file = fopen(path, "re");

	if (!file || fscanf(file, "%u", &us) != 1)
		die(path);
	fclose(file);
	return us;
}

/* Prints the longest time that any CPU of the system has interrupts off while an operation runs. */
static void print_irqs_off(const char *name, void (*before)(void), void (*fn)(void),
			   void (*after)(void))
{
	unsigned int us, least = ~0U;

	/* Take the minimum: other work of the kernel may run at the same time. */
	for (int i = 0; i < REPEATS; i++) {
		if (before)
			before();
		write_text(TRACEFS "tracing_max_latency", "0");
		fn();
		us = read_microseconds(TRACEFS "tracing_max_latency");
		if (us < least)
			least = us;
		if (after)
			after();
	}
	printf("irqs_off_%s %u\n", name, least);
}

static void do_nothing(void)
{
}

static void get_status(void)
{
	struct posix_trace_status_info status;

	if (posix_trace_get_status(trid[0], &status))
		die("posix_trace_get_status");
}

static void get_stats(void)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid[0], &stats))
		die("posixtrace_get_stats");
}

static void wait_in_vain(void)
{
	struct posix_trace_event_info event;
	struct timespec until;
	char data[DATA_SIZE];
	int unavailable;
	size_t len;

	read_all();
	clock_gettime(CLOCK_REALTIME, &until);
	posix_trace_timedgetnext_event(trid[0], &event, data, sizeof(data), &len, &unavailable,
				       &until);
}

/* Needs the kernel "irqsoff". */
static void measure_interrupts(void)
{
	mount_tracefs();
	write_text(TRACEFS "current_tracer", "irqsoff");
	if (posix_trace_attr_init(&plain) ||
	    posix_trace_attr_setinherited(&plain, POSIX_TRACE_INHERITED))
		die("posix_trace_attr_init");
	print_irqs_off("nothing", NULL, do_nothing, NULL);
	print_irqs_off("create", NULL, create, shut_down);
	print_irqs_off("shutdown", create, shut_down, NULL);
	create();
	if (posix_trace_start(trid[0]))
		die("posix_trace_start");
	print_irqs_off("start_stop", NULL, start_stop, NULL);
	print_irqs_off("record", NULL, record, NULL);
	print_irqs_off("clear", record, clear, NULL);
	print_irqs_off("filter", NULL, change_filter, NULL);
	print_irqs_off("status", NULL, get_status, NULL);
	print_irqs_off("stats", NULL, get_stats, NULL);
	print_irqs_off("wait", NULL, wait_in_vain, NULL);
	print_irqs_off("fork", NULL, fork_once, NULL);
	shut_down();
	open_log();
	print_irqs_off("flush", NULL, flush, NULL);
	shut_down();
	close(log_file);
	posix_trace_attr_destroy(&plain);
}

static void measure_kernel(void)
{
	mount_tracefs();
	marker = open(TRACEFS "trace_marker", O_WRONLY);
	if (marker < 0)
		die("trace_marker");
	printf("insn_syscall %.0f\n", measure(getppid_once, EVENTS));
	printf("insn_marker %.0f\n", measure(mark, EVENTS));
	close(marker);
}

int main(int argc, char **argv)
{
	if (posix_trace_eventid_open("bench", &type))
		die("posix_trace_eventid_open");
	if (argc > 1 && !strcmp(argv[1], "interrupts")) {
		measure_interrupts();
		return 0;
	}
	measure_recording();
	if (argc > 1 && !strcmp(argv[1], "recording"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "processors")) {
		measure_reading();
		measure_operations();
		return 0;
	}
	measure_points();
	measure_module();
	measure_kernel();
	measure_reading();
	measure_epoll();
	measure_live("insn_live_alone", false, 64 << 10, 1000000);
	measure_live("insn_live", true, 64 << 10, 1000000);
	measure_live("insn_live_at_once", true, 0, 0);
	measure_streams();
	measure_shared_memory();
	measure_types();
	return 0;
}
