/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulates the module in the process itself, for machines without the module: one stream with
 * policy POSIX_TRACE_LOOP that traces this process. The library is the real one; its system calls
 * to the module are intercepted.
 *
 * Recording threads must be pinned to their CPU, because only the kernel can execute NEXT
 * atomically with respect to a CPU.
 */
#ifndef BENCH_FAKE_H
#define BENCH_FAKE_H

#include <stdbool.h>

/**
 * fake_clock() - choose the clock of timestamps
 * @counter: use the counter of the CPU, as the module publishes it; otherwise the vDSO
 *
 * Context: before the first call of the library, or between streams.
 */
void fake_clock(bool counter);

/**
 * fake_processors() - choose the number of processors of the next stream
 * @count: the number; 0: as many as the machine has
 */
void fake_processors(unsigned int count);

/**
 * fake_nexts() - count the sub-buffers handed out
 *
 * Return: a number that never decreases.
 */
unsigned long fake_nexts(void);

/**
 * fake_bytes() - get the size of the records in all open and closed sub-buffers
 *
 * Return: the current number of bytes.
 */
unsigned long fake_bytes(void);

#endif /* BENCH_FAKE_H */
