// SPDX-License-Identifier: GPL-2.0
/*
 * NEXT: requests sub-buffers, to which the caller writes records, mixed with records of EVENT.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "pxt_test.h"
#include "writer.h"

FIXTURE(next)
{
	struct stream stream;
	struct target target;
	struct writer writer;
};

FIXTURE_SETUP(next)
{
	struct record start;

	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, writer_open(&self->writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &start, NULL, 0));
}

FIXTURE_TEARDOWN(next)
{
	writer_close(&self->writer);
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(next, gives_a_subbuffer_to_this_cpu)
{
	unsigned int cpu = self->writer.cpu;
	unsigned int size = self->stream.ctrl->subbuf_size;
	const struct posixtrace_subbuf *subbuf;
	unsigned int i;

	EXPECT_EQ(0, LOAD(self->writer.head->limit));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, cpu));
	ASSERT_EQ(0, writer_next(&self->writer, 48));
	i = stream_oldest(&self->stream, cpu);
	ASSERT_GT(self->stream.ctrl->nr_subbufs, i);
	subbuf = stream_subbuf(&self->stream, i);
	EXPECT_EQ(cpu, subbuf->cpu);
	EXPECT_EQ(POSIXTRACE_SUBBUF_OPEN, subbuf->state);
	EXPECT_EQ(i * size, POSIXTRACE_HEAD_POS(LOAD(self->writer.head->head)));
	EXPECT_EQ(0, POSIXTRACE_HEAD_COUNT(LOAD(self->writer.head->head)));
	EXPECT_EQ((i + 1) * size, LOAD(self->writer.head->limit));
	EXPECT_EQ((unsigned int)subbuf->seq,
		  POSIXTRACE_CONSUMED_SEQ(self->stream.reader->consumed[i].position));
}

static bool is_holder(struct stream *stream, unsigned int cpu)
{
	const uint64_t *holders = (const void *)((const char *)stream->ctrl +
						 stream->ctrl->holders_offset);

	return LOAD(holders[cpu / 64]) >> cpu % 64 & 1;
}

/* A CPU counts as a holder from its first sub-buffer until it has given back all of them. */
TEST_F(next, cpu_is_a_holder_while_it_holds_subbuffers)
{
	unsigned int cpu = self->writer.cpu, size = self->stream.ctrl->subbuf_size;
	struct record record;

	for (unsigned int i = 0; i < self->stream.ctrl->nr_cpus; i++)
		EXPECT_FALSE(is_holder(&self->stream, i));
	EXPECT_EQ(stream_oldest(&self->stream, self->stream.ctrl->nr_cpus) != POSIXTRACE_NONE,
		  is_holder(&self->stream, self->stream.ctrl->nr_cpus));
	for (int n = 0; n < 3; n++) {
		ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(0, writer_next(&self->writer, size));
	}
	for (unsigned int i = 0; i < self->stream.ctrl->nr_cpus; i++)
		EXPECT_EQ(i == cpu, is_holder(&self->stream, i));
	while (stream_take(&self->stream, &record, NULL, 0) == 1)
		;
	/* All records have been read, but the CPU keeps the open sub-buffer. */
	EXPECT_TRUE(is_holder(&self->stream, cpu));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
	EXPECT_EQ(POSIXTRACE_NONE, stream_oldest(&self->stream, cpu));
	EXPECT_FALSE(is_holder(&self->stream, cpu));
}

TEST_F(next, record_appears_when_the_head_moves)
{
	struct record record;
	char data[8];

	ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, "mapped", 7));
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
	EXPECT_STREQ("mapped", data);
	EXPECT_EQ(getpid(), record.pid);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(next, closes_the_subbuffer_with_its_records)
{
	const struct posixtrace_subbuf *subbuf;
	struct record record;
	unsigned int i;

	for (int n = 0; n < 3; n++)
		ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, &n, sizeof(n)));
	i = stream_oldest(&self->stream, self->writer.cpu);
	ASSERT_EQ(0, writer_next(&self->writer, self->stream.ctrl->subbuf_size));
	subbuf = stream_subbuf(&self->stream, i);
	EXPECT_EQ(POSIXTRACE_SUBBUF_CLOSED, subbuf->state);
	/* The first record names its writer; the others refer to it. */
	EXPECT_EQ(POSIXTRACE_RECORD_SIZE(4) + 2 * POSIXTRACE_RECORD_STEP(4), subbuf->used);
	EXPECT_EQ(3, subbuf->count);
	EXPECT_LE(subbuf->opened, subbuf->closed);
	for (int n = 0; n < 3; n++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_LE(subbuf->opened, record.timestamp);
		EXPECT_GE(subbuf->closed, record.timestamp);
	}
}

TEST_F(next, does_nothing_while_there_is_space)
{
	unsigned int i;
	uint64_t head;

	ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
	i = stream_oldest(&self->stream, self->writer.cpu);
	head = LOAD(self->writer.head->head);
	/*
	 * The sub-buffer is already open, as if another thread on this CPU had called NEXT
	 * first.
	 */
	ASSERT_EQ(0, writer_next(&self->writer, 48));
	EXPECT_EQ(head, LOAD(self->writer.head->head));
	EXPECT_EQ(POSIXTRACE_SUBBUF_OPEN, stream_subbuf(&self->stream, i)->state);
}

/*
 * What the head says about the writer of the last record, and whether EVENT must then write a new
 * struct posixtrace_writer.
 */
static const struct {
	const char *name;
	int head;	/* distance of writer_head from head; 1: POSIXTRACE_HEAD_NONE */
	int pid;	/* pid to address_high: differences from the values of this process */
	int tid;
	int thread_id;
	int address_high;
	unsigned int writers;
} contents[] = {
	{ "the same", 0, 0, 0, 0, 0, 0 },
	{ "another process", 0, 1, 0, 0, 0, 1 },
	{ "another thread", 0, 0, 1, 0, 0, 1 },
	{ "another pthread_t", 0, 0, 0, 1, 0, 1 },
	{ "another program", 0, 0, 0, 0, 1, 1 },
	/* As left by a thread that was interrupted halfway, or before the commit. */
	{ "of no head", 1, 0, 0, 0, 0, 1 },
	{ "of the next head", 64, 0, 0, 0, 0, 1 },
	{ "of the head before", -64, 0, 0, 0, 0, 1 },
};

TEST_F(next, writer_of_the_last_record_is_used_for_its_head_only)
{
	struct posixtrace_cpu_head *head = self->writer.head;
	struct record record;

	for (unsigned int i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(head->head, head->writer_head);
		EXPECT_EQ(getpid(), head->pid);
		EXPECT_EQ(syscall(SYS_gettid), head->tid);
		EXPECT_EQ(0xdcba, head->thread_id);
		head->pid += contents[i].pid;
		head->tid += contents[i].tid;
		head->thread_id += contents[i].thread_id;
		head->address_high += contents[i].address_high;
		head->writer_head += contents[i].head;
		if (contents[i].head == 1)
			head->writer_head = POSIXTRACE_HEAD_NONE;
		ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(contents[i].writers, record.writers) {
			TH_LOG("%s", contents[i].name);
		}
		EXPECT_EQ(getpid(), record.pid);
		EXPECT_EQ(syscall(SYS_gettid), record.tid);
		EXPECT_EQ(0xdcba, record.thread_id);
		EXPECT_EQ(LOAD(self->target.gate->address_high), record.address_high);
	}
}

/*
 * After NEXT, the head has no writer, so the next record names its writer even if that is the same.
 */
TEST_F(next, first_record_of_a_subbuffer_names_its_writer)
{
	struct record record;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, NULL, 0));
		ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
		EXPECT_EQ(1, record.writers);
		ASSERT_EQ(0, writer_next(&self->writer, self->stream.ctrl->subbuf_size));
		EXPECT_EQ(POSIXTRACE_HEAD_NONE, self->writer.head->writer_head);
	}
}

TEST_F(next, records_of_many_subbuffers_are_in_order)
{
	struct record record;
	int count = 0, n;

	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
		if (i % 100 != 99)
			continue;
		while (stream_take(&self->stream, &record, &n, sizeof(n)) == 1) {
			ASSERT_EQ(count, n);
			count++;
		}
	}
	EXPECT_EQ(1000, count);
}

TEST_F(next, mapped_writer_and_event_command_share_a_subbuffer)
{
	unsigned int id = POSIXTRACE_ID_UNNAMED;
	struct record record;
	int ret, n;

	for (int i = 0; i < 400; i++) {
		if (i % 3)
			ret = writer_event(&self->writer, id, &i, sizeof(i));
		else
			ret = target_event(&self->target, id, &i, sizeof(i));
		ASSERT_EQ(0, ret);
	}
	for (int i = 0; i < 400; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, &n, sizeof(n)));
		ASSERT_EQ(i, n);
	}
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(next, cpus_write_into_different_subbuffers)
{
	struct record record;
	struct writer other;
	int n;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU only");
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, run_on(0));
		ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
		if (i == 0)
			ASSERT_EQ(0, writer_open(&other, &self->target, self->writer.slot, 1));
		i++;
		ASSERT_EQ(1, run_on(1));
		ASSERT_EQ(0, writer_event(&other, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
	}
	EXPECT_NE(stream_oldest(&self->stream, 0), stream_oldest(&self->stream, 1));
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(1, stream_take(&self->stream, &record, &n, sizeof(n)));
		ASSERT_EQ(i, n);
	}
	writer_close(&other);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

static int next_of(struct target *target, unsigned int slot, unsigned int size,
		   unsigned long long stream, unsigned long long reserved)
{
	struct posixtrace_next next = {
		.slot = slot,
		.size = size,
		.stream = stream,
		.reserved = reserved,
	};

	return command(target->fd, POSIXTRACE_IOC_NEXT, &next);
}

TEST_F(next, nonexistent_slot_is_invalid)
{
	unsigned long long stream = self->target.slots[0].stream;

	EXPECT_EQ(-EINVAL, next_of(&self->target, POSIXTRACE_SLOTS_MAX, 48, stream, 0));
	EXPECT_EQ(-EINVAL, next_of(&self->target, ~0U, 48, stream, 0));
}

TEST_F(next, slot_without_that_stream_is_stale)
{
	unsigned long long stream = self->target.slots[0].stream;

	EXPECT_EQ(-ESTALE, next_of(&self->target, 0, 48, stream + 1, 0));
	EXPECT_EQ(-ESTALE, next_of(&self->target, 0, 48, 0, 0));
	EXPECT_EQ(-ESTALE, next_of(&self->target, 1, 48, stream, 0));
	EXPECT_EQ(0, LOAD(self->writer.head->limit));
}

TEST_F(next, ended_stream_is_stale)
{
	ASSERT_EQ(0, writer_event(&self->writer, POSIXTRACE_ID_UNNAMED, NULL, 0));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESTALE, writer_next(&self->writer, 48));
}

TEST_F(next, reserved_word_is_invalid)
{
	EXPECT_EQ(-EINVAL, next_of(&self->target, 0, 48, self->target.slots[0].stream, 1));
	EXPECT_EQ(-EINVAL, next_of(&self->target, 0, 48, self->target.slots[0].stream,
				   1ULL << 63));
}

TEST_F(next, size_beyond_a_subbuffer_is_invalid)
{
	unsigned long long stream = self->target.slots[0].stream;
	unsigned int size = self->target.slots[0].subbuf_size;

	EXPECT_EQ(-EINVAL, next_of(&self->target, 0, size + 8, stream, 0));
	EXPECT_EQ(-EINVAL, next_of(&self->target, 0, ~0U, stream, 0));
	EXPECT_EQ(0, LOAD(self->writer.head->limit));
}

TEST_F(next, size_that_no_record_has_is_invalid)
{
	static const unsigned int sizes[] = { 0, 8, 24, 40, 47, 49, 52 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		EXPECT_EQ(-EINVAL, next_of(&self->target, 0, sizes[i],
					   self->target.slots[0].stream, 0));
	EXPECT_EQ(0, LOAD(self->writer.head->limit));
	EXPECT_EQ(0, next_of(&self->target, 0, 48, self->target.slots[0].stream, 0));
}

TEST_F(next, bad_address_is_a_fault)
{
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_NEXT, BAD_POINTER));
}

TEST_HARNESS_MAIN
