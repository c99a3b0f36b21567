// SPDX-License-Identifier: GPL-2.0
/*
 * The workload for comparing tracers of system calls. "syscalls" runs it in a guest with a clock
 * that counts instructions (selftests/vm/run --icount).
 *
 *   syscall_bench calls N    makes N system calls
 *   syscall_bench stream N   makes N system calls, recorded in a stream without a reader
 *   syscall_bench scopes N   records N scopes of two events each, if the process is traced
 *   syscall_bench busy       prints for how many nanoseconds the only processor was busy
 */
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void call(unsigned long count)
{
	while (count--)
		syscall(SYS_getppid);
}

static int call_in_stream(unsigned long count)
{
	struct posixtrace_kernel_info info;
	trace_attr_t attr;
	trace_id_t trid;

	if (posix_trace_attr_init(&attr) || posix_trace_attr_setstreamsize(&attr, 1 << 20) ||
	    posixtrace_attr_setkernel(&attr, POSIXTRACE_CLASS_SYSCALL) ||
	    posix_trace_create(0, &attr, &trid) || posix_trace_start(trid)) {
		fprintf(stderr, "syscall_bench: no stream\n");
		return 1;
	}
	call(count);
	if (posixtrace_get_kernel_info(trid, &info) || posix_trace_shutdown(trid) ||
	    info.recorded[__builtin_ctz(POSIXTRACE_CLASS_SYSCALL)] < 2 * count) {
		fprintf(stderr, "syscall_bench: the stream has not recorded all calls\n");
		return 1;
	}
	return 0;
}

static int record_scopes(unsigned long count)
{
	trace_event_id_t begin, end;

	if (posix_trace_eventid_open("job_begin", &begin) ||
	    posix_trace_eventid_open("job_end", &end))
		return 1;
	while (count--) {
		posix_trace_event(begin, &count, sizeof(count));
		posix_trace_event(end, NULL, 0);
	}
	return 0;
}

/* Prints the time that the processor was busy, not counting the time that it slept. */
static int print_busy(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	unsigned long long slept;
	struct timespec now;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " .idle_sleeptime : %llu", &slept) != 1)
			continue;
		fclose(file);
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec - (long long)slept);
		return 0;
	}
	fprintf(stderr, "syscall_bench: /proc/timer_list does not tell the time of sleep\n");
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "busy"))
		return print_busy();
	if (argc == 3 && !strcmp(argv[1], "stream"))
		return call_in_stream(strtoul(argv[2], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "calls")) {
		call(strtoul(argv[2], NULL, 10));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "scopes"))
		return record_scopes(strtoul(argv[2], NULL, 10));
	fprintf(stderr, "usage: syscall_bench calls N | stream N | scopes N | busy\n");
	return 2;
}
