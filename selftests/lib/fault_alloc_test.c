// SPDX-License-Identifier: GPL-2.0
/*
 * The library when memory allocation, or copying by the kernel, fails. Each operation is repeated
 * in new processes: the first allocation fails, then the second, and so on until the operation
 * succeeds.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "fault.h"
#include "family.h"
#include "reading.h"
#include "withlog.h"

/*
 * For the process of an operation: if the condition is false, returns the line number from the
 * function.
 */
#define MUST(condition) do {			\
	if (!(condition))			\
		return __LINE__;		\
} while (0)

#define EVENTS	10

struct world {
	struct fault fault;
	trace_id_t trid;
	trace_id_t log;
	trace_event_id_t type;
	int fd;
	int descriptors;
};

/* An operation. Its functions return the result of the library: 0 or an error number. */
struct op {
	bool sequences;		/* keep the library's restartable sequences */
	bool once;		/* do not repeat it after a failure */
	bool attaches;		/* the operation attaches the process, and so keeps a descriptor */
	int (*prepare)(struct world *world);
	int (*run)(struct world *world);
	int (*check)(struct world *world);
};

struct outcome {
	bool armed;
	bool failed;
	int ret;
	int line;
};

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* ------------------------------------------------------------------ */

static int run_create(struct world *world)
{
	return new_family_stream(0, POSIX_TRACE_INHERITED, 64 << 10, POSIX_TRACE_LOOP,
				 &world->trid);
}

static int new_one(struct world *world)
{
	MUST(!run_create(world));
	MUST(!posix_trace_start(world->trid));
	return 0;
}

/*
 * Records until an event arrives. After a failure, the library pauses for some milliseconds. It may
 * drop events during the pause, but not later.
 */
static int records(struct world *world, trace_event_id_t type)
{
	unsigned long long end = now() + 10 * NSEC * pxt_time_scale();
	struct event event;
	int number = 0;

	do {
		MUST(now() < end);
		record_as(type, ++number);
	} while (take_user(world->trid, &event) != 1);
	MUST(event.info.posix_event_id == type);
	MUST(event_number(&event) == number);
	return 0;
}

static int ends(struct world *world)
{
	MUST(!posix_trace_stop(world->trid));
	MUST(!posix_trace_shutdown(world->trid));
	MUST(posix_trace_shutdown(world->trid) == EINVAL);
	return 0;
}

static int check_create(struct world *world)
{
	int line;

	MUST(!posix_trace_start(world->trid));
	line = records(world, POSIX_TRACE_UNNAMED_USEREVENT);
	return line ? line : ends(world);
}

static int run_start(struct world *world)
{
	return posix_trace_start(world->trid);
}

/* Attaches the process. This must not return an error, and must preserve errno. */
static int run_event(struct world *world)
{
	(void)world;
	errno = 4711;
	record_plain(-1);
	return errno == 4711 ? 0 : errno;
}

/* The first event was recorded or lost. */
static int check_event(struct world *world)
{
	struct event event;
	int ret = take_user(world->trid, &event), line;

	MUST(ret >= 0);
	MUST(!ret || event_number(&event) == -1);
	line = records(world, POSIX_TRACE_UNNAMED_USEREVENT);
	return line ? line : ends(world);
}

static int run_eventid(struct world *world)
{
	return posix_trace_eventid_open("fault", &world->type);
}

static int check_eventid(struct world *world)
{
	trace_event_id_t again;
	int line;

	MUST(!posix_trace_trid_eventid_open(world->trid, "fault", &again));
	MUST(again == world->type);
	line = records(world, world->type);
	return line ? line : ends(world);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

static int prepare_file(struct world *world)
{
	world->fd = log_tmpfile();
	MUST(world->fd >= 0);
	return 0;
}

static int run_create_log(struct world *world)
{
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND))
		return -1;
	return posix_trace_create_withlog(0, &attr, world->fd, &world->trid);
}

/* Opens the log and reads it to its end. It must have exactly that many events. */
static int log_has(struct world *world, int events)
{
	struct posix_trace_status_info status;
	struct event event;
	int found = 0;

	MUST(!posix_trace_get_status(world->log, &status));
	MUST(status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN);
	MUST(status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN);
	for (;;) {
		MUST(!read_next(world->log, &event, sizeof(event.data)));
		if (event.unavailable)
			break;
		MUST(event.info.posix_event_id != POSIX_TRACE_ERROR);
		if (event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
			MUST(event_number(&event) == found++);
	}
	MUST(found == events);
	MUST(!posix_trace_close(world->log));
	return 0;
}

static int fill_log(struct world *world)
{
	int line = prepare_file(world);

	if (line)
		return line;
	MUST(!run_create_log(world));
	MUST(!posix_trace_start(world->trid));
	for (int i = 0; i < EVENTS; i++)
		record_plain(i);
	return 0;
}

static int end_log(struct world *world)
{
	MUST(!posix_trace_shutdown(world->trid));
	MUST(!posix_trace_open(world->fd, &world->log));
	return log_has(world, EVENTS);
}

static int check_create_log(struct world *world)
{
	MUST(!posix_trace_start(world->trid));
	for (int i = 0; i < EVENTS; i++)
		record_plain(i);
	return end_log(world);
}

static int run_flush(struct world *world)
{
	return posix_trace_flush(world->trid);
}

static int run_shutdown(struct world *world)
{
	return posix_trace_shutdown(world->trid);
}

/* Whether or not the shutdown returned an error, the stream must be gone and the log complete. */
static int check_shutdown(struct world *world)
{
	MUST(posix_trace_start(world->trid) == EINVAL);
	MUST(!posix_trace_open(world->fd, &world->log));
	return log_has(world, EVENTS);
}

static int prepare_log(struct world *world)
{
	int line = fill_log(world);

	if (line)
		return line;
	MUST(!posix_trace_shutdown(world->trid));
	return 0;
}

static int run_open(struct world *world)
{
	return posix_trace_open(world->fd, &world->log);
}

static int check_open(struct world *world)
{
	return log_has(world, EVENTS);
}

/* ------------------------------------------------------------------ */

static void leave_sequences(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size && syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		abort();
}

/*
 * Handles SIGSEGV. If the kernel has sent it, it could not read the descriptor of a sequence: the
 * process is killed. A fault of the program itself is an error.
 */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != SI_KERNEL)
		_exit(1);
	/* The signal is blocked here, so it arrives when the handler returns. */
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	raise(signal);
}

static int try_one(const struct op *op, int n, struct outcome *outcome)
{
	struct world world = { .fd = -1 };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int line;

	sigaction(SIGSEGV, &action, NULL);
	if (!op->sequences)
		leave_sequences();
	MUST(!fault_open(&world.fault));
	line = op->prepare ? op->prepare(&world) : 0;
	if (line)
		return line;
	world.descriptors = descriptors();
	outcome->armed = true;
	fault_arm(&world.fault, n);
	outcome->ret = op->run(&world);
	outcome->failed = fault_disarm(&world.fault);
	outcome->armed = false;
	if (outcome->ret) {
		MUST(outcome->failed);
		MUST(outcome->ret == ENOMEM || outcome->ret == EFAULT);
		MUST(descriptors() - world.descriptors <= op->attaches);
		MUST(op->once || !op->run(&world));
	}
	return op->check(&world);
}

static bool is_well(int status, const struct outcome *outcome)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		return outcome->armed;
	return !status && !outcome->line;
}

static void fail_each(struct __test_metadata *_metadata, const struct op *op)
{
	struct outcome *outcome = share(sizeof(*outcome));
	int n = 0, errors = 0, status;
	pid_t pid;

	ASSERT_NE(NULL, outcome);
	do {
		*outcome = (struct outcome){ .failed = true };
		n = fault_after(n);
		pid = fork();
		if (pid == 0) {
			outcome->line = try_one(op, n, outcome);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!is_well(status, outcome)) {
			TH_LOG("failure %d: returned %d, status %#x, line %d", n, outcome->ret,
			       status, outcome->line);
			errors++;
		}
	} while (outcome->failed && errors < 5 && n < FAULT_MAX);
	EXPECT_EQ(0, errors);
	EXPECT_LT(1, n);
	EXPECT_GT(FAULT_MAX, n);
}

FIXTURE(op)
{
	bool skip;
};

FIXTURE_VARIANT(op)
{
	struct op op;
};

FIXTURE_VARIANT_ADD(op, create) {
	.op = {
		.run = run_create, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, start) {
	.op = {
		.prepare = run_create, .run = run_start, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, first_event) {
	.op = {
		.prepare = new_one, .run = run_event, .check = check_event,
	},
};

FIXTURE_VARIANT_ADD(op, first_event_with_sequences) {
	.op = {
		.sequences = true, .prepare = new_one, .run = run_event, .check = check_event,
	},
};

FIXTURE_VARIANT_ADD(op, eventid_open) {
	.op = {
		.attaches = true, .prepare = new_one, .run = run_eventid,
		.check = check_eventid,
	},
};

FIXTURE_VARIANT_ADD(op, create_withlog) {
	.op = {
		.prepare = prepare_file, .run = run_create_log, .check = check_create_log,
	},
};

FIXTURE_VARIANT_ADD(op, flush) {
	.op = {
		.prepare = fill_log, .run = run_flush, .check = end_log,
	},
};

FIXTURE_VARIANT_ADD(op, shutdown) {
	.op = {
		.once = true, .prepare = fill_log, .run = run_shutdown,
		.check = check_shutdown,
	},
};

FIXTURE_VARIANT_ADD(op, open) {
	.op = {
		.prepare = prepare_log, .run = run_open, .check = check_open,
	},
};

FIXTURE_SETUP(op)
{
	self->skip = !fault_possible();
	if (!self->skip)
		ASSERT_EQ(0, fault_setup());
}

FIXTURE_TEARDOWN(op)
{
}

TEST_F(op, fails_or_succeeds_and_succeeds_the_next_time)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	fail_each(_metadata, &variant->op);
}

TEST_HARNESS_MAIN
