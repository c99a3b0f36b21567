// SPDX-License-Identifier: GPL-2.0
/*
 * Tells tracepoints which tasks are traced, in a few instructions. By which streams is decided in
 * kevent/kevent.c.
 */
#include "target/interest.h"

/*
 * 512 KiB on 64-bit kernels, as long as the module is loaded: one bit for each id, so that no
 * number of traced processes makes the look at another one slower, and no allocation can fail.
 */
unsigned long pxt_interest[BITS_TO_LONGS(PID_MAX_LIMIT)];

/**
 * pxt_interest_begin() - the first stream with events of the kernel traces a process
 * @pid: of its thread group
 *
 * Context: with the lock of the target's table.
 */
void pxt_interest_begin(struct pid *pid)
{
	set_bit(pid_nr(pid), pxt_interest);
}

/**
 * pxt_interest_end() - the last such stream has left a process
 * @pid: of its thread group; no other process can have its id yet
 *
 * Context: with the lock of the target's table.
 */
void pxt_interest_end(struct pid *pid)
{
	clear_bit(pid_nr(pid), pxt_interest);
}
