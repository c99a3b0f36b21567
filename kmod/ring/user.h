/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_USER_H
#define PXT_USER_H

#include <linux/types.h>

struct cred;
struct pxt_share;

/**
 * struct pxt_charge - what a stream costs its creator
 * @places: how many of POSIXTRACE_STREAMS_MAX it may choose from; constant
 * @shares: whose streams are one more for it; constant until it is uncharged
 * @nr_shares: entries of it
 * @cred: of the creator, whose real user has more locked memory by it; NULL with
 *	CAP_IPC_LOCK; constant. They hold the user: free_uid() is not exported by all 6.1.
 * @memlock: RLIMIT_MEMLOCK of the creator at CREATE, bytes; constant
 * @pages: of locked memory
 *
 * Of one stream. @pages changes while nobody else knows the stream, with its lock, or when it
 * is dead.
 */
struct pxt_charge {
	u32 places;
	struct pxt_share **shares;
	u32 nr_shares;
	const struct cred *cred;
	unsigned long memlock;
	unsigned long pages;
};

int pxt_user_charge_stream(struct pxt_charge *charge);
u64 pxt_user_memory_limit(const struct pxt_charge *charge);
u64 pxt_user_memory_left(const struct pxt_charge *charge);
int pxt_user_charge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_stream(struct pxt_charge *charge, u64 left);
void pxt_user_uncharge(struct pxt_charge *charge);

#endif /* PXT_USER_H */
