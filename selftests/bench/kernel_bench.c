// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the instructions of kernel events, in a guest with a clock that counts instructions
 * (selftests/vm/run --icount). Prints lines "NAME VALUE": the cost of an operation without a
 * stream that records such events, and the additional cost with one. Fails if switches and wake-ups
 * of other processes cost more than SECURITY.md says.
 *
 * usage: kernel_bench [others]		others: only what other processes pay for the class sched
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <linux/posixtrace.h>

#include "process.h"
#include "sleepers.h"

#define REPEATS		31
#define COUNT		200

/* Number of traced processes. */
#define SLEEPERS	6000

#define SWITCH_ATTEMPTS	5
#define FORKS		20

/* Streams of a user that can record kernel events of one process. */
#define STREAMS		POSIXTRACE_KERNEL_SLOTS_MAX

/*
 * Limits of print_limited(). A switch between untraced threads: 12 instructions of the module, and
 * 16 of the kernel's tracepoint. An event of another user's thread: a margin above what was
 * measured, which is up to 590 instructions for each stream.
 */
#define SWITCH_MOST	(16 + 12)
#define OTHER_MOST	(STREAMS * 650)

static int stop;
static int ping[2], pong[2];
static bool failed;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Prints what other processes pay, in instructions. The program fails if it is more than
 * SECURITY.md promises: the limits are those of Linux 6.1 on x86-64, including the kernel's
 * tracepoint.
 */
static void print_limited(const char *name, double value, double most)
{
	printf("%s %.0f\n", name, value);
	if (value < most + 0.5)
		return;
	fprintf(stderr, "kernel_bench: %s: %.0f instructions, at most %.0f allowed\n", name, value,
		most);
	failed = true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void repeat(void (*fn)(void), unsigned int count, double *took)
{
	long long begin;

	fn();
	for (int i = 0; i < REPEATS; i++) {
		begin = clock_now(CLOCK_MONOTONIC);
		fn();
		took[i] = (double)(clock_now(CLOCK_MONOTONIC) - begin) / count;
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
}

/* Returns the median, because timer interrupts disturb some measurements. */
static double measure(void (*fn)(void), unsigned int count)
{
	double took[REPEATS];

	repeat(fn, count, took);
	return took[REPEATS / 2];
}

/*
 * Returns a quartile, because the kernel's allocators take longer in about half of the execve()
 * calls.
 */
static double measure_allocating(void (*fn)(void), unsigned int count)
{
	double took[REPEATS];

	repeat(fn, count, took);
	return took[REPEATS / 4];
}

/* Switches to the other thread on the same processor and back. */
static void give_way(void)
{
	for (int i = 0; i < COUNT; i++)
		sched_yield();
}

static void *yielder(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		sched_yield();
	return arg;
}

/* Starts the other thread, which runs before this function returns. */
static pthread_t start_yielder(void)
{
	pthread_t thread;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, yielder, NULL))
		die("thread");
	give_way();
	usleep(1000);
	give_way();
	return thread;
}

static void stop_yielder(pthread_t thread)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/*
 * Returns the least of several measurements, each with a new thread: in some of them, all switches
 * take about 8 instructions more, with and without a stream.
 */
static double measure_switch(void)
{
	double least = 0, took;
	pthread_t thread;

	for (int i = 0; i < SWITCH_ATTEMPTS; i++) {
		thread = start_yielder();
		took = measure(give_way, 2 * COUNT);
		stop_yielder(thread);
		if (!i || took < least)
			least = took;
	}
	return least;
}

/* Wakes the other thread and is woken by it: a wake-up and a switch in each direction. */
static void play(void)
{
	char byte = 0;

	for (int i = 0; i < COUNT; i++) {
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			die("pipe");
	}
}

static void *player(void *arg)
{
	char byte;

	while (read(ping[0], &byte, 1) == 1 && write(pong[1], &byte, 1) == 1)
		;
	return arg;
}

static int play_alone(void *arg, const struct talk *talk)
{
	say(talk, 0);
	player(arg);
	return 0;
}

/* The same with a futex: each thread waits until @turn has the value of its side. */
static unsigned int turn;
static bool ended;

static void wait_for_turn(unsigned int mine)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !mine, NULL);
}

static void give_turn(unsigned int other)
{
	__atomic_store_n(&turn, other, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1);
}

/*
 * Gives both threads the same priority. A woken thread then does not preempt the other one, so each
 * wait_for_turn() really waits.
 */
static void take_equal_turns(pthread_t thread, int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (pthread_setschedparam(thread, policy, &param) ||
	    pthread_setschedparam(pthread_self(), policy, &param))
		die("priority");
}

static void take_turns(void)
{
	for (int i = 0; i < COUNT; i++) {
		give_turn(1);
		wait_for_turn(0);
	}
}

static void *turner(void *arg)
{
	for (;;) {
		wait_for_turn(1);
		if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
			return arg;
		give_turn(0);
	}
}

static void name_itself(void)
{
	for (int i = 0; i < COUNT; i++)
		prctl(PR_SET_NAME, "bench");
}

static void call(void)
{
	for (int i = 0; i < COUNT; i++)
		syscall(SYS_getppid);
}

static char *pages;

/*
 * Causes page faults. Only reads, because the cost of new memory depends on which pages are free.
 */
static void touch(void)
{
	long page = sysconf(_SC_PAGESIZE);

	if (madvise(pages, COUNT * page, MADV_DONTNEED))
		die("madvise");
	for (int i = 0; i < COUNT; i++)
		__atomic_load_n(&pages[i * page], __ATOMIC_RELAXED);
}

static void ignore(int sig)
{
	(void)sig;
}

static void signal_itself(void)
{
	for (int i = 0; i < COUNT; i++)
		raise(SIGUSR1);
}

/*
 * A path for calls with and without recorded texts. It leads through a file that is not a
 * directory, so the kernel's own work ends there and hardly depends on the length. The text is in a
 * single page.
 */
static char text[4096] __attribute__((aligned(4096)));

static void set_text(size_t len)
{
	memset(text, 'x', len);
	memcpy(text, "/dev/null/", sizeof("/dev/null/") - 1);
	text[len] = '\0';
}

static void open_text(void)
{
	for (int i = 0; i < COUNT; i++)
		syscall(SYS_openat, AT_FDCWD, text, O_RDONLY);
}

static void execute_text(void)
{
	char *const args[] = { text, NULL };

	for (int i = 0; i < COUNT; i++)
		syscall(SYS_execve, text, args, NULL);
}

static void rename_text(void)
{
	for (int i = 0; i < COUNT; i++)
		syscall(SYS_renameat, AT_FDCWD, text, AT_FDCWD, text);
}

/* Calls connect(). The address of a socket is not recorded as a text. */
static void connect_nothing(void)
{
	for (int i = 0; i < COUNT; i++)
		syscall(SYS_connect, -1, text, 16);
}

/*
 * Iterations that last many timer interrupts: COMPUTING times this number take at least a second.
 */
#define COMPUTING	10000000

static void compute(void)
{
	for (int i = 0; i < COMPUTING; i++)
		__asm__ volatile("");
}

/*
 * Waits until the module has removed its handlers, a minute after the last stream of their class
 * ended. No thread runs during that minute, so it takes no time on the host.
 */
static void settle(void)
{
	sleep(65);
}

/* Creates a stream with only these types on a process and its later children. */
static trace_id_t new_stream(pid_t pid, unsigned int classes, unsigned long types)
{
	trace_event_set_t filter;
	trace_attr_t attr;
	trace_id_t trid;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, 1 << 20);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	posixtrace_attr_setkernel(&attr, classes);
	posix_trace_eventset_empty(&filter);
	for (trace_event_id_t type = POSIXTRACE_SWITCH_OUT; type <= POSIXTRACE_FUTEX_WAIT; type++) {
		if (!(types & 1UL << type))
			posix_trace_eventset_add(type, &filter);
	}
	if (posix_trace_create(pid, &attr, &trid) ||
	    posix_trace_set_filter(trid, &filter, POSIX_TRACE_SET_EVENTSET) ||
	    posix_trace_start(trid))
		die("stream");
	return trid;
}

static double more_with(pid_t pid, unsigned int classes, unsigned long types, void (*fn)(void),
			unsigned int count, double without)
{
	trace_id_t trid = new_stream(pid, classes, types);
	double with = measure(fn, count);

	posix_trace_shutdown(trid);
	return with - without;
}

/*
 * Returns the additional cost of an interrupt, from the number of interrupts of a computing thread.
 */
static double more_by_interrupt(void)
{
	trace_id_t trid = new_stream(0, POSIXTRACE_CLASS_IRQ, 0);
	struct posixtrace_kernel_info info;
	double without = measure(compute, 1), with;

	posix_trace_shutdown(trid);
	trid = new_stream(0, POSIXTRACE_CLASS_IRQ, ~0UL);
	with = measure(compute, 1);
	if (posixtrace_get_kernel_info(trid, &info))
		die("numbers");
	posix_trace_shutdown(trid);
	return (with - without) * (REPEATS + 1) / info.recorded[4];
}

/* Creates a process with vfork(), so that the size of this program's memory does not matter. */
static void make_process(void)
{
	pid_t pid;

	for (int i = 0; i < FORKS; i++) {
		pid = vfork();
		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("vfork");
	}
}

/* Creates thousands of sleeping processes, and a stream that traces them unless @classes is 0. */
static trace_id_t trace_sleepers(struct child *child, unsigned int classes)
{
	trace_id_t trid = 0;

	if (child_start(child, sleepers, NULL) || hear(&child->talk))
		die("child");
	if (classes)
		trid = new_stream(child->pid, classes, ~0UL);
	say(&child->talk, SLEEPERS);
	if (hear(&child->talk) != SLEEPERS)
		die("children");
	return trid;
}

static void end_sleepers(struct child *child, trace_id_t trid)
{
	if (trid)
		posix_trace_shutdown(trid);
	say(&child->talk, 0);
	child_wait(child);
}

static void print_class(const char *name, unsigned int class, pid_t other, void (*fn)(void))
{
	double without;

	settle();
	without = measure(fn, COUNT);
	printf("%s %.0f\n", name, without);
	printf("%s_untraced %.0f\n", name, more_with(other, class, ~0UL, fn, COUNT, without));
	printf("%s_filtered %.0f\n", name, more_with(0, class, 0, fn, COUNT, without));
	printf("%s_traced %.0f\n", name, more_with(0, class, ~0UL, fn, COUNT, without));
}

static const struct {
	const char *name;
	void (*fn)(void);
	size_t len;
	unsigned int texts;
} calls[] = {
	{ "open_10", open_text, 10, 1 },
	{ "open_250", open_text, 250, 1 },
	{ "execve_10", execute_text, 10, 1 },
	{ "execve_250", execute_text, 250, 1 },
	{ "rename_10", rename_text, 10, 2 },
	{ "rename_250", rename_text, 250, 2 },
	{ "getppid", call, 10, 0 },
	{ "connect", connect_nothing, 10, 0 },
};

#define CALLS	(sizeof(calls) / sizeof(calls[0]))

/* Measures each call, and prints how much more it takes than in @without. */
static void print_calls(const char *kind, double *without)
{
	double with;

	for (size_t i = 0; i < CALLS; i++) {
		set_text(calls[i].len);
		with = measure_allocating(calls[i].fn, COUNT);
		if (*kind)
			printf("text_%s_%s %.0f\n", calls[i].name, kind, with - without[i]);
		else
			printf("text_%s %.0f\n", calls[i].name, without[i] = with);
	}
}

/* Checks that the stream has recorded each text of print_calls(), and no other text. */
static void check_texts(trace_id_t trid, bool all)
{
	struct posixtrace_kernel_info info;
	unsigned long long texts = 0;

	for (size_t i = 0; all && i < CALLS; i++)
		texts += (REPEATS + 1) * COUNT * calls[i].texts;
	if (posixtrace_get_kernel_info(trid, &info) || info.dropped[6] || info.recorded[6] != texts)
		die("texts");
}

static void print_texts(pid_t other)
{
	const unsigned int syscalls = POSIXTRACE_CLASS_SYSCALL;
	const unsigned int both = syscalls | POSIXTRACE_CLASS_STRINGS;
	const struct {
		const char *kind;
		pid_t pid;
		unsigned int classes;
		unsigned long types;
		bool texts;
	} streams[] = {
		/* Without a handler of the class strings in the kernel: */
		{ "syscall_untraced", other, syscalls, ~0UL, false },
		{ "syscall", 0, syscalls, ~0UL, false },
		/* With such a handler: */
		{ "untraced", other, both, ~0UL, false },
		{ "filtered", 0, both, 0, false },
		{ "traced", 0, both, ~0UL, true },
	};
	double without[CALLS];
	trace_id_t trid;

	set_text(10);
	if (open(text, O_RDONLY) >= 0 || errno != ENOTDIR)
		die(text);
	settle();
	print_calls("", without);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		trid = new_stream(streams[i].pid, streams[i].classes, streams[i].types);
		print_calls(streams[i].kind, without);
		check_texts(trid, streams[i].texts);
		posix_trace_shutdown(trid);
	}
}

static void set_policy(int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(0, policy, &param))
		die("sched_setscheduler");
}

/*
 * Prints what this thread pays while it wakes a thread with as many streams as a user can have on
 * it, and switches to and from it. The events are recorded in its time, with interrupts off.
 */
static void print_other_traced(void)
{
	static const struct {
		const char *name;
		unsigned long types;
	} kinds[] = {
		{ "switch_from_streams_4", 1UL << POSIXTRACE_SWITCH_OUT },
		{ "switch_to_streams_4", 1UL << POSIXTRACE_SWITCH_IN },
		{ "wakeup_streams_4", 1UL << POSIXTRACE_WAKEUP },
	};
	trace_id_t trids[STREAMS];
	struct child traced;
	double without;

	/* A woken thread never preempts the other one, so each round has the same switches. */
	set_policy(SCHED_FIFO);
	if (child_start(&traced, play_alone, NULL) || hear(&traced.talk))
		die("child");
	settle();
	without = measure(play, COUNT);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (int j = 0; j < STREAMS; j++)
			trids[j] = new_stream(traced.pid, POSIXTRACE_CLASS_SCHED, kinds[i].types);
		print_limited(kinds[i].name, measure(play, COUNT) - without, OTHER_MOST);
		for (int j = 0; j < STREAMS; j++)
			posix_trace_shutdown(trids[j]);
	}
	child_kill(&traced);
	set_policy(SCHED_OTHER);
}

int main(int argc, char **argv)
{
	const bool only_others = argc > 1 && !strcmp(argv[1], "others");
	const unsigned int sched = POSIXTRACE_CLASS_SCHED;
	const unsigned long out = 1UL << POSIXTRACE_SWITCH_OUT, in = 1UL << POSIXTRACE_SWITCH_IN;
	const unsigned long wakeup = 1UL << POSIXTRACE_WAKEUP;
	const unsigned long futex = 1UL << POSIXTRACE_FUTEX_WAIT;
	double switching, waking, waiting, making;
	struct child child, family;
	pthread_t thread, turns;
	trace_id_t trid;

	if (child_start(&child, child_idle, NULL) || hear(&child.talk) || pipe(ping) || pipe(pong))
		die("child");
	switching = measure_switch();
	printf("switch %.0f\n", switching);
	trid = new_stream(child.pid, sched, out | in);
	print_limited("switch_untraced", measure_switch() - switching, SWITCH_MOST);
	posix_trace_shutdown(trid);
	settle();
	thread = start_yielder();
	printf("switch_off_again %.0f\n", measure(give_way, 2 * COUNT) - switching);
	printf("switch_filtered %.0f\n",
	       more_with(0, sched, 0, give_way, 2 * COUNT, switching));
	printf("sched_switch_out %.0f\n",
	       more_with(0, sched, out, give_way, 2 * COUNT, switching));
	printf("sched_switch_in %.0f\n", more_with(0, sched, in, give_way, 2 * COUNT, switching));
	printf("switch_traced %.0f\n",
	       more_with(0, sched, out | in, give_way, 2 * COUNT, switching));
	stop_yielder(thread);
	trid = trace_sleepers(&family, sched);
	print_limited("switch_untraced_beside", measure_switch() - switching, SWITCH_MOST);
	thread = start_yielder();
	printf("switch_traced_beside %.0f\n",
	       more_with(0, sched, out | in, give_way, 2 * COUNT, switching));
	stop_yielder(thread);
	end_sleepers(&family, trid);
	print_other_traced();
	if (only_others) {
		child_kill(&child);
		return failed;
	}
	settle();

	if (pthread_create(&thread, NULL, player, NULL))
		die("thread");
	waking = measure(play, 2 * COUNT);
	printf("wakeup_and_switch %.0f\n", waking);
	printf("wakeup_and_switch_untraced %.0f\n",
	       more_with(child.pid, sched, out | in | wakeup, play, 2 * COUNT, waking));
	printf("wakeup_and_switch_traced %.0f\n",
	       more_with(0, sched, out | in | wakeup, play, 2 * COUNT, waking));

	if (pthread_create(&turns, NULL, turner, NULL))
		die("thread");
	take_equal_turns(turns, SCHED_FIFO);
	settle();
	waiting = measure(take_turns, 2 * COUNT);
	printf("futex_wait %.0f\n", waiting);
	printf("futex_wait_untraced %.0f\n",
	       more_with(child.pid, sched, out | futex, take_turns, 2 * COUNT, waiting));
	printf("futex_wait_filtered %.0f\n",
	       more_with(0, sched, 0, take_turns, 2 * COUNT, waiting));
	printf("futex_wait_only_switch %.0f\n",
	       more_with(0, sched, out, take_turns, 2 * COUNT, waiting));
	printf("futex_wait_traced %.0f\n",
	       more_with(0, sched, out | futex, take_turns, 2 * COUNT, waiting));
	take_equal_turns(turns, SCHED_OTHER);
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	give_turn(1);
	pthread_join(turns, NULL);

	making = measure(make_process, FORKS);
	printf("process %.0f\n", making);
	printf("process_untraced %.0f\n",
	       more_with(child.pid, POSIXTRACE_CLASS_PROCESS, ~0UL, make_process, FORKS, making));
	/* Measure again with many processes, which also make the kernel's own cost larger. */
	settle();
	trid = trace_sleepers(&family, 0);
	making = measure(make_process, FORKS);
	end_sleepers(&family, trid);
	trid = trace_sleepers(&family, POSIXTRACE_CLASS_PROCESS);
	printf("process_untraced_beside %.0f\n", measure(make_process, FORKS) - making);
	end_sleepers(&family, trid);

	print_class("rename", POSIXTRACE_CLASS_PROCESS, child.pid, name_itself);
	print_class("syscall", POSIXTRACE_CLASS_SYSCALL, child.pid, call);
	print_texts(child.pid);
	pages = mmap(NULL, COUNT * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		die("mmap");
	madvise(pages, COUNT * sysconf(_SC_PAGESIZE), MADV_NOHUGEPAGE);
	print_class("fault", POSIXTRACE_CLASS_FAULT, child.pid, touch);
	signal(SIGUSR1, ignore);
	print_class("signal", POSIXTRACE_CLASS_SIGNAL, child.pid, signal_itself);
	printf("irq_traced %.0f\n", more_by_interrupt());
	child_kill(&child);
	return failed;
}
