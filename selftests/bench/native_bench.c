// SPDX-License-Identifier: GPL-2.0
/*
 * Measures recording and reading on a machine without the module: fake.c simulates it for the real
 * library. Prints one round of lines "NAME VALUE".
 *
 * usage: native_bench [ROUND]		odd rounds measure in reverse order
 *	  native_bench instructions	where an instruction takes a nanosecond: recording, and
 *					reading events that several processors have recorded in turn
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace.h>
#include <posixtrace.h>
#include <unistd.h>

#include "fake.h"

#define STREAM_SIZE	(8U << 20)
#define DATA_MAX	1024
#define EVENTS		20000	/* so few that they take less than a time slice */
#define CHUNKS		20
#define PAIRS		100
#define READ_EVENTS	60000
#define BATCH		256

static trace_event_id_t type;
static trace_id_t trid;
static unsigned char payload[DATA_MAX];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "native_bench: %s\n", what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* ------------------------------------------------------------------ */
/* Nanoseconds of one operation						*/

typedef double measurement(size_t len);

/* All measurements share this loop, so it must be inlined. */
static inline __attribute__((__always_inline__)) double repeat(void (*fn)(size_t len), size_t len)
{
	double begin = now();

	for (int i = 0; i < EVENTS; i++) {
		fn(len);
		__asm__ volatile ("" : : : "memory");
	}
	return (now() - begin) / EVENTS;
}

#define MEASURE(name, statement)		\
static void name##_once(size_t len)		\
{						\
	(void)len;				\
	statement;				\
}						\
						\
static double name(size_t len)			\
{						\
	return repeat(name##_once, len);	\
}

static struct timespec clock_time;

/* Adds numbers in registers, so that it runs at the full speed of the core. */
static inline void add_up(void)
{
	unsigned long a = 0, b = 0, c = 0, d = 0;

	for (int i = 0; i < 32; i++) {
		a++;
		b++;
		c++;
		d++;
		__asm__ volatile ("" : "+r" (a), "+r" (b), "+r" (c), "+r" (d));
	}
}

MEASURE(empty, (void)0)
#ifdef __x86_64__
MEASURE(rdtsc, __builtin_ia32_rdtsc())
MEASURE(lfence_rdtsc, __builtin_ia32_lfence(); __builtin_ia32_rdtsc())
#endif
MEASURE(adding, add_up())
MEASURE(gettime, clock_gettime(CLOCK_MONOTONIC, &clock_time))
MEASURE(empty_syscall, syscall(SYS_getppid))
MEASURE(by_inline, posix_trace_event(type, payload, len))
MEASURE(by_call, (posix_trace_event)(type, payload, len))

/* ------------------------------------------------------------------ */
/* Two threads								*/

static pthread_barrier_t barrier;

struct recorder {
	pthread_t thread;
	int cpu;
	measurement *fn;
	double begin;
	double end;
};

static void *record_thread(void *arg)
{
	struct recorder *recorder = arg;

	pin(recorder->cpu);
	recorder->fn(16);
	pthread_barrier_wait(&barrier);
	recorder->begin = now();
	for (int i = 0; i < CHUNKS; i++)
		recorder->fn(16);
	recorder->end = now();
	return NULL;
}

/* Returns the number of operations per nanosecond of @threads threads on as many CPUs. */
static double throughput(int threads, measurement *fn)
{
	struct recorder recorder[2];
	double begin, end;

	pthread_barrier_init(&barrier, NULL, threads);
	for (int i = 0; i < threads; i++) {
		recorder[i] = (struct recorder){ .cpu = i, .fn = fn };
		if (pthread_create(&recorder[i].thread, NULL, record_thread, &recorder[i]))
			die("pthread_create");
	}
	for (int i = 0; i < threads; i++)
		pthread_join(recorder[i].thread, NULL);
	pthread_barrier_destroy(&barrier);
	begin = recorder[0].begin;
	end = recorder[0].end;
	for (int i = 1; i < threads; i++) {
		begin = recorder[i].begin < begin ? recorder[i].begin : begin;
		end = recorder[i].end > end ? recorder[i].end : end;
	}
	return (double)threads * CHUNKS * EVENTS / (end - begin);
}

/* ------------------------------------------------------------------ */
/* Streams								*/

static void new_stream(size_t size, int order)
{
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setstreamsize(&attr, size) ||
	    posix_trace_attr_setmaxdatasize(&attr, DATA_MAX) ||
	    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) ||
	    posixtrace_attr_setorder(&attr, order) ||
	    posix_trace_create(0, &attr, &trid) ||
	    posix_trace_start(trid))
		die("no stream");
	posix_trace_attr_destroy(&attr);
	/* Let the library notice the stream. */
	posix_trace_event(type, NULL, 0);
	if (!fake_nexts())
		die("recording needs restartable sequences (rseq) of the C library");
}

static double read_one_by_one(void)
{
	static unsigned char data[DATA_MAX];
	struct posix_trace_event_info event;
	double begin = now();
	int unavailable, count = 0;
	size_t len;

	for (;;) {
		if (posix_trace_trygetnext_event(trid, &event, data, sizeof(data), &len,
						 &unavailable))
			die("trygetnext");
		if (unavailable)
			break;
		count++;
	}
	if (count < READ_EVENTS)
		die("events are missing");
	return (now() - begin) / count;
}

static double read_batches(void)
{
	static struct posixtrace_batch_event events[BATCH];
	static unsigned char data[BATCH * 32];
	double begin = now();
	size_t count, sum = 0;

	do {
		if (posixtrace_getevents(trid, events, BATCH, data, sizeof(data), &count,
					 POSIXTRACE_NOWAIT))
			die("getevents");
		sum += count;
	} while (count);
	if (sum < READ_EVENTS)
		die("events are missing");
	return (now() - begin) / sum;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Prints the median, because other processes use the CPU for whole time slices. */
static void print_median(const char *name, double chunk[CHUNKS])
{
	qsort(chunk, CHUNKS, sizeof(chunk[0]), compare);
	printf("%s %f\n", name, chunk[CHUNKS / 2]);
}

/*
 * Each chunk reads events that were recorded just before. In the first chunk, the reader faults in
 * its pages one by one; the module would map them all together.
 */
static void measure_reading(const char *name, double (*read)(void))
{
	double chunk[CHUNKS];

	new_stream(STREAM_SIZE, POSIXTRACE_ORDER_CAUSAL);
	for (int i = 0; i < CHUNKS; i++) {
		for (int n = 0; n < READ_EVENTS; n++)
			posix_trace_event(type, payload, 16);
		chunk[i] = read();
	}
	print_median(name, chunk);
	posix_trace_shutdown(trid);
}

static void measure_memory(const char *name, size_t len)
{
	unsigned long bytes;

	new_stream(STREAM_SIZE, POSIXTRACE_ORDER_CAUSAL);
	bytes = fake_bytes();
	for (int n = 0; n < READ_EVENTS; n++)
		posix_trace_event(type, payload, len);
	printf("%s %f\n", name, (double)(fake_bytes() - bytes) / READ_EVENTS);
	posix_trace_shutdown(trid);
}

static void measure(const char *name, measurement *fn, size_t len)
{
	double chunk[CHUNKS];

	for (int i = 0; i < CHUNKS; i++)
		chunk[i] = fn(len);
	print_median(name, chunk);
}

#ifdef __x86_64__
#define ADDITIONS	(EVENTS / 4)

/* Returns the time of many additions, each of which waits for the previous one. */
static double add_in_turn(void)
{
	double begin = now();
	unsigned long a = 0;

#pragma GCC unroll 100
	for (int i = 0; i < ADDITIONS; i++)
		__asm__ volatile ("inc %0" : "+r" (a));
	return now() - begin;
}

/*
 * Returns the time of four times as many independent additions. Most processors execute four at a
 * time.
 */
static double add_side_by_side(void)
{
	unsigned long a = 0, b = 0, c = 0, d = 0;
	double begin = now();

#pragma GCC unroll 100
	for (int i = 0; i < ADDITIONS; i++)
		__asm__ volatile ("inc %0\n\tinc %1\n\tinc %2\n\tinc %3"
				  : "+r" (a), "+r" (b), "+r" (c), "+r" (d));
	return now() - begin;
}

/*
 * Does another thread use the same core? If so, it takes issue slots, but does not slow down a
 * chain of dependent instructions.
 */
static bool core_is_shared(void)
{
	return add_side_by_side() > 1.1 * add_in_turn();
}

/* Prints the results, unless there are too few times, which may be due to chance. */
static void print_times(const char *name, const char *when, double *times, int count)
{
	if (count < PAIRS / 10)
		return;
	qsort(times, count, sizeof(times[0]), compare);
	printf("%s%s_times %f\n", name, when, times[count / 2]);
}

/*
 * Measures the time of an event as a multiple of the time to read the clock, which is part of the
 * event. Prints it for all pairs, and for the pairs measured on an unshared or a shared core.
 * Reading a counter leaves most issue slots unused, so another thread on the core hardly slows it
 * down.
 */
static void measure_times(const char *name, measurement *clock)
{
	double times[PAIRS], alone[PAIRS], shared[PAIRS];
	bool before = core_is_shared(), after;
	int nr_alone = 0, nr_shared = 0;

	for (int i = 0; i < PAIRS; i++, before = after) {
		times[i] = by_call(16) / clock(0);
		after = core_is_shared();
		if (!before && !after)
			alone[nr_alone++] = times[i];
		else if (before && after)
			shared[nr_shared++] = times[i];
	}
	printf("%s_alone_percent %f\n", name, 100.0 * nr_alone / PAIRS);
	print_times(name, "", times, PAIRS);
	print_times(name, "_alone", alone, nr_alone);
	print_times(name, "_shared", shared, nr_shared);
}
#endif

static void measure_clocks(void)
{
	measure("empty", empty, 0);
#ifdef __x86_64__
	measure("rdtsc", rdtsc, 0);
	measure("lfence_rdtsc", lfence_rdtsc, 0);
#endif
	measure("gettime", gettime, 0);
	measure("syscall", empty_syscall, 0);
}

static void measure_recording(void)
{
	static const size_t lens[] = { 0, 16, 64, 256, 1024 };
	char name[32];

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		snprintf(name, sizeof(name), "on_%zu", lens[i]);
		measure(name, by_call, lens[i]);
	}
#ifdef __x86_64__
	measure_times("on", lfence_rdtsc);
#endif
	fake_clock(false);
	measure("on_vdso_16", by_call, 16);
	fake_clock(true);
}

/* Records until all pages of the stream are mapped. */
static void use_all_pages(void)
{
	for (int i = 0; i < 3 * CHUNKS; i++)
		by_call(16);
}

static void measure_relaxed(void)
{
	new_stream(STREAM_SIZE, POSIXTRACE_ORDER_RELAXED);
	use_all_pages();
	measure("on_relaxed_16", by_call, 16);
#ifdef __x86_64__
	measure_times("on_relaxed", rdtsc);
#endif
	posix_trace_shutdown(trid);
}

static void measure_threads(void)
{
	double one = throughput(1, by_call), two = throughput(2, by_call);

	printf("on_16_1 %f\n", 1 / one);
	printf("on_16_2 %f\n", 2 / two);
	printf("scale2 %f\n", two / one);
	/* The additions share no data: this shows how the processors themselves scale. */
	printf("scale2_adding %f\n", throughput(2, adding) / throughput(1, adding));
}

/* ------------------------------------------------------------------ */
/* Many processors							*/

/* The unregistered rseq area of this thread. The benchmark sets the CPU in it: see fake.h. */
static struct rseq *area;

static void forgo_sequences(void)
{
	area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	if (syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		die("no sequences to forgo");
	__atomic_store_n(&area->cpu_id, 0, __ATOMIC_RELAXED);
}

/*
 * Measures reading while all processors have records, and consecutive events come from different
 * ones.
 */
static void measure_processors(unsigned int count)
{
	char name[32];

	fake_processors(count);
	new_stream(STREAM_SIZE, POSIXTRACE_ORDER_CAUSAL);
	for (int i = 0; i < READ_EVENTS; i++) {
		__atomic_store_n(&area->cpu_id, i % count, __ATOMIC_RELAXED);
		posix_trace_event(type, payload, 16);
	}
	snprintf(name, sizeof(name), "insn_read_from_%u", count);
	printf("%s %f\n", name, read_batches());
	posix_trace_shutdown(trid);
}

/* ------------------------------------------------------------------ */
/* How early a counter is read without a fence				*/

#ifdef __x86_64__
#define HANDOVERS	1000000

/* In a separate cache line. */
static unsigned long long handed_over __attribute__((__aligned__(64)));
static unsigned int enough __attribute__((__aligned__(64)));

static void *hand_over(void *arg)
{
	unsigned long long time;

	pin(1);
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		__builtin_ia32_lfence();
		time = __builtin_ia32_rdtsc();
		__atomic_store_n(&handed_over, time, __ATOMIC_RELEASE);
		/* Leave the other thread time to take most of the tokens. */
		for (int i = 0; i < 1000; i++)
			__asm__ volatile ("" : : : "memory");
	}
	return arg;
}

/*
 * Another thread reads the counter and then publishes the value. This thread sees the value and
 * reads the counter as well. Measures by how much its own reading can be smaller, which relaxed
 * order permits.
 */
static void measure_early(void)
{
	double *early = calloc(HANDOVERS, sizeof(*early)), begin = now(), rate;
	unsigned long long token, time, last = 0, first = __builtin_ia32_rdtsc();
	pthread_t thread;
	int count = 0;

	if (!early || pthread_create(&thread, NULL, hand_over, NULL))
		die("no thread");
	while (count < HANDOVERS) {
		token = __atomic_load_n(&handed_over, __ATOMIC_ACQUIRE);
		time = __builtin_ia32_rdtsc();
		if (token == last)
			continue;
		if (token > time)
			early[count] = token - time;
		count++;
		last = token;
	}
	__atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	rate = (now() - begin) / (double)(__builtin_ia32_rdtsc() - first);
	qsort(early, HANDOVERS, sizeof(*early), compare);
	printf("early_half %f\n", early[HANDOVERS / 2] * rate);
	printf("early_9999 %f\n", early[HANDOVERS - HANDOVERS / 10000] * rate);
	printf("early_most %f\n", early[HANDOVERS - 1] * rate);
	free(early);
}
#else
static void measure_early(void)
{
}
#endif

static void measure_off(void)
{
	measure("off_call", by_call, 16);
	measure("off_inline", by_inline, 16);
}

int main(int argc, char **argv)
{
	bool instructions = argc > 1 && !strcmp(argv[1], "instructions");
	bool odd = argc > 1 && atoi(argv[1]) % 2;

	pin(0);
	fake_clock(true);
	if (posix_trace_eventid_open("bench", &type))
		die("no event type");
	if (!instructions) {
		measure_memory("bytes", 16);
		measure_memory("bytes_4", 4);
		if (odd)
			measure_reading("read", read_batches);
		measure_reading("read_one", read_one_by_one);
		if (!odd)
			measure_reading("read", read_batches);
		measure_relaxed();
	}
	new_stream(STREAM_SIZE, POSIXTRACE_ORDER_CAUSAL);
	use_all_pages();
	if (instructions) {
		measure("insn_standin", by_call, 16);
		posix_trace_shutdown(trid);
		forgo_sequences();
		measure_processors(1);
		measure_processors(2);
		measure_processors(8);
		return 0;
	}
	if (odd) {
		measure_threads();
		measure_recording();
		measure_clocks();
	} else {
		measure_clocks();
		measure_recording();
		measure_threads();
	}
	posix_trace_stop(trid);
	measure_off();
	measure_early();
	posix_trace_shutdown(trid);
	return 0;
}
