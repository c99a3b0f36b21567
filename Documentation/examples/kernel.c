// SPDX-License-Identifier: MIT
/*
 * Traces what the kernel does with a child: its new name, how often it waits until it has
 * slept three times, and its exit.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The data of sched_switch_out, task_rename and sched_process_exit, as in their descriptions. */
union data {
	struct {
		int32_t tid, prio;
		uint8_t state, reason;
	} out;
	struct {
		int32_t tid;
		char old_name[16], new_name[16];
	} rename;
	struct {
		int32_t tid, code;
	} exit;
	unsigned char room[1024];
};

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* How often this process has waited, as counted by the kernel. */
static long waited(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void child(int go)
{
	long before;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	prctl(PR_SET_NAME, "sleeper");
	before = waited();
	/* On a busy machine the time of a short sleep may be over before the thread blocks. */
	while (waited() - before < 3)
		usleep(1000);
	_exit(7);
}

int main(void)
{
	int go[2], unavailable = 0, waits = 0;
	struct posix_trace_event_info event;
	union data data;
	trace_attr_t attr;
	trace_id_t trid;
	size_t len;
	pid_t pid;

	check(pipe(go), "pipe");
	pid = fork();
	if (!pid)
		child(go[0]);

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posixtrace_attr_setkernel(&attr, POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS),
	      "attr_setkernel");
	check(posix_trace_create(pid, &attr, &trid), "create");
	check(posix_trace_start(trid), "start");
	if (write(go[1], "", 1) != 1 || waitpid(pid, NULL, 0) != pid)
		return 1;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &event, &data, sizeof(data), &len,
						   &unavailable), "trygetnext_event");
		if (unavailable)
			break;
		if (event.posix_event_id == POSIXTRACE_SWITCH_OUT && data.out.reason)
			waits++;
		else if (event.posix_event_id == POSIXTRACE_RENAME)
			printf("its name is %.16s\n", data.rename.new_name);
		/* Other threads may also exit. */
		else if (event.posix_event_id == POSIXTRACE_EXIT && data.exit.tid == pid)
			printf("it exits with %d\n", data.exit.code >> 8);
	}
	printf("it has waited %s\n", waits >= 3 ? "three times" : "too rarely");
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
