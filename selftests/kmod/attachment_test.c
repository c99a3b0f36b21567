// SPDX-License-Identifier: GPL-2.0
/*
 * Attachments: with mmap() alone, a process maps the gate before it is traced.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "knock.h"
#include "process.h"
#include "uapi.h"

#define GATE_SIZE	sizeof(struct posixtrace_gate)
#define THIS_VERSION	POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION)

/* Returns the error of mmap(), or 0. */
static int try_map(int fd, __u64 offset, size_t size, int prot, int flags)
{
	void *p = mmap(NULL, size, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, size);
	return 0;
}

static int try_attach(int fd)
{
	return try_map(fd, THIS_VERSION, GATE_SIZE, PROT_READ, MAP_SHARED);
}

/* Returns the value after "posixtrace-@key:" of this process's file, or "". */
static const char *info_of(int fd, const char *key)
{
	static char line[512];
	char path[64], wanted[64];
	const char *found = "";
	FILE *file;

	snprintf(wanted, sizeof(wanted), "posixtrace-%s:\t", key);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return found;
	while (!*found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, wanted, strlen(wanted)))
			found = line + strlen(wanted);
	}
	fclose(file);
	return found;
}

static bool gate_is_zero(const struct posixtrace_gate *gate)
{
	if (LOAD(gate->generation) || LOAD(gate->address_high))
		return false;
	const unsigned char *bytes = (const void *)gate->condition;

	for (size_t i = 0; &bytes[i] < (const unsigned char *)gate->enable; i++) {
		if (LOAD(bytes[i]))
			return false;
	}
	for (size_t i = 0; i < POSIXTRACE_ID_MAX; i++) {
		if (LOAD(gate->enable[i]))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ */
/* mmap() attaches							*/

TEST(mmap_attaches)
{
	struct target target;
	char pid[16];

	ASSERT_EQ(0, target_map(&target));
	snprintf(pid, sizeof(pid), "%d", getpid());
	EXPECT_STREQ("target", info_of(target.fd, "role"));
	EXPECT_STREQ(pid, info_of(target.fd, "pid"));
	EXPECT_STREQ("0", info_of(target.fd, "types"));
	EXPECT_TRUE(gate_is_zero(target.gate));
	/* Reading the gate or recording does not make the process a target. */
	EXPECT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_STREQ("0", info_of(target.fd, "types"));
	/* Opening a name makes the process a target. */
	EXPECT_LT(0, eventid_open(target.fd, "name"));
	EXPECT_STRNE("0", info_of(target.fd, "types"));
	EXPECT_STRNE("", info_of(target.fd, "types"));
	target_close(&target);
}

TEST(only_this_version_and_place_attach)
{
	static const __u64 offsets[] = {
		POSIXTRACE_ATTACH_OFFSET(0), POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION - 1),
		POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION + 1),
		POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION | 1U << 31),
		THIS_VERSION + 4096, THIS_VERSION - 4096, THIS_VERSION & ~(1ULL << 63), 0,
	};
	int fd = device_open();

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		EXPECT_EQ(-EINVAL, try_map(fd, offsets[i], GATE_SIZE, PROT_READ, MAP_SHARED))
			TH_LOG("offset %llx", offsets[i]);
	}
	EXPECT_STREQ("none", info_of(fd, "role"));
	EXPECT_EQ(0, try_attach(fd));
	close(fd);
}

TEST(one_file_of_a_process_attaches)
{
	struct target target;
	int other = device_open();

	ASSERT_LE(0, other);
	ASSERT_EQ(0, target_map(&target));
	EXPECT_EQ(-EBUSY, try_attach(other));
	EXPECT_STREQ("none", info_of(other, "role"));
	/* The mapping keeps the attachment alive when the descriptor is closed. */
	close(target.fd);
	EXPECT_EQ(-EBUSY, try_attach(other));
	munmap((void *)target.gate, target.arg.gate.size);
	EXPECT_EQ(0, try_attach(other));
	EXPECT_STREQ("target", info_of(other, "role"));
	close(other);
}

TEST(file_with_a_role_cannot_attach)
{
	struct target target;
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(-EBUSY, try_attach(stream.fd));
	EXPECT_STREQ("stream", info_of(stream.fd, "role"));
	stream_close(&stream);

	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(-EBUSY, try_attach(target.fd));
	EXPECT_STREQ("target", info_of(target.fd, "role"));
	target_close(&target);

	ASSERT_EQ(0, target_map(&target));
	EXPECT_EQ(-EBUSY, try_attach(target.fd));
	/* The gate can be mapped a second time at its usual offset. */
	EXPECT_EQ(0, try_map(target.fd, 0, GATE_SIZE, PROT_READ, MAP_SHARED));
	target_close(&target);
}

TEST(gate_can_only_be_read)
{
	static const struct {
		int prot;
		int flags;
		int err;
	} ways[] = {
		{ PROT_READ | PROT_WRITE, MAP_SHARED, -EACCES },
		{ PROT_WRITE, MAP_SHARED, -EACCES },
		{ PROT_READ | PROT_EXEC, MAP_SHARED, -EACCES },
		{ PROT_READ, MAP_PRIVATE, -EINVAL },
	};
	struct target target;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		fd = device_open();
		ASSERT_LE(0, fd);
		EXPECT_EQ(ways[i].err, try_map(fd, THIS_VERSION, GATE_SIZE, ways[i].prot,
					       ways[i].flags)) TH_LOG("way %zu", i);
		close(fd);
	}
	ASSERT_EQ(0, target_map(&target));
	EXPECT_EQ(-1, mprotect((void *)target.gate, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)target.gate, 4096, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	target_close(&target);
}

/* ------------------------------------------------------------------ */
/* Processes that share memory						*/

static char sharer_stack[1 << 14] __attribute__((__aligned__(16)));
static int sharer_may_end;

static int share_memory(void *arg)
{
	(void)arg;
	while (!LOAD(sharer_may_end))
		sched_yield();
	_exit(0);
}

TEST(process_that_shares_its_memory_cannot_attach)
{
	struct posixtrace_attach alone = { .flags = POSIXTRACE_ATTACH_ALONE }, arg = { .flags = 0 };
	int fd = device_open(), other = device_open(), status;
	struct target target;
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	pid = clone(share_memory, sharer_stack + sizeof(sharer_stack), CLONE_VM | SIGCHLD, NULL);
	ASSERT_LT(0, pid);
	EXPECT_EQ(-EUSERS, try_attach(fd));
	EXPECT_EQ(-EUSERS, command(fd, POSIXTRACE_IOC_ATTACH, &alone));
	EXPECT_STREQ("none", info_of(fd, "role"));
	/* Without the flag, ATTACH succeeds, but the gate cannot be mapped. */
	EXPECT_EQ(0, command(other, POSIXTRACE_IOC_ATTACH, &arg));
	EXPECT_EQ(-EUSERS, try_map(other, 0, GATE_SIZE, PROT_READ, MAP_SHARED));
	close(other);
	__atomic_store_n(&sharer_may_end, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));

	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_ATTACH, &alone));
	EXPECT_EQ(0, try_map(fd, alone.gate.offset, GATE_SIZE, PROT_READ, MAP_SHARED));
	close(fd);
	EXPECT_EQ(0, target_map(&target));
	target_close(&target);
}

/* ------------------------------------------------------------------ */
/* Untraced processes, and their children				*/

struct family {
	const struct target *target;
	int generations;
};

static int see_zero(void *arg, const struct talk *talk)
{
	struct family *family = arg;
	struct target target = *family->target;
	struct child child;
	int own;

	(void)talk;
	if (!gate_is_zero(family->target->gate))
		return 1;
	/* The descriptor belongs to another process. */
	if (target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0) != -EINVAL)
		return 2;
	if (--family->generations) {
		if (child_start(&child, see_zero, family) || child_wait(&child))
			return 3;
	}
	/* This process also attached when it read the gate, through the inherited file. */
	own = device_open();
	if (try_attach(own) != -EBUSY)
		return 4;
	close(own);
	return gate_is_zero(family->target->gate) ? 0 : 5;
}

TEST(gate_of_untraced_descendants_is_zero)
{
	struct family family = { .generations = 3 };
	struct target target;
	struct child child;

	ASSERT_EQ(0, target_map(&target));
	family.target = &target;
	/* The first child starts before this process has read the gate, the second one after. */
	for (int i = 0; i < 2; i++) {
		family.generations = 3;
		ASSERT_EQ(0, child_start(&child, see_zero, &family));
		EXPECT_EQ(0, child_wait(&child));
		EXPECT_TRUE(gate_is_zero(target.gate));
	}
	target_close(&target);
}

/* Reports the values of its gate and its door as often as the test asks. */
static int say_generation(void *arg, const struct talk *talk)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	const struct target *target = arg;

	say(talk, !!LOAD(target->gate->generation));
	while (hear(talk) == 0) {
		say(talk, !!LOAD(target->gate->generation));
		say(talk, knock(target->gate, POSIXTRACE_IOC_EVENT, &event));
	}
	return 0;
}

TEST(traced_descendant_sees_its_own_gate)
{
	struct child traced, other;
	struct target target;
	struct record record;
	struct stream stream;
	int events = 0;

	ASSERT_EQ(0, target_map(&target));
	/* The children inherit the mapping, but no descriptor. */
	close(target.fd);
	ASSERT_EQ(0, child_start(&traced, say_generation, &target));
	ASSERT_EQ(0, child_start(&other, say_generation, &target));
	ASSERT_EQ(0, hear(&traced.talk));
	ASSERT_EQ(0, hear(&other.talk));
	ASSERT_EQ(0, stream_create(&stream, traced.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&traced.talk, 0);
	EXPECT_EQ(1, hear(&traced.talk));
	EXPECT_EQ(0, hear(&traced.talk));
	say(&other.talk, 0);
	EXPECT_EQ(0, hear(&other.talk));
	EXPECT_EQ(0, hear(&other.talk));
	EXPECT_TRUE(gate_is_zero(target.gate));
	say(&traced.talk, 1);
	say(&other.talk, 1);
	EXPECT_EQ(0, child_wait(&traced));
	EXPECT_EQ(0, child_wait(&other));
	while (stream_take(&stream, &record, NULL, 0) == 1)
		events += record.event_id == POSIXTRACE_ID_UNNAMED;
	EXPECT_EQ(1, events);
	stream_close(&stream);
	munmap((void *)target.gate, target.arg.gate.size);
}

/* ------------------------------------------------------------------ */
/* How long an attachment lasts						*/

TEST(attachment_lasts_without_a_descriptor)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	struct record record;
	struct target target;
	struct stream stream;

	ASSERT_EQ(0, target_map(&target));
	ASSERT_EQ(0, close_range(3, ~0U, 0));
	EXPECT_TRUE(gate_is_zero(target.gate));
	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_NE(0, LOAD(target.gate->generation));
	EXPECT_EQ(0, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(1, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(0, knock(target.gate, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
	stream_close(&stream);
	munmap((void *)target.gate, target.arg.gate.size);
}

#define EXECUTED_VARIABLE	"ATTACHMENT_TEST"

/*
 * The program that the process executes: it has a descriptor from before exec, and opens another
 * file.
 */
static void __attribute__((__constructor__)) executed(void)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	const char *text = getenv(EXECUTED_VARIABLE);
	struct target target;
	int old;

	if (!text)
		return;
	old = atoi(text);
	if (command(old, POSIXTRACE_IOC_EVENT, &event) != -EINVAL)
		_exit(10);
	if (try_map(old, 0, GATE_SIZE, PROT_READ, MAP_SHARED) != -EINVAL)
		_exit(11);
	if (try_attach(old) != -EBUSY)
		_exit(12);
	if (target_map(&target))
		_exit(13);
	_exit(gate_is_zero(target.gate) ? 0 : 14);
}

static int attach_and_execute(void *arg, const struct talk *talk)
{
	struct target target;
	char text[16];

	(void)arg;
	(void)talk;
	if (target_map(&target) || !gate_is_zero(target.gate))
		return 1;
	fcntl(target.fd, F_SETFD, 0);
	snprintf(text, sizeof(text), "%d", target.fd);
	setenv(EXECUTED_VARIABLE, text, 1);
	execl("/proc/self/exe", "executed", NULL);
	return 2;
}

TEST(attachment_ends_with_exec)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, attach_and_execute, NULL));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
}

/* ------------------------------------------------------------------ */
/* A program that attaches and executes itself again and again		*/

#define AGAIN_VARIABLE	"ATTACHMENT_TEST_AGAIN"

/* Files that the process keeps: an exec each. */
#define EXECS		100

/* Returns how many descriptors up to @last show this value after "posixtrace-@key:". */
static int count_files(int last, const char *key, const char *value)
{
	int count = 0;

	for (int fd = 3; fd <= last; fd++)
		count += !strcmp(info_of(fd, key), value);
	return count;
}

/* Attaches, and keeps the file. The last program becomes a target. */
static void __attribute__((__constructor__)) executed_again(void)
{
	const char *text = getenv(AGAIN_VARIABLE);
	struct target target;
	char left[16];

	if (!text)
		return;
	if (target_open(&target))
		_exit(20);
	if (!atoi(text)) {
		if (eventid_open(target.fd, "name") <= POSIXTRACE_ID_UNNAMED)
			_exit(21);
		if (count_files(target.fd, "role", "target") != EXECS + 1)
			_exit(22);
		/* The attachments that the module found have the type. */
		_exit(count_files(target.fd, "types", "1") == 1 ? 0 : 23);
	}
	fcntl(target.fd, F_SETFD, 0);
	snprintf(left, sizeof(left), "%d", atoi(text) - 1);
	setenv(AGAIN_VARIABLE, left, 1);
	execl("/proc/self/exe", "executed", NULL);
	_exit(24);
}

static int execute_again(void *arg, const struct talk *talk)
{
	const struct rlimit files = { EXECS + 64, EXECS + 64 };
	char left[16];

	(void)arg;
	(void)talk;
	if (setrlimit(RLIMIT_NOFILE, &files))
		return 1;
	snprintf(left, sizeof(left), "%d", EXECS);
	setenv(AGAIN_VARIABLE, left, 1);
	execl("/proc/self/exe", "executed", NULL);
	return 2;
}

TEST(attachments_of_former_programs_are_not_found_again)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, execute_again, NULL));
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
}

TEST_HARNESS_MAIN
