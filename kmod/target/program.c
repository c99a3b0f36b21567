// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines of processes. Each process reads its own, so that no other process waits for its
 * memory, which may be mapped from a file that hangs.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <linux/posixtrace_log.h>

#include "target/program.h"
#include "target/text.h"

/**
 * pxt_program_capture() - read the command line of the calling process
 * @old: previous command line; may be NULL
 *
 * The process may have overwritten it: this is the memory that /proc shows. Context: may sleep.
 * Return: one reference, to @old if unchanged; NULL if it is empty or unreadable, or out of memory.
 */
struct pxt_text *pxt_program_capture(struct pxt_text *old)
{
	struct mm_struct *mm = current->mm;
	unsigned long start, end;
	struct pxt_text *text;
	u32 size;

	spin_lock(&mm->arg_lock);
	start = mm->arg_start;
	end = mm->arg_end;
	spin_unlock(&mm->arg_lock);
	if (end <= start)
		return NULL;
	size = min_t(unsigned long, end - start, POSIXTRACE_LOG_PROGRAM_SIZE);
	text = pxt_text_new(size);
	if (!text)
		return NULL;
	if (copy_from_user(text->data, (const void __user *)start, size)) {
		pxt_text_put(text);
		return NULL;
	}
	text->data[size - 1] = '\0';
	if (!old || old->size != size || memcmp(old->data, text->data, size))
		return text;
	pxt_text_put(text);
	pxt_text_get(old);
	return old;
}
