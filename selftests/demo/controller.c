// SPDX-License-Identifier: GPL-2.0
/*
 * Controller and analyzer of the compressor: creates a trace stream on the compressor's process,
 * prints events as they arrive, and a summary at the end.
 *
 * The traced process is either a compressor that the controller starts, and that waits until the
 * stream runs, or a running process (--pid). A second thread waits for the end of the process and
 * stops the stream, so STOP is the last event to read.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#include "report.h"
#include "verify.h"

struct options {
	pid_t pid;		/* trace this process; 0: start argv */
	char **argv;
	size_t stream_size;
	bool quiet;
	const char *output;
	char **inputs;
	size_t nr_inputs;
};

/* The thread that waits for the end of the traced process. */
struct waiter {
	pthread_t thread;
	trace_id_t trid;
	int pidfd;
	int sigfd;
};

static void complain(const char *what, int err)
{
	fprintf(stderr, "controller: %s: %s\n", what, strerror(err));
}

/* In the child of spawn(): executes the program, which waits for a byte from @go. */
static void become(char **argv, int argc, int go, int status)
{
	char **args = calloc(argc + 3, sizeof(*args));
	char fd[16];
	int err = ENOMEM;

	if (args) {
		snprintf(fd, sizeof(fd), "%d", go);
		args[0] = argv[0];
		args[1] = "--wait-fd";
		args[2] = fd;
		memcpy(args + 3, argv + 1, argc * sizeof(*args));
		execvp(args[0], args);
		err = errno;
	}
	if (write(status, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * Starts @argv with --wait-fd. The program begins when a byte is written to *@go. Waits until the
 * child has executed the program. Returns its process id, or -1.
 */
static pid_t spawn(char **argv, const sigset_t *mask, int *go)
{
	int begin[2], status[2];
	int argc = 0, err;
	pid_t pid = -1;

	while (argv[argc])
		argc++;
	if (pipe2(begin, O_CLOEXEC)) {
		complain("pipe", errno);
		return -1;
	}
	if (pipe2(status, O_CLOEXEC)) {
		complain("pipe", errno);
		goto out_begin;
	}
	pid = fork();
	if (pid == 0) {
		/* Keep the read end open over exec. */
		fcntl(begin[0], F_SETFD, 0);
		sigprocmask(SIG_SETMASK, mask, NULL);
		become(argv, argc, begin[0], status[1]);
	}
	close(status[1]);
	if (pid < 0) {
		complain("fork", errno);
	} else if (read(status[0], &err, sizeof(err)) == sizeof(err)) {
		/* The child writes only if exec fails. A successful exec closes the pipe. */
		complain(argv[0], err);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(status[0]);
	if (pid > 0) {
		close(begin[0]);
		*go = begin[1];
		return pid;
	}
out_begin:
	close(begin[0]);
	close(begin[1]);
	return -1;
}

static void *wait_for_end(void *arg)
{
	struct waiter *waiter = arg;
	struct pollfd fds[] = {
		{ .fd = waiter->pidfd, .events = POLLIN },
		{ .fd = waiter->sigfd, .events = POLLIN },
	};
	int err;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	err = posix_trace_stop(waiter->trid);
	if (err)
		complain("posix_trace_stop", err);
	return NULL;
}

/* Reads and reports events until the STOP event, which wait_for_end() causes. */
static int analyze(trace_id_t trid, struct report *report)
{
	struct posix_trace_event_info info;
	int unavailable;
	char data[1024];
	size_t len;
	int err;

	do {
		err = posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
						&unavailable);
		if (err == EINTR)
			continue;
		if (!err && !report_event(report, &info, data, len))
			err = ENOMEM;
		if (err) {
			complain("reading events", err);
			return err;
		}
	} while (err || !posix_trace_eventid_equal(trid, info.posix_event_id, POSIX_TRACE_STOP));
	return 0;
}

static int create_stream(const struct options *options, pid_t pid, trace_id_t *trid)
{
	trace_attr_t attr;
	int err;

	err = posix_trace_attr_init(&attr);
	if (err)
		return err;
	posix_trace_attr_setname(&attr, "compressor");
	if (options->stream_size)
		err = posix_trace_attr_setstreamsize(&attr, options->stream_size);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

/* Traces from the start of the stream to its last event. Returns 0 or an error number. */
static int trace(struct waiter *waiter, int go, struct report *report)
{
	struct posix_trace_status_info status;
	int err;

	err = report_init(report, waiter->trid);
	if (err) {
		complain("posix_trace_trid_eventid_open", err);
		return err;
	}
	err = posix_trace_start(waiter->trid);
	if (err) {
		complain("posix_trace_start", err);
		return err;
	}
	err = pthread_create(&waiter->thread, NULL, wait_for_end, waiter);
	if (err) {
		complain("thread", err);
		return err;
	}
	if (!report->quiet)
		printf("   time/us      process  thread          event\n");
	if (go >= 0 && write(go, "", 1) != 1)
		complain("starting the program", errno);
	err = analyze(waiter->trid, report);
	if (err)
		pthread_cancel(waiter->thread);
	pthread_join(waiter->thread, NULL);
	if (err)
		return err;

	err = posix_trace_get_status(waiter->trid, &status);
	if (err) {
		complain("posix_trace_get_status", err);
		return err;
	}
	report->overrun = status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
	return 0;
}

static int run(const struct options *options)
{
	struct report report = { .quiet = options->quiet };
	struct waiter waiter = { .pidfd = -1, .sigfd = -1 };
	pid_t pid = options->pid;
	sigset_t mask, old_mask;
	int ret = 1, go = -1, status = 0;
	int err;

	/* Ctrl-C stops the stream, not the controller, which still prints the summary. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &old_mask);

	if (options->argv) {
		pid = spawn(options->argv, &old_mask, &go);
		if (pid < 0)
			return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	waiter.pidfd = pidfd_open(pid, 0);
	waiter.sigfd = signalfd(-1, &mask, SFD_CLOEXEC);
	if (waiter.pidfd < 0 || waiter.sigfd < 0) {
		complain("process to trace", errno);
		goto out_reap;
	}
	err = create_stream(options, pid, &waiter.trid);
	if (err) {
		if (err == ENODEV)
			fprintf(stderr,
				"controller: the module is not loaded: try \"posixtrace load\" as root\n");
		else
			complain("posix_trace_create", err);
		goto out_reap;
	}
	if (!trace(&waiter, go, &report))
		ret = 0;
	if (ret == 0) {
		report_summary(&report);
		if (options->output &&
		    !verify(&report, options->output, options->inputs, options->nr_inputs))
			ret = 1;
	}
	err = posix_trace_shutdown(waiter.trid);
	if (err) {
		complain("posix_trace_shutdown", err);
		ret = 1;
	}
	report_free(&report);

out_reap:
	/* If the program has not begun, closing the pipe ends it. */
	if (go >= 0)
		close(go);
	if (waiter.sigfd >= 0)
		close(waiter.sigfd);
	if (waiter.pidfd >= 0)
		close(waiter.pidfd);
	if (options->argv && waitpid(pid, &status, 0) == pid && status) {
		fprintf(stderr, "controller: the program failed\n");
		ret = 1;
	}
	return ret;
}

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: controller [OPTION]... -- PROGRAM [ARG]...\n"
		"       controller [OPTION]... --pid=PID\n"
		"Trace a compressor and report its events.\n\n"
		"  -h, --help           print this help\n"
		"  -i, --input=FILE     input of the compressor, for --output; may be repeated\n"
		"  -o, --output=FILE    output of the compressor; check the trace against it\n"
		"  -p, --pid=PID        trace this process\n"
		"  -q, --quiet          print only the summary\n"
		"  -s, --size=BYTES     size of the trace stream\n");
}

static unsigned long parse_number(const char *option, const char *arg)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(arg, &end, 10);
	if (errno || *end || end == arg || value > 1UL << 30) {
		fprintf(stderr, "controller: %s: must be a number up to %lu (got \"%s\")\n", option,
			1UL << 30, arg);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "size", required_argument, NULL, 's' },
		{ }
	};
	struct options options = { .inputs = calloc(argc, sizeof(char *)) };
	int opt, ret;

	if (!options.inputs) {
		complain("memory", ENOMEM);
		return 1;
	}
	while ((opt = getopt_long(argc, argv, "+hi:o:p:qs:", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			usage(stdout);
			return 0;
		case 'i':
			options.inputs[options.nr_inputs++] = optarg;
			break;
		case 'o':
			options.output = optarg;
			break;
		case 'p':
			options.pid = parse_number("--pid", optarg);
			break;
		case 'q':
			options.quiet = true;
			break;
		case 's':
			options.stream_size = parse_number("--size", optarg);
			break;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc)
		options.argv = argv + optind;
	if (!options.pid == !options.argv) {
		usage(stderr);
		return 2;
	}
	ret = run(&options);
	free(options.inputs);
	return ret;
}
