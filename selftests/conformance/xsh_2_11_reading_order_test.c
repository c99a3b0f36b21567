// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, the order in which events are read:
 * Documentation/conformance/xsh_2_11_reading.rst
 */
#define _GNU_SOURCE
#include <semaphore.h>

#include "pxt_test.h"
#include "reading.h"

#define ROUNDS	400

/*
 * Two threads on two CPUs pass a ball to each other. The receiver records the number of the pass.
 */
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
		/* Atomic only for ThreadSanitizer, which cannot see that the players take turns. */
		record_number(__atomic_fetch_add(&game->number, 1, __ATOMIC_RELAXED));
		pass_ball(game, player->index);
	}
	return NULL;
}

/* Relays the ball between the players, in a separate process. */
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

/* Player i reads from pipe i, and writes to the pipe of the other player or to pipe 2 + i. */
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

/* The main function of the child. */
static int play_game(void *arg, const struct talk *talk)
{
	static struct game game;
	struct player players[2];

	/* No player has the ball at the start. */
	game = (struct game){ .kind = *(int *)arg, .turn = -1 };
	if (connect_players(&game) || hear(talk))
		return 1;
	for (int i = 0; i < 2; i++) {
		players[i] = (struct player){ .game = &game, .index = i };
		if (pthread_create(&players[i].thread, NULL, play, &players[i]))
			return 1;
	}
	/* Pass the first ball in place of the other player. */
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
 * Reads during the game: an event must not be reported before an earlier one. A busy reader may be
 * interrupted by the players at any point, including between its checks of two CPUs.
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
			ASSERT_EQ(0, busy ? read_try(trid, &event, sizeof(event.data)) :
					    read_next(trid, &event, sizeof(event.data)));
		} while (event.unavailable);
		ASSERT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, take(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(order, a10_earlier_events_are_reported_earlier)
{
	read_game(_metadata, variant->kind, variant->busy);
}

TEST(a11_order_through_another_process)
{
	read_game(_metadata, BY_PROCESS, true);
}

/* The main function of one of two child processes that play. */
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

TEST(a12_times_of_several_streams_are_comparable)
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

TEST_HARNESS_MAIN
