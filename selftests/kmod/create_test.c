// SPDX-License-Identifier: GPL-2.0
/*
 * CREATE: granted values, errors and their precedence; a failed call has no effect.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "../../kmod/ring/policy.h"
#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define NOBODY_ID	65534

/* ------------------------------------------------------------------ */
/* One wrong byte in arguments that are valid otherwise			*/

FIXTURE(refused)
{
	struct posixtrace_create arg;
	int fd;
};

FIXTURE_VARIANT(refused)
{
	size_t offset;		/* offset of the invalid field in struct posixtrace_create */
	size_t size;
	unsigned long long value;
	int error;
};

#define AT(name)	offsetof(struct posixtrace_create, name)

FIXTURE_VARIANT_ADD(refused, flags_bit_0) { AT(flags), 4, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, flags_bit_31) { AT(flags), 4, 1U << 31, EINVAL };
FIXTURE_VARIANT_ADD(refused, slot_not_zero) { AT(slot), 4, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, reserved_0) { AT(reserved[0]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, reserved_1) { AT(reserved[1]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, reserved_2) { AT(reserved[2]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, reserved_3) { AT(reserved[3]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, reserved_4) { AT(reserved[4]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, stream_not_zero) { AT(stream), 8, 1ULL << 63, EINVAL };
FIXTURE_VARIANT_ADD(refused, reader_offset) { AT(reader.offset), 8, 4096, EINVAL };
FIXTURE_VARIANT_ADD(refused, reader_size) { AT(reader.size), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, ctrl_offset) { AT(ctrl.offset), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, ctrl_size) { AT(ctrl.size), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, heads_offset) { AT(heads.offset), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, heads_size) { AT(heads.size), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, pool_offset) { AT(pool.offset), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, pool_size) { AT(pool.size), 8, 1ULL << 63, EINVAL };

FIXTURE_VARIANT_ADD(refused, attr_reserved_0) { AT(attr.reserved[0]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, attr_reserved_1) { AT(attr.reserved[1]), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, attr_reserved_2) { AT(attr.reserved[2]), 8, 1ULL << 63, EINVAL };
FIXTURE_VARIANT_ADD(refused, classes_unknown) {
	AT(attr.classes), 8, POSIXTRACE_CLASS_VALID + 1, EINVAL
};

FIXTURE_VARIANT_ADD(refused, classes_too_large) { AT(attr.classes), 8, 1ULL << 63, EINVAL };
FIXTURE_VARIANT_ADD(refused, compression_unknown) { AT(attr.compression), 8, 2, EINVAL };
FIXTURE_VARIANT_ADD(refused, compression_too_large) {
	AT(attr.compression), 8, 1ULL << 32, EINVAL
};

FIXTURE_VARIANT_ADD(refused, order_unknown) { AT(attr.order), 8, 2, EINVAL };
FIXTURE_VARIANT_ADD(refused, order_too_large) { AT(attr.order), 8, 1ULL << 32, EINVAL };
FIXTURE_VARIANT_ADD(refused, wakeup_bytes_above_the_size) {
	AT(attr.wakeup_bytes), 8, (64 << 10) + 1, EINVAL
};

FIXTURE_VARIANT_ADD(refused, wakeup_ns_above_an_hour) {
	AT(attr.wakeup_ns), 8, POSIXTRACE_WAKEUP_NS_MAX + 1, EINVAL
};

FIXTURE_VARIANT_ADD(refused, clock_resolution_not_zero) { AT(attr.clock_resolution), 4, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, creation_time_not_zero) { AT(attr.creation_time), 8, 1, EINVAL };
FIXTURE_VARIANT_ADD(refused, version_not_empty) { AT(attr.version[0]), 1, 'x', EINVAL };
FIXTURE_VARIANT_ADD(refused, version_end_not_zero) {
	AT(attr.version[POSIXTRACE_NAME_SIZE - 1]), 1, 'x', EINVAL
};

FIXTURE_VARIANT_ADD(refused, name_not_zero_behind) {
	AT(attr.name[POSIXTRACE_NAME_SIZE - 2]), 1, 'x', EINVAL
};

FIXTURE_VARIANT_ADD(refused, name_end_not_zero) {
	AT(attr.name[POSIXTRACE_NAME_SIZE - 1]), 1, 'x', EINVAL
};

FIXTURE_VARIANT_ADD(refused, inheritance_unknown) { AT(attr.inherited), 4, 2, EINVAL };
FIXTURE_VARIANT_ADD(refused, stream_policy_of_logs) {
	AT(attr.stream_policy), 4, POSIXTRACE_POLICY_APPEND, EINVAL
};

FIXTURE_VARIANT_ADD(refused, stream_policy_unknown) { AT(attr.stream_policy), 4, 4, EINVAL };
FIXTURE_VARIANT_ADD(refused, flush_without_log) {
	AT(attr.stream_policy), 4, POSIXTRACE_POLICY_FLUSH, EINVAL
};

FIXTURE_VARIANT_ADD(refused, log_policy_of_streams) {
	AT(attr.log_policy), 4, POSIXTRACE_POLICY_FLUSH, EINVAL
};

FIXTURE_VARIANT_ADD(refused, log_policy_unknown) { AT(attr.log_policy), 4, 4, EINVAL };
FIXTURE_VARIANT_ADD(refused, stream_size_beyond_max) {
	AT(attr.stream_size), 8, POSIXTRACE_STREAM_SIZE_MAX + 1ULL, EINVAL
};

FIXTURE_VARIANT_ADD(refused, stream_size_huge) { AT(attr.stream_size), 8, ~0ULL, EINVAL };
FIXTURE_VARIANT_ADD(refused, max_data_size_beyond_max) {
	AT(attr.max_data_size), 8, POSIXTRACE_DATA_SIZE_MAX + 1ULL, EINVAL
};

FIXTURE_VARIANT_ADD(refused, max_data_size_huge) { AT(attr.max_data_size), 8, ~0ULL, EINVAL };

FIXTURE_VARIANT_ADD(refused, log_fd_that_is_not_open) { AT(log_fd), 4, 1023, EBADF };
FIXTURE_VARIANT_ADD(refused, log_fd_negative) { AT(log_fd), 4, -2, EBADF };
FIXTURE_VARIANT_ADD(refused, pid_that_never_exists) { AT(pid), 4, 0x7fffffff, ESRCH };
FIXTURE_VARIANT_ADD(refused, pid_of_a_kernel_thread) { AT(pid), 4, 2, EPERM };

FIXTURE_SETUP(refused)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	create_init(&self->arg, 0);
	memcpy((char *)&self->arg + variant->offset, &variant->value, variant->size);
}

FIXTURE_TEARDOWN(refused)
{
	close(self->fd);
}

TEST_F(refused, returns_the_error)
{
	EXPECT_EQ(-variant->error, command(self->fd, POSIXTRACE_IOC_CREATE, &self->arg));
}

TEST_F(refused, changes_nothing)
{
	struct posixtrace_create before = self->arg;
	struct target target;

	EXPECT_GT(0, command(self->fd, POSIXTRACE_IOC_CREATE, &self->arg));
	EXPECT_EQ(0, memcmp(&before, &self->arg, sizeof(before)));

	/* The failed call has left no stream, and the file has no role. */
	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, target_sync(&target));
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		EXPECT_EQ(0, target.slots[i].heads.size);
	target_close(&target);
	create_init(&self->arg, 0);
	EXPECT_EQ(0, command(self->fd, POSIXTRACE_IOC_CREATE, &self->arg));
	EXPECT_EQ(0, self->arg.slot);
}

/* ------------------------------------------------------------------ */
/* Precedence of errors							*/

FIXTURE(create)
{
	struct posixtrace_create arg;
	int fd;
};

FIXTURE_SETUP(create)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	create_init(&self->arg, 0);
}

FIXTURE_TEARDOWN(create)
{
	close(self->fd);
}

static int create(int fd, struct posixtrace_create *arg)
{
	return command(fd, POSIXTRACE_IOC_CREATE, arg);
}

/* The largest size is a multiple of all sub-buffer sizes, so rounding up does not exceed it. */
TEST_F(create, largest_size_is_accepted)
{
	struct posixtrace_attr *attr = &self->arg.attr;
	int ret;

	attr->max_data_size = POSIXTRACE_DATA_SIZE_MAX;
	attr->stream_size = POSIXTRACE_STREAM_SIZE_MAX;
	ASSERT_EQ(0, attr->stream_size % pxt_subbuf_size(attr->stream_size, attr->max_data_size));
	ret = create(self->fd, &self->arg);
	/* The machine may not have that much memory. */
	EXPECT_TRUE(ret == 0 || ret == -ENOMEM);
	create_init(&self->arg, 0);
	attr->max_data_size = POSIXTRACE_DATA_SIZE_MAX;
	attr->stream_size = POSIXTRACE_STREAM_SIZE_MAX + 1ULL;
	EXPECT_EQ(ret ? -EINVAL : -EBUSY, create(self->fd, &self->arg));
}

TEST_F(create, bad_address_is_a_fault)
{
	EXPECT_EQ(-EFAULT, create(self->fd, BAD_POINTER));
	EXPECT_EQ(0, create(self->fd, &self->arg));
}

TEST_F(create, answer_to_read_only_memory_creates_no_stream)
{
	struct posixtrace_create *arg;
	struct target target;

	arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, arg);
	*arg = self->arg;
	ASSERT_EQ(0, mprotect(arg, 4096, PROT_READ));
	EXPECT_EQ(-EFAULT, create(self->fd, arg));

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, target_sync(&target));
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		EXPECT_EQ(0, target.slots[i].heads.size);
	target_close(&target);
	munmap(arg, 4096);
}

TEST_F(create, bad_flags_win_over_the_missing_process)
{
	self->arg.pid = 0x7fffffff;
	self->arg.flags = 1;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
}

TEST_F(create, reserved_words_win_over_the_missing_process)
{
	self->arg.pid = 0x7fffffff;
	self->arg.attr.reserved[2] = 1;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
}

TEST_F(create, bad_size_wins_over_the_missing_process)
{
	self->arg.pid = 0x7fffffff;
	self->arg.attr.stream_size = ~0ULL;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
}

TEST_F(create, bad_policy_wins_over_the_missing_right)
{
	self->arg.pid = 2;
	self->arg.attr.stream_policy = 17;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
}

TEST_F(create, invalid_argument_wins_over_the_bad_log)
{
	self->arg.log_fd = 1023;
	self->arg.flags = 1;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
	self->arg.flags = 0;
	self->arg.attr.reserved[0] = 1;
	EXPECT_EQ(-EINVAL, create(self->fd, &self->arg));
}

TEST_F(create, missing_process_wins_over_the_bad_log)
{
	self->arg.log_fd = 1023;
	self->arg.pid = 0x7fffffff;
	EXPECT_EQ(-ESRCH, create(self->fd, &self->arg));
}

/* ------------------------------------------------------------------ */
/* The process to trace							*/

TEST_F(create, ended_process_is_not_found)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	child_kill(&child);
	self->arg.pid = child.pid;
	EXPECT_EQ(-ESRCH, create(self->fd, &self->arg));
}

TEST_F(create, negative_pid_is_not_found)
{
	self->arg.pid = -1;
	EXPECT_EQ(-ESRCH, create(self->fd, &self->arg));
	self->arg.pid = -getpid();
	EXPECT_EQ(-ESRCH, create(self->fd, &self->arg));
}

static void *report_tid(void *arg)
{
	struct talk *talk = arg;

	say(talk, syscall(SYS_gettid));
	hear(talk);
	return NULL;
}

TEST_F(create, thread_id_is_not_found)
{
	int there[2], back[2];
	struct talk mine, its;
	pthread_t thread;

	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe(back));
	mine = (struct talk){ .in = back[0], .out = there[1] };
	its = (struct talk){ .in = there[0], .out = back[1] };
	ASSERT_EQ(0, pthread_create(&thread, NULL, report_tid, &its));
	self->arg.pid = hear(&mine);
	EXPECT_NE(getpid(), self->arg.pid);
	EXPECT_EQ(-ESRCH, create(self->fd, &self->arg));
	say(&mine, 0);
	pthread_join(thread, NULL);
}

static void *outlive_main(void *arg)
{
	const struct talk *talk = arg;

	/* Wait until the main thread has ended. It is then a zombie. */
	while (!is_zombie(getpid()))
		sched_yield();
	_exit(child_idle(NULL, talk));
}

static int end_main_thread(void *arg, const struct talk *talk)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, outlive_main, (void *)talk))
		return 1;
	syscall(SYS_exit, 0);
	return 2;
}

TEST(process_whose_main_thread_has_ended_is_traced)
{
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, child_start(&child, end_main_thread, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, stream_create(&stream, child.pid));
	EXPECT_EQ(0, stream_start(&stream));
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&child));
}

/*
 * Creates a stream on process *arg as an unprivileged user. A second message tells if this process
 * is dumpable.
 */
static int create_as_user(void *arg, const struct talk *talk)
{
	struct posixtrace_create create;
	pid_t pid = *(pid_t *)arg;
	int fd, ret;

	(void)talk;
	if (setgid(NOBODY_ID) || setuid(NOBODY_ID))
		return 255;
	fd = device_open();
	if (fd < 0)
		return -fd;
	create_init(&create, pid);
	ret = command(fd, POSIXTRACE_IOC_CREATE, &create);
	close(fd);
	return -ret;
}

static int idle_as_user(void *arg, const struct talk *talk)
{
	int dumpable = *(int *)arg;

	if (setgid(NOBODY_ID) || setuid(NOBODY_ID) || prctl(PR_SET_DUMPABLE, dumpable))
		return 255;
	return child_idle(NULL, talk);
}

TEST(process_of_another_user_is_not_permitted)
{
	struct child child;
	pid_t pid = getpid();

	ASSERT_EQ(0, child_start(&child, create_as_user, &pid));
	EXPECT_EQ(EPERM << 8, child_wait(&child));
}

TEST(process_of_the_same_user_is_permitted)
{
	struct child traced, controller;
	int dumpable = 1;

	ASSERT_EQ(0, child_start(&traced, idle_as_user, &dumpable));
	ASSERT_EQ(0, hear(&traced.talk));
	ASSERT_EQ(0, child_start(&controller, create_as_user, &traced.pid));
	EXPECT_EQ(0, child_wait(&controller));
	EXPECT_EQ(0, child_wait(&traced));
}

TEST(undumpable_process_is_not_permitted)
{
	struct child traced, controller;
	int dumpable = 0;

	ASSERT_EQ(0, child_start(&traced, idle_as_user, &dumpable));
	ASSERT_EQ(0, hear(&traced.talk));
	ASSERT_EQ(0, child_start(&controller, create_as_user, &traced.pid));
	EXPECT_EQ(EPERM << 8, child_wait(&controller));
	EXPECT_EQ(0, child_wait(&traced));
}

TEST(undumpable_process_is_permitted_to_root)
{
	struct child traced;
	struct stream stream;
	int dumpable = 0;

	ASSERT_EQ(0, child_start(&traced, idle_as_user, &dumpable));
	ASSERT_EQ(0, hear(&traced.talk));
	EXPECT_EQ(0, stream_create(&stream, traced.pid));
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&traced));
}

TEST(missing_process_wins_over_the_missing_right)
{
	struct child child;
	pid_t pid = 0x7fffffff;

	ASSERT_EQ(0, child_start(&child, create_as_user, &pid));
	EXPECT_EQ(ESRCH << 8, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* Granted values							*/

TEST_F(create, ranges_follow_one_another)
{
	ASSERT_EQ(0, create(self->fd, &self->arg));
	EXPECT_LE(self->arg.reader.offset + self->arg.reader.size, self->arg.ctrl.offset);
	EXPECT_EQ(self->arg.heads.offset, self->arg.ctrl.offset + self->arg.ctrl.size);
	EXPECT_EQ(self->arg.pool.offset, self->arg.heads.offset + self->arg.heads.size);
}

TEST_F(create, reserved_words_of_the_answer_are_zero)
{
	ASSERT_EQ(0, create(self->fd, &self->arg));
	for (size_t i = 0; i < ARRAY_SIZE(self->arg.reserved); i++)
		EXPECT_EQ(0, self->arg.reserved[i]);
	for (size_t i = 0; i < ARRAY_SIZE(self->arg.attr.reserved); i++)
		EXPECT_EQ(0, self->arg.attr.reserved[i]);
}

TEST_F(create, largest_name_is_kept)
{
	struct posixtrace_attr attr;

	memset(self->arg.attr.name, 'n', POSIXTRACE_NAME_SIZE - 1);
	ASSERT_EQ(0, create(self->fd, &self->arg));
	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_STREQ(self->arg.attr.name, attr.name);
}

TEST_F(create, empty_name_is_no_error)
{
	memset(self->arg.attr.name, 0, POSIXTRACE_NAME_SIZE);
	EXPECT_EQ(0, create(self->fd, &self->arg));
}

TEST_F(create, small_sizes_are_rounded_up)
{
	struct posixtrace_attr attr;

	self->arg.attr.stream_size = 0;
	self->arg.attr.max_data_size = 0;
	ASSERT_EQ(0, create(self->fd, &self->arg));
	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_LE(POSIXTRACE_STREAM_SIZE_MIN, attr.stream_size);
}

TEST_F(create, largest_data_size_is_granted)
{
	struct posixtrace_attr attr;

	self->arg.attr.max_data_size = POSIXTRACE_DATA_SIZE_MAX;
	ASSERT_EQ(0, create(self->fd, &self->arg));
	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_EQ(POSIXTRACE_DATA_SIZE_MAX, attr.max_data_size);
}

TEST_F(create, streams_of_one_process_get_different_slots)
{
	struct stream streams[3];

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, stream_create(&streams[i], 0));
		EXPECT_EQ(i, streams[i].arg.slot);
	}
	stream_close(&streams[1]);
	ASSERT_EQ(0, stream_create(&streams[1], 0));
	EXPECT_EQ(1, streams[1].arg.slot);
	for (int i = 0; i < 3; i++)
		stream_close(&streams[i]);
}

/* ------------------------------------------------------------------ */
/* Number of streams							*/

/* Creates a stream of the smallest size, so that memory is not the limit. */
static int create_small(int *fd, pid_t pid)
{
	struct posixtrace_create arg;

	*fd = device_open();
	if (*fd < 0)
		return *fd;
	create_init(&arg, pid);
	arg.attr.stream_size = 0;
	arg.attr.max_data_size = 0;
	return command(*fd, POSIXTRACE_IOC_CREATE, &arg);
}

TEST(no_more_streams_than_slots_on_one_process)
{
	int fd[POSIXTRACE_SLOTS_MAX + 1];

	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		ASSERT_EQ(0, create_small(&fd[i], 0));
	EXPECT_EQ(-EAGAIN, create_small(&fd[POSIXTRACE_SLOTS_MAX], 0));

	/* Ending a stream frees its slot. */
	close(fd[7]);
	EXPECT_EQ(0, create_small(&fd[7], 0));
}

TEST(no_more_streams_than_the_system_has)
{
	struct child child[POSIXTRACE_STREAMS_MAX / POSIXTRACE_SLOTS_MAX + 1];
	int fd[POSIXTRACE_STREAMS_MAX + 1];

	for (int i = 0; i < (int)ARRAY_SIZE(child); i++)
		ASSERT_EQ(0, child_start(&child[i], child_idle, NULL));
	for (int i = 0; i < POSIXTRACE_STREAMS_MAX; i++)
		ASSERT_EQ(0, create_small(&fd[i], child[i / POSIXTRACE_SLOTS_MAX].pid));
	EXPECT_EQ(-EAGAIN, create_small(&fd[POSIXTRACE_STREAMS_MAX], 0));
	EXPECT_EQ(0, command(fd[100], POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, create_small(&fd[POSIXTRACE_STREAMS_MAX], 0));
	for (int i = 0; i < (int)ARRAY_SIZE(child); i++)
		child_kill(&child[i]);
}

#define EXEC_VARIABLE	"CREATE_TEST_EXEC"

/* Runs before main(): executes programs in an endless loop. */
static void __attribute__((constructor)) exec_forever(void)
{
	if (!getenv(EXEC_VARIABLE))
		return;
	execl("/proc/self/exe", "exec", NULL);
	_exit(1);
}

static int begin_to_exec(void *arg, const struct talk *talk)
{
	(void)arg;
	setenv(EXEC_VARIABLE, "1", 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	say(talk, 0);
	exec_forever();
	return 1;
}

static void ignore_signal(int signal)
{
	(void)signal;
}

/* If the process calls exec during CREATE, CREATE retries, but not forever. */
TEST(create_on_a_process_that_keeps_calling_exec_can_be_interrupted)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = ignore_signal };
	struct posixtrace_create arg;
	struct child child;
	int ret = 0;

	ASSERT_EQ(0, child_start(&child, begin_to_exec, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	/* Creating a large stream takes long enough for an exec in the middle. */
	for (int i = 0; i < 100 && ret != -EINTR; i++) {
		int fd = device_open();

		ASSERT_LE(0, fd);
		create_init(&arg, child.pid);
		arg.attr.stream_size = 32 << 20;
		ret = command(fd, POSIXTRACE_IOC_CREATE, &arg);
		ASSERT_TRUE(ret == 0 || ret == -EINTR);
		close(fd);
	}
	EXPECT_EQ(-EINTR, ret);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	child_kill(&child);
}

TEST_HARNESS_MAIN
