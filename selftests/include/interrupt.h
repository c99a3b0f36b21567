/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interrupts calls with signals. A loop makes the calls, and a timer fires at some time during
 * them. The timer is set again only after it has fired. So a slow machine takes longer, but always
 * makes progress.
 */
#ifndef _SELFTESTS_INTERRUPT_H
#define _SELFTESTS_INTERRUPT_H

/*
 * The loop and its signal handler write these members. Each access is followed by a call of an
 * external function: the compiler must assume that it changes them.
 */
struct interrupts {
	void (*in_handler)(void);
	int in_call;
	int pending;
	int hits;	/* number of signals that arrived during a call */
	int delay;	/* microseconds until the timer fires */
	int range;	/* microseconds; limit of the delay */
};

extern struct interrupts interrupts;

/* Starts the interrupts. Each signal handler calls @in_handler, if not NULL. */
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
