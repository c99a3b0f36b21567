/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_USER_H
#define PXT_USER_H

#include <linux/types.h>

struct cred;
struct pxt_share;

/**
 * struct pxt_charge - the costs of one stream for its creator
 * @places: how many of the POSIXTRACE_STREAMS_MAX indices it may choose from; constant
 * @shares: the shares that count this stream; constant until it is uncharged
 * @nr_shares: entries of @shares
 * @cred: of the creator, whose real user is charged the locked memory; NULL with
 *	CAP_IPC_LOCK; constant. It holds the user: not all 6.1 kernels export free_uid()
 * @memlock: RLIMIT_MEMLOCK of the creator at CREATE, bytes; constant
 * @pages: of locked memory
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
};

int pxt_user_charge_stream(struct pxt_charge *charge);
u64 pxt_user_memory_limit(const struct pxt_charge *charge);
u64 pxt_user_memory_left(const struct pxt_charge *charge);
int pxt_user_charge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_memory(struct pxt_charge *charge, u64 bytes);
void pxt_user_uncharge_stream(struct pxt_charge *charge, u64 left);
void pxt_user_uncharge(struct pxt_charge *charge);

#endif /* PXT_USER_H */
