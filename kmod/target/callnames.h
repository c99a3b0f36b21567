/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CALLNAMES_H
#define PXT_CALLNAMES_H

#include <linux/types.h>

#include <linux/posixtrace.h>

#define PXT_CALLS	(POSIXTRACE_KVALUE_NR(~0U) + 1)

/* For each native system call: POSIXTRACE_KARGS minus its number of arguments; 0 if unknown. */
extern const u8 pxt_call_unused[PXT_CALLS];

/* For each native system call: bit n is set if argument n points to a text. */
extern const u8 pxt_call_text_args[PXT_CALLS];

/**
 * pxt_call_args() - get the number of arguments of a system call of a native program
 * @nr: smaller than PXT_CALLS; controlled by the program
 *
 * Return: 0 to 6; 6 if unknown.
 */
static inline u32 pxt_call_args(u32 nr)
{
	/* Masked, so that not even a speculative load is out of bounds. */
	return POSIXTRACE_KARGS - pxt_call_unused[nr % PXT_CALLS];
}

/**
 * pxt_call_texts() - get the arguments of a system call of a native program that point to texts
 * @nr: smaller than PXT_CALLS; controlled by the program
 *
 * Return: bit n: argument n.
 */
static inline u32 pxt_call_texts(u32 nr)
{
	/* As in pxt_call_args(). */
	return pxt_call_text_args[nr % PXT_CALLS];
}

const char *pxt_call_names(u32 id);
const char *pxt_call_name(u32 nr, bool compat);
int pxt_call_names_init(void);
void pxt_call_names_exit(void);

#endif /* PXT_CALLNAMES_H */
