// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks without events: descriptions and other metadata, and blocks of types that this reader does
 * not know. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>

#include "pxt_test.h"
#include "log_reading.h"

#define FIELDS		"{ u32 id; text key; }"
#define OPTIONAL	POSIXTRACE_LOG_BLOCK_OPTIONAL
#define UNKNOWN		0x7777U
#define RING		((size_t)64 << 10)

FIXTURE(metadata)
{
	struct log_writer log;
	struct log_sum sum;
	trace_id_t trid;
};

FIXTURE_VARIANT(metadata)
{
	int policy;
	size_t ring;
};

FIXTURE_VARIANT_ADD(metadata, append) { POSIX_TRACE_APPEND, 0 };
FIXTURE_VARIANT_ADD(metadata, loop) { POSIX_TRACE_LOOP, RING };

FIXTURE_SETUP(metadata)
{
	log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 2, variant->ring);
	log_name(&self->log, LOG_FIRST_NAMED, "first");
	log_name(&self->log, LOG_FIRST_NAMED + 1, "second");
}

FIXTURE_TEARDOWN(metadata)
{
	log_free(&self->log);
}

static int description(trace_id_t trid, trace_event_id_t event, char *text, size_t size)
{
	return posixtrace_eventid_get_description(trid, event, text, size, NULL);
}

/* Opens the log, asks for the description of a type, and returns the error. */
static int ask(const struct log_writer *log, trace_event_id_t event)
{
	trace_id_t trid;
	int err = log_open(log, &trid);

	if (err)
		return err;
	err = description(trid, event, NULL, 0);
	posix_trace_close(trid);
	return err;
}

TEST_F(metadata, description_of_each_type)
{
	char text[64] = "";

	log_description(&self->log, LOG_FIRST_NAMED + 1, FIELDS, sizeof(FIELDS));
	log_epochs(&self->log, 0, 1, 4);
	log_description(&self->log, LOG_FIRST_NAMED, "{ f64 x; }", 11);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(0, description(self->trid, LOG_FIRST_NAMED, text, sizeof(text)));
	EXPECT_STREQ("{ f64 x; }", text);
	EXPECT_EQ(0, description(self->trid, LOG_FIRST_NAMED + 1, text, sizeof(text)));
	EXPECT_STREQ(FIELDS, text);
	EXPECT_EQ(ENOENT, description(self->trid, POSIX_TRACE_UNNAMED_USEREVENT, text, 64));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	log_sum_log(&self->log, &self->sum);
	EXPECT_EQ(8, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, self->sum.status.posix_log_overrun_status);
}

/* A writer that continues after the log was opened. */
TEST_F(metadata, description_that_is_appended_later)
{
	char text[64] = "";
	int fd = log_file(&self->log);
	size_t written = self->log.len;

	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	EXPECT_EQ(ENOENT, description(self->trid, LOG_FIRST_NAMED, text, sizeof(text)));
	log_description(&self->log, LOG_FIRST_NAMED, FIELDS, sizeof(FIELDS));
	ASSERT_EQ(0, log_write(&self->log, fd, written));
	EXPECT_EQ(0, description(self->trid, LOG_FIRST_NAMED, text, sizeof(text)));
	EXPECT_STREQ(FIELDS, text);
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

TEST_F(metadata, first_description_of_a_type_is_used)
{
	char text[64] = "";

	log_description(&self->log, LOG_FIRST_NAMED, FIELDS, sizeof(FIELDS));
	log_description(&self->log, LOG_FIRST_NAMED, "{ f64 x; }", 11);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(0, description(self->trid, LOG_FIRST_NAMED, text, sizeof(text)));
	EXPECT_STREQ(FIELDS, text);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/*
 * Texts that the module never writes, because they would change a terminal or have no end. Readers
 * must not report them.
 */
TEST_F(metadata, forged_texts_are_not_reported)
{
	const struct {
		const char *text;
		size_t size;
	} forged[] = {
		{ "{ \033[2J }", sizeof("{ \033[2J }") },
		{ "{ }\n", sizeof("{ }\n") },
		{ "{ \x7f }", sizeof("{ \x7f }") },
		{ "{ u32 x; }", sizeof("{ u32 x; }") - 1 },
		{ "{\0u32 x; }", sizeof("{\0u32 x; }") },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		log_name(&self->log, LOG_FIRST_NAMED + i, "of a forged log");
		log_description(&self->log, LOG_FIRST_NAMED + i, forged[i].text, forged[i].size);
	}
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		EXPECT_EQ(ENOENT, description(self->trid, LOG_FIRST_NAMED + i, text, 64)) {
			TH_LOG("text %zu", i);
		}
	}
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

static void forge(struct log_writer *log, __u32 id, __u32 size, __u32 count)
{
	struct {
		struct posixtrace_log_description head;
		char text[16];
	} payload = { { .id = id, .size = size }, "{ u32 x; }" };

	log_metadata(log, POSIXTRACE_LOG_DESCRIPTIONS, OPTIONAL, count, &payload, sizeof(payload));
}

TEST_F(metadata, forged_numbers_are_damage)
{
	const struct {
		__u32 id, size, count;
	} forged[] = {
		{ 0, 11, 1 },
		{ POSIXTRACE_ID_START, 11, 1 },
		{ POSIXTRACE_ID_UNNAMED, 11, 1 },
		{ POSIXTRACE_ID_MAX, 11, 1 },
		{ ~0U, 11, 1 },
		{ LOG_FIRST_NAMED, 0, 1 },
		{ LOG_FIRST_NAMED, 1, 1 },
		{ LOG_FIRST_NAMED, 17, 1 },
		{ LOG_FIRST_NAMED, POSIXTRACE_DESCRIPTION_SIZE + 1, 1 },
		{ LOG_FIRST_NAMED, ~0U, 1 },
		{ LOG_FIRST_NAMED + 1, 11, 2 },
		{ LOG_FIRST_NAMED + 1, 11, ~0U },
	};
	struct posixtrace_log_info info;

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		log_free(&self->log);
		log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 2, variant->ring);
		log_name(&self->log, LOG_FIRST_NAMED, "first");
		forge(&self->log, forged[i].id, forged[i].size, forged[i].count);
		ASSERT_EQ(0, log_open(&self->log, &self->trid));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(POSIXTRACE_LOG_DAMAGED, info.flags) {
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(ENOENT, description(self->trid, LOG_FIRST_NAMED, NULL, 0));
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

TEST_F(metadata, damaged_description_is_damage_and_the_next_one_is_found)
{
	struct posixtrace_log_info info;
	size_t at;

	at = log_description(&self->log, LOG_FIRST_NAMED, FIELDS, sizeof(FIELDS));
	log_description(&self->log, LOG_FIRST_NAMED + 1, FIELDS, sizeof(FIELDS));
	/* Damage the header of the block, then its payload. */
	for (int i = 0; i < 2; i++) {
		self->log.data[at + i * LOG_BLOCK + 20] ^= 1;
		EXPECT_EQ(ENOENT, ask(&self->log, LOG_FIRST_NAMED));
		ASSERT_EQ(0, log_open(&self->log, &self->trid));
		EXPECT_EQ(ERANGE, description(self->trid, LOG_FIRST_NAMED + 1, NULL, 0));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(POSIXTRACE_LOG_DAMAGED, info.flags);
		EXPECT_EQ(0, posix_trace_close(self->trid));
		self->log.data[at + i * LOG_BLOCK + 20] ^= 1;
	}
	EXPECT_EQ(ERANGE, ask(&self->log, LOG_FIRST_NAMED));
}

TEST_F(metadata, unknown_block_that_is_optional_is_skipped)
{
	struct posixtrace_log_info info;

	log_epochs(&self->log, 0, 1, 4);
	log_metadata(&self->log, UNKNOWN, OPTIONAL, 3, "of a later version", 16);
	log_epochs(&self->log, 8, 1, 4);
	log_description(&self->log, LOG_FIRST_NAMED, FIELDS, sizeof(FIELDS));
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	log_sum_log(&self->log, &self->sum);
	EXPECT_EQ(0, self->sum.err);
	EXPECT_EQ(16, self->sum.events);
	EXPECT_EQ(0, self->sum.errors);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, self->sum.status.posix_log_overrun_status);
	EXPECT_EQ(ERANGE, ask(&self->log, LOG_FIRST_NAMED));
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, info.flags);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(metadata, unknown_block_that_is_not_optional_is_refused)
{
	log_epochs(&self->log, 0, 1, 4);
	log_metadata(&self->log, UNKNOWN, 0, 0, "of a later version", 16);
	log_epochs(&self->log, 8, 1, 4);
	EXPECT_EQ(ENOTSUP, log_open(&self->log, &self->trid));
}

/* This reader ignores other flags. */
TEST_F(metadata, flags_of_a_later_version_do_not_matter)
{
	log_metadata(&self->log, UNKNOWN, ~0U, 0, "of a later version", 16);
	EXPECT_EQ(ENOENT, ask(&self->log, LOG_FIRST_NAMED));
	log_metadata(&self->log, UNKNOWN, ~OPTIONAL, 0, "of a later version", 16);
	EXPECT_EQ(ENOTSUP, ask(&self->log, LOG_FIRST_NAMED));
}

/* If the writer appends an unknown block while the log is open for reading, reading ends there. */
TEST_F(metadata, unknown_block_that_is_appended_later_is_refused)
{
	struct posix_trace_status_info status;
	struct event event;
	int fd;
	size_t written;

	log_epochs(&self->log, 0, 1, 4);
	written = self->log.len;
	fd = log_file(&self->log);
	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	log_metadata(&self->log, UNKNOWN, 0, 0, "of a later version", 16);
	ASSERT_EQ(0, log_write(&self->log, fd, written));
	EXPECT_EQ(ENOTSUP, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(ENOTSUP, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(ENOTSUP, description(self->trid, LOG_FIRST_NAMED, NULL, 0));
	if (!variant->ring)
		EXPECT_EQ(-ENOTSUP, log_take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

/* ------------------------------------------------------------------ */
/* Names of threads and processes					*/

static const struct timespec *at(__u64 time)
{
	static struct timespec ts;

	ts.tv_sec = (LOG_TIME0 + time) / NSEC;
	ts.tv_nsec = (LOG_TIME0 + time) % NSEC;
	return &ts;
}

static const char *name_at(trace_id_t trid, int pid, int tid, __u64 time)
{
	static char name[POSIXTRACE_THREAD_NAME_SIZE];

	return posixtrace_get_thread_name(trid, pid, tid, at(time), name) ? "none" : name;
}

static const char *program_at(trace_id_t trid, int pid, __u64 time)
{
	static char program[POSIXTRACE_PROGRAM_SIZE];

	return posixtrace_get_program(trid, pid, at(time), program, sizeof(program), NULL) ?
	       "none" : program;
}

TEST_F(metadata, latest_name_that_is_not_after_the_event)
{
	log_task(&self->log, 5, 6, LOG_TIME0 + 30, "third");
	log_task(&self->log, 5, 6, LOG_TIME0 + 10, "first");
	log_task(&self->log, 5, 7, LOG_TIME0 + 5, "another thread");
	log_task(&self->log, 6, 6, LOG_TIME0 + 5, "another process");
	log_task(&self->log, 5, 6, LOG_TIME0 + 20, "second");
	log_program(&self->log, 5, LOG_TIME0 + 20, "executed", 9);
	log_program(&self->log, 5, LOG_TIME0 + 10, "before\0x", 9);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("first", name_at(self->trid, 5, 6, 10));
	EXPECT_STREQ("first", name_at(self->trid, 5, 6, 19));
	EXPECT_STREQ("second", name_at(self->trid, 5, 6, 20));
	EXPECT_STREQ("third", name_at(self->trid, 5, 6, 1000));
	/* Values before the first one are unknown. */
	EXPECT_STREQ("none", name_at(self->trid, 5, 6, 9));
	EXPECT_STREQ("another thread", name_at(self->trid, 5, 7, 100));
	EXPECT_STREQ("another process", name_at(self->trid, 6, 6, 100));
	EXPECT_STREQ("none", name_at(self->trid, 5, 5, 100));
	EXPECT_STREQ("none", name_at(self->trid, 5, 8, 100));
	EXPECT_STREQ("none", name_at(self->trid, 4, 6, 100));
	EXPECT_STREQ("none", program_at(self->trid, 5, 9));
	EXPECT_STREQ("before", program_at(self->trid, 5, 10));
	EXPECT_STREQ("before", program_at(self->trid, 5, 19));
	EXPECT_STREQ("executed", program_at(self->trid, 5, 20));
	EXPECT_STREQ("none", program_at(self->trid, 6, 20));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(metadata, name_that_is_appended_later)
{
	int fd = log_file(&self->log);
	size_t written = self->log.len;

	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	EXPECT_STREQ("none", name_at(self->trid, 5, 6, 10));
	log_task(&self->log, 5, 6, LOG_TIME0, "late");
	ASSERT_EQ(0, log_write(&self->log, fd, written));
	EXPECT_STREQ("late", name_at(self->trid, 5, 6, 10));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

TEST_F(metadata, forged_names_are_damage)
{
	const struct posixtrace_log_task endless = { 5, 6, 0, 0, "sixteen bytes..." };
	struct posixtrace_log_host host = { .counter = 1 };
	struct posixtrace_log_program program = { 5, 4096, 0, 0 };
	const struct {
		__u32 type, count;
		const void *payload;
		size_t size;
	} forged[] = {
		{ POSIXTRACE_LOG_TASKS, 1, &endless, sizeof(endless) },
		{ POSIXTRACE_LOG_TASKS, 2, &endless, sizeof(endless) },
		{ POSIXTRACE_LOG_TASKS, ~0U, &endless, sizeof(endless) },
		{ POSIXTRACE_LOG_HOST, 1, &host, sizeof(host) },
		{ POSIXTRACE_LOG_HOST, 1, &host, sizeof(host) - 8 },
		{ POSIXTRACE_LOG_PROGRAMS, 1, &program, sizeof(program) },
		{ POSIXTRACE_LOG_PROGRAMS, 1, &program, 8 },
	};
	struct posixtrace_log_info info;

	memset(host.node, 'x', sizeof(host.node));
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		log_free(&self->log);
		log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 2, variant->ring);
		log_metadata(&self->log, forged[i].type, OPTIONAL, forged[i].count,
			     forged[i].payload, forged[i].size);
		ASSERT_EQ(0, log_open(&self->log, &self->trid));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(POSIXTRACE_LOG_DAMAGED, info.flags) {
			TH_LOG("case %zu", i);
		}
		EXPECT_STREQ("none", name_at(self->trid, 5, 6, 10));
		EXPECT_STREQ("none", program_at(self->trid, 5, 10));
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Mappings of processes						*/

static struct posixtrace_mapping_info mapped;

/*
 * Returns the path of the mapping that a process has at an address. Stores the mapping in mapped.
 */
static const char *path_at(trace_id_t trid, int pid, __u64 time, unsigned long address)
{
	return posixtrace_get_mapping(trid, pid, at(time), (void *)address, &mapped) ?
	       "none" : mapped.path;
}

static void map(struct log_writer *log, int pid, __u64 since, unsigned long address,
		unsigned long length, const char *path)
{
	struct posixtrace_log_mapping mapping = {
		.pid = pid, .since = LOG_TIME0 + since, .address = address, .length = length,
		.offset = address / 2, .build_id_size = 20,
	};

	memcpy(mapping.build_id, "12345678901234567890", sizeof(mapping.build_id));
	log_mapping(log, &mapping, path);
}

TEST_F(metadata, both_ends_of_a_mapping)
{
	map(&self->log, 5, 10, 0x3000, 0x1000, "/second");
	map(&self->log, 5, 10, 0x1000, 0x1000, "/first");
	map(&self->log, 5, 10, ~0xfffUL, 0x1000, "/last");
	map(&self->log, 6, 10, 0x2000, 0x1000, "/of another process");
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0xfff));
	EXPECT_STREQ("/first", path_at(self->trid, 5, 10, 0x1000));
	EXPECT_STREQ("/first", path_at(self->trid, 5, 10, 0x1fff));
	EXPECT_EQ(0x1000, mapped.address);
	EXPECT_EQ(0x1000, mapped.size);
	EXPECT_EQ(0x800, mapped.offset);
	EXPECT_EQ(20, mapped.build_id_size);
	EXPECT_EQ(0, memcmp(mapped.build_id, "12345678901234567890", 20));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x2000));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x2fff));
	EXPECT_STREQ("/second", path_at(self->trid, 5, 10, 0x3000));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x4000));
	EXPECT_STREQ("/last", path_at(self->trid, 5, 10, ~0UL));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0));
	EXPECT_STREQ("/of another process", path_at(self->trid, 6, 10, 0x2000));
	EXPECT_STREQ("none", path_at(self->trid, 6, 10, 0x1000));
	EXPECT_STREQ("none", path_at(self->trid, 4, 10, 0x1000));
	EXPECT_STREQ("none", path_at(self->trid, 7, 10, 0x1000));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(metadata, latest_mapping_that_is_not_after_the_event)
{
	map(&self->log, 5, 20, 0x1000, 0x1000, "/later");
	map(&self->log, 5, 10, 0x1000, 0x1000, "/before");
	map(&self->log, 5, 10, 0x5000, 0x1000, "/gone later");
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("none", path_at(self->trid, 5, 9, 0x1000));
	EXPECT_STREQ("/before", path_at(self->trid, 5, 10, 0x1000));
	EXPECT_STREQ("/before", path_at(self->trid, 5, 19, 0x1000));
	EXPECT_STREQ("/gone later", path_at(self->trid, 5, 19, 0x5000));
	EXPECT_STREQ("/later", path_at(self->trid, 5, 20, 0x1000));
	EXPECT_STREQ("/later", path_at(self->trid, 5, 1000, 0x1000));
	EXPECT_STREQ("none", path_at(self->trid, 5, 20, 0x5000));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

TEST_F(metadata, mapping_that_is_appended_later)
{
	int fd = log_file(&self->log);
	size_t written = self->log.len;

	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x1000));
	map(&self->log, 5, 10, 0x1000, 0x1000, "/late");
	ASSERT_EQ(0, log_write(&self->log, fd, written));
	EXPECT_STREQ("/late", path_at(self->trid, 5, 10, 0x1000));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

TEST_F(metadata, all_mappings_in_order)
{
	static const char *const paths[] = { "/a", "/b", "/a", "/c", "/d" };
	struct posixtrace_mapping_info infos[2];
	unsigned long long next = 0;
	size_t count, n = 0;

	map(&self->log, 6, 10, 0x1000, 0x1000, "/d");
	map(&self->log, 5, 20, 0x1000, 0x1000, "/a");
	map(&self->log, 5, 20, 0x8000, 0x1000, "/c");
	map(&self->log, 5, 10, 0x1000, 0x1000, "/a");
	map(&self->log, 5, 10, 0x3000, 0x1000, "/b");
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	do {
		ASSERT_EQ(0, posixtrace_get_mappings(self->trid, infos, 2, &count, &next));
		ASSERT_GE(2, count);
		for (size_t i = 0; i < count; i++) {
			ASSERT_LT(n, sizeof(paths) / sizeof(*paths));
			EXPECT_STREQ(paths[n], infos[i].path);
			EXPECT_EQ(20, infos[i].build_id_size);
			n++;
		}
	} while (count);
	EXPECT_EQ(sizeof(paths) / sizeof(*paths), n);
	ASSERT_EQ(0, posixtrace_get_mappings(self->trid, infos, 2, &count, &next));
	EXPECT_EQ(0, count);
	next = ~0ULL;
	ASSERT_EQ(0, posixtrace_get_mappings(self->trid, infos, 2, &count, &next));
	EXPECT_EQ(0, count);
	EXPECT_EQ(EINVAL, posixtrace_get_mappings(self->trid, infos, 0, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_mappings(self->trid, NULL, 2, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_mappings(self->trid, infos, 2, NULL, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_mappings(self->trid, infos, 2, &count, NULL));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	EXPECT_EQ(EINVAL, posixtrace_get_mappings(self->trid, infos, 2, &count, &next));
}

/* A path without a terminating null byte does not make the block damaged, but is not reported. */
TEST_F(metadata, forged_mappings_are_not_reported)
{
	const struct {
		struct posixtrace_log_mapping head;
		__u32 count;
		bool is_damage;
	} forged[] = {
		{ { .size = 0, .length = 1 }, 1, true },
		{ { .size = 17, .length = 1 }, 1, true },
		{ { .size = POSIXTRACE_LOG_PATH_SIZE + 1, .length = 1 }, 1, true },
		{ { .size = ~0U, .length = 1 }, 1, true },
		{ { .size = 6, .length = 0 }, 1, true },
		{ { .size = 6, .length = 1, .build_id_size = 21 }, 1, true },
		{ { .size = 6, .length = 1, .build_id_size = ~0U }, 1, true },
		{ { .size = 5, .length = 1 }, 1, false },
	};
	struct posixtrace_log_info info;
	unsigned long long next;
	size_t count;

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		struct {
			struct posixtrace_log_mapping head;
			char path[16];
		} payload = { forged[i].head, "/path" };

		payload.head.pid = 5;
		payload.head.address = 0x1000;
		log_free(&self->log);
		log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 2, variant->ring);
		log_metadata(&self->log, POSIXTRACE_LOG_MAPPINGS, OPTIONAL, forged[i].count,
			     &payload, sizeof(payload));
		ASSERT_EQ(0, log_open(&self->log, &self->trid));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(forged[i].is_damage, !!(info.flags & POSIXTRACE_LOG_DAMAGED)) {
			TH_LOG("case %zu", i);
		}
		EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x1000)) {
			TH_LOG("case %zu", i);
		}
		next = 0;
		EXPECT_EQ(0, posixtrace_get_mappings(self->trid, &mapped, 1, &count, &next));
		EXPECT_EQ(0, count) {
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

/* The block claims more mappings than fit into it. Only the first one is complete. */
TEST_F(metadata, count_of_mappings_beyond_the_block_is_damage)
{
	struct {
		struct posixtrace_log_mapping head;
		char path[16];
	} payload = { { .pid = 5, .size = 6, .address = 0x1000, .length = 1 }, "/path" };
	const size_t size = POSIXTRACE_LOG_MAPPING_STEP(6);
	struct posixtrace_log_info info;

	for (__u32 count = 1; count; count = count == 1 ? 2 : count == 2 ? ~0U : 0) {
		log_free(&self->log);
		log_begin(&self->log, variant->policy, POSIX_TRACE_FLUSH, 2, variant->ring);
		log_metadata(&self->log, POSIXTRACE_LOG_MAPPINGS, OPTIONAL, count, &payload, size);
		ASSERT_EQ(0, log_open(&self->log, &self->trid));
		EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &info));
		EXPECT_EQ(count != 1, !!(info.flags & POSIXTRACE_LOG_DAMAGED));
		EXPECT_STREQ("/path", path_at(self->trid, 5, 10, 0x1000));
		EXPECT_STREQ("none", path_at(self->trid, 5, 10, 0x1001));
		EXPECT_EQ(0, posix_trace_close(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Metadata after the ring						*/

FIXTURE(ring)
{
	struct log_writer log, old;
	struct posixtrace_log_info info;
	trace_id_t trid;
};

FIXTURE_SETUP(ring)
{
	log_begin(&self->log, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, 2, RING);
	log_epochs(&self->log, 0, 1, 4);
	log_begin(&self->old, POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, 2, RING);
	self->old.header.cookie = LOG_COOKIE + 1;
}

FIXTURE_TEARDOWN(ring)
{
	log_free(&self->log);
	log_free(&self->old);
}

/* After the metadata, remains of an older log are not damage, and do not describe any type. */
TEST_F(ring, metadata_of_an_older_log_is_ignored)
{
	size_t from;

	for (int i = 0; i < 8; i++)
		log_description(&self->old, LOG_FIRST_NAMED + i, FIELDS, sizeof(FIELDS));
	log_description(&self->log, LOG_FIRST_NAMED, "{ f64 x; }", 11);
	from = self->log.metadata_pos;
	log_put(&self->log, from, self->old.data + from, self->old.len - from);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
	EXPECT_EQ(ERANGE, description(self->trid, LOG_FIRST_NAMED, NULL, 0));
	for (int i = 1; i < 8; i++)
		EXPECT_NE(ERANGE, description(self->trid, LOG_FIRST_NAMED + i, NULL, 0));
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/*
 * The writer restarts the metadata when there is too much of it. The blocks after the new ones are
 * then old.
 */
TEST_F(ring, metadata_that_was_restarted)
{
	size_t end;

	log_task(&self->log, 5, 6, LOG_TIME0, "of the first row");
	log_task(&self->log, 5, 7, LOG_TIME0, "first row too");
	log_task(&self->log, 5, 8, LOG_TIME0, "first row too");
	end = self->log.metadata_pos;
	self->log.metadata_pos = self->log.header.metadata_offset;
	log_task(&self->log, 5, 6, LOG_TIME0, "second row");
	ASSERT_LT(self->log.metadata_pos, end);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	ASSERT_EQ(0, log_open(&self->log, &self->trid));
	EXPECT_STREQ("second row", name_at(self->trid, 5, 6, 10));
	EXPECT_STREQ("none", name_at(self->trid, 5, 7, 10));
	EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
	EXPECT_EQ(POSIXTRACE_LOG_ENDED, self->info.flags);
	EXPECT_EQ(0, posix_trace_close(self->trid));
}

/* The writer restarts the metadata while the log is open for reading. */
TEST_F(ring, metadata_that_is_restarted_later)
{
	int fd;

	log_task(&self->log, 5, 6, LOG_TIME0, "first row");
	log_task(&self->log, 5, 7, LOG_TIME0, "first row too");
	fd = log_file(&self->log);
	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	EXPECT_STREQ("first row", name_at(self->trid, 5, 6, 10));
	self->log.metadata_pos = self->log.header.metadata_offset;
	log_task(&self->log, 5, 8, LOG_TIME0, "second row");
	ASSERT_EQ(0, log_write(&self->log, fd, 0));
	EXPECT_STREQ("second row", name_at(self->trid, 5, 8, 10));
	EXPECT_STREQ("first row", name_at(self->trid, 5, 6, 10));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

/* The text of the description of an event type. */
static const char *text_of(trace_id_t trid, trace_event_id_t event)
{
	static char text[POSIXTRACE_DESCRIPTION_SIZE];

	return description(trid, event, text, sizeof(text)) ? "none" : text;
}

/*
 * Writes a row of metadata. The second row overwrites the first. It has the descriptions at
 * different offsets, and newer programs and mappings.
 */
static void write_rows(struct log_writer *log, int row)
{
	const char *const texts[] = { "{ u32 one; }", "{ u32 two; }", "{ u32 six; }" };

	log->metadata_pos = log->header.metadata_offset;
	for (int i = 0; i < 3; i++) {
		int k = (row + i) % 3;

		log_description(log, LOG_FIRST_NAMED + k, texts[k], strlen(texts[k]) + 1);
		log_program(log, 5 + k, LOG_TIME0 + 10 * row, row ? "new" : "old", 4);
		map(log, 5 + k, 10 * row, 0x1000, 0x1000, row ? "/new" : "/old");
	}
}

static void expect_row(struct __test_metadata *_metadata, trace_id_t trid, int row)
{
	EXPECT_STREQ("{ u32 one; }", text_of(trid, LOG_FIRST_NAMED));
	EXPECT_STREQ("{ u32 two; }", text_of(trid, LOG_FIRST_NAMED + 1));
	EXPECT_STREQ("{ u32 six; }", text_of(trid, LOG_FIRST_NAMED + 2));
	for (int pid = 5; pid < 8; pid++) {
		EXPECT_STREQ(row ? "new" : "old", program_at(trid, pid, 10 * row));
		EXPECT_STREQ(row ? "/new" : "/old", path_at(trid, pid, 10 * row, 0x1000));
	}
}

/* The reader must not use offsets in the first row after the second row has overwritten it. */
TEST_F(ring, texts_of_metadata_that_is_restarted_later)
{
	for (int looks = 0; looks < 2; looks++) {
		int fd;

		write_rows(&self->log, 0);
		fd = log_file(&self->log);
		ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
		expect_row(_metadata, self->trid, 0);
		write_rows(&self->log, 1);
		ASSERT_EQ(0, log_write(&self->log, fd, 0));
		/* With @looks, the reader has scanned the complete log before. */
		if (looks)
			EXPECT_EQ(0, posixtrace_get_log_info(self->trid, &self->info));
		expect_row(_metadata, self->trid, 1);
		EXPECT_EQ(0, posix_trace_close(self->trid));
		close(fd);
	}
}

TEST_F(ring, description_that_is_not_in_the_second_row)
{
	int fd;

	log_description(&self->log, LOG_FIRST_NAMED, FIELDS, sizeof(FIELDS));
	log_name(&self->log, LOG_FIRST_NAMED, "first");
	fd = log_file(&self->log);
	ASSERT_EQ(0, posix_trace_open(fd, &self->trid));
	EXPECT_STREQ(FIELDS, text_of(self->trid, LOG_FIRST_NAMED));
	self->log.metadata_pos = self->log.header.metadata_offset;
	log_description(&self->log, LOG_FIRST_NAMED + 1, FIELDS, sizeof(FIELDS));
	ASSERT_EQ(0, log_write(&self->log, fd, 0));
	EXPECT_EQ(ENOENT, description(self->trid, LOG_FIRST_NAMED, NULL, 0));
	EXPECT_EQ(0, posix_trace_close(self->trid));
	close(fd);
}

/* A forged offset of the metadata anywhere else has no effect. */
TEST_F(ring, forged_place_of_the_metadata)
{
	const __u64 places[] = {
		LOG_HEADER, self->log.header.data_offset, self->log.len & ~7ULL, 1ULL << 40,
		1ULL << 62,
	};
	const __u64 wrong[] = { 0, 8, LOG_HEADER + 4, ~7ULL, 1ULL << 63 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		self->log.header.metadata_offset = places[i];
		log_header(&self->log);
		EXPECT_EQ(EINVAL, ask(&self->log, LOG_FIRST_NAMED)) {
			TH_LOG("place %zu", i);
		}
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		self->log.header.metadata_offset = wrong[i];
		log_header(&self->log);
		EXPECT_EQ(EINVAL, log_open(&self->log, &self->trid)) {
			TH_LOG("wrong place %zu", i);
		}
	}
}

TEST_HARNESS_MAIN
