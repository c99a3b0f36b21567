// SPDX-License-Identifier: GPL-2.0
/*
 * A traced process, the scribbler, writes random and wrong values to all memory that it can write,
 * and makes all calls that it can make, while its streams are started, stopped, filtered,
 * cleared, read, flushed into logs and created again. The reader must remain intact and must not
 * use much memory. The stream of another process must remain exact.
 *
 * Runs for PXT_SIEGE_SECONDS, 10 by default.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <posixtrace.h>
#include <pthread.h>

#include "pxt_test.h"
#include "scribbler.h"
#include "withlog.h"

#define STREAMS		3
#define ACTIONS		300	/* actions in the life of a stream */
#define READ_MAX	400	/* events that are read at a time */
#define STREAM_DATA_SIZE 256	/* max-data-size of new_stream() */
#define MEMORY_GROWTH	(256U << 10)

/* Memory shared by the three processes. */
struct siege {
	int stop;
	uint64_t generated;	/* number of events of the innocent process */
};

struct innocent_data {
	uint64_t number;
	uint64_t check;
};

#define CHECK_FACTOR	0x9e3779b97f4a7c15ULL

FIXTURE(siege)
{
	struct siege *shared;
	struct child scribbler;
	struct child innocent;
	trace_id_t innocent_trid;
	uint64_t innocent_read;
	uint64_t innocent_last;
	uint64_t rng;
	unsigned long reads;
	unsigned long corrupt;
	unsigned long lives;
};

/* The innocent process: records with the library, into a separate stream. */
static int innocent(void *arg, const struct talk *talk)
{
	struct siege *shared = arg;
	struct innocent_data data;

	say(talk, 0);
	hear(talk);
	for (data.number = 1; !LOAD(shared->stop); data.number++) {
		data.check = data.number * CHECK_FACTOR;
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &data, sizeof(data));
		if (data.number % 512 == 0)
			run_on(data.number / 512);
	}
	shared->generated = data.number - 1;
	return 0;
}

static int besieger(void *arg, const struct talk *talk)
{
	struct siege *shared = arg;

	return scribbler_run(talk, &shared->stop);
}

FIXTURE_SETUP(siege)
{
	self->rng = 88172645463325252ULL;
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, child_start(&self->scribbler, besieger, self->shared));
	ASSERT_EQ(0, hear(&self->scribbler.talk));
	ASSERT_EQ(0, child_start(&self->innocent, innocent, self->shared));
	ASSERT_EQ(0, hear(&self->innocent.talk));
	ASSERT_EQ(0, new_stream(self->innocent.pid, POSIX_TRACE_LOOP, &self->innocent_trid));
	ASSERT_EQ(0, posix_trace_start(self->innocent_trid));
	say(&self->innocent.talk, 0);
}

FIXTURE_TEARDOWN(siege)
{
	child_kill(&self->scribbler);
	munmap(self->shared, sizeof(*self->shared));
}

static uint32_t dice(uint64_t *rng, uint32_t sides)
{
	return (uint32_t)(scribbler_random(rng) >> 16) % sides;
}

/* ------------------------------------------------------------------ */
/* Reading								*/

/*
 * Is the event within what the library guarantees? Otherwise, any member of a scribbler's event may
 * be wrong.
 */
static bool is_sound(const struct posix_trace_event_info *info, size_t len, size_t max_data)
{
	if (info->posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		max_data = POSIXTRACE_SYSDATA_MAX;
	return len <= max_data && info->posix_event_id > 0 &&
	       info->posix_event_id < POSIXTRACE_ID_MAX &&
	       info->posix_timestamp.tv_nsec >= 0 &&
	       info->posix_timestamp.tv_nsec < (long)NSEC &&
	       (info->posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED ||
		info->posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD ||
		info->posix_truncation_status == POSIX_TRACE_TRUNCATED_READ);
}

static void read_single(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
			trace_id_t trid)
{
	struct event event;
	size_t room;
	int ret;

	for (int i = 0; i < READ_MAX; i++) {
		room = dice(&self->rng, 600);
		memset(event.data, 0x5a, sizeof(event.data));
		ret = posix_trace_trygetnext_event(trid, &event.info, event.data, room,
						   &event.len, &event.unavailable);
		ASSERT_EQ(0, ret);
		if (event.unavailable)
			return;
		ASSERT_GE(room, event.len);
		ASSERT_TRUE(is_sound(&event.info, event.len, STREAM_DATA_SIZE));
		ASSERT_EQ(0x5a, event.data[room]);
		self->reads++;
		self->corrupt += event.info.posix_event_id == POSIX_TRACE_ERROR;
	}
}

static bool is_inside(const struct posixtrace_batch_event *event, const unsigned char *buffer,
		      size_t size)
{
	const unsigned char *data = event->data;

	return data >= buffer && data + event->data_len <= buffer + size;
}

static void read_many(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
		      trace_id_t trid, size_t max_data)
{
	struct posixtrace_batch_event events[64];
	unsigned char buffer[4096];
	size_t count, i;

	ASSERT_EQ(0, posixtrace_getevents(trid, events, 64, buffer, sizeof(buffer), &count,
					  POSIXTRACE_NOWAIT));
	ASSERT_GE(64, count);
	for (i = 0; i < count; i++) {
		ASSERT_TRUE(is_sound(&events[i].event, events[i].data_len, max_data));
		ASSERT_TRUE(is_inside(&events[i], buffer, sizeof(buffer)));
		self->reads++;
		self->corrupt += events[i].event.posix_event_id == POSIX_TRACE_ERROR;
	}
}

/* Expects that the events of the innocent process are in order and complete, with correct data. */
static void read_innocent(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
			  int at_most)
{
	struct innocent_data data;
	struct event event;

	for (int i = 0; i < at_most; i++) {
		int ret = take_user(self->innocent_trid, &event);

		ASSERT_LE(0, ret);
		if (!ret)
			return;
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
		ASSERT_EQ(self->innocent.pid, event.info.posix_pid);
		ASSERT_EQ(sizeof(data), event.len);
		memcpy(&data, event.data, sizeof(data));
		ASSERT_EQ(data.number * CHECK_FACTOR, data.check);
		ASSERT_LT(self->innocent_last, data.number);
		self->innocent_last = data.number;
		self->innocent_read++;
	}
}

/* ------------------------------------------------------------------ */
/* The streams of the scribbler						*/

struct besieged {
	trace_id_t trid;
	int fd;			/* descriptor of the log, or -1 */
};

static void stream_begin(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
			 struct besieged *stream, int n)
{
	struct log_kind kind = {
		.stream_policy = POSIX_TRACE_FLUSH,
		.log_policy = dice(&self->rng, 2) ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
		.log_size = 1 << 20,
	};

	stream->fd = -1;
	if (n < 2) {
		ASSERT_EQ(0, new_stream(self->scribbler.pid,
					n ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP,
					&stream->trid));
	} else {
		stream->fd = log_tmpfile();
		ASSERT_LE(0, stream->fd);
		ASSERT_EQ(0, withlog_new(self->scribbler.pid, &kind, stream->fd, &stream->trid));
	}
	ASSERT_EQ(0, posix_trace_start(stream->trid));
}

/* Checks the events of a log in the same way as those of a stream. */
static void read_log(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self, int fd)
{
	unsigned long before = self->reads;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	do {
		before = self->reads;
		read_many(_metadata, self, trid, LOG_DATA_SIZE);
	} while (self->reads != before);
	ASSERT_EQ(0, posix_trace_close(trid));
}

static void stream_end(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
		       struct besieged *stream)
{
	ASSERT_EQ(0, posix_trace_shutdown(stream->trid));
	if (stream->fd < 0)
		return;
	read_log(_metadata, self, stream->fd);
	close(stream->fd);
}

static void filter(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self, trace_id_t trid)
{
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set,
					    dice(&self->rng, 2) ? POSIX_TRACE_SUB_EVENTSET :
								  POSIX_TRACE_ADD_EVENTSET));
}

/* Flushes a stream with log, and reads all others. */
static void take_some(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
		      const struct besieged *stream)
{
	if (stream->fd >= 0)
		ASSERT_EQ(0, posix_trace_flush(stream->trid));
	if (stream->fd >= 0)
		return;
	if (dice(&self->rng, 2))
		read_single(_metadata, self, stream->trid);
	else
		read_many(_metadata, self, stream->trid, STREAM_DATA_SIZE);
}

static void do_something(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self,
			 const struct besieged *stream)
{
	struct posix_trace_status_info status;
	struct posixtrace_stats_info stats;

	switch (dice(&self->rng, 10)) {
	case 0:
		ASSERT_EQ(0, posix_trace_start(stream->trid));
		break;
	case 1:
		ASSERT_EQ(0, posix_trace_stop(stream->trid));
		break;
	case 2:
		filter(_metadata, self, stream->trid);
		break;
	case 3:
		if (dice(&self->rng, 4) == 0)
			ASSERT_EQ(0, posix_trace_clear(stream->trid));
		break;
	case 4:
		ASSERT_EQ(0, posix_trace_get_status(stream->trid, &status));
		ASSERT_EQ(0, posixtrace_get_stats(stream->trid, &stats));
		break;
	default:
		take_some(_metadata, self, stream);
	}
}

/* Runs one life of all streams, from creation to shutdown. */
static void live(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self)
{
	struct besieged streams[STREAMS];

	for (int n = 0; n < STREAMS; n++)
		stream_begin(_metadata, self, &streams[n], n);
	for (int i = 0; i < ACTIONS; i++) {
		do_something(_metadata, self, &streams[dice(&self->rng, STREAMS)]);
		read_innocent(_metadata, self, READ_MAX);
	}
	for (int n = 0; n < STREAMS; n++)
		stream_end(_metadata, self, &streams[n]);
	/* The process is still alive. */
	ASSERT_EQ(0, waitpid(self->scribbler.pid, NULL, WNOHANG));
	self->lives++;
}

static void innocent_is_exact(struct __test_metadata *_metadata, FIXTURE_DATA(siege) * self)
{
	struct posixtrace_stats_info stats;

	ASSERT_EQ(0, child_wait(&self->innocent));
	ASSERT_EQ(0, posix_trace_stop(self->innocent_trid));
	read_innocent(_metadata, self, 1 << 30);
	ASSERT_EQ(0, posixtrace_get_stats(self->innocent_trid, &stats));
	EXPECT_LT(0, self->innocent_read);
	EXPECT_EQ(self->shared->generated, stats.recorded + stats.dropped);
	EXPECT_EQ(self->innocent_read, stats.read);
	EXPECT_EQ(stats.recorded, stats.read + stats.overwritten + stats.skipped);
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, posix_trace_shutdown(self->innocent_trid));
}

TEST_F_TIMEOUT(siege, reader_and_other_streams_are_unharmed, 7200)
{
	const char *seconds = getenv("PXT_SIEGE_SECONDS");
	unsigned long long end = now() + (seconds ? atoi(seconds) : 10) * NSEC;
	size_t used = 0;

	while (now() < end || self->lives < 3) {
		live(_metadata, self);
		/* All streams of the scribbler are gone, and so must be their memory. */
		if (self->lives == 2)
			used = mallinfo2().uordblks;
		if (self->lives > 2)
			ASSERT_GT(used + MEMORY_GROWTH, mallinfo2().uordblks);
	}
	__atomic_store_n(&self->shared->stop, 1, __ATOMIC_RELAXED);
	EXPECT_EQ(0, child_wait(&self->scribbler));
	innocent_is_exact(_metadata, self);
	/* The attacks must have had an effect. */
	EXPECT_LT(0, self->reads);
	EXPECT_LT(0, self->corrupt);
	TH_LOG("%lu lives, %lu events read, %lu damaged places, %llu events of the other one",
	       self->lives, self->reads, self->corrupt,
	       (unsigned long long)self->innocent_read);
}

TEST_HARNESS_MAIN
