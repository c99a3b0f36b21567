/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TEXT_H
#define PXT_TEXT_H

#include <linux/kref.h>
#include <linux/types.h>

/* Kinds of texts about a process. */
enum pxt_text_kind {
	PXT_TEXT_PROGRAM,	/* the command line: the arguments, each with its NUL */
	/*
	 * struct posixtrace_log_mapping[], without pid and times: since is pxt_target.looks of the
	 * last scan that found the mapping
	 */
	PXT_TEXT_MAPPINGS,
	PXT_TEXTS
};

/**
 * struct pxt_text - a text about a process
 * @kref: one per target and log that uses it
 * @size: bytes of @data
 * @hash: MAPPINGS: hash of the scanned mappings
 * @data: depends on its kind
 *
 * Constant.
 */
struct pxt_text {
	struct kref kref;
	u32 size;
	u64 hash;
	char data[];
};

struct pxt_text *pxt_text_new(u32 size);
void pxt_text_get(struct pxt_text *text);
void pxt_text_put(struct pxt_text *text);

#endif /* PXT_TEXT_H */
