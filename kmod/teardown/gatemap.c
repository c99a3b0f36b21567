// SPDX-License-Identifier: GPL-2.0
/*
 * The gate in the memory of a process.
 *
 * The attachment of the process determines what is mapped as the gate, see target/attachment.c: a
 * page of zeros while its events are not needed, then the gate of its target. A child inherits the
 * mapping. fork() does not copy the page table entries of a file, so the first access of the child
 * faults here and attaches it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ring/clock.h"
#include "target/attachment.h"
#include "target/gate.h"
#include "target/memory.h"
#include "teardown/gatemap.h"

/* A gate that is open for everything; constant. */
static struct page *pxt_gatemap_open;

/* A shut gate; constant. */
static struct page *pxt_gatemap_shut;

/* Runs a command before the calling thread returns to user mode; constant. */
static int (*pxt_gatemap_door)(struct pxt_attachment *att);

/**
 * pxt_gatemap_init() - allocate the pages that processes without a target map
 * @door: pxt_door_call(); it leads to commands that this file must not call directly
 *
 * Return: 0; -ENOMEM.
 */
int pxt_gatemap_init(int (*door)(struct pxt_attachment *att))
{
	pxt_gatemap_door = door;
	pxt_gatemap_open = alloc_page(GFP_KERNEL);
	if (!pxt_gatemap_open)
		return -ENOMEM;
	memset(page_address(pxt_gatemap_open), 0xff, PAGE_SIZE);
	pxt_gatemap_shut = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (pxt_gatemap_shut)
		return 0;
	put_page(pxt_gatemap_open);
	return -ENOMEM;
}

/**
 * pxt_gatemap_exit() - undo pxt_gatemap_init(); no gates are mapped
 */
void pxt_gatemap_exit(void)
{
	put_page(pxt_gatemap_shut);
	put_page(pxt_gatemap_open);
}

/* ------------------------------------------------------------------ */
/* After a page fault							*/

/**
 * struct visit - a thread that may have mapped the shut gate
 * @work: runs before it returns to user mode
 * @att: attachment of its address space; a reference
 */
struct visit {
	struct callback_head work;
	struct pxt_attachment *att;
};

static void visit_ends(struct callback_head *work)
{
	struct visit *visit = container_of(work, struct visit, work);

	pxt_attachment_leave(visit->att);
	pxt_attachment_put(visit->att);
	kfree(visit);
	module_put(THIS_MODULE);
}

/* Returns false if out of memory or if the calling thread is exiting. */
static bool visit_begin(struct pxt_attachment *att)
{
	struct visit *visit = kmalloc(sizeof(*visit), GFP_KERNEL_ACCOUNT);

	if (!visit)
		return false;
	init_task_work(&visit->work, visit_ends);
	visit->att = att;
	pxt_attachment_visit(att);
	if (task_work_add(current, &visit->work, TWA_RESUME)) {
		pxt_attachment_leave(att);
		kfree(visit);
		return false;
	}
	/*
	 * It is early enough to take the references now: only this thread runs the work, and until
	 * then the mapping holds the module and @att.
	 */
	kref_get(&att->kref);
	__module_get(THIS_MODULE);
	return true;
}

/* ------------------------------------------------------------------ */
/* Page faults								*/

/*
 * Another thread may replace the attachment and put its last reference, see attachment_of(). RCU
 * keeps the struct, and the retry finds the new attachment.
 */
static struct pxt_attachment *get_attachment(const struct vm_area_struct *vma)
{
	struct pxt_attachment *att;

	rcu_read_lock();
	do {
		att = pxt_attachment_try_ref(READ_ONCE(vma->vm_private_data));
	} while (!att);
	rcu_read_unlock();
	return att;
}

/*
 * Get a reference to the attachment of the address space. Returns NULL if it is unknown: the owner
 * of an inherited mapping can be determined only if its memory is not shared.
 */
static struct pxt_attachment *attachment_of(struct vm_area_struct *vma)
{
	struct pxt_attachment *att = get_attachment(vma), *mine = NULL;

	if (att->mm == vma->vm_mm)
		return att;
	if (current->mm == vma->vm_mm && !pxt_target_shares_memory()) {
		mine = pxt_attachment_get(vma->vm_file->f_mapping->host);
		if (!mine)
			mine = ERR_PTR(-ENOMEM);
	}
	if (!IS_ERR_OR_NULL(mine) && cmpxchg(&vma->vm_private_data, att, mine) == att) {
		kref_get(&mine->kref);
		pxt_attachment_put(att);
	}
	pxt_attachment_put(att);
	return mine;
}

static vm_fault_t give(struct vm_fault *vmf, struct page *page)
{
	/* Each page table entry is a reference, and their number must not overflow. */
	if (page_ref_count(page) > INT_MAX / 2)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

/* Returns NULL while the gate is shut. */
static struct page *gate_page(const struct pxt_attachment *att, u64 offset)
{
	const struct pxt_target *target = pxt_attachment_bound(att);

	if (target)
		return vmalloc_to_page((void *)target->gate + offset);
	return READ_ONCE(att->open) ? pxt_gatemap_open : NULL;
}

static vm_fault_t attached_fault(struct vm_fault *vmf, struct pxt_attachment *att, u64 offset)
{
	struct page *page = gate_page(att, offset);

	if (page)
		return give(vmf, page);
	/*
	 * The thread must run a task work before it sees the page. Another process, or a kernel
	 * thread acting for this one, would not run it. If a system call causes the fault, the work
	 * may run late, but then the process loses only its own events.
	 */
	if (current->mm != vmf->vma->vm_mm || current->flags & PXT_PF_KERNEL)
		return VM_FAULT_SIGBUS;
	if (!visit_begin(att))
		return VM_FAULT_OOM;
	page = gate_page(att, offset);
	return give(vmf, page ?: pxt_gatemap_shut);
}

/*
 * Once a page is mapped here, this process no longer has a door. Therefore never map a page for
 * system calls or debuggers.
 */
static vm_fault_t door_fault(struct vm_fault *vmf, struct pxt_attachment *att)
{
	if (!(vmf->flags & FAULT_FLAG_USER) || current->mm != vmf->vma->vm_mm)
		return VM_FAULT_SIGBUS;
	switch (pxt_gatemap_door(att)) {
	case 0:
		return VM_FAULT_NOPAGE;
	case -ENOMEM:
		/* The thread retries: without its door, a filter might kill it. */
		return VM_FAULT_OOM;
	default:
		return give(vmf, pxt_gatemap_shut);
	}
}

static vm_fault_t gate_vma_fault(struct vm_fault *vmf)
{
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	struct pxt_attachment *att;
	vm_fault_t ret;

	if (offset >= PXT_GATE_SIZE && offset < offsetof(struct posixtrace_gate, door))
		return give(vmf, pxt_clock_map());
	att = attachment_of(vmf->vma);
	if (IS_ERR(att))
		return VM_FAULT_OOM;
	/* With an open gate, the process calls the module, and learns that it must attach. */
	if (!att)
		return give(vmf, pxt_gatemap_open);
	if (offset < PXT_GATE_SIZE)
		ret = attached_fault(vmf, att, offset);
	else
		ret = door_fault(vmf, att);
	pxt_attachment_put(att);
	return ret;
}

static void gate_vma_open(struct vm_area_struct *vma)
{
	struct pxt_attachment *att = vma->vm_private_data;

	kref_get(&att->kref);
}

static void gate_vma_close(struct vm_area_struct *vma)
{
	pxt_attachment_put(vma->vm_private_data);
}

static const struct vm_operations_struct pxt_gate_vm_ops = {
	.open = gate_vma_open,
	.close = gate_vma_close,
	.fault = gate_vma_fault,
};

/**
 * pxt_gatemap() - map the gate
 * @att: attachment of the calling process
 * @vma: from mmap(), of the range of the gate; shared, never writable, and never executable
 *
 * Context: with mmap_lock.
 * Return: 0; -EUSERS.
 */
int pxt_gatemap(struct pxt_attachment *att, struct vm_area_struct *vma)
{
	/*
	 * Refuse shared memory: all processes that share it would see the gate of one of them, even
	 * after that process has ended.
	 */
	if (pxt_target_shares_memory())
		return -EUSERS;
	kref_get(&att->kref);
	vma->vm_private_data = att;
	vma->vm_ops = &pxt_gate_vm_ops;
	return 0;
}
