// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings: the rules for mapping, page faults, and unmapping a stream everywhere when it ends.
 *
 * Each open file of the device has the address space of a separate anonymous inode, so that a
 * process that creates or removes a large number of mappings delays only mappings of the same file
 * or stream. Targets map a stream through other files than its controller, so the module puts those
 * mappings into the address space of the stream's file, where pxt_mmap_zap() finds all of them.
 * Each stream has separate offsets in a file.
 *
 * Stream memory is mapped by page frame (VM_PFNMAP), so it cannot be pinned: once it is removed
 * from all page tables, processes can no longer access it.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
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
#include <linux/userfaultfd_k.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "target/attachment.h"
#include "target/gate.h"
#include "teardown/gatemap.h"
#include "teardown/mmap.h"

#define PXT_FS_MAGIC	0x70786974	/* "pxit" */

static struct vfsmount *pxt_mmap_mnt;
static int pxt_mmap_count;

/* Mapped in place of the read-only ranges of ended streams; constant. */
static struct page *pxt_mmap_zeros;

static int init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, PXT_FS_MAGIC) ? 0 : -ENOMEM;
}

/*
 * Has no owner, because its only mount would hold the module forever. pxt_mmap_exit() removes the
 * mount before the module is unloaded.
 */
static struct file_system_type pxt_mmap_fs = {
	.name = "posixtrace",
	.init_fs_context = init_fs_context,
	.kill_sb = kill_anon_super,
};

/**
 * pxt_mmap_init() - create the file system of the inodes, and the pages shared by all mappings
 * @door: as for pxt_gatemap_init()
 *
 * Return: 0 or negative errno.
 */
int pxt_mmap_init(int (*door)(struct pxt_attachment *att))
{
	int err;

	err = pxt_gatemap_init(door);
	if (err)
		return err;
	err = -ENOMEM;
	pxt_mmap_zeros = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!pxt_mmap_zeros)
		goto exit_gatemap;
	err = simple_pin_fs(&pxt_mmap_fs, &pxt_mmap_mnt, &pxt_mmap_count);
	if (err)
		goto free_zeros;
	return 0;

free_zeros:
	put_page(pxt_mmap_zeros);
exit_gatemap:
	pxt_gatemap_exit();
	return err;
}

/**
 * pxt_mmap_exit() - undo pxt_mmap_init(); no file of the device is open
 */
void pxt_mmap_exit(void)
{
	simple_release_fs(&pxt_mmap_mnt, &pxt_mmap_count);
	put_page(pxt_mmap_zeros);
	pxt_gatemap_exit();
}

/**
 * pxt_mmap_open() - give a file of the device a separate address space
 * @file: being opened
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_mmap_open(struct file *file)
{
	struct inode *inode = alloc_anon_inode(pxt_mmap_mnt->mnt_sb);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	file->f_mapping = inode->i_mapping;
	return 0;
}

/**
 * pxt_mmap_join() - give a file the address space of an attachment
 * @file: has no mappings yet
 * @att: attachment of the file
 *
 * With this, one call finds all gates of the process, see target/attachment.c.
 */
void pxt_mmap_join(struct file *file, struct pxt_attachment *att)
{
	struct inode *inode = file->f_mapping->host;

	ihold(att->inode);
	file->f_mapping = att->inode->i_mapping;
	iput(inode);
}

/**
 * pxt_mmap_release() - undo pxt_mmap_open()
 * @file: being released, so it has no mappings
 *
 * Context: may sleep.
 */
void pxt_mmap_release(struct file *file)
{
	struct inode *inode = file->f_mapping->host;

	file->f_mapping = file_inode(file)->i_mapping;
	iput(inode);
}

static int memory_release(struct inode *inode, struct file *file)
{
	pxt_mmap_release(file);
	return 0;
}

/* No process gets a descriptor of such a file: the memory is mapped only through the device. */
static const struct file_operations pxt_memory_fops = {
	.owner = THIS_MODULE,
	.release = memory_release,
};

/**
 * pxt_mmap_make_file() - create the file held by the targets' mappings of a stream
 * @stream: new
 * @file: file of its controller; both have the same address space
 *
 * Unlike @file, the new file holds only the module, not the stream. The stream holds the new file.
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_mmap_make_file(struct pxt_stream *stream, struct file *file)
{
	struct file *memory = anon_inode_getfile("[posixtrace]", &pxt_memory_fops, NULL, O_RDWR);

	if (IS_ERR(memory))
		return -ENOMEM;
	ihold(file->f_mapping->host);
	memory->f_mapping = file->f_mapping;
	stream->memory = memory;
	return 0;
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
 * Read-only ranges are zero. Writes go to a few scratch pages of the stream, however much is
 * mapped. Heads and reader pages get separate scratch pages, so that a stray write cannot forge a
 * position.
 */
static struct page *scratch_page(struct vm_area_struct *vma, u64 offset)
{
	struct pxt_stream *stream = vma->vm_private_data;

	/* The mapping is not writable, and never will be. */
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
 * Fault-around: a process that touches a page is likely to touch the next ones. Only pages in the
 * same aligned range of this size are inserted, so that a mapping takes one fault per range.
 */
#define PAGES_AROUND	16

/* Insert the pages after the one that faulted. */
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

	/*
	 * The kernel should refuse userfaultfd() for this mapping, but 6.7 and some later kernels
	 * do not. With the write protection of userfaultfd(), the page table has a marker that the
	 * code below does not replace, so the same fault would repeat forever.
	 */
	if (userfaultfd_wp(vmf->vma))
		return VM_FAULT_SIGBUS;
	/* Pairs with pxt_mmap_zap(), which unmaps pages inserted before it. */
	down_read(&pool->map.lock);
	if (pool->map.unmapped) {
		up_read(&pool->map.lock);
		return insert(vmf->vma, address, scratch_page(vmf->vma, offset));
	}
	page = pxt_pool_page(pool, offset);
	if (page)
		ret = insert(vmf->vma, address, page);
	if (ret == VM_FAULT_NOPAGE)
		insert_around(vmf, pool, offset);
	up_read(&pool->map.lock);
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

/* Counts the mappings of targets in pxt_stream.mapped. */
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

/* Never executable; can be made writable later only if @writable. */
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
	 * A child inherits mappings only if the process requests it with madvise(): the child can
	 * then access the same memory as its parent.
	 */
	int err = protect(vma, writable, VM_DONTCOPY | VM_PFNMAP);

	if (err)
		return err;
	/* Fails if the stream has ended and all other mappings are gone. */
	if (!refcount_inc_not_zero(&stream->scratch))
		return -EINVAL;
	vma->vm_private_data = stream;
	vma->vm_ops = ops;
	ops->open(vma);
	pxt_stream_put_scratch(stream);
	/* The file of a controller has the same address space: see pxt_mmap_make_file(). */
	if (vma->vm_file->f_mapping != stream->memory->f_mapping)
		vma_set_file(vma, stream->memory);
	return 0;
}

static u64 vma_offset(const struct vm_area_struct *vma)
{
	return (u64)vma->vm_pgoff << PAGE_SHIFT;
}

/**
 * pxt_mmap_stream() - map memory of a stream for its controller
 * @stream: may die during the call
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
	/*
	 * The events of a stream with a log are read from the log: a reader must not take records.
	 */
	if (within(vma_offset(vma), size, base, pool->map.reader_size))
		return stream->log ? -EINVAL
				   : map_stream(stream, vma, true, &pxt_stream_vm_ops);
	if (within(vma_offset(vma), size, base + rest, pxt_pool_size(pool) - rest))
		return map_stream(stream, vma, false, &pxt_stream_vm_ops);
	return -EINVAL;
}

/* ------------------------------------------------------------------ */
/* Mappings of targets							*/

static int map_gate(struct pxt_attachment *att, struct vm_area_struct *vma)
{
	int err = protect(vma, false, 0);

	return err ? err : pxt_gatemap(att, vma);
}

/* Find the stream on a target by its offsets: a reference, or NULL. */
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
 * @att: attachment of the calling process
 * @vma: from mmap()
 *
 * The gate can be mapped for reading. For a stream on this target, need_wakeup can be mapped for
 * reading, heads and user sub-buffers for reading and writing.
 *
 * Context: with mmap_lock.
 * Return: 0; -EACCES for any other access; -EINVAL.
 */
int pxt_mmap_target(struct pxt_attachment *att, struct vm_area_struct *vma)
{
	u64 offset = vma_offset(vma), size = vma->vm_end - vma->vm_start;
	struct pxt_target *target = pxt_attachment_bound(att);
	const struct pxt_pool *pool;
	struct pxt_stream *stream;
	int err = -EINVAL;
	u64 heads;

	if (within(offset, size, 0, PAGE_ALIGN(sizeof(struct posixtrace_gate))))
		return map_gate(att, vma);
	stream = target ? find_stream(target, offset >> PXT_MAP_SHIFT) : NULL;
	if (!stream)
		return -EINVAL;
	pool = &stream->pool;
	heads = pxt_stream_map_base(stream) + pxt_pool_heads_offset(pool);
	if (within(offset, size, heads, pool->map.heads_size + pxt_pool_user_size(pool)))
		err = map_stream(stream, vma, true, &pxt_target_vm_ops);
	else if (within(offset, size, pxt_stream_map_base(stream) + pxt_pool_wakeup_offset(pool),
			pool->map.wakeup_size))
		err = map_stream(stream, vma, false, &pxt_target_vm_ops);
	pxt_stream_put(stream);
	return err;
}

/* mmap() does not populate VM_PFNMAP mappings. A page that fails here is mapped on first access. */
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
 * pxt_mmap_command() - MAP: map like mmap(), but through the file instead of its descriptor
 * @file: its role allows the calling process to map
 * @uarg: struct posixtrace_mapping
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINVAL; -EINTR after a fatal signal; the errors of mmap().
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
 * pxt_mmap_zap() - remove a stream's memory from all address spaces
 * @stream: being shut down
 *
 * Later accesses get scratch pages. Context: may sleep.
 */
void pxt_mmap_zap(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;

	/* Page faults before this have inserted their pages; later ones see @unmapped. */
	down_write(&pool->map.lock);
	pool->map.unmapped = true;
	up_write(&pool->map.lock);
	/* A failed CREATE may not have created the file. */
	if (stream->memory)
		unmap_mapping_range(stream->memory->f_mapping, pxt_stream_map_base(stream),
				    pxt_pool_size(pool), 1);
}
