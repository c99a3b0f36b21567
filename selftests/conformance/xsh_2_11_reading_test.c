// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, what concerns the reading of events: what is told of them, their order,
 * and waiting among signals, cancellation and other threads:
 * Documentation/conformance/xsh_2_11_reading.rst
 */
#define _GNU_SOURCE
#include <semaphore.h>

#include "pxt_test.h"
#include "reading.h"

FIXTURE(reading)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(reading)
{
	trace_attr_t attr;

	/* Room for all. */
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(reading)
{
	posix_trace_shutdown(self->trid);
}

#define ROOM	sizeof(((struct event *)0)->data)

static const struct timespec never = { INT32_MAX, 0 };

/* ------------------------------------------------------------------ */
/* posix_trace_event_info						*/

TEST_F(reading, a01_event_id_is_the_one_of_the_type)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[2];

	ASSERT_EQ(0, posix_trace_eventid_open("first", &ids[0]));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "second", &ids[1]));
	for (int i = 0; i < 2; i++)
		posix_trace_event(ids[i], NULL, 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_EQ(ids[i], self->event.info.posix_event_id);
		ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid,
							  self->event.info.posix_event_id, name));
		EXPECT_STREQ(i ? "second" : "first", name);
	}
}

static int record_once(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	record_number(1);
	return 0;
}

TEST_F(reading, a02_pid_is_that_of_the_traced_process)
{
	struct child child;
	trace_id_t trid;

	record_number(0);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	ASSERT_EQ(0, child_start(&child, record_once, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &self->event));
	EXPECT_EQ(child.pid, self->event.info.posix_pid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static void *record_in_thread(void *arg)
{
	record_number(*(int *)arg);
	return NULL;
}

TEST_F(reading, a03_thread_id_is_that_of_the_thread)
{
	int numbers[] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, record_in_thread, &numbers[i]));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	record_number(2);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_TRUE(pthread_equal(threads[event_number(&self->event)],
					  self->event.info.posix_thread_id));
	}
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_TRUE(pthread_equal(pthread_self(), self->event.info.posix_thread_id));
}

/* What follows a call keeps it from being a jump. */
#define CALL(call)	({ int ret = (call); __asm__ volatile("" ::: "memory"); ret; })

__attribute__((__noinline__))
static void call_event(void)
{
	record_number(1);
	__asm__ volatile("" ::: "memory");
}

__attribute__((__noinline__))
static int call_start(trace_id_t trid)
{
	return CALL(posix_trace_start(trid));
}

__attribute__((__noinline__))
static int call_stop(trace_id_t trid)
{
	return CALL(posix_trace_stop(trid));
}

__attribute__((__noinline__))
static int call_set_filter(trace_id_t trid, const trace_event_set_t *set)
{
	return CALL(posix_trace_set_filter(trid, set, POSIX_TRACE_SET_EVENTSET));
}

/* The function is small. */
static bool is_in(const struct event *event, const void *function)
{
	const char *address = event->info.posix_prog_address;

	return address > (const char *)function && address < (const char *)function + 200;
}

TEST_F(reading, a04_program_address_of_a_user_event)
{
	call_event();
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_TRUE(is_in(&self->event, call_event));
}

TEST_F(reading, a05_program_address_of_what_the_controller_calls)
{
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, call_set_filter(self->trid, &set));
	ASSERT_EQ(0, call_stop(self->trid));
	ASSERT_EQ(0, call_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_FILTER, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in(&self->event, call_set_filter));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in(&self->event, call_stop));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_START, self->event.info.posix_event_id);
	EXPECT_TRUE(is_in(&self->event, call_start));
}

static void *stop_in_thread(void *arg)
{
	return posix_trace_stop(*(trace_id_t *)arg) ? arg : NULL;
}

/* The controller is who called; the traced process may be another one. */
TEST_F(reading, a06_process_and_thread_of_what_the_controller_calls)
{
	struct child child;
	pthread_t thread;
	trace_id_t trid;
	void *failed;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_in_thread, &trid));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(pthread_self(), self->event.info.posix_thread_id));
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(thread, self->event.info.posix_thread_id));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* The stream stops by itself. */
TEST_F(reading, a07_no_process_and_no_thread)
{
	char data[256] = "";
	trace_id_t trid;
	int found = 0;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	for (int i = 0; i < 600; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	ASSERT_EQ(1, take(trid, &self->event));
	while (take(trid, &self->event) == 1) {
		if (self->event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		EXPECT_EQ(0, self->event.info.posix_pid);
		EXPECT_EQ(0, self->event.info.posix_thread_id);
		EXPECT_EQ(NULL, self->event.info.posix_prog_address);
		found++;
	}
	/* STOP, OVERFLOW, RESUME, START */
	EXPECT_EQ(4, found);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(reading, a08_time_is_that_of_generation)
{
	unsigned long long before[20], after;

	for (int i = 0; i < 20; i++) {
		before[i] = now();
		run_on(i / 3);
		record_number(i);
	}
	after = now();
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_LE(before[i], event_time(&self->event));
		EXPECT_GE(i < 19 ? before[i + 1] : after, event_time(&self->event));
	}
}

TEST_F(reading, a09_resolution_of_the_time_is_in_the_attributes)
{
	struct timespec told, real;
	trace_attr_t attr;

	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getclockres(&attr, &told));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &real));
	EXPECT_EQ(real.tv_sec, told.tv_sec);
	EXPECT_EQ(real.tv_nsec, told.tv_nsec);
}

/* ------------------------------------------------------------------ */
/* Order								*/

#define ROUNDS	400

/* Two threads, each on its CPU, and a ball: who has it records its number. */
struct game {
	int kind;
	int in[2];
	int out[2];
	sem_t ready[2];
	int turn;
	int number;
};

enum { BY_SPINNING, BY_FUTEX, BY_PIPE, BY_PROCESS };

struct player {
	struct game *game;
	int index;
	pthread_t thread;
};

static void await_ball(struct game *game, int me)
{
	char byte;

	switch (game->kind) {
	case BY_SPINNING:
		while (__atomic_load_n(&game->turn, __ATOMIC_ACQUIRE) != me)
			sched_yield();
		break;
	case BY_FUTEX:
		while (sem_wait(&game->ready[me]))
			;
		break;
	default:
		if (read(game->in[me], &byte, 1) != 1)
			abort();
	}
}

static void pass_ball(struct game *game, int me)
{
	switch (game->kind) {
	case BY_SPINNING:
		__atomic_store_n(&game->turn, !me, __ATOMIC_RELEASE);
		break;
	case BY_FUTEX:
		sem_post(&game->ready[!me]);
		break;
	default:
		if (write(game->out[me], "", 1) != 1)
			abort();
	}
}

static void *play(void *arg)
{
	struct player *player = arg;
	struct game *game = player->game;

	run_on(player->index);
	for (int i = 0; i < ROUNDS / 2; i++) {
		await_ball(game, player->index);
		record_number(game->number++);
		pass_ball(game, player->index);
	}
	return NULL;
}

/* Passes on what one player throws, for another process. */
static void relay(int pipes[4][2])
{
	char byte;

	for (int i = 0; i < ROUNDS; i++) {
		if (read(pipes[2 + i % 2][0], &byte, 1) != 1 ||
		    write(pipes[!(i % 2)][1], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* What player i reads is in pipe i, what he writes in the other one's, or in 2 + i. */
static int connect_players(struct game *game)
{
	int pipes[4][2];
	pid_t pid;

	for (int i = 0; i < 4; i++)
		if (pipe2(pipes[i], O_CLOEXEC))
			return 1;
	for (int i = 0; i < 2; i++) {
		game->in[i] = pipes[i][0];
		game->out[i] = pipes[game->kind == BY_PROCESS ? 2 + i : !i][1];
		sem_init(&game->ready[i], 0, 0);
	}
	if (game->kind != BY_PROCESS)
		return 0;
	pid = fork();
	if (!pid)
		relay(pipes);
	return pid < 0;
}

/* A child function. */
static int play_game(void *arg, const struct talk *talk)
{
	static struct game game;
	struct player players[2];

	/* Nobody has the ball. */
	game = (struct game){ .kind = *(int *)arg, .turn = -1 };
	if (connect_players(&game) || hear(talk))
		return 1;
	for (int i = 0; i < 2; i++) {
		players[i] = (struct player){ .game = &game, .index = i };
		if (pthread_create(&players[i].thread, NULL, play, &players[i]))
			return 1;
	}
	/* As if the other one threw it. */
	if (game.kind < BY_PIPE)
		pass_ball(&game, 1);
	else if (write(game.out[game.kind == BY_PIPE], "", 1) != 1)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(players[i].thread, NULL);
	return 0;
}

FIXTURE(order)
{
	struct event event;
};

FIXTURE_VARIANT(order)
{
	int kind;
	bool busy;
};

FIXTURE_VARIANT_ADD(order, spinning) { BY_SPINNING, false };
FIXTURE_VARIANT_ADD(order, futex) { BY_FUTEX, false };
FIXTURE_VARIANT_ADD(order, pipe) { BY_PIPE, false };
FIXTURE_VARIANT_ADD(order, busy_futex) { BY_FUTEX, true };
FIXTURE_VARIANT_ADD(order, busy_pipe) { BY_PIPE, true };

FIXTURE_SETUP(order)
{
}

FIXTURE_TEARDOWN(order)
{
}

/*
 * Read while they play: an event that is reported has all before it. A busy reader
 * is interrupted by the players wherever it is, even between its looks at two CPUs.
 */
static void read_game(struct __test_metadata *_metadata, int kind, bool busy)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, play_game, &kind));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, take(trid, &event));
	say(&child.talk, 0);
	for (int i = 0; i < ROUNDS; i++) {
		do {
			ASSERT_EQ(0, busy ? read_try(trid, &event, ROOM) :
					    read_next(trid, &event, ROOM));
		} while (event.unavailable);
		ASSERT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, take(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(order, a10_what_happened_before_is_reported_before)
{
	read_game(_metadata, variant->kind, variant->busy);
}

TEST(a11_also_if_another_process_is_between)
{
	read_game(_metadata, BY_PROCESS, true);
}

/* A child function: one of two processes that play. */
static int play_alone(void *arg, const struct talk *talk)
{
	const int *fds = arg;
	int number;

	if (hear(talk))
		return 1;
	run_on(fds[2]);
	do {
		if (read(fds[0], &number, sizeof(number)) != sizeof(number))
			return 1;
		if (number < ROUNDS)
			record_number(number);
		number++;
		if (write(fds[1], &number, sizeof(number)) != sizeof(number))
			return 1;
	} while (number < ROUNDS);
	return 0;
}

TEST(a12_times_of_several_streams_compare)
{
	unsigned long long times[ROUNDS] = { 0 };
	struct child children[2];
	int pipes[2][2], zero = 0;
	struct event event;
	trace_id_t trids[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pipe2(pipes[i], O_CLOEXEC));
	for (int i = 0; i < 2; i++) {
		int fds[] = { pipes[i][0], pipes[!i][1], i };

		ASSERT_EQ(0, child_start(&children[i], play_alone, fds));
		ASSERT_EQ(0, new_stream(children[i].pid, POSIX_TRACE_LOOP, &trids[i]));
		ASSERT_EQ(0, posix_trace_start(trids[i]));
		say(&children[i].talk, 0);
	}
	ASSERT_EQ(sizeof(zero), write(pipes[0][1], &zero, sizeof(zero)));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, child_wait(&children[i]));
		for (int n = i; n < ROUNDS; n += 2) {
			ASSERT_EQ(1, take_user(trids[i], &event));
			ASSERT_EQ(n, event_number(&event));
			times[n] = event_time(&event);
		}
		EXPECT_EQ(0, take_user(trids[i], &event));
		EXPECT_EQ(0, posix_trace_shutdown(trids[i]));
	}
	for (int n = 1; n < ROUNDS; n++)
		ASSERT_LE(times[n - 1], times[n]);
}

/* ------------------------------------------------------------------ */
/* Several readers							*/

#define WRITERS	2
#define READERS	4
#define EVENTS	200

/* Reads until it gets an end mark, in its own way. */
struct sharer {
	trace_id_t trid;
	int way;
	unsigned char seen[WRITERS][EVENTS];
	int disorder;
	pthread_t thread;
};

static int share_one(struct sharer *sharer, struct event *event)
{
	if (sharer->way == 0)
		return read_timed(sharer->trid, event, ROOM, &never);
	if (sharer->way == 1)
		return read_next(sharer->trid, event, ROOM);
	/* In between the CPU is for others. */
	for (;;) {
		int err = read_try(sharer->trid, event, ROOM);

		if (err || !event->unavailable)
			return err;
		sched_yield();
	}
}

static void *share(void *arg)
{
	int last[WRITERS] = { -1, -1 };
	struct sharer *sharer = arg;
	struct event event;

	for (;;) {
		int number, writer;

		if (share_one(sharer, &event))
			return sharer;
		if (event.info.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		number = event_number(&event);
		if (number < 0)
			return NULL;
		writer = number / EVENTS;
		number %= EVENTS;
		sharer->disorder += number <= last[writer];
		last[writer] = number;
		sharer->seen[writer][number]++;
	}
}

static void *write_events(void *arg)
{
	int index = *(int *)arg;

	run_on(index);
	for (int i = 0; i < EVENTS; i++)
		record_number(index * EVENTS + i);
	return NULL;
}

static void check_shares(struct __test_metadata *_metadata, const struct sharer *sharers)
{
	for (int i = 0; i < WRITERS; i++) {
		for (int j = 0; j < EVENTS; j++) {
			int seen = 0;

			for (int k = 0; k < READERS; k++)
				seen += sharers[k].seen[i][j];
			ASSERT_EQ(1, seen);
		}
	}
	for (int i = 0; i < READERS; i++)
		EXPECT_EQ(0, sharers[i].disorder);
}

static void start_sharers(struct __test_metadata *_metadata, struct sharer *sharers,
			  trace_id_t trid)
{
	for (int i = 0; i < READERS; i++) {
		sharers[i] = (struct sharer){ .trid = trid, .way = i % 3 };
		ASSERT_EQ(0, pthread_create(&sharers[i].thread, NULL, share, &sharers[i]));
	}
}

static void end_sharers(struct __test_metadata *_metadata, struct sharer *sharers)
{
	void *failed;

	for (int i = 0; i < READERS; i++)
		record_number(-1);
	for (int i = 0; i < READERS; i++) {
		ASSERT_EQ(0, pthread_join(sharers[i].thread, &failed));
		EXPECT_EQ(NULL, failed);
	}
}

TEST_F(reading, a13_each_event_is_reported_to_one_of_several_readers)
{
	static struct sharer sharers[READERS];
	int indices[WRITERS] = { 0, 1 };
	pthread_t writers[WRITERS];

	start_sharers(_metadata, sharers, self->trid);
	for (int i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, pthread_create(&writers[i], NULL, write_events, &indices[i]));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	end_sharers(_metadata, sharers);
	check_shares(_metadata, sharers);
	EXPECT_EQ(0, take(self->trid, &self->event));
}

struct controlling {
	trace_id_t trid;
	int stop;
	int failed;
};

static void *control(void *arg)
{
	struct controlling *controlling = arg;
	struct posix_trace_status_info status;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = controlling->trid;
	trace_event_set_t set;
	trace_attr_t attr;

	while (!__atomic_load_n(&controlling->stop, __ATOMIC_ACQUIRE)) {
		if (posix_trace_get_status(trid, &status) || posix_trace_get_attr(trid, &attr) ||
		    posix_trace_get_filter(trid, &set) ||
		    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) ||
		    posix_trace_start(trid) ||
		    posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name))
			controlling->failed++;
		sched_yield();
	}
	return NULL;
}

TEST_F(reading, a14_also_while_others_use_the_stream)
{
	struct controlling controlling = { .trid = self->trid };
	static struct sharer sharers[READERS];
	int indices[WRITERS] = { 0, 1 };
	pthread_t thread;

	start_sharers(_metadata, sharers, self->trid);
	ASSERT_EQ(0, pthread_create(&thread, NULL, control, &controlling));
	for (int i = 0; i < WRITERS; i++)
		write_events(&indices[i]);
	__atomic_store_n(&controlling.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, controlling.failed);
	end_sharers(_metadata, sharers);
	check_shares(_metadata, sharers);
}

static void *read_to_the_end(void *arg)
{
	struct sharer *sharer = arg;
	struct event event;
	int err;

	do {
		err = share_one(sharer, &event);
	} while (!err);
	return (void *)(long)err;
}

/* Wherever it meets them, all of them are told, and nothing worse happens. */
TEST_F(reading, a15_shutdown_while_others_read)
{
	struct sharer sharers[3];
	trace_id_t trid;
	void *err;

	for (int round = 0; round < 10; round++) {
		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		for (int i = 0; i < 3; i++) {
			sharers[i] = (struct sharer){ .trid = trid, .way = i };
			ASSERT_EQ(0, pthread_create(&sharers[i].thread, NULL, read_to_the_end,
						    &sharers[i]));
		}
		for (int i = 0; i < 10 * round; i++)
			record_number(i);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, pthread_join(sharers[i].thread, &err));
			EXPECT_EQ(EINVAL, (long)err);
		}
	}
}

/* ------------------------------------------------------------------ */
/* Waiting, and signals							*/

static int handled;

static void handler(int signal)
{
	(void)signal;
	__atomic_store_n(&handled, handled + 1, __ATOMIC_RELEASE);
}

FIXTURE(waiting)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_VARIANT(waiting)
{
	const struct timespec *abstime;
};

FIXTURE_VARIANT_ADD(waiting, getnext) { NULL };
FIXTURE_VARIANT_ADD(waiting, timedgetnext) { &never };

FIXTURE_SETUP(waiting)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(waiting)
{
	posix_trace_shutdown(self->trid);
}

static void expect_event_after(struct __test_metadata *_metadata, struct reader *reader)
{
	EXPECT_TRUE(reader_sleeps(reader));
	record_number(1);
	EXPECT_EQ(0, reader_end(reader));
	EXPECT_EQ(1, event_number(&reader->event));
}

TEST_F(waiting, a16_handler_without_restart_ends_the_wait)
{
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
	EXPECT_EQ(1, handled);
}

TEST_F(waiting, a17_handler_with_restart_does_not)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	for (int i = 1; i <= 5; i++) {
		ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
		while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) != i)
			sched_yield();
	}
	expect_event_after(_metadata, &reader);
}

TEST_F(waiting, a18_ignored_signal_does_not)
{
	struct reader reader;

	signal(SIGUSR1, SIG_IGN);
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	expect_event_after(_metadata, &reader);
}

TEST_F(waiting, a18_blocked_signal_does_not)
{
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;
	sigset_t set;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	/* The reader inherits it. */
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	expect_event_after(_metadata, &reader);
	EXPECT_EQ(0, handled);
}

/* A child function: a process that waits for an event of its own. */
static int read_and_be_stopped(void *arg, const struct talk *talk)
{
	struct reader reader;
	struct event event;
	trace_id_t trid;

	if (new_stream(0, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid) ||
	    take(trid, &event) != 1 || reader_start(&reader, trid, arg))
		return 1;
	say(talk, reader.tid);
	if (hear(talk))
		return 2;
	record_number(1);
	return reader_end(&reader) || event_number(&reader.event) != 1 ? 3 : 0;
}

TEST_F(waiting, a18_stop_and_continuation_do_not)
{
	struct child child;
	int status, tid;

	ASSERT_EQ(0, child_start(&child, read_and_be_stopped, (void *)variant->abstime));
	tid = hear(&child.talk);
	ASSERT_LT(0, tid);
	ASSERT_EQ(0, kill(child.pid, SIGSTOP));
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, kill(child.pid, SIGCONT));
	/* It sleeps again, or is gone. */
	while (!is_asleep(tid) && !kill(tid, 0))
		sched_yield();
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* Cancellation								*/

TEST_F(waiting, a19_thread_that_waits_can_be_cancelled)
{
	struct reader reader;
	void *result;

	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

/* A thread that cancels itself before it reads. */
static void *read_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	return reader_thread(arg);
}

TEST_F(waiting, a19_and_does_not_wait_if_it_was_before)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_cancelled, &reader));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

TEST_F(waiting, a20_cancelled_thread_leaves_no_lock)
{
	struct posix_trace_status_info status;
	struct reader readers[2];
	void *result;

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, reader_start(&readers[i], self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_cancel(readers[0].thread));
	ASSERT_EQ(0, pthread_join(readers[0].thread, &result));
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&readers[1]));
	EXPECT_EQ(0, take(self->trid, &self->event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	/* Which waits for all who use the stream. */
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(waiting, a21_cancelled_thread_loses_no_event)
{
	struct reader reader;
	void *result;

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
		if (i % 2)
			record_number(i);
		ASSERT_EQ(0, pthread_cancel(reader.thread));
		if (!(i % 2))
			record_number(i);
		ASSERT_EQ(0, pthread_join(reader.thread, &result));
		/*
		 * Cancelled, or it has got the event. glibc may say of a thread that has
		 * just returned that it was cancelled: its signal was on the way.
		 */
		if (!reader.done) {
			EXPECT_EQ(PTHREAD_CANCELED, result);
			ASSERT_EQ(1, take(self->trid, &reader.event));
		}
		ASSERT_EQ(i, event_number(&reader.event));
		ASSERT_EQ(0, take(self->trid, &self->event));
	}
}

TEST_F(waiting, a21_nor_if_the_event_is_there)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	record_number(1);
	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_cancelled, &reader));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	if (result == PTHREAD_CANCELED)
		ASSERT_EQ(1, take(self->trid, &reader.event));
	EXPECT_EQ(1, event_number(&reader.event));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

static void *read_undisturbed(void *arg)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	reader_thread(arg);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	return state == PTHREAD_CANCEL_DISABLE ? NULL : arg;
}

TEST_F(waiting, a22_not_while_cancellation_is_disabled)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_undisturbed, &reader));
	ASSERT_TRUE(reader_sleeps(&reader));
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	EXPECT_TRUE(reader_sleeps(&reader));
	record_number(1);
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(NULL, result);
	EXPECT_EQ(0, reader.ret);
	EXPECT_EQ(1, event_number(&reader.event));
}

static void note(void *arg)
{
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

struct clean_reader {
	struct reader reader;
	int cleaned;
	int type;
};

static void *read_with_cleanup(void *arg)
{
	struct clean_reader *clean = arg;

	pthread_cleanup_push(note, &clean->cleaned);
	reader_thread(&clean->reader);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &clean->type);
	pthread_cleanup_pop(0);
	return NULL;
}

TEST_F(waiting, a23_handlers_run_and_the_type_is_kept)
{
	struct clean_reader clean = {
		.reader = { .trid = self->trid, .abstime = variant->abstime }, .type = -1,
	};

	ASSERT_EQ(0, pthread_create(&clean.reader.thread, NULL, read_with_cleanup, &clean));
	ASSERT_TRUE(reader_sleeps(&clean.reader));
	record_number(1);
	pthread_join(clean.reader.thread, NULL);
	EXPECT_EQ(0, clean.cleaned);
	EXPECT_EQ(PTHREAD_CANCEL_DEFERRED, clean.type);

	clean.reader.tid = 0;
	clean.reader.done = 0;
	ASSERT_EQ(0, pthread_create(&clean.reader.thread, NULL, read_with_cleanup, &clean));
	ASSERT_TRUE(reader_sleeps(&clean.reader));
	ASSERT_EQ(0, pthread_cancel(clean.reader.thread));
	pthread_join(clean.reader.thread, NULL);
	EXPECT_EQ(1, clean.cleaned);
}

struct calls {
	trace_id_t trid;
	int failed;
	int done;
};

/* All functions that are not in the list of those that may be cancellation points. */
static int call_them(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[TRACE_NAME_MAX + 1];
	trace_event_id_t id;
	trace_event_set_t set;
	struct timespec time;
	struct event event;
	trace_attr_t attr;
	int failed = 0, number;
	size_t size;

	failed += !!posix_trace_attr_init(&attr);
	failed += !!posix_trace_attr_setname(&attr, "cancel");
	failed += !!posix_trace_attr_getname(&attr, text);
	failed += !!posix_trace_attr_getgenversion(&attr, text);
	failed += !!posix_trace_attr_getclockres(&attr, &time);
	failed += !!posix_trace_attr_getcreatetime(&attr, &time);
	failed += !!posix_trace_attr_setinherited(&attr, POSIX_TRACE_CLOSE_FOR_CHILD);
	failed += !!posix_trace_attr_getinherited(&attr, &number);
	failed += !!posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP);
	failed += !!posix_trace_attr_getlogfullpolicy(&attr, &number);
	failed += !!posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	failed += !!posix_trace_attr_getstreamfullpolicy(&attr, &number);
	failed += !!posix_trace_attr_setlogsize(&attr, 4096);
	failed += !!posix_trace_attr_getlogsize(&attr, &size);
	failed += !!posix_trace_attr_setmaxdatasize(&attr, 100);
	failed += !!posix_trace_attr_getmaxdatasize(&attr, &size);
	failed += !!posix_trace_attr_setstreamsize(&attr, 4096);
	failed += !!posix_trace_attr_getstreamsize(&attr, &size);
	failed += !!posix_trace_attr_getmaxsystemeventsize(&attr, &size);
	failed += !!posix_trace_attr_getmaxusereventsize(&attr, 10, &size);
	failed += !!posix_trace_attr_destroy(&attr);
	failed += !!posix_trace_eventset_empty(&set);
	failed += !!posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	failed += !!posix_trace_eventset_add(POSIX_TRACE_START, &set);
	failed += !!posix_trace_eventset_del(POSIX_TRACE_START, &set);
	failed += !!posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &number);
	failed += !!posix_trace_eventid_open("cancel", &id);
	failed += !!posix_trace_trid_eventid_open(trid, "cancel too", &id);
	failed += !!posix_trace_eventid_get_name(trid, id, name);
	failed += !posix_trace_eventid_equal(trid, id, id);
	failed += !!posix_trace_stop(trid);
	failed += !!posix_trace_start(trid);
	posix_trace_event(id, NULL, 0);
	/* Something there, and nothing there. */
	do {
		failed += !!read_try(trid, &event, ROOM);
	} while (!event.unavailable);
	return failed;
}

static void *call_cancelled(void *arg)
{
	struct calls *calls = arg;

	pthread_cancel(pthread_self());
	calls->failed = call_them(calls->trid);
	calls->done = 1;
	pthread_testcancel();
	return NULL;
}

TEST_F(reading, a24_all_others_are_no_cancellation_points)
{
	struct calls calls = { .trid = self->trid };
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, call_cancelled, &calls));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(1, calls.done);
	EXPECT_EQ(0, calls.failed);
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

TEST_HARNESS_MAIN
