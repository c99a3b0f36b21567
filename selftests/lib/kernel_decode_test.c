// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of kernel events, tested without the module: it must decode each form of record, and
 * no record may make it access memory outside the record.
 */
#define PXT_NO_DEVICE
#include <stdlib.h>

#include "pxt_test.h"

#include "../../lib/common/kernel.c"

#define ROUNDS		200000
#define GUARD		0xa5

#define TIME		1700000000123456789ULL

FIXTURE(decode)
{
	struct pxtu_kernel_cpu cpu;
	struct pxtu_call_names names;
	struct pxtu_record record;
	__u64 word[POSIXTRACE_KWORDS_MAX];
	union {
		unsigned char bytes[2048];
		__u64 align;
	} data;
};

FIXTURE_SETUP(decode)
{
	pxtu_kernel_begin(&self->cpu);
	pxtu_call_names_add(&self->names, POSIXTRACE_ID_CALL_NAMES, strdup("read write - close"));
	pxtu_call_names_add(&self->names, POSIXTRACE_ID_COMPAT_CALL_NAMES + 1, strdup("setns"));
}

FIXTURE_TEARDOWN(decode)
{
	pxtu_call_names_destroy(&self->names);
}

/* Writes the first record of a sub-buffer, with @count words of data. Returns its size in words. */
static __u32 put(struct _test_data_decode *self, __u32 id, __u32 flags, __u32 value,
		 const __u64 *data, __u32 count)
{
	const struct posixtrace_kthread thread = { .pid = 12, .tid = 34, .thread_id = 56 };
	__u32 words = POSIXTRACE_KRECORD_WORDS + count;

	flags |= POSIXTRACE_KFLAG_TIME | POSIXTRACE_KFLAG_THREAD;
	self->word[0] = id | words << POSIXTRACE_KHEAD_WORDS_SHIFT |
			(__u64)3 << POSIXTRACE_KHEAD_THREAD_SHIFT |
			(__u64)flags << POSIXTRACE_KHEAD_FLAGS_SHIFT |
			(__u64)value << POSIXTRACE_KHEAD_VALUE_SHIFT |
			TIME << POSIXTRACE_KHEAD_TIME_SHIFT;
	self->word[1] = TIME;
	memcpy(&self->word[2], &thread, sizeof(thread));
	memcpy(&self->word[POSIXTRACE_KRECORD_WORDS], data, count * sizeof(*data));
	return words;
}

static bool decode(struct _test_data_decode *self, __u32 words)
{
	if (!pxtu_kernel_parse(&self->record, self->word, words * (__u32)sizeof(__u64),
			       &self->cpu, &self->names))
		return false;
	pxtu_kernel_data(&self->record, (const char *)self->word + self->record.header,
			 &self->names, self->data.bytes);
	return true;
}

TEST_F(decode, record_has_time_and_thread)
{
	const __u64 word = 0;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, 0, &word, 0)));
	EXPECT_EQ(TIME, self->record.timestamp);
	EXPECT_TRUE(self->record.writer.known);
	EXPECT_EQ(12, self->record.writer.pid);
	EXPECT_EQ(34, self->record.writer.tid);
	EXPECT_EQ(56, self->record.writer.thread_id);
	EXPECT_EQ(POSIXTRACE_KRECORD_WORDS * 8, self->record.size);
}

TEST_F(decode, later_record_refers_to_them)
{
	const __u64 word = 0;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, 0, &word, 0)));
	self->word[0] = POSIXTRACE_ID_SYSCALL_EXIT | 1 << POSIXTRACE_KHEAD_WORDS_SHIFT |
			3 << POSIXTRACE_KHEAD_THREAD_SHIFT |
			(TIME + 1000) << POSIXTRACE_KHEAD_TIME_SHIFT;
	ASSERT_TRUE(decode(self, 1));
	EXPECT_EQ(TIME + 1000, self->record.timestamp);
	EXPECT_EQ(34, self->record.writer.tid);
	/* No earlier record has defined this thread number. */
	self->word[0] ^= 1 << POSIXTRACE_KHEAD_THREAD_SHIFT;
	ASSERT_TRUE(decode(self, 1));
	EXPECT_FALSE(self->record.writer.known);
	/* When the sub-buffer is used again, earlier times and threads do not apply. */
	pxtu_kernel_begin(&self->cpu);
	self->word[0] ^= 1 << POSIXTRACE_KHEAD_THREAD_SHIFT;
	ASSERT_TRUE(decode(self, 1));
	EXPECT_FALSE(self->record.writer.known);
}

TEST_F(decode, short_forms)
{
	__u64 word[2] = { 77 | 121ULL << 32 | 3ULL << 40 };
	const struct switch_out *out = (const void *)self->data.bytes;
	const struct switch_in *in = (const void *)self->data.bytes;
	const struct wakeup *wakeup = (const void *)self->data.bytes;
	const struct migrate *migrate = (const void *)self->data.bytes;
	const struct page_fault *fault = (const void *)self->data.bytes;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SWITCH_OUT, 0,
				     POSIXTRACE_KVALUE_SCHED(-1, 2, 0), word, 1)));
	EXPECT_EQ(sizeof(*out), self->record.data_len);
	EXPECT_EQ(34, out->tid);
	EXPECT_EQ(-1, out->prio);
	EXPECT_EQ(2, out->reason);
	EXPECT_EQ(3, out->state);
	EXPECT_EQ(77, out->next_tid);
	EXPECT_EQ(120, out->next_prio);

	word[0] = 88 | 1ULL << 24 | 0xfedcba98ULL << 32;
	word[1] = 5;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SWITCH_IN, 0,
				     POSIXTRACE_KVALUE_SCHED(139, 0, 0), word, 2)));
	EXPECT_EQ(139, in->prio);
	EXPECT_EQ(0x5fedcba98ULL, in->runnable);
	EXPECT_EQ(88, in->prev_tid);
	EXPECT_EQ(0, in->prev_prio);

	word[0] = 4194303 | 4194302ULL << 24 | 8191ULL << 48;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_WAKEUP, 0,
				     POSIXTRACE_KVALUE_SCHED(120, 1, 1), word, 1)));
	EXPECT_EQ(120, wakeup->prio);
	EXPECT_EQ(8191, wakeup->target_cpu);
	EXPECT_EQ(1, wakeup->by);
	EXPECT_EQ(1, wakeup->new);
	EXPECT_EQ(4194303, wakeup->waker_pid);
	EXPECT_EQ(4194302, wakeup->waker_tid);

	/* The third bit of the kind of waker is in this word. */
	word[0] |= 1ULL << POSIXTRACE_KWAKER_BY_SHIFT;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_WAKEUP, 0,
				     POSIXTRACE_KVALUE_SCHED(120, 2, 0), word, 1)));
	EXPECT_EQ(8191, wakeup->target_cpu);
	EXPECT_EQ(6, wakeup->by);
	EXPECT_EQ(0, wakeup->new);
	EXPECT_EQ(4194303, wakeup->waker_pid);
	EXPECT_EQ(4194302, wakeup->waker_tid);

	word[0] = 6 | 7ULL << 32;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_MIGRATE, 0,
				     POSIXTRACE_KVALUE_SCHED(99, 0, 0), word, 1)));
	EXPECT_EQ(99, migrate->prio);
	EXPECT_EQ(6, migrate->orig_cpu);
	EXPECT_EQ(7, migrate->dest_cpu);

	word[0] = 0x7fffdeadbeef;
	word[1] = 0x401000;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_PAGE_FAULT, 0,
				     POSIXTRACE_KVALUE_FAULT(1, 0, 1, 0), word, 2)));
	EXPECT_EQ(1, fault->user);
	EXPECT_EQ(0, fault->write);
	EXPECT_EQ(1, fault->exec);
	EXPECT_EQ(0, fault->protection);
	EXPECT_EQ(0x7fffdeadbeef, fault->address);
	EXPECT_EQ(0x401000, fault->ip);
}

TEST_F(decode, short_forms_of_signals)
{
	const struct signal_generate *generate = (const void *)self->data.bytes;
	const struct signal_deliver *deliver = (const void *)self->data.bytes;
	__u64 word = 4194303 | 4194302ULL << 24 | 4ULL << POSIXTRACE_KSENT_RESULT_SHIFT |
		     (__u64)-4096 << POSIXTRACE_KSENT_CODE_SHIFT;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SIGNAL_GENERATE, 0,
				     POSIXTRACE_KVALUE_SIGNAL(64, 1, 1), &word, 1)));
	EXPECT_EQ(sizeof(*generate), self->record.data_len);
	EXPECT_EQ(34, generate->tid);
	EXPECT_EQ(64, generate->sig);
	EXPECT_EQ(1, generate->by);
	EXPECT_EQ(1, generate->group);
	EXPECT_EQ(4, generate->result);
	EXPECT_EQ(-4096, generate->code);
	EXPECT_EQ(4194303, generate->sender_pid);
	EXPECT_EQ(4194302, generate->sender_tid);

	word = 0x84000004 | (__u64)-60 << 32;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SIGNAL_DELIVER, 0,
				     POSIXTRACE_KVALUE_SIGNAL(10, 2, 0), &word, 1)));
	EXPECT_EQ(sizeof(*deliver), self->record.data_len);
	EXPECT_EQ(10, deliver->sig);
	EXPECT_EQ(2, deliver->action);
	EXPECT_EQ(-60, deliver->code);
	EXPECT_EQ(0x84000004, deliver->flags);
}

TEST_F(decode, system_calls_have_arguments_and_names)
{
	/* Sizes 1, 0, 8, and then the bytes. */
	const __u64 word[2] = { 0x801 | 0x7fULL << 24 | 0x03020100ULL << 32, 0x07060504 };
	const struct syscall_entry *entry = (const void *)self->data.bytes;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_ENTRY, 0,
				     POSIXTRACE_KVALUE_CALL(1, 0), word, 2)));
	EXPECT_EQ(sizeof(*entry) + 5, self->record.data_len);
	EXPECT_EQ(0, memcmp("write", entry + 1, 5));
	EXPECT_EQ(0x7f, entry->args[0]);
	EXPECT_EQ(0, entry->args[1]);
	EXPECT_EQ(0x0706050403020100ULL, entry->args[2]);
	EXPECT_EQ(0, entry->args[5]);
	EXPECT_EQ(0, entry->compat);

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_ENTRY, 0,
				     POSIXTRACE_KVALUE_CALL(2, 0), word, 0)));
	EXPECT_EQ(sizeof(*entry), self->record.data_len);
	EXPECT_EQ(0, entry->args[0]);

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_ENTRY, 0,
				     POSIXTRACE_KVALUE_CALL(256, 1), word, 0)));
	EXPECT_EQ(0, memcmp("setns", entry + 1, 5));
	EXPECT_EQ(256, entry->nr);
	EXPECT_EQ(1, entry->compat);
}

TEST_F(decode, exits_have_names_and_errors)
{
	const struct syscall_exit *exit = (const void *)self->data.bytes;
	const __u32 value = POSIXTRACE_KVALUE_CALL(1, 0);
	__u64 word = (__u64)-4095;

	pxtu_call_names_describe(&self->names, "struct { bool compat; u16 error; text name; }");
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, value, &word, 1)));
	EXPECT_EQ(sizeof(*exit) + 5, self->record.data_len);
	EXPECT_EQ(0, memcmp("write", exit + 1, 5));
	EXPECT_EQ(34, exit->tid);
	EXPECT_EQ(1, exit->nr);
	EXPECT_EQ(-4095, exit->result);
	EXPECT_EQ(4095, exit->error);
	/* Neither success nor an address in the upper half is an error. */
	word = (__u64)-4096;
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, value, &word, 1)));
	EXPECT_EQ(-4096, exit->result);
	EXPECT_EQ(0, exit->error);
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, value, &word, 0)));
	EXPECT_EQ(0, exit->error);
	/* A call without a name. */
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0,
				     POSIXTRACE_KVALUE_CALL(2, 0), &word, 0)));
	EXPECT_EQ(sizeof(*exit), self->record.data_len);
}

/* Logs of older modules have exits with fewer fields, and descriptions without these fields. */
TEST_F(decode, exits_are_as_their_log_describes_them)
{
	const struct bare_syscall_exit *exit = (const void *)self->data.bytes;
	const __u64 word = (__u64)-11;

	pxtu_call_names_describe(&self->names, "struct { i64 result; bool compat; }");
	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0,
				     POSIXTRACE_KVALUE_CALL(1, 1), &word, 1)));
	EXPECT_EQ(24, self->record.data_len);
	EXPECT_EQ(-11, exit->result);
	EXPECT_EQ(1, exit->compat);
}

/* A forged log may have long names, for which the reader has no space. */
TEST_F(decode, names_that_are_too_long_are_refused)
{
	const __u64 word = 0;
	char *text = malloc(POSIXTRACE_DESCRIPTION_SIZE);

	ASSERT_NE(NULL, text);
	memset(text, 'x', POSIXTRACE_DESCRIPTION_SIZE - 1);
	text[POSIXTRACE_DESCRIPTION_SIZE - 1] = '\0';
	pxtu_call_names_add(&self->names, POSIXTRACE_ID_CALL_NAMES, text);
	EXPECT_FALSE(decode(self, put(self, POSIXTRACE_ID_SYSCALL_ENTRY, 0,
				      POSIXTRACE_KVALUE_CALL(0, 0), &word, 0)));
}

TEST_F(decode, plain_data_loses_its_padding_only)
{
	const __u64 word[2] = { 0x1122334455667788ULL, 0x99 };
	const __u32 plain = POSIXTRACE_KFLAG_PLAIN;

	ASSERT_TRUE(decode(self, put(self, POSIXTRACE_ID_EXIT, plain, 7, word, 2)));
	ASSERT_EQ(4 + 9, self->record.data_len);
	EXPECT_EQ(0, memcmp(self->data.bytes + 4, word, 9));
	/* More padding than a word has. */
	EXPECT_FALSE(decode(self, put(self, POSIXTRACE_ID_EXIT, plain, 8, word, 2)));
	/* Padding without a word. */
	EXPECT_FALSE(decode(self, put(self, POSIXTRACE_ID_EXIT, plain, 1, word, 0)));
}

TEST_F(decode, unknown_forms_are_refused)
{
	const __u64 word = 0;
	__u32 words = put(self, POSIXTRACE_ID_EXIT, 0, 0, &word, 1);

	/* The type EXIT has no short form. */
	EXPECT_FALSE(decode(self, words));
	words = put(self, 0, 0, 0, &word, 1);
	EXPECT_FALSE(decode(self, words));
	/* The record must not extend beyond the memory. */
	words = put(self, POSIXTRACE_ID_SYSCALL_EXIT, 0, 0, &word, 1);
	EXPECT_FALSE(decode(self, words - 1));
}

/* Later versions may write a call stack, which current readers skip. */
TEST_F(decode, call_stack_after_the_data_is_skipped)
{
	/* The header of a stack of two words, the result, and the stack. */
	__u64 word[4] = { 16, (__u64)-7, ~0ULL, ~0ULL };
	const struct syscall_exit *exit = (const void *)self->data.bytes;
	__u32 words = put(self, POSIXTRACE_ID_SYSCALL_EXIT, POSIXTRACE_KFLAG_STACK, 0, word, 2);

	memcpy(&self->word[words], &word[2], 16);
	ASSERT_TRUE(decode(self, words + 2));
	EXPECT_EQ(8 * (words + 2), self->record.size);
	EXPECT_EQ(-7, exit->result);
	/* The stack must not extend beyond the memory. */
	EXPECT_FALSE(decode(self, words + 1));
	self->word[POSIXTRACE_KRECORD_WORDS] = POSIXTRACE_STACK_SIZE_MAX + 8;
	EXPECT_FALSE(decode(self, words + 2));
	self->word[POSIXTRACE_KRECORD_WORDS] = 12;
	EXPECT_FALSE(decode(self, words + 2));
}

/* For each accepted record, the decoder writes exactly the bytes of its data. */
TEST_F(decode, random_words_do_no_harm)
{
	unsigned int accepted = 0, i;
	__u32 room, byte;

	srandom(47);
	for (i = 0; i < ROUNDS; i++) {
		self->names.of_exits = i & 1;
		for (byte = 0; byte < 16; byte++)
			self->word[byte] = (__u64)random() << 33 ^ (__u64)random() << 11 ^
					   (__u64)random();
		/* A small number of words, so that the record mostly fits. */
		self->word[0] &= ~(0x30ULL << POSIXTRACE_KHEAD_WORDS_SHIFT);
		room = (__u32)(random() % 17) * 8;
		if (!pxtu_kernel_parse(&self->record, self->word, room, &self->cpu, &self->names))
			continue;
		accepted++;
		ASSERT_LE(self->record.size, room);
		ASSERT_LE(self->record.header, self->record.size);
		ASSERT_LE(self->record.data_len, POSIXTRACE_SYSDATA_MAX);
		memset(&self->data, GUARD, sizeof(self->data));
		pxtu_kernel_data(&self->record, (const char *)self->word + self->record.header,
				 &self->names, self->data.bytes);
		for (byte = self->record.data_len; byte < self->record.data_len + 16; byte++)
			ASSERT_EQ(GUARD, self->data.bytes[byte]);
	}
	EXPECT_LT(ROUNDS / 100, accepted);
}

TEST_HARNESS_MAIN
