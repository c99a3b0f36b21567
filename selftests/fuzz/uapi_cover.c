// SPDX-License-Identifier: GPL-2.0
/*
 * The coverage of a call, from KCOV: the places in the module that the thread has passed. A program
 * is kept if it takes a new step: one place directly after another one for the first time.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "uapi_fuzz.h"

#define COVER_WORDS	(64UL << 10)

#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_DISABLE	_IO('c', 101)
#define KCOV_TRACE_PC	0

/* Called for a thread before it starts. Has no effect without KCOV or without permission. */
void cover_open(struct actor *a)
{
	void *where = (void *)(COVER_ADDRESS + a->thread * COVER_WORDS * 8);
	long fd, high;

	fd = sys(SYS_open, "/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	high = sys(SYS_dup3, fd, KCOV_FD + a->thread, O_CLOEXEC);
	sys(SYS_close, fd);
	if (high < 0 || sys(SYS_ioctl, high, KCOV_INIT_TRACE, COVER_WORDS))
		return;
	if (sys(SYS_mmap, where, COVER_WORDS * 8, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED_NOREPLACE, high, 0) == (long)where)
		a->cover = where;
}

/* Called by the thread itself. */
void cover_start(struct actor *a)
{
	if (a->cover && sys(SYS_ioctl, KCOV_FD + a->thread, KCOV_ENABLE, KCOV_TRACE_PC))
		a->cover = NULL;
}

/* Lets the program that the thread executes call cover_start() again. */
void cover_stop(struct actor *a)
{
	if (a->cover)
		sys(SYS_ioctl, KCOV_FD + a->thread, KCOV_DISABLE, 0);
	a->cover = NULL;
}

void cover_begin(struct actor *a)
{
	if (a->cover)
		__atomic_store_n(&a->cover[0], 0, __ATOMIC_RELAXED);
}

/*
 * Ends a call and records new steps. If several threads find the same new step at the same time,
 * each of them keeps its program.
 */
void cover_end(struct actor *a)
{
	uint64_t n, i, pc, last = 0;
	uint8_t *edge, *point;

	if (!a->cover)
		return;
	n = __atomic_load_n(&a->cover[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < COVER_WORDS; i++) {
		pc = a->cover[i];
		edge = &shared->edges[mix(pc ^ last << 1) % sizeof(shared->edges)];
		/* The module is smaller than the array, so no two points share a byte. */
		point = &shared->points[pc % sizeof(shared->points)];
		last = pc;
		if (*edge)
			continue;
		*edge = 1;
		*point = 1;
		a->edges_found++;
	}
}
