/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals that come in the middle of calls: a timer that fires at some time while
 * a loop makes them, and is set anew only when it has. So a slow machine takes
 * longer, but always gets on.
 */
#ifndef _SELFTESTS_INTERRUPT_H
#define _SELFTESTS_INTERRUPT_H

#include <signal.h>
#include <sys/time.h>

#define INTERRUPTS_RANGE_MAX	5000

/*
 * Written by the loop and by its handler. Between any two lines of theirs is a call of
 * something outside, which for all the compiler knows may call the handler.
 */
struct interrupts {
	void (*in_handler)(void);
	int in_call;
	int pending;
	int hits;	/* signals that came during a call */
	int delay;	/* microseconds */
	int range;	/* likewise: delays are shorter */
};

static struct interrupts interrupts;

static void interrupts_handler(int signal)
{
	(void)signal;
	if (interrupts.in_handler)
		interrupts.in_handler();
	if (interrupts.in_call)
		interrupts.hits++;
	else if (interrupts.range < INTERRUPTS_RANGE_MAX)
		interrupts.range += 10;	/* Setting the timer may take longer than that. */
	interrupts.pending = 0;
}

/* @in_handler, if not NULL, is called in each handler. */
static inline int interrupts_begin(void (*in_handler)(void))
{
	struct sigaction action = { .sa_handler = interrupts_handler };

	interrupts = (struct interrupts){ .in_handler = in_handler, .range = 200 };
	return sigaction(SIGALRM, &action, NULL);
}

/* A call comes, in which a signal may come. */
static inline void interrupts_before(void)
{
	struct itimerval timer = { .it_value.tv_usec = 1 + interrupts.delay };

	if (!interrupts.pending) {
		interrupts.pending = 1;
		interrupts.delay = (interrupts.delay + 7) % interrupts.range;
		setitimer(ITIMER_REAL, &timer, NULL);
	}
	interrupts.in_call = 1;
}

static inline void interrupts_after(void)
{
	interrupts.in_call = 0;
}

/* Is a signal to come? For who calls nothing that could call the handler, as sched_yield(). */
static inline int interrupts_pending(void)
{
	return __atomic_load_n(&interrupts.pending, __ATOMIC_RELAXED);
}

/* No signal comes any more. */
static inline void interrupts_end(void)
{
	struct itimerval timer = { .it_value.tv_usec = 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_IGN);
}

#endif /* _SELFTESTS_INTERRUPT_H */
