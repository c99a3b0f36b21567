// SPDX-License-Identifier: GPL-2.0
/*
 * Command lines of processes. Each is read by its own process: no other process waits for
 * memory that it may have mapped from a file that hangs.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/posixtrace_log.h>

#include "target/program.h"

/**
 * pxt_program_capture() - the command line of the calling process
 *
 * It may have overwritten it: this is the memory that /proc shows. Context: may sleep.
 * Return: one reference; NULL if it has none, it cannot be read, or there is no memory.
 */
struct pxt_program *pxt_program_capture(void)
{
	struct mm_struct *mm = current->mm;
	struct pxt_program *program;
	unsigned long start, end;
	u32 size;

	spin_lock(&mm->arg_lock);
	start = mm->arg_start;
	end = mm->arg_end;
	spin_unlock(&mm->arg_lock);
	if (end <= start)
		return NULL;
	size = min_t(unsigned long, end - start, POSIXTRACE_LOG_PROGRAM_SIZE);
	program = kvmalloc(struct_size(program, text, size), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!program)
		return NULL;
	if (copy_from_user(program->text, (const void __user *)start, size)) {
		kvfree(program);
		return NULL;
	}
	program->text[size - 1] = '\0';
	program->size = size;
	kref_init(&program->kref);
	return program;
}

static void program_release(struct kref *kref)
{
	kvfree(container_of(kref, struct pxt_program, kref));
}

/**
 * pxt_program_get() - one more reference
 * @program: of which the caller has one, or a lock that keeps it
 */
void pxt_program_get(struct pxt_program *program)
{
	kref_get(&program->kref);
}

/**
 * pxt_program_put() - give a reference back
 * @program: may be NULL
 *
 * Context: may sleep.
 */
void pxt_program_put(struct pxt_program *program)
{
	if (program)
		kref_put(&program->kref, program_release);
}
