// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with kernel events, tested with commands of the device: refusals, the cost of memory, who
 * may map it, unloading, and CPU hotplug.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "credentials.h"
#include "hotplug.h"
#include "module.h"
#include "process.h"
#include "uapi.h"

#define CLASSES	(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS)

FIXTURE(kernel)
{
	struct stream plain;
	struct stream stream;
};

FIXTURE_SETUP(kernel)
{
	create_init(&self->plain.arg, 0);
	create_init(&self->stream.arg, 0);
	self->stream.arg.attr.classes = CLASSES;
	self->plain.fd = -1;
	self->stream.fd = -1;
}

FIXTURE_TEARDOWN(kernel)
{
	if (self->plain.fd >= 0)
		stream_close(&self->plain);
	if (self->stream.fd >= 0)
		stream_close(&self->stream);
}

/* ------------------------------------------------------------------ */
/* Refusals								*/

static int try_create(struct posixtrace_create *arg)
{
	int fd = device_open(), err;

	if (fd < 0)
		return fd;
	err = command(fd, POSIXTRACE_IOC_CREATE, arg);
	close(fd);
	return err;
}

TEST_F(kernel, info_has_the_classes_that_create_takes)
{
	__u64 classes = device_classes();

	EXPECT_EQ(CLASSES, classes & CLASSES);
	EXPECT_EQ(0, classes & ~(__u64)POSIXTRACE_CLASS_VALID);
	for (__u64 class = 1; class <= POSIXTRACE_CLASS_VALID; class <<= 1) {
		create_init(&self->stream.arg, 0);
		self->stream.arg.attr.classes = class;
		EXPECT_EQ(classes & class ? 0 : -EOPNOTSUPP, try_create(&self->stream.arg)) {
			TH_LOG("class 0x%llx", class);
		}
	}
}

/*
 * Checks the order of the errors: unknown bits, missing rights to trace system calls, no support by
 * the kernel.
 */
static int refusals(void *arg, const struct talk *talk)
{
	struct posixtrace_create *create = arg;

	(void)talk;
	if (become_user(12345))
		return 1;
	create->pid = 0x7fffffff;
	create->attr.classes = POSIXTRACE_CLASS_VALID + 1;
	if (try_create(create) != -EINVAL)
		return 2;
	create->attr.classes = POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_SCHED;
	if (try_create(create) != -EPERM)
		return 3;
	create->attr.classes = CLASSES;
	return try_create(create) == -ESRCH ? 0 : 4;
}

TEST_F(kernel, errors_come_in_the_documented_order)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, refusals, &self->stream.arg));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
}

/* ------------------------------------------------------------------ */
/* Memory								*/

TEST_F(kernel, streams_without_classes_have_the_usual_layout)
{
	const struct posixtrace_ctrl *ctrl;

	ASSERT_EQ(0, stream_open(&self->plain));
	ctrl = self->plain.ctrl;
	EXPECT_EQ(0, ctrl->nr_kernel_cpus);
	EXPECT_EQ(0, ctrl->nr_kernel_subbufs);
	EXPECT_EQ(0, ctrl->kernel_heads_offset);
	EXPECT_EQ((unsigned long long)(ctrl->nr_subbufs + ctrl->nr_sys_subbufs) *
		  ctrl->subbuf_size, self->plain.arg.pool.size);
}

/*
 * Returns the expected memory of a stream. Two sub-buffers for system events are allocated from the
 * start.
 */
static unsigned long long expected(const struct stream *stream)
{
	const struct posixtrace_ctrl *ctrl = stream->ctrl;

	/* The wakeup page follows the range of the reader. There are also three scratch pages. */
	return stream->arg.heads.offset + stream->arg.heads.size - stream->arg.reader.offset +
	       (unsigned long long)(ctrl->nr_subbufs + ctrl->nr_kernel_subbufs + 2) *
	       ctrl->subbuf_size + 3 * 4096;
}

TEST_F(kernel, memory_doubles_and_is_reported)
{
	struct posixtrace_status status;
	const struct posixtrace_ctrl *ctrl;

	ASSERT_EQ(0, stream_open(&self->plain));
	ASSERT_EQ(0, stream_open(&self->stream));
	ctrl = self->stream.ctrl;
	EXPECT_EQ(ctrl->nr_cpus, ctrl->nr_kernel_cpus);
	EXPECT_EQ(self->plain.ctrl->nr_subbufs, ctrl->nr_subbufs);
	EXPECT_EQ(ctrl->nr_subbufs, ctrl->nr_kernel_subbufs);
	EXPECT_EQ((unsigned long long)(ctrl->nr_subbufs + ctrl->nr_sys_subbufs +
				       ctrl->nr_kernel_subbufs) * ctrl->subbuf_size,
		  self->stream.arg.pool.size);
	ASSERT_EQ(0, stream_status(&self->plain, &status));
	EXPECT_EQ(expected(&self->plain), status.memory);
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(expected(&self->stream), status.memory);
}

static void init_large(struct posixtrace_create *create)
{
	create_init(create, 0);
	create->attr.max_data_size = 64;
	create->attr.stream_size = 256 << 10;
}

/*
 * Creates a stream within the limit for locked memory. This succeeds only if the memory for kernel
 * events is not charged, so it must fail.
 */
static int within_memlock(void *arg, const struct talk *talk)
{
	struct posixtrace_create *create = arg;
	/* Enough for a stream with user events only. Kernel events need the same size again. */
	const struct rlimit limit = { 448 << 10, 448 << 10 };
	int plain, kernel;

	(void)talk;
	if (become_user(12346))
		return 1;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return 2;
	for (int i = 0; i < 3; i++) {
		init_large(create);
		create->attr.classes = CLASSES;
		kernel = try_create(create);
		init_large(create);
		plain = try_create(create);
		if (kernel != -ENOMEM || plain)
			return 3;
	}
	return 0;
}

TEST_F(kernel, memory_is_charged)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, within_memlock, &self->stream.arg));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
}

static int try_map(int fd, __u64 offset, size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, size);
	return 0;
}

TEST_F(kernel, no_process_maps_its_sub_buffers_for_writing)
{
	const struct posixtrace_ctrl *ctrl;
	unsigned long long first, size;
	struct target target;

	ASSERT_EQ(0, stream_open(&self->stream));
	ctrl = self->stream.ctrl;
	size = (unsigned long long)ctrl->nr_kernel_subbufs * ctrl->subbuf_size;
	first = self->stream.arg.pool.offset + self->stream.arg.pool.size - size;

	EXPECT_EQ(0, try_map(self->stream.fd, first, size, PROT_READ));
	EXPECT_EQ(-EACCES, try_map(self->stream.fd, first, size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EACCES, try_map(self->stream.fd, self->stream.arg.ctrl.offset,
				   self->stream.arg.ctrl.size, PROT_READ | PROT_WRITE));

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, target_sync(&target));
	EXPECT_EQ((unsigned long long)ctrl->nr_subbufs * ctrl->subbuf_size,
		  target.slots[0].pool.size);
	EXPECT_GT(0, try_map(target.fd, first, size, PROT_READ | PROT_WRITE));
	EXPECT_GT(0, try_map(target.fd, first, size, PROT_READ));
	EXPECT_GT(0, try_map(target.fd, target.slots[0].pool.offset,
			     self->stream.arg.pool.size, PROT_READ | PROT_WRITE));
	target_close(&target);
}

/* ------------------------------------------------------------------ */
/* Unloading								*/

static int busy;

static void *switch_often(void *arg)
{
	while (LOAD(busy)) {
		sched_yield();
		usleep(1);
	}
	return arg;
}

TEST_F(kernel, stream_holds_the_module_until_it_ends)
{
	pthread_t threads[4];
	int round, i;

	if (access(MODULE_FILE, R_OK))
		SKIP(return, "no " MODULE_FILE ": use \"make check\"");
	__atomic_store_n(&busy, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, switch_often, NULL));
	for (round = 0; round < 4; round++) {
		create_init(&self->stream.arg, 0);
		self->stream.arg.attr.classes = device_classes();
		ASSERT_EQ(0, stream_open(&self->stream));
		ASSERT_EQ(0, stream_start(&self->stream));
		usleep(1000 * round);
		EXPECT_EQ(-EAGAIN, module_unload());
		stream_close(&self->stream);
		self->stream.fd = -1;
		ASSERT_EQ(0, module_unload());
		usleep(1000);
		ASSERT_EQ(0, module_load());
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, pthread_join(threads[i], NULL));
}

/* Probes are registered and unregistered while they are hit. */
TEST_F(kernel, streams_begin_and_end_while_threads_switch)
{
	pthread_t threads[4];
	int round, i;

	__atomic_store_n(&busy, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, switch_often, NULL));
	for (round = 0; round < 20; round++) {
		create_init(&self->stream.arg, 0);
		self->stream.arg.attr.classes = round % 5 ? CLASSES : device_classes();
		self->stream.arg.attr.stream_size = 0;
		self->stream.arg.attr.stream_policy = round % 2 ? POSIXTRACE_POLICY_UNTIL_FULL :
								  POSIXTRACE_POLICY_LOOP;
		ASSERT_EQ(0, stream_open(&self->stream));
		ASSERT_EQ(0, stream_start(&self->stream));
		if (round % 5 == 0)
			usleep(5000);
		if (round % 4 == 0)
			EXPECT_EQ(0, stream_stop(&self->stream));
		stream_close(&self->stream);
		self->stream.fd = -1;
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, pthread_join(threads[i], NULL));
}

TEST_HARNESS_MAIN
