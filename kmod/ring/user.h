/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_USER_H
#define PXT_USER_H

#include <linux/atomic.h>
#include <linux/types.h>

struct cred;
struct pxt_share;

/**
 * struct pxt_charge - resources charged to the creator of a stream
 * @places: number of the POSIXTRACE_STREAMS_MAX indices it may choose from; constant
 * @shares: the shares that count this stream; constant until it is uncharged
 * @nr_shares: entries of @shares
 * @cred: credentials of the creator; the locked memory is charged to its real user; NULL with
 *	CAP_IPC_LOCK; constant. They hold the user, because not all 6.1 kernels export free_uid()
 * @memlock: RLIMIT_MEMLOCK of the creator at CREATE, bytes; constant
 * @pages: pages of locked memory
 * @interrupts: interrupts of CPUs that might not be running its processes, see struct pxt_share;
 *	atomic
 *
 * @pages changes before the stream is published, under its lock, or when it is dead.
 */
struct pxt_charge {
	u32 places;
	struct pxt_share **shares;
	u32 nr_shares;
	const struct cred *cred;
	unsigned long memlock;
	unsigned long pages;
	atomic64_t interrupts;
};

/**
 * struct pxt_user_work - account of the processor time of a kernel thread
 * @shares: the shares that counted the stream at CREATE, with a reference to each; constant
 * @nr_shares: entries of @shares; 0 if the creator had CAP_SYS_RESOURCE
 */
struct pxt_user_work {
	struct pxt_share **shares;
	u32 nr_shares;
};

static inline bool pxt_user_work_counts(const struct pxt_user_work *work)
{
	return work->nr_shares;
}

int pxt_user_work_init(struct pxt_user_work *work, const struct pxt_charge *charge);
void pxt_user_work_destroy(struct pxt_user_work *work);
u64 pxt_user_work(const struct pxt_user_work *work, u64 ns);
u64 pxt_user_work_ahead(const struct pxt_user_work *work, u64 ns);
void pxt_user_work_back(const struct pxt_user_work *work, u64 ns);

int pxt_user_charge_stream(struct pxt_charge *charge);
u64 pxt_user_memory_limit(const struct pxt_charge *charge);
u64 pxt_user_memory_left(const struct pxt_charge *charge);
int pxt_user_charge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_stream(struct pxt_charge *charge, u64 left);
void pxt_user_uncharge(struct pxt_charge *charge);
bool pxt_user_interrupt(struct pxt_charge *charge, bool wait);
void pxt_user_init(void);
void pxt_user_exit(void);

#endif /* PXT_USER_H */
