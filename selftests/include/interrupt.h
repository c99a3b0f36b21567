/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals in the middle of calls: a timer fires at some time while a loop makes the calls,
 * and is set again only after that. So a slow machine takes longer, but always makes
 * progress.
 */
#ifndef _SELFTESTS_INTERRUPT_H
#define _SELFTESTS_INTERRUPT_H

#include <signal.h>
#include <sys/time.h>

#define INTERRUPTS_RANGE_MAX	5000

/*
 * Written by the loop and its handler. Each access is followed by an external call, of
 * which the compiler must assume that it may call the handler.
 */
struct interrupts {
	void (*in_handler)(void);
	int in_call;
	int pending;
	int hits;	/* signals during a call */
	int delay;	/* microseconds */
	int range;	/* microseconds: delays are shorter */
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

/* Each handler calls @in_handler, if not NULL. */
static inline int interrupts_begin(void (*in_handler)(void))
{
	struct sigaction action = { .sa_handler = interrupts_handler };

	interrupts = (struct interrupts){ .in_handler = in_handler, .range = 200 };
	return sigaction(SIGALRM, &action, NULL);
}

/* A signal may come in the next call. */
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

/* True if a signal is pending. For loops without an external call, such as sched_yield(). */
static inline int interrupts_pending(void)
{
	return __atomic_load_n(&interrupts.pending, __ATOMIC_RELAXED);
}

/* No further signal comes. */
static inline void interrupts_end(void)
{
	struct itimerval timer = { .it_value.tv_usec = 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_IGN);
}

#endif /* _SELFTESTS_INTERRUPT_H */
