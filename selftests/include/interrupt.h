/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interrupts calls with signals: a timer fires at some time while a loop makes the calls, and is
 * only set again afterwards. A slow machine takes longer, but always makes progress.
 */
#ifndef _SELFTESTS_INTERRUPT_H
#define _SELFTESTS_INTERRUPT_H

/*
 * Written by the loop and its handler. An external call follows each access; the compiler must
 * assume that it may call the handler.
 */
struct interrupts {
	void (*in_handler)(void);
	int in_call;
	int pending;
	int hits;	/* signals during a call */
	int delay;	/* microseconds */
	int range;	/* microseconds; upper bound of the delays */
};

extern struct interrupts interrupts;

/* Each signal handler calls @in_handler, if not NULL. */
int interrupts_begin(void (*in_handler)(void));

/* Sets the timer, so that a signal may interrupt the next call. */
void interrupts_before(void);

static inline void interrupts_after(void)
{
	interrupts.in_call = 0;
}

/* True if a signal is pending. For loops without an external call such as sched_yield(). */
static inline int interrupts_pending(void)
{
	return __atomic_load_n(&interrupts.pending, __ATOMIC_RELAXED);
}

/* Stops the timer. */
void interrupts_end(void);

#endif /* _SELFTESTS_INTERRUPT_H */
