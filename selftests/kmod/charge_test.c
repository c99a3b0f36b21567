// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the module allocates during a command is charged to the memory cgroup of the process.
 * Otherwise a process could keep such memory as long as it likes, by stalling in a page fault.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "memgroup.h"
#include "process.h"
#include "uapi.h"

#define THREADS		32
#define DATA_SIZE	60000

static struct {
	struct target target;
	void *data;		/* each access to it faults and waits */
	pthread_barrier_t begin;
	struct burner {
		int tid;
		int begun;
	} thread[THREADS];
} blocked;

static void *event_that_stops(void *arg)
{
	struct burner *thread = arg;

	__atomic_store_n(&thread->tid, gettid(), __ATOMIC_RELEASE);
	pthread_barrier_wait(&blocked.begin);
	__atomic_store_n(&thread->begun, 1, __ATOMIC_RELEASE);
	target_event(&blocked.target, POSIXTRACE_ID_UNNAMED, blocked.data, DATA_SIZE);
	return NULL;
}

/* Maps memory with page faults that are never served. Returns 0 or negative errno. */
static int map_data(void)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	blocked.data = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	range.range.start = (uintptr_t)blocked.data;
	range.range.len = 1 << 16;
	return uffd < 0 || blocked.data == MAP_FAILED || ioctl(uffd, UFFDIO_API, &api) ||
	       ioctl(uffd, UFFDIO_REGISTER, &range) ? -errno : 0;
}

static int stop_in_events(void *unused, const struct talk *talk)
{
	pthread_t thread[THREADS];
	struct stream stream;
	int i, err;

	(void)unused;
	err = memgroup_enter();
	stream.fd = device_open();
	create_init(&stream.arg, getpid());
	stream.arg.attr.stream_size = 8 << 20;
	stream.arg.attr.max_data_size = DATA_SIZE;
	if (!err)
		err = stream_open(&stream);
	if (!err)
		err = stream_start(&stream);
	if (!err)
		err = target_open(&blocked.target);
	if (!err)
		err = map_data();
	pthread_barrier_init(&blocked.begin, NULL, THREADS + 1);
	for (i = 0; i < THREADS && !err; i++)
		err = -pthread_create(&thread[i], NULL, event_that_stops, &blocked.thread[i]);
	for (i = 0; i < THREADS && !err; i++)
		falls_asleep(&blocked.thread[i].tid, NULL);
	say(talk, err);
	hear(talk);
	pthread_barrier_wait(&blocked.begin);
	for (i = 0; i < THREADS; i++) {
		while (!LOAD(blocked.thread[i].begun) || !is_asleep(blocked.thread[i].tid))
			sched_yield();
	}
	say(talk, 0);
	return hear(talk);
}

TEST(data_of_an_event_is_charged_while_it_is_copied)
{
	struct child child;
	long before;

	ASSERT_EQ(0, memgroup_begin("max"));
	ASSERT_EQ(0, child_start(&child, stop_in_events, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	before = memgroup_current();
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	/*
	 * Expect only half of it, because each processor has a stock of memory that was charged in
	 * advance.
	 */
	EXPECT_LE(before + THREADS * DATA_SIZE / 2, memgroup_current());
	EXPECT_EQ(SIGKILL, child_kill(&child));
	EXPECT_EQ(0, memgroup_end());
}

TEST_HARNESS_MAIN
