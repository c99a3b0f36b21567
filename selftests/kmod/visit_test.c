// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE opens the gate while a thread is in a page fault of the shut gate, or in a command. A test
 * module, pxt_hold.ko, holds the thread there.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define HOLD		"pxt_hold"
/*
 * CREATE itself takes less than this time. It waits for a thread for more than twice this time
 * (VISIT_MS).
 */
#define HOLD_MS		150

/* Shared by both processes. */
static struct {
	int tid;
	int loaded;
	int created;
	unsigned long long seen;
} *scene;

static struct target target;

static unsigned long long look(void)
{
	return LOAD(target.gate->generation);
}

static int load_hold(pid_t tid)
{
	int fd = open("/run/vm/" HOLD ".ko", O_RDONLY | O_CLOEXEC);
	char params[100];
	int err;

	if (fd < 0)
		return -errno;
	snprintf(params, sizeof(params), "tid=%d address=%lu hold_ms=%d", tid,
		 (unsigned long)target.gate, HOLD_MS);
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

static int unload_hold(void)
{
	return syscall(SYS_delete_module, HOLD, O_NONBLOCK) ? -errno : 0;
}

/* Returns how often the thread was held so far, including now. */
static int held(void)
{
	char text[16] = "";
	int fd = open("/sys/module/" HOLD "/parameters/held", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	return atoi(text);
}

static void *visit(void *arg)
{
	__atomic_store_n(&scene->tid, gettid(), __ATOMIC_RELEASE);
	while (!LOAD(scene->loaded))
		sched_yield();
	look();
	return arg;
}

/* Looks at the gate after CREATE, when the visitor, another thread, has mapped its page. */
static int be_visited(void *arg, const struct talk *talk)
{
	pthread_t visitor;

	(void)arg;
	if (target_map(&target) || pthread_create(&visitor, NULL, visit, NULL))
		return 1;
	while (!LOAD(scene->tid))
		sched_yield();
	if (load_hold(scene->tid))
		return 2;
	say(talk, 0);
	__atomic_store_n(&scene->loaded, 1, __ATOMIC_RELEASE);
	while (!LOAD(scene->created) || held() < 2)
		sched_yield();
	scene->seen = look();
	pthread_join(visitor, NULL);
	return unload_hold() ? 3 : 0;
}

TEST(create_waits_for_page_faults_of_the_shut_gate)
{
	struct stream stream;
	struct child child;

	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, scene);
	ASSERT_EQ(0, child_start(&child, be_visited, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	while (held() < 1)
		sched_yield();
	create_init(&stream.arg, child.pid);
	ASSERT_EQ(0, stream_open(&stream));
	__atomic_store_n(&scene->created, 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
	EXPECT_NE(0, scene->seen);
	stream_close(&stream);
}

static int record_once(void *arg, const struct talk *talk)
{
	(void)arg;
	if (target_open(&target))
		return 1;
	if (load_hold(gettid()))
		return 2;
	say(talk, 0);
	if (target_event(&target, POSIXTRACE_ID_UNNAMED, "early", 6))
		return 3;
	if (held() != 1)
		return 4;
	return unload_hold() ? 5 : 0;
}

TEST(command_does_not_fail_because_create_opens_the_gate_meanwhile)
{
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, child_start(&child, record_once, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	while (held() < 1)
		sched_yield();
	create_init(&stream.arg, child.pid);
	ASSERT_EQ(0, stream_open(&stream));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
	stream_close(&stream);
}

TEST_HARNESS_MAIN
