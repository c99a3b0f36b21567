// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE for another process: valid process ids, states of the process, and recorded ids.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

/* Returns the result of CREATE, and ends the stream. */
static int create_for(pid_t pid)
{
	struct stream stream;
	int ret = stream_create(&stream, pid);

	if (!ret)
		stream_close(&stream);
	return ret;
}

/* ------------------------------------------------------------------ */
/* States of the process						*/

/* Attaches if requested, then records each number it receives. */
static int record_numbers(void *arg, const struct talk *talk)
{
	struct target target = { .fd = -1 };
	long number;

	if (*(int *)arg && target_open(&target))
		return 1;
	say(talk, gettid());
	while ((number = hear(talk)) != -EPIPE) {
		if (target.fd < 0 && target_open(&target))
			return 2;
		if (target_event(&target, POSIXTRACE_ID_UNNAMED, &number, sizeof(number)))
			return 3;
		say(talk, number);
	}
	return 0;
}

static int take_number(struct stream *stream, struct record *record)
{
	long number = -1;

	do {
		if (stream_take(stream, record, &number, sizeof(number)) != 1)
			return -1;
	} while (record->event_id < POSIXTRACE_ID_UNNAMED);
	return number;
}

FIXTURE(state)
{
	struct child child;
};

FIXTURE_VARIANT(state)
{
	int attached;
};

FIXTURE_VARIANT_ADD(state, not_attached) { 0 };
FIXTURE_VARIANT_ADD(state, attached) { 1 };

FIXTURE_SETUP(state)
{
	ASSERT_EQ(0, child_start(&self->child, record_numbers, (void *)&variant->attached));
	ASSERT_EQ(self->child.pid, hear(&self->child.talk));
}

FIXTURE_TEARDOWN(state)
{
}

TEST_F(state, process_is_traced_from_now_on)
{
	struct record record;
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, self->child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	for (int i = 1; i < 4; i++) {
		say(&self->child.talk, i);
		ASSERT_EQ(i, hear(&self->child.talk));
		ASSERT_EQ(i, take_number(&stream, &record));
		EXPECT_EQ(self->child.pid, record.pid);
		EXPECT_EQ(self->child.pid, record.tid);
	}
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_F(state, esrch_for_a_zombie)
{
	kill(self->child.pid, SIGKILL);
	while (!is_zombie(self->child.pid))
		sched_yield();
	EXPECT_EQ(-ESRCH, create_for(self->child.pid));
	child_wait(&self->child);
	EXPECT_EQ(-ESRCH, create_for(self->child.pid));
}

/* ------------------------------------------------------------------ */
/* Threads								*/

#define THREADS	4

static const struct talk *thread_talk;
static pthread_barrier_t thread_barrier;

static void *report_tid(void *unused)
{
	(void)unused;
	say(thread_talk, gettid());
	pthread_barrier_wait(&thread_barrier);
	return NULL;
}

static int have_threads(void *arg, const struct talk *talk)
{
	pthread_t thread[THREADS];

	thread_talk = talk;
	pthread_barrier_init(&thread_barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, report_tid, NULL))
			return 1;
	}
	if (arg)
		say(talk, create_for(getpid()));
	hear(talk);
	pthread_barrier_wait(&thread_barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

TEST(esrch_for_a_thread)
{
	struct child child;
	long tid;

	ASSERT_EQ(0, child_start(&child, have_threads, NULL));
	for (int i = 0; i < THREADS; i++) {
		tid = hear(&child.talk);
		ASSERT_LT(0, tid);
		EXPECT_NE(child.pid, tid);
		EXPECT_EQ(-ESRCH, create_for(tid));
	}
	EXPECT_EQ(0, create_for(child.pid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

static void *create_for_me(void *result)
{
	int *ret = result;

	ret[0] = create_for(gettid());
	ret[1] = create_for(getpid());
	ret[2] = create_for(0);
	return NULL;
}

TEST(esrch_for_a_thread_of_the_caller)
{
	pthread_t thread;
	int ret[3];

	ASSERT_EQ(0, pthread_create(&thread, NULL, create_for_me, ret));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-ESRCH, ret[0]);
	EXPECT_EQ(0, ret[1]);
	EXPECT_EQ(0, ret[2]);
}

struct survivor {
	const struct talk *talk;
	int attached;
};

static void *survive(void *arg)
{
	struct survivor *survivor = arg;

	/*
	 * This thread may send its answer before the main thread has ended. The test waits for
	 * that.
	 */
	_exit(record_numbers(&survivor->attached, survivor->talk));
}

static int end_main_thread(void *arg, const struct talk *talk)
{
	static struct survivor survivor;
	static struct talk copy;
	pthread_t thread;

	copy = *talk;
	survivor = (struct survivor){ &copy, *(int *)arg };
	if (pthread_create(&thread, NULL, survive, &survivor))
		return 1;
	/* pthread_exit() would load libgcc_s, which a guest may not have. */
	syscall(SYS_exit, 0);
	return 2;
}

static void trace_survivor(struct __test_metadata *_metadata, int attached)
{
	struct record record;
	struct stream stream;
	struct child child;
	long tid;

	ASSERT_EQ(0, child_start(&child, end_main_thread, &attached));
	tid = hear(&child.talk);
	ASSERT_LT(0, tid);
	while (!is_zombie(child.pid))
		sched_yield();
	EXPECT_EQ(-ESRCH, create_for(tid));
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 7);
	ASSERT_EQ(7, hear(&child.talk));
	EXPECT_EQ(7, take_number(&stream, &record));
	EXPECT_EQ(child.pid, record.pid);
	EXPECT_EQ(tid, record.tid);
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&child));
}

TEST(process_survives_its_main_thread)
{
	trace_survivor(_metadata, 1);
}

TEST(process_without_its_main_thread_attaches_later)
{
	trace_survivor(_metadata, 0);
}

/* ------------------------------------------------------------------ */
/* Process ids								*/

static int is_kernel_thread(pid_t pid)
{
	char path[64], word[64];
	FILE *file;
	int n;

	/* A kernel thread has no program, so the file is empty. */
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(word, 1, sizeof(word), file);
	fclose(file);
	return n == 0 && !is_zombie(pid);
}

TEST(kernel_thread_is_not_traced)
{
	/* On every kernel, this is the id of kthreadd. */
	ASSERT_TRUE(is_kernel_thread(2));
	EXPECT_EQ(-EPERM, create_for(2));
	for (pid_t pid = 3; pid < 20; pid++) {
		if (is_kernel_thread(pid))
			EXPECT_EQ(-EPERM, create_for(pid));
	}
}

TEST(numbers_without_a_process)
{
	EXPECT_EQ(-ESRCH, create_for(-1));
	EXPECT_EQ(-ESRCH, create_for(-getpid()));
	EXPECT_EQ(-ESRCH, create_for(0x7fffffff));
	EXPECT_EQ(-ESRCH, create_for(-0x7fffffff - 1));
}

/* ------------------------------------------------------------------ */
/* PID namespaces							*/

/* The child with the highest id in this namespace. */
static pid_t last_child_of(pid_t parent)
{
	pid_t pid, ppid, last = -1;
	struct dirent *entry;
	char path[64], line[256], *rest;
	FILE *file;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "re");
		if (!file)
			continue;
		rest = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
		if (rest && sscanf(rest, ") %*c %d", &ppid) == 1 && ppid == parent && pid > last)
			last = pid;
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return last;
}

/* A function that runs as process 1 of a new namespace. */
struct inner {
	int (*fn)(void *arg, const struct talk *talk);
	void *arg;
};

static int be_outer_half(void *arg, const struct talk *talk)
{
	struct inner *inner = arg;
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(inner->fn(inner->arg, talk));
	/*
	 * Close the pipes to the test: only then does the test notice that the inner process has
	 * ended.
	 */
	close(talk->in);
	close(talk->out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 2;
	return status ? 3 : 0;
}

/* Returns the inner process's pid in the test's namespace once it has reported, or -1. */
static pid_t inner_start(struct child *child, struct inner *inner, long *said)
{
	if (child_start(child, be_outer_half, inner))
		return -1;
	*said = hear(&child->talk);
	return last_child_of(child->pid);
}

static int record_as_first(void *arg, const struct talk *talk)
{
	return getpid() == 1 ? record_numbers(arg, talk) : 4;
}

TEST(process_of_an_inner_namespace_has_its_outer_number)
{
	int attached[] = { 0, 1 };
	struct record record;
	struct stream stream;
	struct child child;
	pid_t pid;
	long tid;

	for (int i = 0; i < 2; i++) {
		struct inner inner = { record_as_first, &attached[i] };

		pid = inner_start(&child, &inner, &tid);
		ASSERT_LT(1, pid);
		EXPECT_EQ(1, tid);
		ASSERT_EQ(0, stream_create(&stream, pid));
		ASSERT_EQ(0, stream_start(&stream));
		say(&child.talk, 11);
		ASSERT_EQ(11, hear(&child.talk));
		EXPECT_EQ(11, take_number(&stream, &record));
		EXPECT_EQ(pid, record.pid);
		EXPECT_EQ(pid, record.tid);
		stream_close(&stream);
		EXPECT_EQ(0, child_wait(&child));
	}
}

/* For each number that it receives, reports the result of CREATE for that process. On 0, forks. */
static int create_inside(void *arg, const struct talk *talk)
{
	struct record record;
	struct stream stream;
	struct child child;
	long pid;
	int ret;

	say(talk, getpid());
	while ((pid = hear(talk)) != -EPIPE) {
		if (pid) {
			say(talk, create_for(pid));
			continue;
		}
		/* Traces a child from here, with ids of this namespace. */
		if (child_start(&child, record_numbers, arg) || hear(&child.talk) != child.pid)
			return 5;
		ret = stream_create(&stream, child.pid);
		if (ret || stream_start(&stream))
			return 6;
		say(&child.talk, 5);
		if (hear(&child.talk) != 5 || take_number(&stream, &record) != 5)
			return 7;
		if (record.pid != child.pid || record.tid != child.pid)
			return 8;
		stream_close(&stream);
		if (child_wait(&child))
			return 9;
		say(talk, child.pid);
	}
	return 0;
}

TEST(only_visible_processes_are_found)
{
	int attached = 0;
	struct inner inner = { create_inside, &attached };
	struct child child, outside;
	pid_t pid;
	long said;

	/* An id that does not exist in the inner namespace. */
	ASSERT_EQ(0, child_start(&outside, child_idle, NULL));
	ASSERT_EQ(0, hear(&outside.talk));
	ASSERT_LT(10, outside.pid);
	pid = inner_start(&child, &inner, &said);
	ASSERT_LT(1, pid);
	ASSERT_EQ(1, said);

	say(&child.talk, 1);
	EXPECT_EQ(0, hear(&child.talk));
	say(&child.talk, outside.pid);
	EXPECT_EQ(-ESRCH, hear(&child.talk));
	say(&child.talk, getpid());
	EXPECT_EQ(-ESRCH, hear(&child.talk));
	/* The inner process does not find itself by its id in the test's namespace. */
	say(&child.talk, pid);
	EXPECT_EQ(-ESRCH, hear(&child.talk));
	say(&child.talk, 0);
	said = hear(&child.talk);
	EXPECT_LT(1, said);
	/* The test finds the inner process by that id. */
	EXPECT_EQ(0, create_for(pid));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, child_wait(&outside));
}

static int record_once(void *arg, const struct talk *talk)
{
	long number = *(long *)arg;
	struct target target;

	if (target_open(&target) || target_sync(&target))
		return 1;
	if (target_event(&target, POSIXTRACE_ID_UNNAMED, &number, sizeof(number)))
		return 2;
	/* The id that the library would write. The kernel must write the right one. */
	say(talk, target.slots[0].pid);
	hear(talk);
	return 0;
}

/* Attaches, is traced, and reports; then forks a child one namespace deeper. */
static int fork_inwards(void *arg, const struct talk *talk)
{
	struct target target;
	struct child child;
	long number = 21, said;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, getpid());
	while (hear(talk) != -EPIPE) {
		if (unshare(CLONE_NEWPID) || child_start(&child, record_once, &number))
			return 2;
		said = hear(&child.talk);
		/* The test checks the child's id while the child lives. */
		say(talk, said);
		hear(talk);
		if (child_wait(&child))
			return 3;
		say(talk, 0);
		return 0;
	}
	return 4;
}

TEST(inherited_child_in_an_inner_namespace_has_the_id_that_the_controller_sees)
{
	struct inner inner = { fork_inwards, NULL };
	struct record record;
	struct stream stream;
	struct child child;
	pid_t pid, grandchild;
	long said;

	pid = inner_start(&child, &inner, &said);
	ASSERT_LT(1, pid);
	ASSERT_EQ(1, said);
	create_init(&stream.arg, pid);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 0);
	said = hear(&child.talk);
	grandchild = last_child_of(pid);
	ASSERT_LT(pid, grandchild);
	EXPECT_EQ(grandchild, said);
	EXPECT_EQ(21, take_number(&stream, &record));
	EXPECT_EQ(grandchild, record.pid);
	EXPECT_EQ(grandchild, record.tid);
	say(&child.talk, 0);
	EXPECT_EQ(0, hear(&child.talk));
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
