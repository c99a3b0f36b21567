// SPDX-License-Identifier: GPL-2.0
/*
 * Lets tracepoints find traced tasks in a few instructions. For a traced task, kevent/memo.c finds
 * the streams that record an event.
 */
#include "target/interest.h"

/*
 * 512 KiB on 64-bit kernels while the module is loaded. With one bit per id, the lookup takes the
 * same time for any number of traced processes, and no allocation can fail.
 */
unsigned long pxt_interest[BITS_TO_LONGS(PID_MAX_LIMIT)];

/* Never 0, so that a zeroed struct pxt_memo is invalid. */
atomic64_t pxt_interest_generation = ATOMIC64_INIT(1);

/**
 * pxt_interest_begin() - mark a process when the first stream with kernel events traces it
 * @pid: pid of its thread group
 *
 * Context: with the lock of the target's table.
 */
void pxt_interest_begin(struct pid *pid)
{
	set_bit(pid_nr(pid), pxt_interest);
}

/**
 * pxt_interest_end() - unmark a process when the last stream with kernel events has left it
 * @pid: pid of its thread group; its id cannot be reused yet
 *
 * Context: with the lock of the target's table.
 */
void pxt_interest_end(struct pid *pid)
{
	clear_bit(pid_nr(pid), pxt_interest);
}
