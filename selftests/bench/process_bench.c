// SPDX-License-Identifier: GPL-2.0
/*
 * Counts instructions in a guest whose clock counts instructions (selftests/vm/run --icount): of
 * fork(), exec and exit of an untraced program, and of a command to the module through the door and
 * by ioctl(). The Makefile builds it with the library (process_bench, process_bench_shared) and
 * without (process_bench_plain). Prints lines "NAME VALUE".
 */
#include <fcntl.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "knock.h"

#ifndef PLAIN
#include <trace.h>
#endif

#define REPEATS		101
#define COMMANDS	100

static int device = -1;
static const struct posixtrace_gate *gate;
static char *self;

/* The guest's clock counts instructions. */
static long long instructions(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
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
static long long measure(void (*fn)(void))
{
	long long took[REPEATS], begin;

	fn();
	for (int i = 0; i < REPEATS; i++) {
		begin = instructions();
		fn();
		took[i] = instructions() - begin;
	}
	qsort(took, REPEATS, sizeof(took[0]), compare);
	return took[REPEATS / 2];
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("child");
}

static void fork_and_exit(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	wait_for(pid);
}

static void execute(void)
{
	char *const argv[] = { self, "end", NULL };
	pid_t pid = vfork();

	if (!pid) {
		execv(self, argv);
		_exit(1);
	}
	wait_for(pid);
}

/* The argument for WAKE: it names no slot, so WAKE does nothing. */
static const __u32 no_slot;

static void by_ioctl(void)
{
	for (int i = 0; i < COMMANDS; i++) {
		if (ioctl(device, POSIXTRACE_IOC_WAKE, &no_slot))
			die("ioctl");
	}
}

static void by_door(void)
{
	for (int i = 0; i < COMMANDS; i++) {
		if (knock(gate, POSIXTRACE_IOC_WAKE, &no_slot))
			die("door");
	}
}

static void attach(void)
{
	device = open("/dev/posixtrace", O_RDWR | O_CLOEXEC);
	gate = mmap(NULL, sizeof(*gate), PROT_READ, MAP_SHARED, device,
		    POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION));
	if (gate == MAP_FAILED)
		die("/dev/posixtrace");
}

static void measure_processes(const char *how)
{
	printf("%s_fork %lld\n", how, measure(fork_and_exit));
	printf("%s_exec %lld\n", how, measure(execute));
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1)
		return 0;
#ifdef PLAIN
	measure_processes("plain");
	attach();
	printf("command_ioctl %lld\n", measure(by_ioctl) / COMMANDS);
	printf("command_door %lld\n", measure(by_door) / COMMANDS);
#else
	trace_event_id_t type;

	(void)attach;
	(void)by_ioctl;
	(void)by_door;
	measure_processes("linked");
	if (posix_trace_eventid_open("type", &type))
		die("posix_trace_eventid_open");
	printf("linked_fork_with_a_type %lld\n", measure(fork_and_exit));
	posix_trace_event(type, NULL, 0);
#endif
	return 0;
}
