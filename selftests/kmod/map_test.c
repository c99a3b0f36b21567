// SPDX-License-Identifier: GPL-2.0
/*
 * MAP: maps memory like mmap(), but for the file through which the command is made.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "pxt_test.h"
#include "foreign.h"
#include "process.h"
#include "uapi.h"

#define WRITE		POSIXTRACE_MAPPING_WRITE
#define POPULATE	POSIXTRACE_MAPPING_POPULATE

#define PAGE		4096

static int map_checked(int fd, __u64 stream, struct posixtrace_mapping *mapping)
{
	struct posixtrace_checked checked = {
		.stream = stream,
		.arg = (uintptr_t)mapping,
		.cmd = POSIXTRACE_IOC_MAP,
	};

	return command(fd, POSIXTRACE_IOC_CHECKED, &checked);
}

static void *address_of(const struct posixtrace_mapping *mapping)
{
	return (void *)(uintptr_t)mapping->address;
}

/* Returns the error of a mapping; unmaps it on success. */
static int try_map(int fd, const struct posixtrace_map *map, __u32 flags)
{
	struct posixtrace_mapping mapping = { .map = *map, .flags = flags };
	int err = command(fd, POSIXTRACE_IOC_MAP, &mapping);

	if (!err)
		munmap(address_of(&mapping), map->size);
	return err;
}

/* Returns the number of page faults of writes to the whole mapping. */
static long count_faults(const struct posixtrace_mapping *mapping)
{
	char *memory = address_of(mapping);
	struct rusage before, after;

	if (getrusage(RUSAGE_THREAD, &before))
		return -1;
	for (size_t i = 0; i < mapping->map.size; i += PAGE)
		__atomic_store_n(&memory[i], 0, __ATOMIC_RELAXED);
	return getrusage(RUSAGE_THREAD, &after) ? -1 : after.ru_minflt - before.ru_minflt;
}

FIXTURE(map)
{
	struct stream stream;
	struct stream other;
	struct target target;
	struct posixtrace_slot *slot;
	int mappings;
};

FIXTURE_SETUP(map)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_create(&self->other, 0));
	ASSERT_EQ(0, target_sync(&self->target));
	self->slot = &self->target.slots[self->stream.arg.slot];
	self->mappings = count_device_maps();
	ASSERT_LT(0, self->mappings);
}

FIXTURE_TEARDOWN(map)
{
	/* Failed calls left no mapping. */
	EXPECT_EQ(self->mappings, count_device_maps());
	stream_close(&self->other);
	stream_close(&self->stream);
	target_close(&self->target);
}

/* ------------------------------------------------------------------ */
/* Mapped ranges							*/

TEST_F(map, maps_the_same_as_mmap)
{
	struct posixtrace_mapping mapping = { .map = self->stream.arg.ctrl };
	const struct posixtrace_ctrl *ctrl;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_MAP, &mapping));
	EXPECT_EQ(self->mappings + 1, count_device_maps());
	ctrl = address_of(&mapping);
	ASSERT_NE(NULL, ctrl);
	EXPECT_EQ(sizeof(*ctrl), ctrl->size);
	EXPECT_EQ(0, munmap(address_of(&mapping), mapping.map.size));
}

TEST_F(map, writable_where_the_role_permits)
{
	struct posixtrace_mapping mapping = { .map = self->slot->heads, .flags = WRITE };
	struct posixtrace_stats stats;
	struct posixtrace_cpu_head *heads;

	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_MAP, &mapping));
	heads = address_of(&mapping);
	heads->lost = 7;
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
	EXPECT_EQ(7, stats.dropped);
	EXPECT_EQ(0, munmap(heads, mapping.map.size));
}

TEST_F(map, protection_follows_from_the_role)
{
	EXPECT_EQ(0, try_map(self->stream.fd, &self->stream.arg.reader, WRITE));
	EXPECT_EQ(0, try_map(self->stream.fd, &self->stream.arg.reader, 0));
	EXPECT_EQ(-EACCES, try_map(self->stream.fd, &self->stream.arg.ctrl, WRITE));
	EXPECT_EQ(-EACCES, try_map(self->stream.fd, &self->stream.arg.pool, WRITE));
	EXPECT_EQ(0, try_map(self->target.fd, &self->target.arg.gate, 0));
	EXPECT_EQ(-EACCES, try_map(self->target.fd, &self->target.arg.gate, WRITE));
	EXPECT_EQ(0, try_map(self->target.fd, &self->slot->pool, WRITE));
	EXPECT_EQ(-EACCES, try_map(self->target.fd, &self->slot->wakeup, WRITE));
	EXPECT_EQ(-EINVAL, try_map(self->target.fd, &self->stream.arg.reader, 0));
	EXPECT_EQ(-EINVAL, try_map(self->stream.fd, &self->other.arg.reader, 0));
}

TEST_F(map, read_only_mapping_stays_read_only)
{
	struct posixtrace_mapping mapping = { .map = self->stream.arg.pool };

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_MAP, &mapping));
	EXPECT_EQ(-1, mprotect(address_of(&mapping), PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, munmap(address_of(&mapping), mapping.map.size));
}

TEST_F(map, populated_mapping_takes_no_page_fault)
{
	struct posixtrace_mapping mapping = { .map = self->slot->heads, .flags = WRITE };

	PXT_NOT_WITH_SANITIZERS("take page faults of their own");
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_MAP, &mapping));
	EXPECT_LT(0, count_faults(&mapping));
	EXPECT_EQ(0, munmap(address_of(&mapping), mapping.map.size));

	mapping = (struct posixtrace_mapping){
		.map = self->slot->pool,
		.flags = WRITE | POPULATE,
	};
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_MAP, &mapping));
	EXPECT_EQ(0, count_faults(&mapping));
	EXPECT_EQ(0, munmap(address_of(&mapping), mapping.map.size));
}

/* ------------------------------------------------------------------ */
/* The file								*/

TEST_F(map, only_of_the_expected_stream)
{
	struct posixtrace_mapping mapping = { .map = self->stream.arg.reader };

	EXPECT_EQ(-ESTALE, map_checked(self->other.fd, self->stream.arg.stream, &mapping));
	EXPECT_EQ(-ESTALE, map_checked(self->target.fd, self->stream.arg.stream, &mapping));
	EXPECT_EQ(0, mapping.address);
	ASSERT_EQ(0, map_checked(self->stream.fd, self->stream.arg.stream, &mapping));
	EXPECT_EQ(0, munmap(address_of(&mapping), mapping.map.size));
}

TEST_F(map, not_of_an_ended_stream)
{
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESHUTDOWN, try_map(self->stream.fd, &self->stream.arg.reader, 0));
	EXPECT_EQ(-EINVAL, try_map(self->target.fd, &self->slot->heads, 0));
}

/* ------------------------------------------------------------------ */
/* Errors								*/

TEST_F(map, unknown_flags_are_invalid)
{
	for (int bit = 2; bit < 32; bit++)
		EXPECT_EQ(-EINVAL, try_map(self->stream.fd, &self->stream.arg.reader, 1U << bit));
}

TEST_F(map, unused_members_must_be_zero)
{
	struct posixtrace_mapping mapping = { .map = self->stream.arg.reader, .reserved = 1 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_MAP, &mapping));
	mapping.reserved = 0;
	mapping.address = PAGE;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_MAP, &mapping));
}

TEST_F(map, range_is_checked)
{
	const struct posixtrace_map good = self->stream.arg.reader;
	const struct posixtrace_map bad[] = {
		{ good.offset, 0 },
		{ good.offset, ~0ULL },
		{ good.offset, ~0ULL - PAGE },
		{ good.offset, 1ULL << 63 },
		{ good.offset + 1, good.size },
		{ good.offset, good.size + PAGE },
		{ ~0ULL, good.size },
		{ -good.size, good.size },
		{ -(2 * good.size), good.size },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		int err = try_map(self->stream.fd, &bad[i], 0);

		EXPECT_TRUE(err == -EINVAL || err == -ENOMEM || err == -EOVERFLOW)
			TH_LOG("range %u: %d", i, err);
	}
}

TEST_F(map, unreadable_argument_is_a_fault)
{
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_MAP, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_MAP, BAD_POINTER));
}

TEST_F(map, unwritable_answer_maps_nothing)
{
	struct posixtrace_mapping *mapping = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)mapping);
	mapping->map = self->stream.arg.reader;
	ASSERT_EQ(0, mprotect(mapping, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_MAP, mapping));
	EXPECT_EQ(self->mappings, count_device_maps());
	munmap(mapping, PAGE);
}

TEST_HARNESS_MAIN
