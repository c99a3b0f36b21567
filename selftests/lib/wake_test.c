// SPDX-License-Identifier: GPL-2.0
/*
 * Waking readers: writers do it without a barrier, but no reader may miss its wake-up. Most events
 * must not need a wake-up.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "wakeups.h"
#include "reading.h"

FIXTURE(wake)
{
	trace_event_id_t type[2];
};

FIXTURE_SETUP(wake)
{
	ASSERT_EQ(0, posix_trace_eventid_open("ping", &self->type[0]));
	ASSERT_EQ(0, posix_trace_eventid_open("pong", &self->type[1]));
}

FIXTURE_TEARDOWN(wake)
{
}

#define MAX_DATA	(32 << 10)

/* A stream that accepts one event type only. */
static int new_stream_for(trace_event_id_t type, trace_id_t *trid)
{
	trace_event_set_t set;
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, MAX_DATA);
	if (!err)
		err = posix_trace_create(0, &attr, trid);
	if (!err)
		err = posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	if (!err)
		err = posix_trace_eventset_del(type, &set);
	if (!err)
		err = posix_trace_set_filter(*trid, &set, POSIX_TRACE_SET_EVENTSET);
	return err ? err : posix_trace_start(*trid);
}

static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* One of two threads that wake each other until they have slept often enough. */
struct player {
	pthread_t thread;
	trace_id_t trid;		/* stream with the events that the player waits for */
	trace_event_id_t answer;	/* type of the events that the other player waits for */
	int first;
	int tid;
	int heard;			/* number of events so far */
	long *slept;			/* how often both players have slept, in total */
	long wanted;
	int wrong;
	unsigned char data[MAX_DATA];
};

#define GAME_OVER	-1

/* Waits for a varying time, so that the wake-up comes at any point of the reader's work. */
static void dawdle_a_bit(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	/* Mostly short ones, up to 65535 loops. */
	for (unsigned int i = *seed >> 8 & ((2U << (*seed >> 28)) - 1); i; i--)
		__asm__ volatile ("");
}

/* Waits for an event with the number @wanted, or for the last one. */
static int hear_number(struct player *player, int wanted)
{
	long before = sleeps();
	struct event event;

	if (read_next(player->trid, &event, sizeof(event.data)))
		return -1;
	__atomic_fetch_add(player->slept, sleeps() - before, __ATOMIC_RELAXED);
	if (event_number(&event) == wanted)
		return 1;
	return event_number(&event) == GAME_OVER ? 0 : -1;
}

/*
 * Records a number. Every other event has so much data that the copy takes a while, and the
 * sequence has already checked for a sleeping reader by then.
 */
static void say_number(struct player *player, unsigned int *seed, int number)
{
	dawdle_a_bit(seed);
	memcpy(player->data, &number, sizeof(number));
	posix_trace_event(player->answer, player->data,
			  number & 1 ? MAX_DATA : sizeof(number));
}

static void *play(void *arg)
{
	struct player *player = arg;
	unsigned int seed = player->first;
	int ret;

	__atomic_store_n(&player->tid, gettid(), __ATOMIC_RELEASE);
	for (int i = 0; ; i++) {
		if (player->first) {
			if (__atomic_load_n(player->slept, __ATOMIC_RELAXED) >= player->wanted) {
				say_number(player, &seed, GAME_OVER);
				break;
			}
			say_number(player, &seed, i);
		}
		ret = hear_number(player, i);
		if (ret != 1) {
			player->wrong = ret < 0 || player->first;
			break;
		}
		__atomic_store_n(&player->heard, i + 1, __ATOMIC_RELAXED);
		if (!player->first)
			say_number(player, &seed, i);
	}
	return NULL;
}

/* Returns the number of events that both players have received, if both sleep; otherwise -1. */
static long both_sleep(const struct player *player)
{
	long heard = 0;

	for (int i = 0; i < 2; i++) {
		int tid = __atomic_load_n(&player[i].tid, __ATOMIC_ACQUIRE);

		if (!tid || !is_asleep(tid))
			return -1;
		heard += __atomic_load_n(&player[i].heard, __ATOMIC_RELAXED);
	}
	return heard;
}

/*
 * Waits for the end of a player. Returns how often both players slept for a while without progress.
 * The module would wake them up later, because it checks for unreported events twice a second.
 */
static int join_and_watch(const struct player *player, pthread_t thread)
{
	struct timespec until;
	long before = -1, heard;
	int stuck = 0;

	for (;;) {
		until = to_timespec(now() + NSEC / 100);
		if (pthread_timedjoin_np(thread, NULL, &until) != ETIMEDOUT)
			return stuck;
		heard = both_sleep(player);
		stuck += heard >= 0 && heard == before;
		before = heard;
	}
}

/*
 * If a wake-up is lost, both players wait. PXT_WAKEUPS in the environment sets how often the
 * players sleep, both together.
 */
TEST_F_TIMEOUT(wake, sleeping_reader_wakes_up_each_time, 1800)
{
	static struct player player[2] = { { .first = 1 } };
	const char *wanted = getenv("PXT_WAKEUPS");
	long slept = 0;

	for (int i = 0; i < 2; i++) {
		player[i].slept = &slept;
		player[i].wanted = (wanted ? atol(wanted) : 10000) / pxt_time_scale();
		player[i].answer = self->type[!i];
		ASSERT_EQ(0, new_stream_for(self->type[i], &player[i].trid));
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&player[i].thread, NULL, play, &player[i]));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, join_and_watch(player, player[i].thread));
		EXPECT_EQ(0, player[i].wrong);
		EXPECT_EQ(0, posix_trace_shutdown(player[i].trid));
	}
	TH_LOG("slept %ld times, %lu wakeups", slept, wakeups);
	EXPECT_LE(player[0].wanted, slept);
}

struct follower {
	pthread_t thread;
	trace_id_t trid;
	int events;
	int wrong;
	long slept;
};

static void *follow(void *arg)
{
	struct follower *follower = arg;
	struct event event;

	for (int i = 0; i < follower->events; i++) {
		if (read_next(follower->trid, &event, sizeof(event.data))) {
			follower->wrong = i + 1;
			break;
		}
		if (event_number(&event) == follower->events)
			break;
	}
	follower->slept = sleeps();
	return NULL;
}

/* A reader waits for each event, but hardly any event needs a system call. */
TEST_F_TIMEOUT(wake, busy_writer_makes_few_wakeups, 60)
{
	struct follower follower = { .events = 200000 / (pxt_time_scale() * pxt_time_scale()) };

	ASSERT_EQ(0, new_stream_for(self->type[0], &follower.trid));
	__atomic_store_n(&wakeups, 0, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_create(&follower.thread, NULL, follow, &follower));
	for (int i = 0; i <= follower.events; i++)
		posix_trace_event(self->type[0], &i, sizeof(i));
	ASSERT_EQ(0, pthread_join(follower.thread, NULL));
	EXPECT_EQ(0, follower.wrong);
	TH_LOG("%d events, slept %ld times, %lu wakeups", follower.events, follower.slept, wakeups);
	EXPECT_GT(follower.events / 100 + 10, (int)wakeups);
	EXPECT_EQ(0, posix_trace_shutdown(follower.trid));
}

TEST_HARNESS_MAIN
