// SPDX-License-Identifier: GPL-2.0
/*
 * Which files can be opened as a log, and which functions accept the trace id of a log. Needs no
 * module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <posixtrace.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "pxt_test.h"
#include "log_reading.h"

#define UNTOUCHED	4711

FIXTURE(log)
{
	struct log_writer log;
};

FIXTURE_SETUP(log)
{
	log_begin(&self->log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_epochs(&self->log, 1, 2, 10);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
}

FIXTURE_TEARDOWN(log)
{
	log_free(&self->log);
}

static int open_and_close(int fd)
{
	trace_id_t trid = UNTOUCHED;
	int err = posix_trace_open(fd, &trid);

	if (err)
		return trid == UNTOUCHED ? err : -1;
	return posix_trace_close(trid);
}

static int open_bytes(const void *data, size_t len)
{
	int fd = log_bytes_file(data, len);
	int err = open_and_close(fd);

	close(fd);
	return err;
}

static int open_log(const struct log_writer *log)
{
	return open_bytes(log->data, log->len);
}

/* ------------------------------------------------------------------ */
/* The header								*/

TEST_F(log, can_be_opened)
{
	EXPECT_EQ(0, open_log(&self->log));
}

TEST_F(log, truncated_in_the_header)
{
	for (size_t len = 0; len < LOG_HEADER; len++)
		ASSERT_EQ(EINVAL, open_bytes(self->log.data, len));
	EXPECT_EQ(0, open_bytes(self->log.data, LOG_HEADER));
}

TEST_F(log, any_bit_of_the_header)
{
	for (size_t bit = 0; bit < LOG_HEADER * 8; bit++) {
		self->log.data[bit / 8] ^= 1 << bit % 8;
		ASSERT_EQ(EINVAL, open_log(&self->log));
		self->log.data[bit / 8] ^= 1 << bit % 8;
	}
	EXPECT_EQ(0, open_log(&self->log));
}

/* The checksum is valid, but the contents are not. */
TEST_F(log, invalid_header)
{
	static const struct {
		const char *what;
		size_t offset;
		size_t size;
		__u64 value;
	} cases[] = {
#define CASE4(field, value) { #field " " #value, \
	offsetof(struct posixtrace_log_header, field), 4, value }
#define CASE8(field, value) { #field " " #value, \
	offsetof(struct posixtrace_log_header, field), 8, value }
		CASE4(order, 0x04030201), CASE4(order, 0),
		CASE4(version, POSIXTRACE_LOG_VERSION - 1),
		CASE4(version, POSIXTRACE_LOG_VERSION + 1),
		CASE4(size, 0), CASE4(size, 504), CASE4(size, 516), CASE4(size, 1 << 20),
		CASE4(block_size, 0), CASE4(block_size, 120), CASE4(block_size, 132),
		CASE4(block_size, 1 << 16),
		CASE4(subbuf_size, 0), CASE4(subbuf_size, 4092), CASE4(subbuf_size, 8196),
		CASE4(subbuf_size, 1 << 20),
		CASE4(nr_cpus, 0), CASE4(nr_cpus, POSIXTRACE_LOG_CPUS_MAX), CASE4(nr_cpus, ~0U),
		CASE8(data_offset, 0), CASE8(data_offset, 516), CASE8(data_offset, ~7ULL),
		CASE8(ring_size, 4096), CASE8(ring_size, ~7ULL),
		CASE4(attr.inherited, 2), CASE4(attr.stream_policy, 3), CASE4(attr.log_policy, 2),
		CASE4(attr.log_policy, 4), CASE4(attr.log_policy, POSIXTRACE_POLICY_LOOP),
		CASE8(attr.max_data_size, POSIXTRACE_DATA_SIZE_MAX + 1),
	};
	struct posixtrace_log_header header = self->log.header;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy((char *)&self->log.header + cases[i].offset, &cases[i].value,
		       cases[i].size);
		log_header(&self->log);
		EXPECT_EQ(EINVAL, open_log(&self->log)) {
			TH_LOG("%s", cases[i].what);
		}
		self->log.header = header;
	}
}

TEST(invalid_loop_header)
{
	static const struct {
		size_t offset;
		__u64 value;
	} cases[] = {
#define CASE_OFFSET(field, value) { offsetof(struct posixtrace_log_header, field), value }
		CASE_OFFSET(ring_size, 0), CASE_OFFSET(ring_size, 120),
		CASE_OFFSET(ring_size, 4100), CASE_OFFSET(ring_size, ~7ULL),
		CASE_OFFSET(names_offset, 0), CASE_OFFSET(names_offset, 516),
		CASE_OFFSET(names_offset, ~7ULL), CASE_OFFSET(end_offset, 0),
		CASE_OFFSET(end_offset, 516), CASE_OFFSET(end_offset, ~7ULL),
	};
	struct posixtrace_log_header header;
	struct log_writer log;

	log_begin(&log, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 2, 64 << 10);
	ASSERT_EQ(0, open_log(&log));
	header = log.header;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy((char *)&log.header + cases[i].offset, &cases[i].value, 8);
		log_header(&log);
		EXPECT_EQ(EINVAL, open_log(&log)) {
			TH_LOG("case %zu", i);
		}
		log.header = header;
	}
	log_free(&log);
}

/* The log was written by a machine with the other byte order. */
TEST_F(log, foreign_byte_order)
{
	struct posixtrace_log_header *header = &self->log.header;

	header->order = __builtin_bswap32(header->order);
	header->version = __builtin_bswap32(header->version);
	header->size = __builtin_bswap32(header->size);
	header->crc = 0;
	header->crc = __builtin_bswap32(log_crc(header, sizeof(*header)));
	log_put(&self->log, 0, header, sizeof(*header));
	EXPECT_EQ(EINVAL, open_log(&self->log));
}

/* ------------------------------------------------------------------ */
/* The descriptor							*/

TEST(other_files)
{
	char text[5000];
	int fd, pair[2];

	memset(text, 'a', sizeof(text));
	EXPECT_EQ(EINVAL, open_bytes(text, sizeof(text)));
	EXPECT_EQ(EINVAL, open_bytes("", 0));
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EXPECT_EQ(EINVAL, open_and_close(fd));
	close(fd);
	ASSERT_EQ(0, pipe2(pair, O_CLOEXEC));
	EXPECT_EQ(EINVAL, open_and_close(pair[0]));
	EXPECT_EQ(EBADF, open_and_close(pair[1]));
	close(pair[0]);
	close(pair[1]);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	EXPECT_EQ(EINVAL, open_and_close(pair[0]));
	close(pair[0]);
	close(pair[1]);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(EINVAL, open_and_close(fd));
	close(fd);
}

TEST_F(log, bad_descriptors)
{
	char path[32];
	int fd, other;

	fd = log_file(&self->log);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, other);
	EXPECT_EQ(EBADF, open_and_close(other));
	close(other);
	other = open(path, O_PATH | O_CLOEXEC);
	ASSERT_LE(0, other);
	EXPECT_EQ(EBADF, open_and_close(other));
	close(other);
	other = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, other);
	EXPECT_EQ(0, open_and_close(other));
	close(other);
	EXPECT_EQ(EBADF, open_and_close(other));
	EXPECT_EQ(EBADF, open_and_close(-1));
	EXPECT_EQ(EBADF, open_and_close(INT32_MAX));
	EXPECT_EQ(EINVAL, posix_trace_open(fd, NULL));
	EXPECT_EQ(EINVAL, posix_trace_open(-1, NULL));
	close(fd);
}

TEST_F(log, descriptor_is_copied_and_its_offset_does_not_change)
{
	struct log_sum sum;
	trace_id_t trid;
	int fd;

	fd = log_file(&self->log);
	ASSERT_EQ(100, lseek(fd, 100, SEEK_SET));
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(100, lseek(fd, 0, SEEK_CUR));
	close(fd);
	log_sum_rest(trid, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(40, sum.events);
	EXPECT_EQ(0, posix_trace_close(trid));
}

/* Returns the number that the library's next descriptor will get: the lowest free one from 3 on. */
static int next_descriptor(void)
{
	int fd = fcntl(0, F_DUPFD, 3);

	close(fd);
	return fd;
}

TEST_F(log, copy_is_above_the_standard_streams_and_not_inherited)
{
	int fd, ours;
	trace_id_t trid;

	fd = log_file(&self->log);
	close(0);
	ours = fcntl(fd, F_DUPFD, 3);
	close(ours);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(-1, fcntl(0, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(ours, F_GETFD));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(-1, fcntl(ours, F_GETFD));
	close(fd);
}

/*
 * The program closes all descriptors, and opens a file that gets the number of the library's
 * descriptor.
 */
TEST_F(log, closed_without_the_library)
{
	struct posix_trace_status_info status;
	struct event event;
	int fd, ours, other;
	trace_id_t trid;

	fd = log_file(&self->log);
	ours = next_descriptor();
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	other = log_bytes_file("other", 5);
	ASSERT_EQ(ours, dup2(other, ours));
	EXPECT_LE(0, log_take(trid, &event));
	EXPECT_GE(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(0, posix_trace_close(trid));
	/* The library has not closed the other file. */
	EXPECT_LE(0, fcntl(ours, F_GETFD));

	ours = next_descriptor();
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	close(ours);
	EXPECT_EQ(0, posix_trace_close(trid));
}

/* ------------------------------------------------------------------ */
/* The trace id								*/

TEST_F(log, functions_of_active_streams_reject_it)
{
	struct posixtrace_stats_info stats;
	const struct timespec epoch = { 0 };
	trace_event_set_t set = { 0 };
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;
	int flag;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	EXPECT_EQ(EINVAL, posix_trace_start(trid));
	EXPECT_EQ(EINVAL, posix_trace_stop(trid));
	EXPECT_EQ(EINVAL, posix_trace_clear(trid));
	EXPECT_EQ(EINVAL, posix_trace_flush(trid));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(trid, &set));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(trid, "name", &id));
	EXPECT_EQ(EINVAL, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(-1, posixtrace_fd(trid));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, &event.info, event.data, 8,
						       &event.len, &flag));
	/* The log is unchanged. */
	EXPECT_EQ(0, posix_trace_timedgetnext_event(trid, &event.info, event.data, 8,
						    &event.len, &flag, &epoch));
	EXPECT_EQ(0, flag);
	EXPECT_EQ(1, log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(log, null_pointers)
{
	const struct timespec epoch = { 0 };
	struct posixtrace_batch_event batch;
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;
	size_t count;
	int flag;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid, NULL));
	EXPECT_EQ(EINVAL, posix_trace_get_status(trid, NULL));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, 64, NULL));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(trid, NULL, &flag));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(trid, &id, NULL));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, NULL, event.data, 8, &event.len,
						    &flag));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &event.info, NULL, 8, &event.len,
						    &flag));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &event.info, event.data, 8, NULL,
						    &flag));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &event.info, event.data, 8,
						    &event.len, NULL));
	EXPECT_EQ(EINVAL, posix_trace_timedgetnext_event(trid, &event.info, event.data, 8,
							 &event.len, &flag, NULL));
	EXPECT_EQ(EINVAL, posixtrace_getevents(trid, &batch, 1, NULL, 8, &count, 0));
	EXPECT_EQ(0, posix_trace_timedgetnext_event(trid, &event.info, NULL, 0, &event.len,
						    &flag, &epoch));
	EXPECT_EQ(1, log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

static int use_in_child(void *arg, const struct talk *talk)
{
	struct posix_trace_status_info status;
	trace_id_t *trid = arg;

	(void)talk;
	return posix_trace_get_status(*trid, &status) != EINVAL ||
	       posix_trace_rewind(*trid) != EINVAL || posix_trace_close(*trid) != EINVAL;
}

TEST_F(log, child_must_open_it_again)
{
	struct log_sum sum;
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, log_open(&self->log, &trid));
	ASSERT_EQ(0, child_start(&child, use_in_child, &trid));
	EXPECT_EQ(0, child_wait(&child));
	log_sum_rest(trid, &sum);
	EXPECT_EQ(40, sum.events);
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(log, errno_does_not_change)
{
	trace_id_t trid;

	errno = UNTOUCHED;
	EXPECT_EQ(EBADF, posix_trace_open(-1, &trid));
	EXPECT_EQ(EINVAL, open_bytes("x", 1));
	errno = UNTOUCHED;
	EXPECT_EQ(0, log_open(&self->log, &trid));
	EXPECT_EQ(0, posix_trace_rewind(trid));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(EINVAL, posix_trace_close(trid));
	EXPECT_EQ(UNTOUCHED, errno);
}

TEST(part_of_a_series_with_states_and_clocks_is_complete)
{
	const struct posixtrace_state state = { .time = LOG_TIME0, .pid = 4711, .tid = 4712 };
	const struct posixtrace_log_clock clock = { .time = LOG_TIME0, .error = 30 };
	struct log_writer log;
	struct log_sum sum;

	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 2, 0);
	log.header.series = LOG_COOKIE - 2;
	log.header.previous = LOG_COOKIE - 1;
	log.header.part = 3;
	log_header(&log);
	log_metadata(&log, POSIXTRACE_LOG_STATES, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, &state,
		     sizeof(state));
	log_epochs(&log, 0, 2, 5);
	log_metadata(&log, POSIXTRACE_LOG_CLOCKS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, &clock,
		     sizeof(clock));
	log_end(&log, POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_CONTINUED);
	log_sum_log(&log, &sum);
	log_free(&log);
	EXPECT_EQ(0, sum.err + sum.errors + sum.gaps);
	EXPECT_EQ(20, sum.events);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
}

TEST_F(log, nothing_remains_open)
{
	int before = next_descriptor();
	trace_id_t trid;

	for (int i = 0; i < 5000; i++) {
		ASSERT_EQ(0, log_open(&self->log, &trid));
		ASSERT_EQ(0, posix_trace_close(trid));
	}
	EXPECT_EQ(before, next_descriptor());
}

TEST_HARNESS_MAIN
