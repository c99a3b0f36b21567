/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's part, played in the process itself, for machines without the module:
 * one stream with the policy POSIX_TRACE_LOOP that traces this process. The library is
 * the real one; only the system calls that it makes to the module end up here.
 *
 * Threads that record must stay on their CPUs: nobody but the kernel can do NEXT in
 * one piece with what runs on a CPU.
 */
#ifndef BENCH_FAKE_H
#define BENCH_FAKE_H

#include <stdbool.h>

/**
 * fake_clock() - what timestamps are made from
 * @counter: the counter of the CPU as the module would publish it, else the vDSO
 *
 * Before the first call of the library, or between streams.
 */
void fake_clock(bool counter);

/**
 * fake_nexts() - how many sub-buffers were handed out
 *
 * Return: a number that never falls.
 */
unsigned long fake_nexts(void);

/**
 * fake_bytes() - how much of the sub-buffers that are closed or open is records
 *
 * Return: bytes, of what is there now.
 */
unsigned long fake_bytes(void);

#endif /* BENCH_FAKE_H */
