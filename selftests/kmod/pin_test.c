// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of streams cannot be pinned: after unmapping, no process can access it. However often a
 * stream was mapped, its remains take the same memory after its end.
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "actor.h"
#include "disk.h"
#include "memgroup.h"
#include "uapi.h"

#define PAGE	4096

FIXTURE(pin)
{
	struct stream stream;
	struct target target;
	char *memory;		/* a page of it, with a record or other contents */
	size_t size;
};

FIXTURE_VARIANT(pin)
{
	bool by_target;
	bool writable;
	/*
	 * The stream's memory to test, as the offset of a struct posixtrace_map in the answer of
	 * CREATE or SYNC.
	 */
	size_t offset;
};

#define OF_STREAM(range) \
	.offset = offsetof(struct posixtrace_create, range)
#define OF_TARGET(range) \
	.by_target = true, .offset = offsetof(struct posixtrace_slot, range)

FIXTURE_VARIANT_ADD(pin, subbuffers_of_the_target) { OF_TARGET(pool), .writable = true };
FIXTURE_VARIANT_ADD(pin, heads_of_the_target) { OF_TARGET(heads), .writable = true };
FIXTURE_VARIANT_ADD(pin, need_wakeup_of_the_target) { OF_TARGET(wakeup) };
FIXTURE_VARIANT_ADD(pin, subbuffers_of_the_stream) { OF_STREAM(pool) };
FIXTURE_VARIANT_ADD(pin, ctrl_of_the_stream) { OF_STREAM(ctrl) };
FIXTURE_VARIANT_ADD(pin, consumed_of_the_stream) { OF_STREAM(reader), .writable = true };

FIXTURE_SETUP(pin)
{
	const struct posixtrace_map *range;
	const char *from;

	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "secret", 7));
	from = variant->by_target ? (char *)&self->target.slots[self->stream.arg.slot] :
				    (char *)&self->stream.arg;
	range = (const void *)(from + variant->offset);
	self->size = range->size;
	self->memory = map_range(variant->by_target ? self->target.fd : self->stream.fd, range,
				 PROT_READ | (variant->writable ? PROT_WRITE : 0));
	ASSERT_NE(MAP_FAILED, self->memory);
	/* Touch the page. */
	LOAD(*self->memory);
}

FIXTURE_TEARDOWN(pin)
{
	munmap(self->memory, self->size);
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(pin, vmsplice_refuses_it)
{
	struct iovec part = { .iov_base = self->memory, .iov_len = PAGE };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, vmsplice(pipes[1], &part, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, vmsplice(pipes[1], &part, 1, SPLICE_F_GIFT));
	EXPECT_EQ(EFAULT, errno);
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F(pin, direct_transfer_refuses_it)
{
	static char other[PAGE] __attribute__((aligned(PAGE)));
	struct disk disk;

	ASSERT_EQ(0, disk_begin(&disk, "ext4"));
	ASSERT_EQ(0, fcntl(disk.fd, F_SETFL, O_DIRECT));
	EXPECT_EQ(-1, pwrite(disk.fd, self->memory, PAGE, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(PAGE, pwrite(disk.fd, other, PAGE, 0));
	EXPECT_EQ(-1, pread(disk.fd, self->memory, PAGE, 0));
	EXPECT_EQ(EFAULT, errno);
	disk_end(&disk);
}

TEST_F(pin, io_uring_refuses_it_as_a_buffer)
{
	struct iovec part = { .iov_base = self->memory, .iov_len = PAGE };
	struct io_uring_params params = { 0 };
	static char other[PAGE] __attribute__((aligned(PAGE)));
	struct iovec fine = { .iov_base = other, .iov_len = PAGE };
	int ring = syscall(SYS_io_uring_setup, 1, &params);

	ASSERT_LE(0, ring);
	EXPECT_GT(0, syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &part, 1));
	EXPECT_EQ(0, syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &fine, 1));
	close(ring);
}

TEST_F(pin, other_processes_cannot_access_it)
{
	char byte;
	struct iovec ours = { .iov_base = &byte, .iov_len = 1 };
	struct iovec theirs = { .iov_base = self->memory, .iov_len = 1 };
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	EXPECT_EQ(-1, process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_writev(getpid(), &ours, 1, &theirs, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, pread(fd, &byte, 1, (off_t)(uintptr_t)self->memory));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, pwrite(fd, &byte, 1, (off_t)(uintptr_t)self->memory));
	EXPECT_EQ(EIO, errno);
	close(fd);
}

/* Runs in a child: tries to read the memory of its parent. */
static int trace_parent(void *arg, const struct talk *talk)
{
	pid_t parent = getppid();
	int ret = 0;

	hear(talk);
	if (ptrace(PTRACE_SEIZE, parent, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, parent, NULL, NULL) || waitpid(parent, NULL, __WALL) < 0)
		return 1;
	errno = 0;
	if (ptrace(PTRACE_PEEKDATA, parent, *(void **)arg, NULL) != -1 || errno != EIO)
		ret = 2;
	if (!ret && !ptrace(PTRACE_POKEDATA, parent, *(void **)arg, 0))
		ret = 3;
	ptrace(PTRACE_DETACH, parent, NULL, NULL);
	return ret;
}

TEST_F(pin, debuggers_cannot_access_it)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, trace_parent, &self->memory));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* The remains of a stream						*/

#define MAPPINGS	2000

/*
 * Runs in the memory cgroup: reports by how many bytes the memory of the group grows when the pages
 * of all mappings are touched. The result is negative if RCU frees memory of the ended stream at
 * the same time.
 */
static int touch_mappings(void *arg, const struct talk *talk)
{
	static char *memory[MAPPINGS];
	struct posixtrace_slot *slot;
	struct stream stream;
	struct target target;
	long before, after;

	(void)arg;
	if (memgroup_enter() || target_open(&target) || stream_create(&stream, 0) ||
	    target_sync(&target))
		return 1;
	slot = &target.slots[stream.arg.slot];
	for (int i = 0; i < MAPPINGS; i++) {
		memory[i] = map_range(target.fd, i % 2 ? &slot->heads : &slot->pool,
				      PROT_READ | PROT_WRITE);
		if (memory[i] == MAP_FAILED)
			return 2;
	}
	if (command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL) || memgroup_shrink())
		return 3;
	before = memgroup_current();
	for (int i = 1; i < MAPPINGS; i += 2)
		__atomic_store_n(memory[i], 1, __ATOMIC_RELAXED);
	after = memgroup_current();
	if (before < 0 || after < 0)
		return 4;
	say(talk, after - before);
	return hear(talk) ? 1 : 0;
}

TEST(many_mappings_of_an_ended_stream_need_few_pages)
{
	struct child child;
	long bytes;

	ASSERT_EQ(0, memgroup_begin("max"));
	ASSERT_EQ(0, child_start(&child, touch_mappings, NULL));
	bytes = hear(&child.talk);
	/* The memory grows by page tables, and by charges that processors keep in stock. */
	EXPECT_GT(MAPPINGS / 2 * PAGE / 2, bytes) TH_LOG("%ld bytes", bytes);
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, memgroup_end());
}

/*
 * Runs as a user whose limit is one stream and @room more bytes. Returns 0, or the number of the
 * failed step.
 */
static int map_and_end(long room)
{
	struct stream first = { .fd = device_open() }, second = { .fd = device_open() };
	struct actor_is is = { 1000, -1, 0, 1 << 20 };
	struct posixtrace_status status;
	struct target target;
	void *heads;

	create_init(&first.arg, 0);
	first.arg.attr.stream_size = 0;
	first.arg.attr.max_data_size = 0;
	second.arg = first.arg;
	if (actor_become(&is) || target_open(&target) || stream_open(&first) ||
	    stream_status(&first, &status) || target_sync(&target) ||
	    set_memlock(status.memory + room))
		return 1;
	heads = map_range(target.fd, &target.slots[first.arg.slot].heads, PROT_READ | PROT_WRITE);
	if (heads == MAP_FAILED || command(first.fd, POSIXTRACE_IOC_SHUTDOWN, NULL))
		return 2;
	stream_close(&first);
	if (command(second.fd, POSIXTRACE_IOC_CREATE, &second.arg) != (room ? 0 : -ENOMEM))
		return 3;
	munmap(heads, first.arg.heads.size);
	return !room && command(second.fd, POSIXTRACE_IOC_CREATE, &second.arg) ? 4 : 0;
}

static int run_map_and_end(void *room, const struct talk *talk)
{
	(void)talk;
	return map_and_end(*(long *)room);
}

TEST(pages_of_an_ended_stream_count_until_they_are_unmapped)
{
	long room[] = { 0, 3 * PAGE };
	struct child child;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, child_start(&child, run_map_and_end, &room[i]));
		EXPECT_EQ(0, child_wait(&child));
	}
}

TEST_HARNESS_MAIN
