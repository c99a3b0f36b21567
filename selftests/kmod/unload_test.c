// SPDX-License-Identifier: GPL-2.0
/*
 * The module is removed and inserted again while processes that have used it are alive, and while
 * they fork, execute programs and exit.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "pxt_test.h"
#include "module.h"
#include "process.h"
#include "race.h"
#include "uapi.h"

#define NAME	"handed down"

FIXTURE(unload)
{
};

FIXTURE_SETUP(unload)
{
	if (access(MODULE_FILE, R_OK))
		PXT_SKIP_IN_SETUP("no " MODULE_FILE ": use \"make check\"");
	ASSERT_EQ(0, module_refcount());
}

/* Inserts the module again, even after a failure: other programs need it. */
FIXTURE_TEARDOWN(unload)
{
	if (module_refcount() < 0)
		EXPECT_EQ(0, module_load());
}

TEST_F(unload, device_is_removed_and_restored)
{
	struct stat st;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, module_unload());
		EXPECT_EQ(-1, stat(DEVICE, &st));
		EXPECT_EQ(ENOENT, errno);
		ASSERT_EQ(0, module_load());
		ASSERT_EQ(0, stat(DEVICE, &st));
		EXPECT_EQ(0666 | S_IFCHR, st.st_mode);
	}
}

/* ------------------------------------------------------------------ */
/* Targets that outlive the module					*/

/* Attaches, opens an event type, and closes everything. Returns the id, or -1. */
static int attach_and_let_go(void)
{
	struct target target;
	int id;

	if (target_open(&target))
		return -1;
	id = eventid_open(target.fd, NAME);
	target_close(&target);
	return id;
}

/* Carries out requests, and reports the results. */
enum { LET_GO, FORK, EXEC, IS_GONE, RECORD };

static int execute_requests(void *arg, const struct talk *talk);

static int record(void)
{
	struct target target;
	int id, ret;

	if (target_open(&target))
		return -1;
	id = eventid_open(target.fd, NAME);
	ret = target_event(&target, id, &id, sizeof(id));
	target_close(&target);
	return ret ? -1 : id;
}

/* Forks a child that answers instead of this process, until the child ends. */
static int fork_and_wait(const struct talk *talk)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(execute_requests(NULL, talk));
	say(talk, pid);
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

#define TOLD_VARIABLE	"UNLOAD_TEST_TOLD"

/* Runs before the constructor of pxt_test.h, which needs a device. */
static void __attribute__((constructor(101))) executed(void)
{
	const char *text = getenv(TOLD_VARIABLE);
	struct talk talk;

	if (text && sscanf(text, "%d,%d", &talk.in, &talk.out) == 2) {
		say(&talk, 0);
		_exit(execute_requests(NULL, &talk));
	}
}

static int exec_and_continue(const struct talk *talk)
{
	char text[32];

	snprintf(text, sizeof(text), "%d,%d", talk->in, talk->out);
	setenv(TOLD_VARIABLE, text, 1);
	fcntl(talk->in, F_SETFD, 0);
	fcntl(talk->out, F_SETFD, 0);
	execl("/proc/self/exe", "told", NULL);
	return 1;
}

static int execute_requests(void *arg, const struct talk *talk)
{
	(void)arg;
	for (;;) {
		switch (hear(talk)) {
		case LET_GO:
			say(talk, attach_and_let_go());
			break;
		case FORK:
			return fork_and_wait(talk);
		case EXEC:
			return exec_and_continue(talk);
		case IS_GONE:
			say(talk, device_open());
			break;
		case RECORD:
			say(talk, record());
			break;
		default:
			return 0;
		}
	}
}

static long tell(struct child *child, long what)
{
	say(&child->talk, what);
	return hear(&child->talk);
}

/* The child attaches to the current module, and its event arrives. */
static void trace_again(struct __test_metadata *_metadata, struct child *child, pid_t pid)
{
	struct record event;
	struct stream stream;
	int data = 0;
	long id;

	create_init(&stream.arg, pid);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(1, stream_take(&stream, &event, NULL, 0));
	id = tell(child, RECORD);
	ASSERT_LT(0, id);
	EXPECT_EQ(id, eventid_open(stream.fd, NAME));
	ASSERT_EQ(1, stream_take(&stream, &event, &data, sizeof(data)));
	EXPECT_EQ(id, data);
	EXPECT_EQ(id, event.event_id);
	EXPECT_EQ(pid, event.pid);

	pid = tell(child, FORK);
	ASSERT_LT(0, pid);
	EXPECT_EQ(id, tell(child, RECORD));
	ASSERT_EQ(1, stream_take(&stream, &event, &data, sizeof(data)));
	EXPECT_EQ(pid, event.pid);
	stream_close(&stream);
}

TEST_F(unload, target_survives_and_works_with_the_next_module)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, execute_requests, NULL));
	ASSERT_LT(0, tell(&child, LET_GO));
	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(-ENOENT, tell(&child, IS_GONE));
	ASSERT_EQ(0, module_load());
	trace_again(_metadata, &child, child.pid);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(unload, child_with_shared_event_types_survives)
{
	struct child child;
	pid_t pid;

	ASSERT_EQ(0, child_start(&child, execute_requests, NULL));
	ASSERT_LT(0, tell(&child, LET_GO));
	pid = tell(&child, FORK);
	ASSERT_LT(0, pid);
	ASSERT_LT(0, tell(&child, LET_GO));
	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(-ENOENT, tell(&child, IS_GONE));
	/* Let that process fork once more. It is no longer a target, because its module is gone. */
	pid = tell(&child, FORK);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, module_load());
	trace_again(_metadata, &child, pid);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(unload, process_that_calls_exec_without_the_module_survives)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, execute_requests, NULL));
	ASSERT_LT(0, tell(&child, LET_GO));
	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(0, tell(&child, EXEC));
	ASSERT_EQ(0, module_load());
	trace_again(_metadata, &child, child.pid);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(unload, processes_that_end_without_the_module_are_forgotten)
{
	struct child child;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, child_start(&child, execute_requests, NULL));
		ASSERT_LT(0, tell(&child, LET_GO));
		ASSERT_LT(0, tell(&child, FORK));
		/* Once the child answers, it has started and inherited. */
		ASSERT_LT(0, tell(&child, LET_GO));
		ASSERT_EQ(0, module_unload());
		if (i == 1)
			child_kill(&child);
		else
			EXPECT_EQ(0, child_wait(&child));
		ASSERT_EQ(0, module_load());
	}
}

/* Older processes have the old numbers in their memory, so the next module must not reuse them. */
TEST_F(unload, numbers_do_not_restart)
{
	unsigned long long number[2], generation[2];
	struct stream stream;
	struct target target;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, target_open(&target));
		create_init(&stream.arg, 0);
		ASSERT_EQ(0, stream_open(&stream));
		number[i] = target.arg.target;
		generation[i] = target.gate->generation;
		stream_close(&stream);
		target_close(&target);
		ASSERT_EQ(0, module_unload());
		ASSERT_EQ(0, module_load());
	}
	EXPECT_LT(0, generation[0]);
	EXPECT_LT(number[0], number[1]);
	EXPECT_LT(generation[0], generation[1]);
}

/* ------------------------------------------------------------------ */
/* A storm								*/

#define STORMERS	2
#define SECONDS		10
#define ROUNDS_MIN	10

static struct {
	int stop;
	int failed;
	int attached[STORMERS];
	int refused[STORMERS];
	int forked[STORMERS];
	int executed[STORMERS];
} *storm;

static void *open_and_close(void *unused)
{
	int fd = device_open();

	if (fd >= 0)
		close(fd);
	return unused;
}

/* Starts and ends a process in one of several ways. */
static int start_and_end(int n)
{
	pthread_t thread;

	switch (n % 4) {
	case 0:
		_exit(0);
	case 1:
		execl("/bin/true", "true", NULL);
		_exit(1);
	case 2:
		/* Attach if the module is there, and end by a signal. */
		open_and_close(NULL);
		attach_and_let_go();
		kill(getpid(), SIGKILL);
		_exit(2);
	default:
		if (pthread_create(&thread, NULL, open_and_close, NULL))
			_exit(3);
		/* The thread may still run. */
		_exit(0);
	}
}

/* Uses the module while it may be absent, or in the middle of its start or end. */
static int use_module(int me)
{
	struct posixtrace_attach attach = { .flags = 0 };
	struct posixtrace_create create;
	int stream_fd = -1, fd = device_open(), ret = 0;

	if (fd < 0) {
		storm->refused[me]++;
		return fd == -ENOENT || fd == -ENODEV || fd == -ENXIO ? 0 : fd;
	}
	storm->attached[me]++;
	if (command(fd, POSIXTRACE_IOC_ATTACH, &attach) || eventid_open(fd, NAME) < 0) {
		ret = -1;
		goto close;
	}
	/* The first file holds the module, so the device can be opened a second time. */
	stream_fd = device_open();
	create_init(&create, 0);
	create.attr.inherited = POSIXTRACE_INHERITED;
	if (stream_fd < 0 || command(stream_fd, POSIXTRACE_IOC_CREATE, &create))
		ret = -2;
	/* Fork a child that inherits everything. */
	if (!ret && storm->attached[me] % 4 == 0 && fork() == 0)
		_exit(0);
	if (stream_fd >= 0)
		close(stream_fd);
close:
	close(fd);
	return ret;
}

static int rage(int me)
{
	int ret, status;
	pid_t pid;

	for (int n = 0; !LOAD(storm->stop); n += 2) {
		ret = use_module(me);
		if (ret)
			return 1;
		for (int i = 0; i < 2; i++) {
			pid = fork();
			if (pid == 0)
				start_and_end(n + i);
			if (pid < 0 || waitpid(pid, &status, 0) != pid)
				return 2;
			if (status && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL))
				return 3;
			storm->forked[me]++;
			storm->executed[me] += (n + i) % 4 == 1;
		}
		while (waitpid(-1, &status, WNOHANG) > 0)
			;
	}
	return 0;
}

static int be_storm(void *arg, const struct talk *talk)
{
	int ret = rage(*(int *)arg);

	(void)talk;
	if (ret)
		__atomic_store_n(&storm->failed, ret, __ATOMIC_RELEASE);
	return ret;
}

/* Waits until each process of the storm has become a target of the current module. */
static void await_storm(void)
{
	int before[STORMERS];

	for (int i = 0; i < STORMERS; i++)
		before[i] = LOAD(storm->attached[i]);
	for (int i = 0; i < STORMERS; i++) {
		while (LOAD(storm->attached[i]) - before[i] < 1 && !LOAD(storm->failed))
			sched_yield();
	}
}

TEST_F_TIMEOUT(unload, races_with_forks_execs_and_ends, 600)
{
	int number[STORMERS], refused = 0, err;
	struct race race;
	struct child child[STORMERS];

	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)storm);
	for (int i = 0; i < STORMERS; i++) {
		number[i] = i;
		ASSERT_EQ(0, child_start(&child[i], be_storm, &number[i]));
	}
	race = race_begin(SECONDS, ROUNDS_MIN);
	while (!LOAD(storm->failed) && race_continues(&race)) {
		await_storm();
		while ((err = module_unload()) == -EWOULDBLOCK) {
			refused++;
			sched_yield();
		}
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, module_load());
	}
	__atomic_store_n(&storm->stop, 1, __ATOMIC_RELEASE);
	for (int i = STORMERS - 1; i >= 0; i--)
		EXPECT_EQ(0, child_wait(&child[i]));
	TH_LOG("unloaded %d times, refused %d times", race.rounds, refused);
	for (int i = 0; i < STORMERS; i++) {
		TH_LOG("attached %d, no device %d, forked %d, executed %d", storm->attached[i],
		       storm->refused[i], storm->forked[i], storm->executed[i]);
		/*
		 * Each process must have found the module both present and absent. Otherwise there
		 * was no race.
		 */
		EXPECT_LT(0, storm->attached[i]);
		EXPECT_LT(0, storm->refused[i]);
	}
	EXPECT_EQ(0, module_refcount());
}

TEST_HARNESS_MAIN
