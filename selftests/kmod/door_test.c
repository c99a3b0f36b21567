// SPDX-License-Identifier: GPL-2.0
/*
 * The door of the gate: commands without a system call.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "door.h"
#include "parameter.h"
#include "seccomp.h"
#include "writer.h"

#define TEXT	"{ u32 x; }"

/* ------------------------------------------------------------------ */
/* Each command, by ioctl() and by the door				*/

typedef long (*way_fn)(const struct target *target, unsigned long cmd, void *arg);

static long by_ioctl(const struct target *target, unsigned long cmd, void *arg)
{
	return command(target->fd, cmd, arg);
}

static long by_door(const struct target *target, unsigned long cmd, void *arg)
{
	return knock(target->gate, cmd, arg);
}

FIXTURE(way)
{
	struct target target;
	struct stream stream;
};

FIXTURE_VARIANT(way)
{
	way_fn run;
};

FIXTURE_VARIANT_ADD(way, ioctl) { by_ioctl };
FIXTURE_VARIANT_ADD(way, door) { by_door };

FIXTURE_SETUP(way)
{
	ASSERT_EQ(0, door_open(&self->target, &self->stream));
	ASSERT_EQ(0, target_sync(&self->target));
}

FIXTURE_TEARDOWN(way)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static long open_name(const struct target *target, way_fn run, const char *name)
{
	struct posixtrace_eventid arg = { .id = 0 };
	long ret;

	strcpy(arg.name, name);
	ret = run(target, POSIXTRACE_IOC_EVENTID_OPEN, &arg);
	return ret ? ret : (long)arg.id;
}

TEST_F(way, event_is_recorded)
{
	struct posixtrace_event event = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.flags = POSIXTRACE_EVENT_TRUNCATED,
		.data = (uintptr_t)"the data",
		.data_len = 9,
		.prog_address = 0x1122334455667788,
		.thread_id = 0x8877665544332211,
	};
	struct record record;
	char data[16];

	ASSERT_EQ(0, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
	EXPECT_EQ(POSIXTRACE_RECORD_TRUNCATED, record.flags & POSIXTRACE_RECORD_TRUNCATED);
	EXPECT_EQ(9, record.data_len);
	EXPECT_STREQ("the data", data);
	EXPECT_EQ(event.prog_address, record.prog_address);
	EXPECT_EQ(event.thread_id, record.thread_id);
	EXPECT_EQ(getpid(), record.pid);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(way, event_skips_streams)
{
	struct posixtrace_event event = {
		.event_id = POSIXTRACE_ID_UNNAMED,
		.skip = 1U << self->stream.arg.slot,
	};
	struct record record;

	EXPECT_EQ(0, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(way, event_fails)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED, .reserved = 1 };
	struct record record;

	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	event = (struct posixtrace_event){ .event_id = POSIXTRACE_ID_UNNAMED, .flags = 1U << 31 };
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	event = (struct posixtrace_event){ .event_id = POSIXTRACE_ID_START };
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	event = (struct posixtrace_event){
		.event_id = POSIXTRACE_ID_UNNAMED,
		.data = (uintptr_t)BAD_POINTER,
		.data_len = 16,
	};
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_EVENT, &event));
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_EVENT, BAD_POINTER));
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_EVENT, NULL));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(way, next_opens_a_subbuffer)
{
	struct posixtrace_next next = { .slot = self->stream.arg.slot, .size = 48 };
	struct writer writer;

	next.stream = self->target.slots[next.slot].stream;
	ASSERT_EQ(0, writer_open(&writer, &self->target, next.slot, 0));
	ASSERT_EQ(0, LOAD(writer.head->limit));
	ASSERT_EQ(0, variant->run(&self->target, POSIXTRACE_IOC_NEXT, &next));
	EXPECT_LT(0, LOAD(writer.head->limit));
	EXPECT_NE(POSIXTRACE_NONE, stream_oldest(&self->stream, writer.cpu));
	writer_close(&writer);
}

TEST_F(way, next_fails)
{
	const __u64 stream = self->target.slots[0].stream;
	struct posixtrace_next next = {
		.slot = POSIXTRACE_SLOTS_MAX,
		.size = 48,
		.stream = stream,
	};

	ASSERT_EQ(0, self->stream.arg.slot);
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_NEXT, &next));
	next = (struct posixtrace_next){ .size = ~0U, .stream = stream };
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_NEXT, &next));
	next = (struct posixtrace_next){ .size = 48, .stream = stream, .reserved = 1 };
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_NEXT, &next));
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_NEXT, BAD_POINTER));
}

struct waiter {
	int fd;
	int tid;
	int done;
	int ret;
};

static void *wait_for_events(void *arg)
{
	struct posixtrace_wait wait = { .flags = 0 };
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
	waiter->ret = command(waiter->fd, POSIXTRACE_IOC_WAIT, &wait);
	__atomic_store_n(&waiter->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(way, wake_wakes_a_reader)
{
	unsigned int mask = 1U << self->stream.arg.slot;
	struct record record;
	struct writer writer;
	pthread_t thread;
	unsigned long long before;

	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	before = now();
	for (int i = 0; i < 10; i++) {
		struct waiter waiter = { .fd = self->stream.fd };

		ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_events, &waiter));
		ASSERT_TRUE(falls_asleep(&waiter.tid, &waiter.done));
		ASSERT_EQ(0, writer_event(&writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(0, variant->run(&self->target, POSIXTRACE_IOC_WAKE, &mask));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(0, waiter.ret);
		EXPECT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	}
	/* If WAKE did not work, the kernel would find each event only after up to half a second. */
	EXPECT_GT(2 * NSEC * pxt_time_scale(), now() - before);
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_WAKE, BAD_POINTER));
	writer_close(&writer);
}

TEST_F(way, names_are_opened)
{
	struct posixtrace_eventid arg = { .name = "other", .flags = 1U << 31 };
	struct posixtrace_eventid name = { .id = 0 };
	const long id = open_name(&self->target, variant->run, "by both ways");

	ASSERT_LT(POSIXTRACE_ID_UNNAMED, id);
	EXPECT_EQ(id, eventid_open(self->target.fd, "by both ways"));
	name.id = id;
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_EVENT_NAME, &name));
	EXPECT_STREQ("by both ways", name.name);

	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	arg = (struct posixtrace_eventid){ .name = "other", .description = (uintptr_t)BAD_POINTER,
					   .description_size = 16 };
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	memset(arg.name, 'x', sizeof(arg.name));
	arg.description = 0;
	arg.description_size = 0;
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_EVENTID_OPEN, BAD_POINTER));
	EXPECT_EQ(id + 1, open_name(&self->target, variant->run, "next one"));
}

TEST_F(way, types_are_described)
{
	struct posixtrace_description arg = { .text = (uintptr_t)TEXT, .size = sizeof(TEXT) };
	char text[sizeof(TEXT)];

	arg.id = eventid_open(self->target.fd, "described");
	ASSERT_EQ(0, variant->run(&self->target, POSIXTRACE_IOC_DESCRIBE, &arg));
	ASSERT_EQ(sizeof(TEXT), type_description(self->stream.fd, arg.id, text, sizeof(text)));
	EXPECT_STREQ(TEXT, text);

	arg.reserved = 1;
	EXPECT_EQ(-EINVAL, variant->run(&self->target, POSIXTRACE_IOC_DESCRIBE, &arg));
	arg.reserved = 0;
	arg.text = (uintptr_t)BAD_POINTER;
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_DESCRIBE, &arg));
	EXPECT_EQ(-EFAULT, variant->run(&self->target, POSIXTRACE_IOC_DESCRIBE, BAD_POINTER));
}

/* ------------------------------------------------------------------ */
/* Commands that the door refuses					*/

static bool event_arrives(const struct target *target, struct stream *stream)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	struct record record;

	return !knock(target->gate, POSIXTRACE_IOC_EVENT, &event) &&
	       stream_take(stream, &record, NULL, 0) == 1 &&
	       record.event_id == POSIXTRACE_ID_UNNAMED;
}

TEST_F(door, knows_no_other_command)
{
	static const unsigned long commands[] = {
		POSIXTRACE_IOC_INFO, POSIXTRACE_IOC_CREATE, POSIXTRACE_IOC_START,
		POSIXTRACE_IOC_STOP, POSIXTRACE_IOC_SHUTDOWN, POSIXTRACE_IOC_GET_STATUS,
		POSIXTRACE_IOC_GET_ATTR, POSIXTRACE_IOC_EVENT_NAME, POSIXTRACE_IOC_EVENT_TYPES,
		POSIXTRACE_IOC_WAIT, POSIXTRACE_IOC_RELEASE, POSIXTRACE_IOC_SET_FILTER,
		POSIXTRACE_IOC_GET_FILTER, POSIXTRACE_IOC_CLEAR, POSIXTRACE_IOC_FLUSH,
		POSIXTRACE_IOC_GET_STATS, POSIXTRACE_IOC_DEFER, POSIXTRACE_IOC_DESCRIPTION,
		POSIXTRACE_IOC_KERNEL_STATS, POSIXTRACE_IOC_STATES, POSIXTRACE_IOC_FILES,
		POSIXTRACE_IOC_WRITE_LOG, POSIXTRACE_IOC_ADD, POSIXTRACE_IOC_ROTATE,
		POSIXTRACE_IOC_TRIGGER, POSIXTRACE_IOC_TRIGGERED, POSIXTRACE_IOC_CLOCK_ERROR,
		POSIXTRACE_IOC_ATTACH, POSIXTRACE_IOC_SYNC, POSIXTRACE_IOC_CHECKED,
		POSIXTRACE_IOC_MAP,
		1, POSIXTRACE_IOC_MAGIC, POSIXTRACE_IOC_EVENT + 1, POSIXTRACE_IOC_EVENT | 1UL << 32,
		1UL << 32, ~0UL,
	};
	char memory[1024] = "";

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		EXPECT_EQ(-ENOTTY, knock(self->target.gate, commands[i], memory))
			TH_LOG("command %lx", commands[i]);
	}
	EXPECT_TRUE(event_arrives(&self->target, &self->stream));
}

TEST_F(door, call_keeps_the_other_registers)
{
	static const unsigned long commands[] = {
		POSIXTRACE_DOOR_ASK, POSIXTRACE_IOC_EVENT, POSIXTRACE_IOC_INFO,
	};
	static const long results[] = { 0, 0, -ENOTTY };
	unsigned long regs[REGISTERS], before[REGISTERS];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		for (size_t r = 0; r < REGISTERS; r++)
			before[r] = 0x1111111111111111 * (r % 15 + 1) + r;
		before[REG_MAGIC] = POSIXTRACE_DOOR_MAGIC;
		before[REG_COMMAND] = commands[i];
		before[REG_ARG] = (unsigned long)&self->event;
		before[REG_DOOR] = (unsigned long)self->target.gate->door;
		memcpy(regs, before, sizeof(regs));
		knock_with(regs);
		EXPECT_EQ(results[i], (long)regs[REG_MAGIC]);
		EXPECT_NE(before[REG_NEXT], regs[REG_NEXT]);
		for (size_t r = 0; r < REGISTERS; r++) {
			if (r != REG_MAGIC && r != REG_NEXT)
				EXPECT_EQ(before[r], regs[r]) TH_LOG("register %zu", r);
		}
	}
}

/* A read at any byte of the page is a command. */
TEST_F(door, last_byte_is_a_door)
{
	const char *last = (const char *)self->target.gate->door + 4095;

	EXPECT_EQ(0, knock_at(last, POSIXTRACE_IOC_EVENT, &self->event));
	EXPECT_EQ(-EFAULT, knock_at(last, POSIXTRACE_IOC_EVENT, BAD_POINTER));
}

static int knock_in_child(void *arg, const struct talk *talk)
{
	const struct target *target = arg;

	(void)talk;
	return knock(target->gate, POSIXTRACE_DOOR_ASK, NULL) ? 1 : 0;
}

TEST_F(door, is_gone_after_a_read)
{
	struct child child;

	ASSERT_EQ(0, knock(self->target.gate, POSIXTRACE_DOOR_ASK, NULL));
	for (size_t i = 0; i < sizeof(self->target.gate->door); i++)
		ASSERT_EQ(0, LOAD(self->target.gate->door[i]));
	EXPECT_EQ(NO_DOOR, knock(self->target.gate, POSIXTRACE_DOOR_ASK, NULL));
	EXPECT_EQ(NO_DOOR, knock(self->target.gate, POSIXTRACE_IOC_EVENT, &self->event));
	EXPECT_EQ(NO_DOOR, knock(self->target.gate, POSIXTRACE_IOC_EVENT, BAD_POINTER));

	/* The descriptor still accepts commands, although the door is closed. */
	EXPECT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENT, &self->event));

	/* fork() does not copy page-table entries of the device, so a child has a door again. */
	ASSERT_EQ(0, child_start(&child, knock_in_child, &self->target));
	EXPECT_EQ(0, child_wait(&child));
}

/* Accesses by another process or by the kernel do not close the door. */
static int look_and_wait(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	if (target_map(&target))
		return 1;
	say(talk, (long)target.gate);
	hear(talk);
	return knock(target.gate, POSIXTRACE_DOOR_ASK, NULL) ? 2 : 0;
}

TEST(other_processes_cannot_read_the_door)
{
	const struct posixtrace_gate *gate;
	struct iovec here, there;
	struct child child;
	char path[64], byte;
	int fd;

	ASSERT_EQ(0, child_start(&child, look_and_wait, NULL));
	gate = (const void *)hear(&child.talk);
	ASSERT_LT(0, (long)gate);
	here = (struct iovec){ &byte, 1 };
	there = (struct iovec){ (void *)gate->door, 1 };
	EXPECT_EQ(-1, process_vm_readv(child.pid, &here, 1, &there, 1, 0));
	EXPECT_EQ(EFAULT, errno);

	snprintf(path, sizeof(path), "/proc/%d/mem", child.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, pread(fd, &byte, 1, (off_t)gate->door));
	EXPECT_EQ(EIO, errno);
	close(fd);

	/* Any other memory of that process can be read this way. */
	there.iov_base = &byte;
	EXPECT_EQ(1, process_vm_readv(child.pid, &here, 1, &there, 1, 0));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(door, is_no_memory_for_system_calls)
{
	const unsigned char *page = self->target.gate->door;
	struct iovec iov = { (void *)page, 1 };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, write(pipes[1], page, 1));
	EXPECT_EQ(EFAULT, errno);
	/* vmsplice() takes the page itself instead of a copy. */
	EXPECT_EQ(-1, vmsplice(pipes[1], &iov, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, open((const char *)page, O_RDONLY));
	EXPECT_EQ(EFAULT, errno);
#ifdef MADV_POPULATE_READ
	EXPECT_EQ(-1, madvise((void *)page, sizeof(self->target.gate->door), MADV_POPULATE_READ));
#endif
	EXPECT_TRUE(event_arrives(&self->target, &self->stream));
	/* The module cannot copy the data of an event from the door either. */
	self->event.data = (uintptr_t)page;
	self->event.data_len = 1;
	EXPECT_EQ(-EFAULT, knock(self->target.gate, POSIXTRACE_IOC_EVENT, &self->event));
	EXPECT_EQ(-EFAULT, knock(self->target.gate, POSIXTRACE_IOC_EVENT, page));
	EXPECT_TRUE(event_arrives(&self->target, &self->stream));
	close(pipes[0]);
	close(pipes[1]);
}

/* ------------------------------------------------------------------ */
/* With a filter							*/

/* Installs a seccomp filter: a system call that the test does not need kills the process. */
static int enter_filter(void)
{
	return permit_pipes_only(SECCOMP_RET_KILL_PROCESS, 0);
}

static int be_strict(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ? -errno : 0;
}

static int no_filter(void)
{
	return 0;
}

struct kind {
	int (*enter)(void);
	long mode;
	bool shut;		/* the administrator has shut the door */
};

FIXTURE(filter)
{
	struct child child;
	struct stream stream;
};

FIXTURE_VARIANT(filter)
{
	struct kind kind;
};

FIXTURE_VARIANT_ADD(filter, none) { { no_filter, 0, false } };
FIXTURE_VARIANT_ADD(filter, filter) { { enter_filter, SECCOMP_MODE_FILTER, false } };
FIXTURE_VARIANT_ADD(filter, strict) { { be_strict, SECCOMP_MODE_STRICT, false } };
FIXTURE_VARIANT_ADD(filter, shut_none) { { no_filter, 0, true } };
FIXTURE_VARIANT_ADD(filter, shut_filter) { { enter_filter, SECCOMP_MODE_FILTER, true } };

/* Runs inside the filter: reports the result of each command. */
static int knock_inside(void *arg, const struct talk *talk)
{
	static const unsigned long commands[] = {
		POSIXTRACE_IOC_WAKE, POSIXTRACE_IOC_EVENTID_OPEN, POSIXTRACE_IOC_EVENT,
		POSIXTRACE_IOC_DESCRIBE, POSIXTRACE_IOC_NEXT, POSIXTRACE_IOC_MET,
	};
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED + 1 };
	struct posixtrace_eventid name = { .name = "inside" };
	struct posixtrace_met met = { .number = 1, .count = 1 };
	const struct kind *kind = arg;
	unsigned int mask = 1;
	void *args[] = { &mask, &name, &event, BAD_POINTER, BAD_POINTER, &met };
	struct target target;

	if (target_map(&target))
		return 1;
	say(talk, 0);
	hear(talk);
	say(talk, knock(target.gate, POSIXTRACE_DOOR_ASK, NULL));
	if (kind->enter())
		return 2;
	say(talk, knock(target.gate, POSIXTRACE_DOOR_ASK, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		say(talk, knock(target.gate, commands[i], args[i]));
	say(talk, knock(target.gate, POSIXTRACE_IOC_SYNC, NULL));
	syscall(SYS_exit, 0);
	return 3;
}

FIXTURE_SETUP(filter)
{
	if (variant->kind.shut)
		ASSERT_EQ(0, parameter_set("door", "N"));
	ASSERT_EQ(0, child_start(&self->child, knock_inside, (void *)&variant->kind));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, stream_create(&self->stream, self->child.pid));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(filter)
{
	parameter_set("door", "Y");
	stream_close(&self->stream);
}

TEST_F(filter, decides_who_may_knock)
{
	const bool refused = variant->kind.shut && variant->kind.mode;
	struct record record;
	const char *wanted = refused ? "" : "inside";
	int events = 0;

	say(&self->child.talk, 0);
	EXPECT_EQ(0, hear(&self->child.talk));
	EXPECT_EQ(variant->kind.mode, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : 0, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : 0, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : 0, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : -EFAULT, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : -EFAULT, hear(&self->child.talk));
	EXPECT_EQ(refused ? -EPERM : 0, hear(&self->child.talk));
	EXPECT_EQ(-ENOTTY, hear(&self->child.talk));
	EXPECT_EQ(0, child_wait(&self->child));
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		events += record.event_id == POSIXTRACE_ID_UNNAMED + 1;
	EXPECT_EQ(!refused, events);
	if (*wanted) {
		struct posixtrace_eventid name = { .id = POSIXTRACE_ID_UNNAMED + 1 };

		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_EVENT_NAME, &name));
		EXPECT_STREQ(wanted, name.name);
	}
}

TEST_HARNESS_MAIN
