// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings: who may map what, which page is where, and taking the pages away
 * when a stream ends, whoever has mapped them.
 *
 * All files of the device share the address space of one anonymous inode, so
 * that there is one place where all mappings are found. Each stream has its own
 * offsets in there.
 *
 * Memory of streams is mapped by page frame (VM_PFNMAP): nobody can pin it, so when it
 * is taken out of all page tables, nobody has it.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "cdev.h"
#include "compat.h"
#include "mmap.h"
#include "ring/clock.h"
#include "target/gate.h"

#define PXT_FS_MAGIC	0x70786974	/* "pxit" */

static struct vfsmount *pxt_mmap_mnt;
static int pxt_mmap_count;
static struct inode *pxt_mmap_inode;

/* A gate that is open for everything; constant. */
static struct page *pxt_mmap_no_gate;

/* What is left of streams that have ended, where it is only read; constant. */
static struct page *pxt_mmap_zeros;

static int init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, PXT_FS_MAGIC) ? 0 : -ENOMEM;
}

/*
 * Without owner: its one mount would hold the module for ever. It is gone before
 * the module is, see pxt_mmap_exit().
 */
static struct file_system_type pxt_mmap_fs = {
	.name = "posixtrace",
	.init_fs_context = init_fs_context,
	.kill_sb = kill_anon_super,
};

/**
 * pxt_mmap_init() - make the inode
 *
 * Return: 0 or negative errno.
 */
int pxt_mmap_init(void)
{
	int err;

	pxt_mmap_no_gate = alloc_page(GFP_KERNEL);
	if (!pxt_mmap_no_gate)
		return -ENOMEM;
	memset(page_address(pxt_mmap_no_gate), 0xff, PAGE_SIZE);
	err = -ENOMEM;
	pxt_mmap_zeros = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!pxt_mmap_zeros)
		goto free_no_gate;
	err = simple_pin_fs(&pxt_mmap_fs, &pxt_mmap_mnt, &pxt_mmap_count);
	if (err)
		goto free_zeros;
	pxt_mmap_inode = alloc_anon_inode(pxt_mmap_mnt->mnt_sb);
	err = PTR_ERR_OR_ZERO(pxt_mmap_inode);
	if (err)
		goto release_fs;
	return 0;

release_fs:
	simple_release_fs(&pxt_mmap_mnt, &pxt_mmap_count);
free_zeros:
	put_page(pxt_mmap_zeros);
free_no_gate:
	put_page(pxt_mmap_no_gate);
	return err;
}

/**
 * pxt_mmap_exit() - free the inode; there is no file any more
 */
void pxt_mmap_exit(void)
{
	iput(pxt_mmap_inode);
	simple_release_fs(&pxt_mmap_mnt, &pxt_mmap_count);
	put_page(pxt_mmap_zeros);
	put_page(pxt_mmap_no_gate);
}

/**
 * pxt_mmap_open() - what is mapped of this file can be taken away again
 * @file: being opened
 */
void pxt_mmap_open(struct file *file)
{
	file->f_mapping = pxt_mmap_inode->i_mapping;
}

/* ------------------------------------------------------------------ */
/* Memory of streams							*/

static void stream_vma_open(struct vm_area_struct *vma)
{
	struct pxt_stream *stream = vma->vm_private_data;

	kref_get(&stream->kref);
	refcount_inc(&stream->scratch);
}

static void stream_vma_close(struct vm_area_struct *vma)
{
	struct pxt_stream *stream = vma->vm_private_data;

	pxt_stream_put_scratch(stream);
	pxt_stream_put(stream);
}

/*
 * After the end of the stream, so that nobody dies. Where nothing can be written all
 * is zero. What is written is lost, in a few pages of the stream, however much of it is
 * mapped, and how often: apart for sub-buffers, heads and what a reader writes, or somebody
 * would be sent anywhere.
 */
static struct page *scratch_page(struct vm_area_struct *vma, u64 offset)
{
	struct pxt_stream *stream = vma->vm_private_data;

	/* Neither now nor ever. */
	if (!(vma->vm_flags & VM_MAYWRITE))
		return pxt_mmap_zeros;
	return pxt_pool_scratch(&stream->pool, offset);
}

/* Succeeds also if another thread has been here first. */
static vm_fault_t insert(struct vm_area_struct *vma, unsigned long address, struct page *page)
{
	return vmf_insert_pfn(vma, address, page_to_pfn(page));
}

/*
 * Whoever touches a page touches the next ones soon. Not more than are in the same
 * aligned range of that many, so that a mapping takes as many faults as it has ranges.
 */
#define PAGES_AROUND	16

/* Pages behind the one that was asked for. */
static void insert_around(struct vm_fault *vmf, struct pxt_pool *pool, u64 offset)
{
	unsigned long address = vmf->address & PAGE_MASK;
	unsigned long end = min(ALIGN(address + 1, PAGES_AROUND * PAGE_SIZE), vmf->vma->vm_end);
	struct page *page;

	while (address + PAGE_SIZE < end) {
		address += PAGE_SIZE;
		offset += PAGE_SIZE;
		page = pxt_pool_page(pool, offset);
		if (!page || insert(vmf->vma, address, page) != VM_FAULT_NOPAGE)
			return;
	}
}

static vm_fault_t stream_vma_fault(struct vm_fault *vmf)
{
	struct pxt_stream *stream = vmf->vma->vm_private_data;
	unsigned long address = vmf->address & PAGE_MASK;
	struct pxt_pool *pool = &stream->pool;
	u64 offset = ((u64)vmf->pgoff << PAGE_SHIFT) - pxt_stream_map_base(stream);
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct page *page;

	/* Pairs with pxt_mmap_zap(): it takes away what is inserted before. */
	down_read(&pool->map_lock);
	if (pool->unmapped) {
		up_read(&pool->map_lock);
		return insert(vmf->vma, address, scratch_page(vmf->vma, offset));
	}
	page = pxt_pool_page(pool, offset);
	if (page)
		ret = insert(vmf->vma, address, page);
	if (ret == VM_FAULT_NOPAGE)
		insert_around(vmf, pool, offset);
	up_read(&pool->map_lock);
	return ret;
}

static const struct vm_operations_struct pxt_stream_vm_ops = {
	.open = stream_vma_open,
	.close = stream_vma_close,
	.fault = stream_vma_fault,
};

static void target_vma_open(struct vm_area_struct *vma)
{
	struct pxt_stream *stream = vma->vm_private_data;

	atomic_inc(&stream->mapped);
	stream_vma_open(vma);
}

static void target_vma_close(struct vm_area_struct *vma)
{
	struct pxt_stream *stream = vma->vm_private_data;

	atomic_dec(&stream->mapped);
	stream_vma_close(vma);
}

/* Those of targets are counted. */
static const struct vm_operations_struct pxt_target_vm_ops = {
	.open = target_vma_open,
	.close = target_vma_close,
	.fault = stream_vma_fault,
};

/* Is [start, start + size) within [first, first + room)? */
static bool within(u64 start, u64 size, u64 first, u64 room)
{
	return start >= first && start - first <= room && size <= room - (start - first);
}

/* Never for execution, and not for writing later if not now. */
static int protect(struct vm_area_struct *vma, bool writable, unsigned long flags)
{
	unsigned long deny = VM_MAYEXEC;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!writable)
		deny |= VM_MAYWRITE;
	if (vma->vm_flags & (VM_EXEC | (writable ? 0 : VM_WRITE)))
		return -EACCES;
	pxt_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP | flags, deny);
	return 0;
}

static int map_stream(struct pxt_stream *stream, struct vm_area_struct *vma, bool writable,
		      const struct vm_operations_struct *ops)
{
	/*
	 * A child gets none of it, unless it is asked for with madvise(): then it can do
	 * what its parent can.
	 */
	int err = protect(vma, writable, VM_DONTCOPY | VM_PFNMAP);

	if (err)
		return err;
	/* It has ended meanwhile, and so have all other mappings. */
	if (!refcount_inc_not_zero(&stream->scratch))
		return -EINVAL;
	vma->vm_private_data = stream;
	vma->vm_ops = ops;
	ops->open(vma);
	pxt_stream_put_scratch(stream);
	return 0;
}

static u64 vma_offset(const struct vm_area_struct *vma)
{
	return (u64)vma->vm_pgoff << PAGE_SHIFT;
}

/**
 * pxt_mmap_stream() - map memory of a stream for its controller
 * @stream: not dead, as far as we know
 * @vma: from mmap()
 *
 * The reader's range for reading and writing; of all that follows any part for
 * reading.
 *
 * Context: with mmap_lock.
 * Return: 0; -EACCES if more than that is asked for; -EINVAL.
 */
int pxt_mmap_stream(struct pxt_stream *stream, struct vm_area_struct *vma)
{
	const struct pxt_pool *pool = &stream->pool;
	u64 base = pxt_stream_map_base(stream), size = vma->vm_end - vma->vm_start;
	u64 rest = pxt_pool_wakeup_offset(pool);

	if (READ_ONCE(stream->dead))
		return -EINVAL;
	/* What goes into a log is read from there: nobody else takes anything. */
	if (within(vma_offset(vma), size, base, pool->reader_size))
		return stream->log ? -EINVAL
				   : map_stream(stream, vma, true, &pxt_stream_vm_ops);
	if (within(vma_offset(vma), size, base + rest, pxt_pool_size(pool) - rest))
		return map_stream(stream, vma, false, &pxt_stream_vm_ops);
	return -EINVAL;
}

/* ------------------------------------------------------------------ */
/* What targets map							*/

static void gate_vma_open(struct vm_area_struct *vma)
{
	pxt_target_ref(vma->vm_private_data);
}

static void gate_vma_close(struct vm_area_struct *vma)
{
	pxt_target_put(vma->vm_private_data);
}

/*
 * A child inherits the mapping, so that the library finds something where it looks
 * for the gate. But this is not its gate: it is told to record everything, and
 * finds out that it has to attach first. The page table entries of a file are not
 * copied by fork, so its first look ends here.
 */
static vm_fault_t gate_vma_fault(struct vm_fault *vmf)
{
	struct pxt_target *target = vmf->vma->vm_private_data;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	struct page *page = pxt_mmap_no_gate;

	if (pxt_cdev_attached_mm(vmf->vma->vm_file) == vmf->vma->vm_mm)
		page = offset < PXT_GATE_SIZE ? vmalloc_to_page((void *)target->gate + offset)
					      : pxt_clock_map();
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct pxt_gate_vm_ops = {
	.open = gate_vma_open,
	.close = gate_vma_close,
	.fault = gate_vma_fault,
};

static int map_gate(struct pxt_target *target, struct vm_area_struct *vma)
{
	int err = protect(vma, false, 0);

	if (err)
		return err;
	/* They would all look at the gate of one of them, also when that has ended. */
	if (pxt_target_shares_memory())
		return -EUSERS;
	pxt_target_ref(target);
	vma->vm_private_data = target;
	vma->vm_ops = &pxt_gate_vm_ops;
	return 0;
}

/* The stream on a target that has these offsets: a reference, or NULL. */
static struct pxt_stream *find_stream(struct pxt_target *target, u64 index)
{
	struct pxt_stream *stream, *found = NULL;
	u32 slot;

	rcu_read_lock();
	for (slot = 0; !found && slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = pxt_stream_in(target, slot);
		if (stream && stream->index + 1 == index && kref_get_unless_zero(&stream->kref))
			found = stream;
	}
	rcu_read_unlock();
	return found;
}

/**
 * pxt_mmap_target() - map the gate or the memory of a stream for a target
 * @target: of the calling process
 * @vma: from mmap()
 *
 * The gate for reading; of a stream that is on this target need_wakeup for reading,
 * heads and user sub-buffers for reading and writing.
 *
 * Context: with mmap_lock.
 * Return: 0; -EACCES if more than that is asked for; -EINVAL.
 */
int pxt_mmap_target(struct pxt_target *target, struct vm_area_struct *vma)
{
	u64 offset = vma_offset(vma), size = vma->vm_end - vma->vm_start;
	const struct pxt_pool *pool;
	struct pxt_stream *stream;
	int err = -EINVAL;
	u64 heads;

	if (within(offset, size, 0, PAGE_ALIGN(sizeof(*target->gate))))
		return map_gate(target, vma);
	stream = find_stream(target, offset >> PXT_MAP_SHIFT);
	if (!stream)
		return -EINVAL;
	pool = &stream->pool;
	heads = pxt_stream_map_base(stream) + pxt_pool_heads_offset(pool);
	if (within(offset, size, heads, pool->heads_size + pxt_pool_user_size(pool)))
		err = map_stream(stream, vma, true, &pxt_target_vm_ops);
	else if (within(offset, size, pxt_stream_map_base(stream) + pxt_pool_wakeup_offset(pool),
			pool->wakeup_size))
		err = map_stream(stream, vma, false, &pxt_target_vm_ops);
	pxt_stream_put(stream);
	return err;
}

/* mmap() does not do it for such mappings. As there, a page that fails comes when touched. */
static void populate(unsigned long address, u64 size, bool writable)
{
	unsigned long end = address + PAGE_ALIGN(size);
	struct mm_struct *mm = current->mm;
	bool unlocked;

	if (mmap_read_lock_killable(mm))
		return;
	while (address < end && !fatal_signal_pending(current)) {
		if (fixup_user_fault(mm, address, writable ? FAULT_FLAG_WRITE : 0, &unlocked))
			break;
		/* The fault has inserted those before that. */
		address = ALIGN(address + 1, PAGES_AROUND * PAGE_SIZE);
		cond_resched();
	}
	mmap_read_unlock(mm);
}

/**
 * pxt_mmap_command() - MAP: what mmap() does, by the file and not by its descriptor
 * @file: whose role lets the calling process map anything
 * @uarg: struct posixtrace_mapping
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINVAL; -EINTR if a fatal signal came; what mmap() says.
 */
int pxt_mmap_command(struct file *file, void __user *uarg)
{
	bool writable, populated;
	unsigned long address;
	struct posixtrace_mapping arg;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.flags & ~(POSIXTRACE_MAPPING_WRITE | POSIXTRACE_MAPPING_POPULATE) ||
	    arg.reserved || arg.address || arg.map.size > ULONG_MAX - PAGE_SIZE ||
	    arg.map.offset > ULONG_MAX)
		return -EINVAL;
	writable = arg.flags & POSIXTRACE_MAPPING_WRITE;
	populated = arg.flags & POSIXTRACE_MAPPING_POPULATE;
	address = vm_mmap(file, 0, arg.map.size, PROT_READ | (writable ? PROT_WRITE : 0),
			  MAP_SHARED, arg.map.offset);
	if (IS_ERR_VALUE(address))
		return address;
	if (populated)
		populate(address, arg.map.size, writable);
	arg.address = address;
	if (copy_to_user(uarg, &arg, sizeof(arg))) {
		vm_munmap(address, PAGE_ALIGN(arg.map.size));
		return -EFAULT;
	}
	return 0;
}

/**
 * pxt_mmap_zap() - take a stream's memory out of all address spaces
 * @stream: being shut down
 *
 * Whoever touches it later gets scratch pages. Context: may sleep.
 */
void pxt_mmap_zap(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;

	/* Page faults before have inserted their page, those after see it. */
	down_write(&pool->map_lock);
	pool->unmapped = true;
	up_write(&pool->map_lock);
	unmap_mapping_range(pxt_mmap_inode->i_mapping, pxt_stream_map_base(stream),
			    pxt_pool_size(pool), 1);
}
