// SPDX-License-Identifier: GPL-2.0
/* Interrupts calls with signals. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#include "interrupt.h"

#define INTERRUPTS_RANGE_MAX	5000

struct interrupts interrupts;

static void interrupts_handler(int signal)
{
	(void)signal;
	if (interrupts.in_handler)
		interrupts.in_handler();
	if (interrupts.in_call)
		interrupts.hits++;
	else if (interrupts.range < INTERRUPTS_RANGE_MAX)
		interrupts.range += 10;	/* Setting the timer may take longer than the delay. */
	interrupts.pending = 0;
}

int interrupts_begin(void (*in_handler)(void))
{
	struct sigaction action = { .sa_handler = interrupts_handler };

	interrupts = (struct interrupts){ .in_handler = in_handler, .range = 200 };
	return sigaction(SIGALRM, &action, NULL);
}

void interrupts_before(void)
{
	struct itimerval timer = { .it_value.tv_usec = 1 + interrupts.delay };

	if (!interrupts.pending) {
		interrupts.pending = 1;
		interrupts.delay = (interrupts.delay + 7) % interrupts.range;
		setitimer(ITIMER_REAL, &timer, NULL);
	}
	interrupts.in_call = 1;
}

void interrupts_end(void)
{
	struct itimerval timer = { .it_value.tv_usec = 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_IGN);
}
