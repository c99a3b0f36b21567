// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings: the rules for mapping, the page faults, and unmapping a stream everywhere when it
 * ends.
 *
 * All files of the device share the address space of one anonymous inode, so that all
 * mappings are found in one place. Each stream has its own offsets in there.
 *
 * Memory of streams is mapped by page frame (VM_PFNMAP), so it cannot be pinned: once it is
 * out of all page tables, no process can access it.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/limits.h>
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

/* Mapped in the place of the read-only ranges of streams that have ended; constant. */
static struct page *pxt_mmap_zeros;

static int init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, PXT_FS_MAGIC) ? 0 : -ENOMEM;
}

/*
 * Without owner: its one mount would hold the module forever. pxt_mmap_exit() removes the
 * mount before the module goes.
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
 * pxt_mmap_open() - let pxt_mmap_zap() find the mappings of a file
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
 * The page to map after the end of the stream, so that an access does not kill the process.
 * Read-only ranges are zero. Writes are lost in a few scratch pages of the stream, whatever is
 * mapped how often. Heads and reader pages get scratch pages of their own, so that a stray write
 * cannot forge a position.
 */
static struct page *scratch_page(struct vm_area_struct *vma, u64 offset)
{
	struct pxt_stream *stream = vma->vm_private_data;

	/* Not writable, and never will be. */
	if (!(vma->vm_flags & VM_MAYWRITE))
		return pxt_mmap_zeros;
	return pxt_pool_scratch(&stream->pool, offset);
}

/* Also succeeds if another thread has inserted the page. */
static vm_fault_t insert(struct vm_area_struct *vma, unsigned long address, struct page *page)
{
	return vmf_insert_pfn(vma, address, page_to_pfn(page));
}

/*
 * Fault-around: a process that touches a page touches the next ones soon. Only pages in the same
 * aligned range of this size are inserted, so that a mapping takes one fault per range.
 */
#define PAGES_AROUND	16

/* Inserts the pages behind the one that faulted. */
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

	/* Pairs with pxt_mmap_zap(), which unmaps pages inserted before it. */
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

/* Mappings of targets are counted. */
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

/* Never executable, and writable later only if @writable. */
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
	 * A child inherits no mapping, unless the process asks for it with madvise(): then the
	 * child can access what its parent can.
	 */
	int err = protect(vma, writable, VM_DONTCOPY | VM_PFNMAP);

	if (err)
		return err;
	/* The stream has ended meanwhile, and all other mappings are gone. */
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
 * @stream: may die meanwhile
 * @vma: from mmap()
 *
 * The reader's range can be mapped for reading and writing, any part of the other ranges for
 * reading.
 *
 * Context: with mmap_lock.
 * Return: 0; -EACCES for any other access; -EINVAL.
 */
int pxt_mmap_stream(struct pxt_stream *stream, struct vm_area_struct *vma)
{
	const struct pxt_pool *pool = &stream->pool;
	u64 base = pxt_stream_map_base(stream), size = vma->vm_end - vma->vm_start;
	u64 rest = pxt_pool_wakeup_offset(pool);

	if (READ_ONCE(stream->dead))
		return -EINVAL;
	/* The events of a stream with log are read from the log: no reader takes records. */
	if (within(vma_offset(vma), size, base, pool->reader_size))
		return stream->log ? -EINVAL
				   : map_stream(stream, vma, true, &pxt_stream_vm_ops);
	if (within(vma_offset(vma), size, base + rest, pxt_pool_size(pool) - rest))
		return map_stream(stream, vma, false, &pxt_stream_vm_ops);
	return -EINVAL;
}

/* ------------------------------------------------------------------ */
/* Mappings of targets							*/

static void gate_vma_open(struct vm_area_struct *vma)
{
	pxt_target_ref(vma->vm_private_data);
}

static void gate_vma_close(struct vm_area_struct *vma)
{
	pxt_target_put(vma->vm_private_data);
}

/*
 * A child inherits the mapping, so that the library finds a page where it looks for the gate.
 * This is not the gate of the child, so it gets one that is open for all events: when it tries
 * to record, it learns that it has to attach. fork() does not copy the page table entries of a
 * file, so its first look faults here.
 */
static vm_fault_t gate_vma_fault(struct vm_fault *vmf)
{
	struct pxt_target *target = vmf->vma->vm_private_data;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	struct page *page = pxt_mmap_no_gate;

	if (pxt_cdev_attached_mm(vmf->vma->vm_file) == vmf->vma->vm_mm)
		page = offset < PXT_GATE_SIZE ? vmalloc_to_page((void *)target->gate + offset)
					      : pxt_clock_map();
	/* Each page-table entry is a reference, and their number must not wrap around. */
	if (page_ref_count(page) > INT_MAX / 2)
		return VM_FAULT_SIGBUS;
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
	/* All processes that share the memory would see the gate of one, even after its end. */
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
 * The gate can be mapped for reading; of a stream on this target, need_wakeup for reading,
 * heads and user sub-buffers for reading and writing.
 *
 * Context: with mmap_lock.
 * Return: 0; -EACCES for any other access; -EINVAL.
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

/* mmap() does not populate such mappings. A page that fails here is mapped when touched. */
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
		/* The fault has inserted the pages up to here. */
		address = ALIGN(address + 1, PAGES_AROUND * PAGE_SIZE);
		cond_resched();
	}
	mmap_read_unlock(mm);
}

/**
 * pxt_mmap_command() - MAP: map like mmap(), but by the file and not by its descriptor
 * @file: its role lets the calling process map
 * @uarg: struct posixtrace_mapping
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINVAL; -EINTR if a fatal signal came; the errors of mmap().
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
 * Later accesses get scratch pages. Context: may sleep.
 */
void pxt_mmap_zap(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;

	/* Earlier page faults have inserted their pages, later ones see @unmapped. */
	down_write(&pool->map_lock);
	pool->unmapped = true;
	up_write(&pool->map_lock);
	unmap_mapping_range(pxt_mmap_inode->i_mapping, pxt_stream_map_base(stream),
			    pxt_pool_size(pool), 1);
}
