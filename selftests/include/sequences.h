/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that do not use restartable sequences (rseq). */
#ifndef _SELFTESTS_SEQUENCES_H
#define _SELFTESTS_SEQUENCES_H

#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline struct rseq *own_area(void)
{
	return (void *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/*
 * Makes this thread and the threads of its later children behave as if the C library did not
 * support restartable sequences: the module records their events.
 */
static inline int forgo_sequences(void)
{
	return syscall(SYS_rseq, own_area(), sizeof(struct rseq), RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

#endif /* _SELFTESTS_SEQUENCES_H */
