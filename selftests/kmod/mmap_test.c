// SPDX-License-Identifier: GPL-2.0
/*
 * Permitted mappings, and mappings of a stream that has ended.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

/* Returns the error of a mapping that must not succeed, or 0. */
static int try_map(int fd, unsigned long long offset, size_t size, int prot, int flags)
{
	void *p = mmap(NULL, size, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, size);
	return 0;
}

static int try_range(int fd, const struct posixtrace_map *range, int prot)
{
	return try_map(fd, range->offset, range->size, prot, MAP_SHARED);
}

/* Returns the result of mprotect() with write access on a read-only mapping. */
static int try_upgrade(int fd, const struct posixtrace_map *range)
{
	void *p = map_range(fd, range, PROT_READ);
	int ret;

	if (p == MAP_FAILED)
		return 1;
	ret = mprotect(p, range->size, PROT_READ | PROT_WRITE) ? -errno : 0;
	munmap(p, range->size);
	return ret;
}

FIXTURE(mmap)
{
	struct stream stream;
	struct target target;
	struct posixtrace_slot *slot;
};

FIXTURE_SETUP(mmap)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_sync(&self->target));
	self->slot = &self->target.slots[self->stream.arg.slot];
}

FIXTURE_TEARDOWN(mmap)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

/* ------------------------------------------------------------------ */
/* Protection								*/

TEST_F(mmap, stream_maps_only_the_reader_for_writing)
{
	const int rw = PROT_READ | PROT_WRITE;

	EXPECT_EQ(0, try_range(self->stream.fd, &self->stream.arg.reader, rw));
	EXPECT_GT(0, try_range(self->stream.fd, &self->stream.arg.ctrl, rw));
	EXPECT_GT(0, try_range(self->stream.fd, &self->stream.arg.heads, rw));
	EXPECT_GT(0, try_range(self->stream.fd, &self->stream.arg.pool, rw));
	EXPECT_EQ(0, try_range(self->stream.fd, &self->stream.arg.ctrl, PROT_READ));
	EXPECT_EQ(0, try_range(self->stream.fd, &self->stream.arg.heads, PROT_READ));
	EXPECT_EQ(0, try_range(self->stream.fd, &self->stream.arg.pool, PROT_READ));
}

TEST_F(mmap, stream_cannot_gain_write_access_later)
{
	EXPECT_EQ(-EACCES, try_upgrade(self->stream.fd, &self->stream.arg.ctrl));
	EXPECT_EQ(-EACCES, try_upgrade(self->stream.fd, &self->stream.arg.heads));
	EXPECT_EQ(-EACCES, try_upgrade(self->stream.fd, &self->stream.arg.pool));
}

TEST_F(mmap, target_cannot_write_its_gate)
{
	EXPECT_EQ(0, try_range(self->target.fd, &self->target.arg.gate, PROT_READ));
	EXPECT_GT(0, try_range(self->target.fd, &self->target.arg.gate, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EACCES, try_upgrade(self->target.fd, &self->target.arg.gate));
}

TEST_F(mmap, target_maps_heads_and_pool_for_writing)
{
	EXPECT_EQ(0, try_range(self->target.fd, &self->slot->heads, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, try_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_WRITE));
}

TEST_F(mmap, target_cannot_write_need_wakeup)
{
	EXPECT_EQ(0, try_range(self->target.fd, &self->slot->wakeup, PROT_READ));
	EXPECT_GT(0, try_range(self->target.fd, &self->slot->wakeup, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EACCES, try_upgrade(self->target.fd, &self->slot->wakeup));
}

TEST_F(mmap, target_maps_nothing_else_of_the_stream)
{
	const struct posixtrace_create *arg = &self->stream.arg;
	struct posixtrace_map system = {
		.offset = self->slot->pool.offset + self->slot->pool.size,
		.size = 4096,
	};
	struct posixtrace_map all = {
		.offset = self->slot->pool.offset,
		.size = self->slot->pool.size + 4096,
	};

	/* The target cannot map at the stream's offsets, nor beyond its own ranges. */
	EXPECT_GT(0, try_range(self->target.fd, &system, PROT_READ));
	EXPECT_GT(0, try_range(self->target.fd, &all, PROT_READ));
	if (arg->reader.offset != self->target.arg.gate.offset) {
		EXPECT_GT(0, try_range(self->target.fd, &arg->reader, PROT_READ));
		EXPECT_GT(0, try_range(self->target.fd, &arg->reader, PROT_READ | PROT_WRITE));
		EXPECT_GT(0, try_range(self->target.fd, &arg->ctrl, PROT_READ));
	}
	for (unsigned long long before = 4096; before <= 65536; before += 4096) {
		system.offset = self->slot->heads.offset - before;
		if (system.offset < self->slot->heads.offset &&
		    system.offset != self->slot->wakeup.offset)
			EXPECT_GT(0, try_range(self->target.fd, &system, PROT_READ));
	}
}

TEST_F(mmap, nothing_is_executable)
{
	EXPECT_GT(0, try_range(self->stream.fd, &self->stream.arg.pool, PROT_READ | PROT_EXEC));
	EXPECT_GT(0, try_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_EXEC));
	EXPECT_GT(0, try_range(self->target.fd, &self->target.arg.gate, PROT_READ | PROT_EXEC));
}

TEST_F(mmap, private_mappings_are_invalid)
{
	const struct posixtrace_create *arg = &self->stream.arg;

	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->reader.offset, arg->reader.size,
				   PROT_READ, MAP_PRIVATE));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->pool.offset, arg->pool.size,
				   PROT_READ, MAP_PRIVATE));
	EXPECT_EQ(-EINVAL, try_map(self->target.fd, self->slot->pool.offset,
				   self->slot->pool.size, PROT_READ | PROT_WRITE, MAP_PRIVATE));
	EXPECT_EQ(-EINVAL, try_map(self->target.fd, self->target.arg.gate.offset,
				   self->target.arg.gate.size, PROT_READ, MAP_PRIVATE));
}

/* ------------------------------------------------------------------ */
/* Offsets and sizes							*/

TEST_F(mmap, range_beyond_the_end_is_invalid)
{
	const struct posixtrace_create *arg = &self->stream.arg;

	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->pool.offset, arg->pool.size + 4096,
				   PROT_READ, MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->pool.offset + arg->pool.size, 4096,
				   PROT_READ, MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, 1ULL << 62, 4096, PROT_READ, MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->target.fd, 1ULL << 62, 4096, PROT_READ, MAP_SHARED));
}

TEST_F(mmap, range_across_reader_and_others_is_invalid)
{
	const struct posixtrace_create *arg = &self->stream.arg;

	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->reader.offset, arg->reader.size + 4096,
				   PROT_READ, MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->reader.offset, arg->reader.size + 4096,
				   PROT_READ | PROT_WRITE, MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->reader.offset - 4096, 8192,
				   PROT_READ, MAP_SHARED));
}

TEST_F(mmap, stream_maps_all_read_only_ranges_together)
{
	const struct posixtrace_create *arg = &self->stream.arg;
	size_t size = arg->ctrl.size + arg->heads.size + arg->pool.size;

	EXPECT_EQ(0, try_map(self->stream.fd, arg->ctrl.offset, size, PROT_READ, MAP_SHARED));
	EXPECT_GT(0, try_map(self->stream.fd, arg->ctrl.offset, size, PROT_READ | PROT_WRITE,
			     MAP_SHARED));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, arg->ctrl.offset, size + 4096, PROT_READ,
				   MAP_SHARED));
}

TEST_F(mmap, mapping_cannot_grow)
{
	struct posixtrace_map range = self->slot->pool;
	void *pool = map_range(self->target.fd, &range, PROT_READ | PROT_WRITE);

	ASSERT_NE(MAP_FAILED, pool);
	EXPECT_EQ(MAP_FAILED, mremap(pool, range.size, range.size + 4096, MREMAP_MAYMOVE));
	munmap(pool, range.size);
}

TEST(file_without_role_maps_nothing)
{
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_GT(0, try_map(fd, 0, 4096, PROT_READ, MAP_SHARED));
	close(fd);
}

TEST_F(mmap, whole_target_range_in_one_mapping)
{
	/* There may be gaps between ranges, because SYNC describes each one separately. */
	EXPECT_EQ(0, self->slot->heads.size % 4096);
	EXPECT_EQ(0, self->slot->pool.size % 4096);
	EXPECT_EQ(0, self->slot->heads.offset % 4096);
	EXPECT_EQ(0, self->slot->pool.offset % 4096);
}

/* ------------------------------------------------------------------ */
/* After the end							*/

TEST_F(mmap, target_survives_the_end_of_the_stream)
{
	struct posixtrace_cpu_head *heads;
	char *pool;

	heads = map_range(self->target.fd, &self->slot->heads, PROT_READ | PROT_WRITE);
	pool = map_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, heads);
	ASSERT_NE(MAP_FAILED, pool);
	memset(pool, 'a', self->slot->pool.size);
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	/* The data of the stream is gone. Further writes have no effect and are harmless. */
	EXPECT_EQ(0, pool[0]);
	memset(pool, 'b', self->slot->pool.size);
	heads[0].head = 1;
	heads[0].lost = 1;
	munmap(heads, self->slot->heads.size);
	munmap(pool, self->slot->pool.size);
}

TEST_F(mmap, reader_survives_the_end_of_the_stream)
{
	unsigned long long sum = 0;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	for (size_t i = 0; i < self->stream.arg.pool.size; i += 4096)
		sum += self->stream.pool[i];
	for (size_t i = 0; i < self->stream.arg.ctrl.size; i += 4096)
		sum += ((const char *)self->stream.ctrl)[i];
	self->stream.reader->consumed[0].position = ~0ULL;
	EXPECT_EQ(0, sum);
}

TEST_F(mmap, mapping_keeps_no_stream_alive)
{
	unsigned int slot = self->stream.arg.slot;

	close(self->stream.fd);
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(0, self->target.slots[slot].heads.size);
	stream_unmap(&self->stream);
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

TEST_F(mmap, range_of_a_stream_that_ended_cannot_be_mapped)
{
	struct posixtrace_slot slot = *self->slot;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_GT(0, try_range(self->target.fd, &slot.pool, PROT_READ | PROT_WRITE));
	EXPECT_GT(0, try_range(self->target.fd, &slot.heads, PROT_READ | PROT_WRITE));
	EXPECT_GT(0, try_range(self->stream.fd, &self->stream.arg.pool, PROT_READ));
}

/* A mapping of the old stream's pool must not reach the memory of the next stream in its slot. */
TEST_F(mmap, stale_mapping_does_not_reach_the_next_stream)
{
	struct posixtrace_map range = self->slot->pool;
	struct record record;
	struct stream next;
	char *pool;

	pool = map_range(self->target.fd, &range, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, pool);
	pool[0] = 'x';
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	ASSERT_EQ(0, stream_create(&next, 0));
	EXPECT_EQ(self->stream.arg.slot, next.arg.slot);
	ASSERT_EQ(0, stream_start(&next));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "secret", 7));
	memset(pool, 0xee, range.size);
	ASSERT_EQ(1, stream_take(&next, &record, NULL, 0));
	ASSERT_EQ(1, stream_take(&next, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
	EXPECT_EQ(7, record.data_len);
	munmap(pool, range.size);
	stream_close(&next);
}

/* ------------------------------------------------------------------ */
/* fork									*/

/* Runs in a child. Returns 0 if address *arg is not mapped. */
static int is_unmapped(void *arg, const struct talk *talk)
{
	unsigned char vec;

	(void)talk;
	if (mincore(*(void **)arg, 4096, &vec) == 0)
		return 1;
	return errno == ENOMEM ? 0 : 2;
}

TEST_F(mmap, forked_child_has_no_writable_mapping)
{
	void *heads = map_range(self->target.fd, &self->slot->heads, PROT_READ | PROT_WRITE);
	void *pool = map_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_WRITE);
	void *reader = self->stream.reader;
	struct child child;

	ASSERT_NE(MAP_FAILED, heads);
	ASSERT_NE(MAP_FAILED, pool);
	ASSERT_EQ(0, child_start(&child, is_unmapped, &heads));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, child_start(&child, is_unmapped, &pool));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(0, child_start(&child, is_unmapped, &reader));
	EXPECT_EQ(0, child_wait(&child));
	munmap(heads, self->slot->heads.size);
	munmap(pool, self->slot->pool.size);
}

static int map_of_parent(void *arg, const struct talk *talk)
{
	struct _test_data_mmap *self = arg;

	(void)talk;
	if (try_range(self->stream.fd, &self->stream.arg.pool, PROT_READ) == 0)
		return 1;
	if (try_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_WRITE) == 0)
		return 2;
	return 0;
}

TEST_F(mmap, forked_child_can_map_nothing_of_its_parent)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, map_of_parent, self));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* userfaultfd								*/

/* From linux/userfaultfd.h of 6.7; older headers lack them. */
#define WP_UNPOPULATED	(1 << 13)
#define WP_ASYNC	(1 << 15)
#define USER_MODE_ONLY	1

/* Write-protects a whole mapping, without a handler. Returns 0, or the error of the kernel. */
static int write_protect(void *memory, size_t size, unsigned long long features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register all = {
		.range = { .start = (uintptr_t)memory, .len = size },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect protect = {
		.range = all.range,
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY);

	/* Keep the descriptor open: closing it would end the protection. */
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all) ||
	    ioctl(fd, UFFDIO_WRITEPROTECT, &protect))
		return -errno;
	return 0;
}

static sigjmp_buf after_sigbus;

static void jump(int signal)
{
	siglongjmp(after_sigbus, signal);
}

/* Writes to memory that no other thread uses. Returns true if that raised SIGBUS. */
static bool write_faults(char *memory, size_t size)
{
	if (sigsetjmp(after_sigbus, 1))
		return true;
	for (size_t i = 0; i < size; i += 4096)
		__atomic_store_n(&memory[i], 1, __ATOMIC_RELAXED);
	return false;
}

/* A write to the protected memory must not retry its page fault forever. */
TEST_F(mmap, userfaultfd_write_protection_is_refused_or_sigbus)
{
	static const unsigned long long features[] = { 0, WP_ASYNC | WP_UNPOPULATED };
	char *pool = map_range(self->target.fd, &self->slot->pool, PROT_READ | PROT_WRITE);
	const size_t size = self->slot->pool.size;

	ASSERT_NE(MAP_FAILED, pool);
	ASSERT_NE(SIG_ERR, signal(SIGBUS, jump));
	for (unsigned int i = 0; i < ARRAY_SIZE(features); i++) {
		int err = write_protect(pool, size, features[i]);

		EXPECT_EQ(!err, write_faults(pool, size)) TH_LOG("way %u: error %d", i, err);
	}
	munmap(pool, size);
}

TEST_HARNESS_MAIN
