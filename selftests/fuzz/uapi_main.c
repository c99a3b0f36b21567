// SPDX-License-Identifier: GPL-2.0
/*
 * The supervisor: starts workers, restarts workers that died, kills some, checks for hangs, and
 * reports the results. It makes no calls of the device itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../include/fuse.h"
#include "../include/loopback.h"
#include "uapi_fuzz.h"
#include "uapi_hang.h"

/* No call takes that long, even on the slowest kernel with all processors busy. */
#define HANG_SECONDS	60

/* While an operation has not succeeded yet, the run continues for up to this many times as long. */
#define SLOW		3

/* Interval at which a worker is killed. */
#define KILL_SECONDS	3

/* Number of calls of the repeatable run, which is made twice. */
#define ALONE_CALLS	3000

/* The FUSE server delays writes to logs for at most this long. */
#define FUSE_HOLD_SECONDS	8

static int readers[PIPES];
static struct fuse_disk fuse;
static time_t fuse_turn;		/* when the server starts or stops delaying writes */
static unsigned int hangs, crashes, log_threads;
static pid_t hung[WORKERS_MAX];		/* workers that were killed for a hang */
static uint64_t moved[WORKERS_MAX][THREADS_MAX];
static time_t moved_at[WORKERS_MAX][THREADS_MAX];

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static bool has_all_calls(void)
{
	uint64_t calls = shared->options.calls;

	return calls && __atomic_load_n(&shared->calls, __ATOMIC_RELAXED) >= calls;
}

/* Leaves the console: a stream with a log there would take minutes and hide the results. */
static void leave_console(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(1);
	close(fd);
}

static void start_worker(unsigned int number)
{
	struct worker *worker = &shared->workers[number];
	uint64_t seed = mix(shared->options.seed + ((uint64_t)number << 32) + worker->restarts);
	unsigned int thread;
	pid_t pid;

	for (thread = 0; thread < THREADS_MAX; thread++)
		moved_at[number][thread] = seconds();
	fflush(stdout);
	block_signals(true);
	pid = fork();
	if (!pid) {
		if (!shared->options.alone)
			leave_console();
		_exit(worker_main(number, seed));
	}
	worker->restarts++;
	__atomic_store_n(&worker->pid, pid, __ATOMIC_RELAXED);
}

/*
 * Notes the death of a worker. Ignores children of dead workers, which are reparented to the
 * supervisor.
 */
static void note_death(pid_t pid, int status, bool again)
{
	unsigned int i;

	for (i = 0; i < shared->options.workers; i++)
		if (shared->workers[i].pid == pid)
			break;
	if (i == shared->options.workers)
		return;
	shared->workers[i].pid = 0;
	/*
	 * Not a crash: the worker has exited because all calls were made, before the supervisor
	 * noticed that.
	 */
	if (again && WIFEXITED(status) && !WEXITSTATUS(status) && has_all_calls())
		return;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		if (again || status) {
			printf("# worker %u: status %#x, doing %s\n", i, status,
			       ops[shared->workers[i].doing[0]].name);
			crashes++;
		}
	}
	if (again)
		start_worker(i);
}

/* Reaps dead processes. Returns false once no process is left. */
static bool reap(bool again)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG | __WALL);
		if (pid <= 0)
			return !pid;
		note_death(pid, status, again);
	}
}

/* Reads the logs from pipes, and waits a little. */
static void drain(int milliseconds)
{
	struct pollfd pollfd[PIPES];
	static char buffer[1 << 16];
	int i;

	for (i = 0; i < PIPES; i++)
		pollfd[i] = (struct pollfd){ .fd = readers[i], .events = POLLIN };
	if (poll(pollfd, PIPES, milliseconds) <= 0)
		return;
	for (i = 0; i < PIPES; i++)
		while (read(readers[i], buffer, sizeof(buffer)) > 0)
			;
}

/* Drops files that no worker has received, before the next run. */
static void forget_files(void)
{
	char byte;

	while (recv(PIPE_FD + PIPES + 1, &byte, 1, MSG_DONTWAIT) > 0)
		;
}

static void kill_worker(unsigned int number)
{
	pid_t pid = shared->workers[number].pid;

	if (pid > 0)
		kill(pid, SIGKILL);
}

static void note_hang(unsigned int number, unsigned int thread)
{
	struct worker *worker = &shared->workers[number];

	printf("# worker %u, thread %u: does not return from %s\n", number, thread,
	       ops[worker->doing[thread]].name);
	/* The thread may wait for a log thread. */
	count_log_threads(true);
	/*
	 * The worker hangs if one of its threads is in the module, or if it did not die when it was
	 * killed.
	 */
	if (show_stacks(worker->pid) || worker->pid == hung[number])
		hangs++;
	hung[number] = worker->pid;
	kill_worker(number);
	moved_at[number][thread] = seconds() + HANG_SECONDS;
}

/* Checks if a thread has stopped making calls. */
static void look_for_hang(unsigned int number, unsigned int thread)
{
	struct worker *worker = &shared->workers[number];
	uint64_t now = __atomic_load_n(&worker->progress[thread], __ATOMIC_RELAXED);

	if (now != moved[number][thread] || !worker->pid) {
		moved[number][thread] = now;
		moved_at[number][thread] = seconds();
	} else if (seconds() - moved_at[number][thread] > HANG_SECONDS) {
		note_hang(number, thread);
	} else if (shared->options.alone &&
		   seconds() - moved_at[number][thread] > HANG_SECONDS / 2) {
		/* In a repeatable run, nothing else would end a worker's wait for its own log. */
		kill_worker(number);
	}
}

static void look_for_hangs(void)
{
	unsigned int i, thread;

	for (i = 0; i < shared->options.workers; i++)
		for (thread = 0; thread < shared->options.threads; thread++)
			look_for_hang(i, thread);
}

/* Reports workers that have not stopped on request. */
static void note_stragglers(void)
{
	unsigned int i;

	for (i = 0; i < shared->options.workers; i++)
		if (shared->workers[i].pid && shared->workers[i].pid != hung[i])
			note_hang(i, 0);
}

/* Kills workers that wait for their logs, because no other worker reads these logs. */
static void kill_waiting(void)
{
	unsigned int i;

	for (i = 0; i < shared->options.workers; i++)
		if (shared->workers[i].pid && waits_for_log(shared->workers[i].pid))
			kill_worker(i);
}

/*
 * Ends all workers. They exit by themselves, unless they wait for their logs. Their children are
 * killed, and must die.
 */
static void end_all(void)
{
	time_t start = seconds(), took;

	while (reap(false)) {
		drain(50);
		took = seconds() - start;
		if (took > 5)
			kill_orphans(shared->workers, shared->options.workers);
		if (took > HANG_SECONDS / 2)
			kill_waiting();
		if (took > HANG_SECONDS) {
			note_stragglers();
			kill_session();
		}
		if (took > 2 * HANG_SECONDS) {
			printf("# does not end:\n");
			show_session();
			hangs++;
			return;
		}
	}
}

static struct count total(unsigned int op)
{
	struct count sum = {};
	unsigned int i, error;

	for (i = 0; i < WORKERS_MAX; i++) {
		const struct count *counts = &shared->workers[i].counts[op];

		sum.calls += counts->calls;
		sum.good += counts->good;
		sum.time += counts->time;
		for (error = 0; error < ERRORS_MAX; error++)
			sum.errors[error] += counts->errors[error];
	}
	return sum;
}

/*
 * Is it an operation that may never succeed within a minute? Unknown commands fail. exec and kill
 * are rare. op_add() needs a process that has opened no names and is not traced. op_rotate() needs
 * a stream whose log can continue in the kind of file that was opened.
 */
static bool is_rare(long (*run)(struct actor *a))
{
	return run == op_unknown || run == op_exec || run == op_exec_self || run == op_kill ||
	       run == op_add || run == op_rotate;
}

static bool has_succeeded(unsigned int op)
{
	return total(op).good || is_rare(ops[op].run);
}

static bool all_have_succeeded(void)
{
	unsigned int op;

	for (op = 0; op < nr_ops; op++)
		if (!has_succeeded(op))
			return false;
	return true;
}

static bool is_over(time_t start)
{
	const struct options *options = &shared->options;

	/* A repeatable run ends by itself, always at the same point. */
	if (options->alone)
		return !shared->workers[0].pid;
	if (has_all_calls())
		return true;
	if (!options->seconds || seconds() - start < options->seconds)
		return false;
	/* Give a slow machine more time, because it makes few calls. */
	return all_have_succeeded() || seconds() - start >= SLOW * options->seconds;
}

static void logs_begin(void)
{
	int err = fuse_begin(&fuse);

	if (err) {
		printf("# no FUSE: %s\n", strerror(-err));
		exit(1);
	}
	snprintf(shared->fuse_path, sizeof(shared->fuse_path), "%s/log", fuse.dir);
	if (loopback_up())
		exit(1);
	fuse_turn = seconds();
}

static void fuse_take_turns(void)
{
	if (seconds() < fuse_turn)
		return;
	fuse_turn = seconds() + random() % FUSE_HOLD_SECONDS;
	if (atomic_load(&fuse.shared->hang))
		fuse_resume(&fuse);
	else
		fuse_hang(&fuse);
}

/*
 * Waits until the module has no log thread. The owners of the logs and most readers are gone, so
 * the module must give up all remaining logs.
 */
static void wait_for_log_threads(void)
{
	time_t start = seconds();

	while (count_log_threads(false)) {
		drain(100);
		if (seconds() - start > 2 * HANG_SECONDS) {
			log_threads = count_log_threads(true);
			return;
		}
	}
}

static void run_workers(void)
{
	time_t start = seconds(), killed = start;
	unsigned int i;

	shared->stop = 0;
	shared->calls = 0;
	if (!shared->options.alone)
		logs_begin();
	for (i = 0; i < shared->options.workers; i++)
		start_worker(i);
	while (!is_over(start)) {
		drain(100);
		reap(!shared->options.alone);
		look_for_hangs();
		if (!shared->options.alone)
			fuse_take_turns();
		if (!shared->options.alone && seconds() - killed >= KILL_SECONDS) {
			killed = seconds();
			shared->kills++;
			kill_worker(killed / KILL_SECONDS % shared->options.workers);
		}
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	/* The FUSE server is a child as well. When it is killed, its pending requests fail. */
	if (!shared->options.alone)
		fuse_end(&fuse);
	end_all();
	forget_files();
	wait_for_log_threads();
}

/* ------------------------------------------------------------------ */
/* Results								*/

static unsigned int cases;
static int failed;

static void result(bool good, const char *what)
{
	printf("%s %u %s\n", good ? "ok" : "not ok", ++cases, what);
	failed |= !good;
}

/* Shows the most frequent errors. */
static void show_errors(struct count *sum)
{
	unsigned int i, error, most;

	for (i = 0; i < 4; i++) {
		most = 0;
		for (error = 1; error < ERRORS_MAX; error++)
			if (sum->errors[error] > sum->errors[most])
				most = error;
		if (most)
			printf(" %s %u", strerrorname_np(most), sum->errors[most]);
		sum->errors[most] = 0;
	}
}

static unsigned int set_bytes(const uint8_t *bytes, size_t size)
{
	unsigned int n = 0;

	while (size--)
		n += bytes[size];
	return n;
}

/*
 * Prints the counts of all operations. Returns false if an operation never succeeded. @cycles: CPU
 * cycles per microsecond.
 */
static bool show_counts(uint64_t cycles)
{
	bool all = true;
	unsigned int op;

	printf("# %-16s %10s %10s %10s  %s\n", "operation", "calls", "successes", "us each",
	       "errors");
	for (op = 0; op < nr_ops; op++) {
		struct count sum = total(op);

		printf("# %-16s %10llu %10llu %10llu ", ops[op].name,
		       (unsigned long long)sum.calls, (unsigned long long)sum.good,
		       (unsigned long long)(sum.calls ? sum.time / cycles / sum.calls : 0));
		show_errors(&sum);
		printf("\n");
		all &= has_succeeded(op);
	}
	return all;
}

static void show_run(time_t took)
{
	unsigned long long calls = 0, deaths = 0, execs = 0;
	unsigned int i;

	for (i = 0; i < nr_ops; i++)
		calls += total(i).calls;
	for (i = 0; i < shared->options.workers; i++) {
		deaths += shared->workers[i].restarts - 1;
		execs += shared->workers[i].execs;
	}
	printf("# calls: %llu in %lld s, seed %llu\n", calls, (long long)took,
	       (unsigned long long)shared->options.seed);
	printf("# workers that were killed: %llu; that executed themselves: %llu\n", deaths, execs);
	show_logs();
	printf("# coverage: %u points, %u steps, %u programs kept\n",
	       set_bytes(shared->points, sizeof(shared->points)),
	       set_bytes(shared->edges, sizeof(shared->edges)), shared->corpus_len);
}

/* Runs one thread of one worker. Its choices depend only on the seed. */
static uint64_t digest_of_run(void)
{
	const struct options options = shared->options;
	uint64_t digest;

	memset(shared->workers, 0, sizeof(shared->workers));
	memset(shared->arenas, 0, sizeof(shared->arenas));
	memset(shared->logs, 0, sizeof(shared->logs));
	shared->options.workers = 1;
	shared->options.threads = 1;
	shared->options.alone = true;
	shared->options.feedback = false;
	shared->options.calls = ALONE_CALLS;
	shared->options.seconds = 0;
	run_workers();
	digest = shared->workers[0].digest;
	printf("# one thread, %llu calls: %016llx\n", (unsigned long long)shared->calls,
	       (unsigned long long)digest);
	memset(shared->workers, 0, sizeof(shared->workers));
	shared->options = options;
	return digest;
}

/* ------------------------------------------------------------------ */

/*
 * Opens shared files at descriptor numbers that no call of a worker uses. Programs that workers
 * execute inherit them.
 */
static void open_shared(void)
{
	int fd = memfd_create("uapi_fuzz", 0), pair[2], i;

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, SHARED_FD) < 0)
		exit(1);
	close(fd);
	for (i = 0; i < PIPES; i++) {
		if (pipe(pair) || dup2(pair[1], PIPE_FD + i) < 0)
			exit(1);
		close(pair[1]);
		readers[i] = fcntl(pair[0], F_DUPFD_CLOEXEC, PIPE_FD + 2 * PIPES);
		fcntl(readers[i], F_SETFL, O_NONBLOCK);
		close(pair[0]);
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || dup2(pair[0], PIPE_FD + PIPES) < 0 ||
	    dup2(pair[1], PIPE_FD + PIPES + 1) < 0)
		exit(1);
	close(pair[0]);
	close(pair[1]);
	map_shared(SHARED_FD);
}

static void parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "calls", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 'r' },
		{ "workers", required_argument, NULL, 'w' },
		{ "threads", required_argument, NULL, 't' },
		{ "print", no_argument, NULL, 'p' },
		{ "no-coverage", no_argument, NULL, 'n' },
		{ }
	};
	struct options *options = &shared->options;
	int option;

	options->seconds = 60;
	options->seed = time(NULL);
	options->workers = 4;
	options->threads = 2;
	options->feedback = !access("/sys/kernel/debug/kcov", R_OK);
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		unsigned long long value = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (option) {
		case 's':
			options->seconds = value;
			break;
		case 'c':
			options->calls = value;
			break;
		case 'r':
			options->seed = value;
			break;
		case 'w':
			options->workers = value < WORKERS_MAX ? value : WORKERS_MAX;
			break;
		case 't':
			options->threads = value < THREADS_MAX ? value : THREADS_MAX;
			break;
		case 'p':
			options->print = true;
			break;
		case 'n':
			options->feedback = false;
			break;
		default:
			fprintf(stderr, "usage: uapi_fuzz [--seconds N] [--calls N] [--seed N]\n"
				"\t[--workers N] [--threads N] [--print] [--no-coverage]\n");
			exit(2);
		}
	}
	if (!options->workers || !options->threads)
		exit(2);
}

int main(int argc, char **argv)
{
	uint64_t digest, cycles;
	time_t start;

	if (argc == 4 && (!strcmp(argv[1], "worker") || !strcmp(argv[1], "short"))) {
		map_shared(SHARED_FD);
		return (argv[1][0] == 'w' ? worker_main : short_main)
			(strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	}
	/* The same seed must also give the same addresses, so turn off their randomization. */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(ADDR_NO_RANDOMIZE);
		execv("/proc/self/exe", argv);
	}
	open_shared();
	parse_options(argc, argv);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("TAP version 13\n1..%u\n", 5 + shared->options.feedback);
	digest = digest_of_run();
	result(digest == digest_of_run(), "the same seed makes the same calls");

	printf("# %u workers with %u threads each, seed %llu\n", shared->options.workers,
	       shared->options.threads, (unsigned long long)shared->options.seed);
	start = seconds();
	cycles = __builtin_ia32_rdtsc();
	run_workers();
	cycles = (__builtin_ia32_rdtsc() - cycles) / 1000000 / (seconds() - start ?: 1);
	show_run(seconds() - start);
	result(show_counts(cycles ?: 1), "every operation succeeds now and then");
	result(!hangs, "all calls return, and killed processes end");
	result(!log_threads, "threads that write logs end when their owners are gone");
	result(!crashes, "workers die by nothing but a kill");
	if (shared->options.feedback) {
		show_unreached();
		result(shared->corpus_len, "coverage is available");
	}
	return failed;
}
