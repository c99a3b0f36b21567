// SPDX-License-Identifier: GPL-2.0
/*
 * The effect of a process with very many mappings on others. While the module unmaps a stream from
 * all address spaces, processes that map a different stream must not wait for that.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

/* Less than the default of vm.max_map_count. Use fewer mappings where system calls are slow. */
#define MAPPINGS	60000
#define PAGE		4096

/* The neighbour's longest call must take less than 1 / PART of the other's shutdown. */
#define PART		4

/*
 * Other work may delay the neighbour in one attempt. If all streams shared a struct address_space,
 * it would be delayed in every attempt.
 */
#define ATTEMPTS	5

/* Times in shared memory. */
struct times {
	bool begun;
	unsigned long long shutdown;
};

/* Shuts down a stream that it has mapped very often. */
static int be_crowded(void *arg, const struct talk *talk)
{
	struct times *times = arg;
	unsigned long long begin;
	struct posixtrace_map page;
	struct stream stream;

	if (run_on(1) < 0 || stream_create(&stream, 0))
		return 1;
	page = stream.arg.ctrl;
	page.size = PAGE;
	for (int i = 0; i < MAPPINGS / pxt_time_scale(); i++) {
		const char *at = map_range(stream.fd, &page, PROT_READ);

		if (at == MAP_FAILED)
			return 2;
		(void)LOAD(*at);
	}
	say(talk, 0);
	hear(talk);
	__atomic_store_n(&times->begun, true, __ATOMIC_RELEASE);
	begin = clock_now(CLOCK_MONOTONIC);
	if (command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL))
		return 3;
	__atomic_store_n(&times->shutdown, clock_now(CLOCK_MONOTONIC) - begin, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Maps a stream in a loop until the shutdown of the other stream has ended. Returns the longest
 * duration of a mapping that ended after the shutdown began; 0 if there was none, ~0 on failure.
 */
static unsigned long long longest_mapping(struct stream *stream, const struct times *times)
{
	unsigned long long longest = 0, begin, took;

	while (!LOAD(times->shutdown)) {
		void *ctrl;

		begin = clock_now(CLOCK_MONOTONIC);
		ctrl = map_range(stream->fd, &stream->arg.ctrl, PROT_READ);
		if (ctrl == MAP_FAILED || munmap(ctrl, stream->arg.ctrl.size))
			return ~0ULL;
		took = clock_now(CLOCK_MONOTONIC) - begin;
		if (LOAD(times->begun) && took > longest)
			longest = took;
	}
	return longest;
}

FIXTURE(neighbour)
{
	struct stream stream;
	struct times *times;
};

FIXTURE_SETUP(neighbour)
{
	self->times = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->times);
	ASSERT_EQ(0, run_on(0));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(neighbour)
{
	stream_close(&self->stream);
	munmap(self->times, PAGE);
}

TEST_F_TIMEOUT(neighbour, shutdown_of_a_crowded_stream_holds_up_no_other_mapping, 120)
{
	unsigned long long longest = 0;
	struct child crowded;
	bool fast = false;

	for (int i = 0; i < ATTEMPTS && !fast; i++) {
		*self->times = (struct times){ 0 };
		ASSERT_EQ(0, child_start(&crowded, be_crowded, self->times));
		ASSERT_EQ(0, hear(&crowded.talk));
		say(&crowded.talk, 0);
		longest = longest_mapping(&self->stream, self->times);
		ASSERT_NE(~0ULL, longest);
		fast = longest && longest * PART < self->times->shutdown;
		TH_LOG("mapping: %llu us, shutdown: %llu us", longest / 1000,
		       self->times->shutdown / 1000);
		ASSERT_EQ(0, child_wait(&crowded));
	}
	EXPECT_TRUE(fast);
}

TEST_HARNESS_MAIN
