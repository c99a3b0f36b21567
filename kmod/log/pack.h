/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_PACK_H
#define PXT_PACK_H

#include <linux/posixtrace_log.h>

/**
 * struct pxt_pack - compresses the blocks of a log
 *
 * Used by one task at a time. All NULL if the blocks are not compressed.
 */
struct pxt_pack {
	/** @plain: the records of a block; constant */
	u64 *plain;
	/** @piece: the records of a piece, with the first words in front; constant */
	u64 *piece;
	/** @workspace: memory of the compressor; constant */
	void *workspace;
};

bool pxt_pack_available(void);
int pxt_pack_init(struct pxt_pack *pack, u32 subbuf_size);
void pxt_pack_destroy(struct pxt_pack *pack);
void pxt_pack_block(struct pxt_pack *pack, struct posixtrace_log_block *block, void *payload,
		    const void *records);

static inline bool pxt_pack_is_on(const struct pxt_pack *pack)
{
	return pack->workspace;
}

#endif /* PXT_PACK_H */
