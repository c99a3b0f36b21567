// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace watch": prints the events of a process until it ends.
 *
 * One thread reads and prints. Another waits for the end of the process or for
 * Ctrl-C and stops the stream, so that the STOP event ends the reading.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#include "commands.h"

#define NSEC		1000000000ULL
#define DATA_MAX	(64 << 10)
#define DATA_SHOWN	48	/* bytes, without --full */

struct watch {
	pid_t pid;
	char **argv;		/* program to be started, or NULL */
	size_t stream_size;
	bool full;

	trace_id_t trid;
	int pidfd;
	int sigfd;
	unsigned long long first;	/* time of the first event */
	unsigned long long events;
	unsigned long long gaps;
};

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace watch [OPTION]... --pid=PID\n"
		"       posixtrace watch [OPTION]... -- PROGRAM [ARG]...\n"
		"Print the events of a process until it ends, or until Ctrl-C.\n\n"
		"  -f, --full        all bytes of the data\n"
		"  -h, --help        this text\n"
		"  -p, --pid=PID     process to trace\n"
		"  -s, --size=BYTES  size of the trace stream (262144)\n\n"
		"Columns: microseconds since the first event, process, thread, event type, data.\n"
		"Exit status: 0; 1 after a failure; that of PROGRAM if it is not 0.\n");
}

/* ------------------------------------------------------------------ */
/* Printing								*/

static bool is_text(const unsigned char *data, size_t len)
{
	/* A string may carry its end. */
	if (len && !data[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		if (!isprint(data[i]))
			return false;
	}
	return len > 0;
}

static void print_data(const struct watch *watch, const unsigned char *data, size_t len)
{
	size_t shown = watch->full || len < DATA_SHOWN ? len : DATA_SHOWN;
	bool text = is_text(data, len);

	if (text && !data[len - 1])
		shown = shown == len ? len - 1 : shown;
	if (text) {
		printf("\"%.*s\"", (int)shown, (const char *)data);
	} else {
		for (size_t i = 0; i < shown; i++)
			printf(i && i % 4 == 0 ? " %02x" : "%02x", data[i]);
	}
	if (shown + text < len)
		printf("... (%zu bytes)", len);
}

static int print_event(struct watch *watch, const struct posix_trace_event_info *info,
		       const unsigned char *data, size_t len)
{
	unsigned long long time = info->posix_timestamp.tv_sec * NSEC +
				  info->posix_timestamp.tv_nsec;
	char name[TRACE_EVENT_NAME_MAX + 1];

	if (!watch->first)
		watch->first = time;
	if (posix_trace_eventid_get_name(watch->trid, info->posix_event_id, name))
		snprintf(name, sizeof(name), "(type %u)", info->posix_event_id);
	printf("%10llu.%03llu  %7d  %#14lx  %-24s ", (time - watch->first) / 1000,
	       (time - watch->first) % 1000, (int)info->posix_pid,
	       (unsigned long)info->posix_thread_id, name);
	/* Of the system events only what a person can read. */
	if (info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
		print_data(watch, data, len);
	if (info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		printf(" (truncated)");
	putchar('\n');
	return fflush(stdout) ? errno : 0;
}

/* ------------------------------------------------------------------ */
/* Reading								*/

static void *wait_for_end(void *arg)
{
	struct watch *watch = arg;
	struct pollfd fds[] = {
		{ .fd = watch->pidfd, .events = POLLIN },
		{ .fd = watch->sigfd, .events = POLLIN },
	};
	int err;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	err = posix_trace_stop(watch->trid);
	if (err)
		complain("posix_trace_stop", err);
	return NULL;
}

static int read_events(struct watch *watch)
{
	static unsigned char data[DATA_MAX];
	struct posix_trace_event_info info;
	int err, unavailable;
	size_t len;

	for (;;) {
		err = posix_trace_getnext_event(watch->trid, &info, data, sizeof(data), &len,
						&unavailable);
		if (err == EINTR)
			continue;
		if (err)
			return err;
		err = print_event(watch, &info, data, len);
		if (err)
			return err;
		watch->events += info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
		watch->gaps += info.posix_event_id == POSIX_TRACE_OVERFLOW;
		if (info.posix_event_id == POSIX_TRACE_STOP)
			return 0;
	}
}

/* From the start of the stream to its stop; @go: where to tell the program to begin. */
static int run_stream(struct watch *watch, int go)
{
	pthread_t waiter;
	int err;

	err = posix_trace_start(watch->trid);
	if (err) {
		complain("posix_trace_start", err);
		return err;
	}
	err = pthread_create(&waiter, NULL, wait_for_end, watch);
	if (err) {
		complain("thread", err);
		return err;
	}
	if (go >= 0 && write(go, "", 1) != 1)
		complain("program", errno);
	err = read_events(watch);
	if (err) {
		complain("reading events", err);
		pthread_cancel(waiter);
	}
	pthread_join(waiter, NULL);
	return err;
}

static int create_stream(struct watch *watch)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err && watch->stream_size)
		err = posix_trace_attr_setstreamsize(&attr, watch->stream_size);
	if (!err)
		err = posix_trace_attr_setname(&attr, "posixtrace watch");
	if (!err)
		err = posix_trace_create(watch->pid, &attr, &watch->trid);
	return err;
}

/* ------------------------------------------------------------------ */
/* The program								*/

/*
 * Starts the program, which waits for a byte before it becomes what it shall
 * be: *@go is where to write it. A process stays traced when it execs.
 */
static int start_program(struct watch *watch, const sigset_t *mask, int *go)
{
	int begin[2];
	char byte;

	if (pipe2(begin, O_CLOEXEC))
		return errno;
	watch->pid = fork();
	if (watch->pid < 0) {
		int err = errno;

		close(begin[0]);
		close(begin[1]);
		return err;
	}
	if (watch->pid == 0) {
		close(begin[1]);
		if (read(begin[0], &byte, 1) != 1)
			_exit(126);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(watch->argv[0], watch->argv);
		complain(watch->argv[0], errno);
		_exit(127);
	}
	close(begin[0]);
	*go = begin[1];
	return 0;
}

static int watch_process(struct watch *watch)
{
	sigset_t mask, old_mask;
	int err, go = -1, status = 0, ret = 1;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &old_mask);

	if (watch->argv) {
		err = start_program(watch, &old_mask, &go);
		if (err) {
			complain("program", err);
			return 1;
		}
	}
	watch->pidfd = pidfd_open(watch->pid, 0);
	watch->sigfd = signalfd(-1, &mask, SFD_CLOEXEC);
	if (watch->pidfd < 0 || watch->sigfd < 0) {
		complain("process to watch", errno);
		goto out_close;
	}
	err = create_stream(watch);
	if (err) {
		complain("posix_trace_create", err);
		goto out_close;
	}
	if (!run_stream(watch, go)) {
		ret = 0;
		fprintf(stderr, "posixtrace: %llu events", watch->events);
		if (watch->gaps)
			fprintf(stderr, ", some were lost in %llu gaps: use a larger --size",
				watch->gaps);
		fputc('\n', stderr);
	}
	posix_trace_shutdown(watch->trid);

out_close:
	if (go >= 0)
		close(go);
	if (watch->sigfd >= 0)
		close(watch->sigfd);
	if (watch->pidfd >= 0)
		close(watch->pidfd);
	if (watch->argv && waitpid(watch->pid, &status, 0) == watch->pid && ret == 0)
		ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return ret;
}

static unsigned long parse_number(const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || !value || value > max) {
		fprintf(stderr, "posixtrace: %s: not a number from 1 to %lu\n", text, max);
		exit(2);
	}
	return value;
}

int posixtrace_watch(int argc, char **argv)
{
	static const struct option options[] = {
		{ "full", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "pid", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ }
	};
	struct watch watch = { .pidfd = -1, .sigfd = -1 };
	int opt;

	while ((opt = getopt_long(argc, argv, "+fhp:s:", options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			watch.full = true;
			break;
		case 'h':
			print_help(stdout);
			return 0;
		case 'p':
			watch.pid = parse_number(optarg, 1 << 22);
			break;
		case 's':
			watch.stream_size = parse_number(optarg, 1 << 30);
			break;
		default:
			print_help(stderr);
			return 2;
		}
	}
	if (optind < argc)
		watch.argv = argv + optind;
	if (!watch.pid == !watch.argv) {
		print_help(stderr);
		return 2;
	}
	return watch_process(&watch);
}
