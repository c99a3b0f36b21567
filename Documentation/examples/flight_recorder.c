// SPDX-License-Identifier: MIT
/*
 * A flight recorder: a program keeps its last events in memory, and after a crash they are
 * in a file.
 *
 * The stream overwrites its oldest events, and its log is not written while the program
 * runs. When the program ends for any reason, the kernel writes the events in memory to
 * the log. The signal handler only adds an event about the crash.
 *
 *	flight_recorder [LOG]
 */
#define _XOPEN_SOURCE 700

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#define STEPS	50000
#define SHOWN	3

struct crash {
	int signal;
	void *address;
};

static trace_event_id_t step_event, crash_event;

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* --- the program that is recorded ---------------------------------------------------- */

/*
 * posix_trace_event() is one of the few functions that a handler may call. SA_RESETHAND has
 * removed the handler: on return, the fault repeats and kills the program as usual.
 */
static void handle_crash(int signal, siginfo_t *info, void *context)
{
	struct crash crash;

	(void)context;
	memset(&crash, 0, sizeof(crash));
	crash.signal = signal;
	crash.address = info->si_addr;
	posix_trace_event(crash_event, &crash, sizeof(crash));
}

static void start_recorder(int fd)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	static char stack[65536];	/* the normal stack may have overflowed */
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = handle_crash };
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP),
	      "attr_setstreamfullpolicy");
	check(posix_trace_attr_setstreamsize(&attr, 128 * 1024), "attr_setstreamsize");
	check(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");
	check(posix_trace_eventid_open("recorder:step", &step_event), "eventid_open");
	check(posix_trace_eventid_open("recorder:crash", &crash_event), "eventid_open");

	action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	sigaltstack(&alternative, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	check(posix_trace_start(trid), "start");
}

int *table;	/* never allocated */

static int work(void)
{
	for (int i = 0; i < STEPS; i++)
		posix_trace_event(step_event, &i, sizeof(i));
	return table[0];
}

/* --- the analysis after the crash ----------------------------------------------------- */

static void print_crash(const void *data, size_t len)
{
	struct crash crash;

	if (len != sizeof(crash))
		return;
	memcpy(&crash, data, len);
	printf("crash: signal %d at %p\n", crash.signal, crash.address);
}

/* The id of an event type differs from log to log: look it up by name. */
static trace_event_id_t find_type(trace_id_t trid, const char *wanted)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int end;

	check(posix_trace_eventtypelist_rewind(trid), "eventtypelist_rewind");
	for (;;) {
		check(posix_trace_eventtypelist_getnext_id(trid, &type, &end),
		      "eventtypelist_getnext_id");
		if (end) {
			fprintf(stderr, "the log does not know %s\n", wanted);
			exit(1);
		}
		check(posix_trace_eventid_get_name(trid, type, name), "eventid_get_name");
		if (!strcmp(name, wanted))
			return type;
	}
}

static void print_log(int fd)
{
	trace_event_id_t step, crash;
	struct posix_trace_event_info info;
	int last[SHOWN], count = 0, end;
	trace_id_t trid;
	char data[64];
	size_t len;

	check(posix_trace_open(fd, &trid), "open");
	step = find_type(trid, "recorder:step");
	crash = find_type(trid, "recorder:crash");
	for (;;) {
		check(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &end),
		      "getnext_event");
		if (end)
			break;
		if (posix_trace_eventid_equal(trid, info.posix_event_id, step) &&
		    len == sizeof(int))
			memcpy(&last[count++ % SHOWN], data, len);
		if (!posix_trace_eventid_equal(trid, info.posix_event_id, crash))
			continue;
		printf("%s steps in the log\n", count < STEPS ? "the last" : "all");
		for (int i = count < SHOWN ? 0 : count - SHOWN; i < count; i++)
			printf("step %d\n", last[i % SHOWN]);
		print_crash(data, len);
	}
	check(posix_trace_close(trid), "close");
}

int main(int argc, char **argv)
{
	FILE *file;
	int status;
	pid_t pid;

	file = argc > 1 ? fopen(argv[1], "w+") : tmpfile();
	if (!file) {
		perror(argc > 1 ? argv[1] : "tmpfile");
		return 1;
	}
	pid = fork();
	if (pid < 0) {
		perror("fork");
		return 1;
	}
	if (!pid) {
		start_recorder(fileno(file));
		_exit(work());
	}
	/* Once the program has ended, its log is complete. */
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) {
		fprintf(stderr, "the program did not crash\n");
		return 1;
	}
	printf("killed by signal %d\n", WTERMSIG(status));
	print_log(fileno(file));
	fclose(file);
	return 0;
}
