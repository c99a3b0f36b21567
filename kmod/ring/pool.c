// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a stream: size, allocation, and the page at an offset. subbuf.c uses the
 * sub-buffers; teardown/mmap.c has the rules for mapping them.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ring/policy.h"
#include "ring/pool.h"
#include "ring/recorder.h"

/* Sub-buffers for system events allocated by CREATE. */
#define NR_SYS_FIRST	2

/* Maximum number of sub-buffers for stream-min-size if they are smaller than usual. */
#define SMALLER_MAX	4096

/*
 * Charged to the creator's memory cgroup. Creating a stream that is too large for the cgroup or the
 * machine fails instead of triggering the OOM killer, see PXT_GFP_MAYFAIL.
 */
#define POOL_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | PXT_GFP_MAYFAIL)

static void *alloc_pages_zeroed(u64 size)
{
	return __vmalloc(size, POOL_GFP | __GFP_ZERO);
}

/* Sub-buffers that make up the stream-min-size. */
static u64 count_whole(u64 size, u32 subbuf_size)
{
	/* With only one, a LOOP stream would lose all its events at each wrap. */
	return max_t(u64, DIV_ROUND_UP_ULL(size, subbuf_size), 2);
}

/* Words for one bit per CPU, one for the system events, and one per CPU for kernel events. */
static u32 holders_words(const struct pxt_pool *pool)
{
	return (pool->nr_writers - 1) / 64 + 1;
}

/* Offset of pool->holders in pool->ctrl. */
static u64 holders_offset(const struct pxt_pool *pool)
{
	return ALIGN(sizeof(struct posixtrace_ctrl) + (u64)pool->nr_writers * sizeof(u32),
		     sizeof(u64));
}

/* Offset of the descriptors of the sub-buffers in pool->ctrl. */
static u64 desc_offset(const struct pxt_pool *pool)
{
	return ALIGN(holders_offset(pool) + holders_words(pool) * sizeof(u64),
		     sizeof(struct posixtrace_subbuf));
}

/* Offset of the heads of the kernel events in pool->ctrl. */
static u64 kernel_heads_offset(const struct pxt_pool *pool)
{
	return ALIGN(desc_offset(pool) +
		     (u64)pxt_pool_nr_subbufs(pool) * sizeof(struct posixtrace_subbuf),
		     sizeof(struct posixtrace_cpu_head));
}

static u32 nr_kernel_cpus(const struct pxt_pool *pool)
{
	return pool->nr_writers - pool->nr_cpus - 1;
}

static void set_sizes(struct pxt_pool *pool)
{
	u32 all = pxt_pool_nr_subbufs(pool);

	pool->map.reader_size = PAGE_ALIGN(struct_size(pool->reader, consumed, all));
	pool->map.wakeup_size = PAGE_ALIGN(sizeof(*pool->wakeup));
	pool->map.ctrl_size = PAGE_ALIGN(kernel_heads_offset(pool) + (u64)nr_kernel_cpus(pool) *
				     sizeof(struct posixtrace_cpu_head));
	pool->map.heads_size = PAGE_ALIGN((u64)pool->nr_cpus * sizeof(*pool->heads));
}

/*
 * Number of sub-buffers of @subbuf_size, which is less than pxt_subbuf_size(), for the events that
 * a stream of stream-min-size must hold. If the event sizes reported by the library add up to
 * stream-min-size, the records take up to 7/8 of that size. In each sub-buffer, almost the size of
 * the largest record may stay unused, because a sub-buffer is closed when the next record does not
 * fit.
 */
static u64 count_smaller(const struct posixtrace_attr *attr, u32 subbuf_size)
{
	u32 used = subbuf_size - POSIXTRACE_RECORD_SIZE(attr->max_data_size) +
		   POSIXTRACE_RECORD_ALIGN;

	return max(DIV_ROUND_UP_ULL(attr->stream_size / 8 * 7, used),
		   count_whole(attr->stream_size, subbuf_size));
}

static void set_counts(struct pxt_pool *pool, u64 whole, u32 subbuf_size)
{
	pool->subbuf_size = subbuf_size;
	/* Add one per CPU, because open sub-buffers do not count as stream-min-size. */
	pool->nr_user = whole + num_present_cpus();
	pool->nr_sys = whole + NR_SYS_FIRST;
	/* Kernel events get as much memory again, which targets never write. */
	pool->nr_kernel = nr_kernel_cpus(pool) ? pool->nr_user : 0;
	set_sizes(pool);
}

/* Bytes of locked memory charged by CREATE. */
static u64 locked_size(const struct pxt_pool *pool)
{
	return pxt_pool_memory(pool) + (u64)NR_SYS_FIRST * pool->subbuf_size;
}

/*
 * With hundreds of CPUs, the open sub-buffers are most of a stream. Try smaller sub-buffers, which
 * still hold two of the largest records, as long as the open ones exceed a quarter of the memory
 * that the creator may lock, or the stream needs more than the part of that memory that is still
 * unused. Of the sizes tried, choose the one that minimizes the memory of the stream.
 */
static void shrink_subbufs(struct pxt_pool *pool, const struct posixtrace_attr *attr)
{
	u32 usual = pool->subbuf_size, best = usual, size = usual;
	u32 least = max_t(u32, 2 * POSIXTRACE_RECORD_SIZE(attr->max_data_size),
			  POSIXTRACE_SUBBUF_SIZE_MIN);
	u64 share = pxt_user_memory_limit(pool->charge) / 4;
	u64 left = pxt_user_memory_left(pool->charge);
	u64 usual_whole = pool->nr_sys - NR_SYS_FIRST, best_whole = usual_whole, whole;
	u64 best_locked = locked_size(pool);
	u64 open = (u64)num_present_cpus() * (nr_kernel_cpus(pool) ? 2 : 1);

	while (open * size > share || locked_size(pool) > left) {
		size -= POSIXTRACE_SUBBUF_SIZE_MIN;
		if (size < least)
			break;
		whole = count_smaller(attr, size);
		if (whole > SMALLER_MAX)
			break;
		set_counts(pool, whole, size);
		if (locked_size(pool) >= best_locked)
			continue;
		best = size;
		best_whole = whole;
		best_locked = locked_size(pool);
	}
	if (best != pool->subbuf_size)
		set_counts(pool, best_whole, best);
}

/* Compute all sizes from the attributes, and store the granted size there. */
static int count_subbufs(struct pxt_pool *pool, struct posixtrace_attr *attr)
{
	u64 size = max_t(u64, attr->stream_size, POSIXTRACE_STREAM_SIZE_MIN);
	u32 subbuf_size = pxt_subbuf_size(size, attr->max_data_size);
	u64 whole = count_whole(size, subbuf_size);

	attr->stream_size = whole * subbuf_size;
	pool->nr_cpus = nr_cpu_ids;
	pool->nr_writers = pool->nr_cpus + 1 + (attr->classes ? pool->nr_cpus : 0);
	pool->loop = attr->stream_policy == POSIXTRACE_POLICY_LOOP;
	pool->wake.bytes = attr->wakeup_bytes;
	pool->wake.ns = attr->wakeup_ns;
	set_counts(pool, whole, subbuf_size);
	shrink_subbufs(pool, attr);
	/* Positions in the pool are 32 bits wide. */
	if (pxt_pool_mem_size(pool) > U32_MAX)
		return -ENOMEM;
	return 0;
}

static void init_kind(struct pxt_subbuf_kind *kind)
{
	INIT_LIST_HEAD(&kind->free);
	INIT_LIST_HEAD(&kind->due);
	INIT_LIST_HEAD(&kind->closed);
	INIT_LIST_HEAD(&kind->orphans_due);
	INIT_LIST_HEAD(&kind->orphans_closed);
}

static int alloc_tables(struct pxt_pool *pool)
{
	u32 all = pxt_pool_nr_subbufs(pool), i;

	pool->subbuf = kvcalloc(all, sizeof(*pool->subbuf), POOL_GFP);
	if (!pool->subbuf)
		goto fail;
	pool->cpu = kvcalloc(pool->nr_writers, sizeof(*pool->cpu), POOL_GFP);
	if (!pool->cpu)
		goto free_subbuf;
	pool->holding = kvcalloc(holders_words(pool), sizeof(*pool->holding), POOL_GFP);
	if (!pool->holding)
		goto free_cpu;
	pool->sys_mem = kvcalloc(pool->nr_sys, sizeof(*pool->sys_mem), POOL_GFP);
	if (!pool->sys_mem)
		goto free_holding;
	if (pool->nr_kernel)
		pool->recorder = pxt_recorder_new(pool->nr_cpus, POOL_GFP);
	if (pool->nr_kernel && !pool->recorder)
		goto free_sys_mem;

	init_kind(&pool->user);
	init_kind(&pool->sys);
	init_kind(&pool->kernel);
	INIT_LIST_HEAD(&pool->orphaned);
	for (i = 0; i < all; i++) {
		INIT_LIST_HEAD(&pool->subbuf[i].cpu_node);
		INIT_LIST_HEAD(&pool->subbuf[i].node);
	}
	for (i = 0; i < pool->nr_user; i++)
		list_add_tail(&pool->subbuf[i].node, &pool->user.free);
	for (i = all - pool->nr_kernel; i < all; i++)
		list_add_tail(&pool->subbuf[i].node, &pool->kernel.free);
	for (i = 0; i < pool->nr_writers; i++) {
		INIT_LIST_HEAD(&pool->cpu[i].subbufs);
		pool->cpu[i].open = POSIXTRACE_NONE;
	}
	return 0;

free_sys_mem:
	kvfree(pool->sys_mem);
free_holding:
	kvfree(pool->holding);
free_cpu:
	kvfree(pool->cpu);
free_subbuf:
	kvfree(pool->subbuf);
fail:
	return -ENOMEM;
}

static void free_tables(struct pxt_pool *pool)
{
	if (pool->recorder)
		pxt_recorder_free(pool->recorder);
	kvfree(pool->sys_mem);
	kvfree(pool->holding);
	kvfree(pool->cpu);
	kvfree(pool->subbuf);
}

static int alloc_memory(struct pxt_pool *pool)
{
	struct posixtrace_ctrl *ctrl;

	/* If this or a later step fails, the stream uncharges everything. */
	if (pxt_user_charge_memory(pool->charge, pxt_pool_memory(pool)))
		goto fail;

	pool->map.scratch = alloc_pages_zeroed(PXT_POOL_SCRATCH);
	if (!pool->map.scratch)
		goto fail;
	pool->reader = alloc_pages_zeroed(pool->map.reader_size);
	if (!pool->reader)
		goto free_scratch;
	pool->wakeup = alloc_pages_zeroed(pool->map.wakeup_size);
	if (!pool->wakeup)
		goto free_reader;
	pool->ctrl = alloc_pages_zeroed(pool->map.ctrl_size);
	if (!pool->ctrl)
		goto free_wakeup;
	pool->heads = alloc_pages_zeroed(pool->map.heads_size);
	if (!pool->heads)
		goto free_ctrl;
	pool->user_mem = alloc_pages_zeroed(pxt_pool_user_size(pool));
	if (!pool->user_mem)
		goto free_heads;
	if (pool->nr_kernel)
		pool->kernel_mem = alloc_pages_zeroed(pxt_pool_kernel_size(pool));
	if (pool->nr_kernel && !pool->kernel_mem)
		goto free_user_mem;

	ctrl = pool->ctrl;
	pool->oldest = (void *)ctrl + sizeof(*ctrl);
	pool->holders = (void *)ctrl + holders_offset(pool);
	pool->desc = (void *)ctrl + desc_offset(pool);
	memset32(pool->oldest, POSIXTRACE_NONE, pool->nr_writers);
	ctrl->size = sizeof(*ctrl);
	ctrl->nr_cpus = pool->nr_cpus;
	ctrl->nr_subbufs = pool->nr_user;
	ctrl->nr_sys_subbufs = pool->nr_sys;
	ctrl->subbuf_size = pool->subbuf_size;
	ctrl->oldest_offset = sizeof(*ctrl);
	ctrl->holders_offset = holders_offset(pool);
	ctrl->subbuf_offset = desc_offset(pool);
	if (!pool->nr_kernel)
		return 0;
	ctrl->nr_kernel_cpus = nr_kernel_cpus(pool);
	ctrl->nr_kernel_subbufs = pool->nr_kernel;
	ctrl->kernel_heads_offset = kernel_heads_offset(pool);
	pool->kernel_heads = (void *)ctrl + kernel_heads_offset(pool);
	return 0;

free_user_mem:
	vfree(pool->user_mem);
free_heads:
	vfree(pool->heads);
free_ctrl:
	vfree(pool->ctrl);
free_wakeup:
	vfree(pool->wakeup);
free_reader:
	vfree(pool->reader);
free_scratch:
	vfree(pool->map.scratch);
fail:
	return -ENOMEM;
}

static void free_memory(struct pxt_pool *pool)
{
	u32 i;

	for (i = 0; i < pool->nr_sys_made; i++)
		vfree(pool->sys_mem[i]);
	vfree(pool->kernel_mem);
	vfree(pool->user_mem);
	vfree(pool->heads);
	vfree(pool->ctrl);
	vfree(pool->wakeup);
	vfree(pool->reader);
}

/**
 * pxt_pool_init() - allocate the memory of a stream
 * @pool: zeroed
 * @attr: checked attributes; stream_size becomes the granted size
 * @charge: the memory is charged to it, and remains charged on failure
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int pxt_pool_init(struct pxt_pool *pool, struct posixtrace_attr *attr, struct pxt_charge *charge)
{
	int err, i;

	pool->charge = charge;
	raw_spin_lock_init(&pool->lock);
	init_rwsem(&pool->map.lock);
	err = count_subbufs(pool, attr);
	if (err)
		return err;
	err = alloc_tables(pool);
	if (err)
		return err;
	err = alloc_memory(pool);
	if (err)
		goto free_tables;
	for (i = 0; i < NR_SYS_FIRST; i++) {
		err = pxt_pool_make_sys(pool);
		if (err)
			goto free_memory;
	}
	return 0;

free_memory:
	free_memory(pool);
	pxt_pool_destroy_scratch(pool);
free_tables:
	free_tables(pool);
	return err;
}

/**
 * pxt_pool_destroy() - free the memory of a stream
 * @pool: no longer recorded into, mapped or read
 *
 * Context: may sleep.
 */
void pxt_pool_destroy(struct pxt_pool *pool)
{
	free_memory(pool);
	free_tables(pool);
}

/**
 * pxt_pool_destroy_scratch() - free the pages that are mapped in place of the freed memory
 * @pool: destroyed, and not mapped
 *
 * Context: may sleep.
 */
void pxt_pool_destroy_scratch(struct pxt_pool *pool)
{
	vfree(pool->map.scratch);
}

/**
 * pxt_pool_make_sys() - allocate one more sub-buffer for system events
 * @pool: memory of a stream that is locked, or not published yet
 *
 * Adds it to the free list. Context: may sleep; a thread of the stream's controller or its log
 * thread: see pxt_user_charge_memory().
 *
 * Return: 0; -ENOMEM; -ENOSPC if all sub-buffers exist.
 */
int pxt_pool_make_sys(struct pxt_pool *pool)
{
	u32 i = pool->nr_sys_made;
	unsigned long flags;
	void *mem;

	if (i == pool->nr_sys)
		return -ENOSPC;
	if (pxt_user_charge_memory(pool->charge, pool->subbuf_size))
		return -ENOMEM;
	mem = alloc_pages_zeroed(pool->subbuf_size);
	if (!mem) {
		pxt_user_uncharge_memory(pool->charge, pool->subbuf_size);
		return -ENOMEM;
	}
	/* Pairs with the acquire in pxt_pool_page(): it finds zeroed memory, or NULL. */
	smp_store_release(&pool->sys_mem[i], mem);
	pool->nr_sys_made = i + 1;

	raw_spin_lock_irqsave(&pool->lock, flags);
	list_add_tail(&pool->subbuf[pool->nr_user + i].node, &pool->sys.free);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return 0;
}

/**
 * pxt_pool_subbuf() - get the memory of a sub-buffer
 * @pool: not dead
 * @i: number of a sub-buffer that was handed out
 *
 * Return: its first byte.
 */
void *pxt_pool_subbuf(const struct pxt_pool *pool, u32 i)
{
	if (i < pool->nr_user)
		return pool->user_mem + (u64)i * pool->subbuf_size;
	i -= pool->nr_user;
	return i < pool->nr_sys ? pool->sys_mem[i]
				: pool->kernel_mem + (u64)(i - pool->nr_sys) * pool->subbuf_size;
}

/**
 * pxt_pool_page() - get the page at an offset in the mappable ranges
 * @pool: not destroyed; pxt_mapping.lock is held
 * @offset: bytes
 *
 * Return: the page; NULL if it does not exist (yet).
 */
struct page *pxt_pool_page(struct pxt_pool *pool, u64 offset)
{
	void *mem;

	if (offset < pool->map.reader_size)
		return vmalloc_to_page((void *)pool->reader + offset);
	offset -= pool->map.reader_size;
	if (offset < pool->map.wakeup_size)
		return vmalloc_to_page((void *)pool->wakeup + offset);
	offset -= pool->map.wakeup_size;
	if (offset < pool->map.ctrl_size)
		return vmalloc_to_page((void *)pool->ctrl + offset);
	offset -= pool->map.ctrl_size;
	if (offset < pool->map.heads_size)
		return vmalloc_to_page((void *)pool->heads + offset);
	offset -= pool->map.heads_size;
	if (offset < pxt_pool_user_size(pool))
		return vmalloc_to_page(pool->user_mem + offset);
	if (offset >= pxt_pool_mem_size(pool))
		return NULL;
	offset -= pxt_pool_user_size(pool);
	if (offset >= (u64)pool->nr_sys * pool->subbuf_size)
		return vmalloc_to_page(pool->kernel_mem +
				       (offset - (u64)pool->nr_sys * pool->subbuf_size));
	/* Pairs with the release in pxt_pool_make_sys(). */
	mem = smp_load_acquire(&pool->sys_mem[offset / pool->subbuf_size]);
	return mem ? vmalloc_to_page(mem + offset % pool->subbuf_size) : NULL;
}

/**
 * pxt_pool_scratch() - get the page at an offset after the stream has ended
 * @pool: with scratch pages
 * @offset: bytes, in a writable range
 *
 * Return: the page.
 */
struct page *pxt_pool_scratch(const struct pxt_pool *pool, u64 offset)
{
	unsigned int i = 0;

	if (offset >= pxt_pool_mem_offset(pool))
		i = 2;
	else if (offset >= pxt_pool_heads_offset(pool))
		i = 1;
	return vmalloc_to_page(pool->map.scratch + i * PAGE_SIZE);
}

/**
 * pxt_pool_memory() - get the amount of mappable memory of a stream
 * @pool: memory of a stream that is locked
 *
 * Return: bytes.
 */
u64 pxt_pool_memory(const struct pxt_pool *pool)
{
	return pxt_pool_mem_offset(pool) + pxt_pool_user_size(pool) + pxt_pool_kernel_size(pool) +
	       (u64)pool->nr_sys_made * pool->subbuf_size + PXT_POOL_SCRATCH;
}

/**
 * pxt_pool_dropped_user() - count user events dropped because the stream was full
 * @pool: not dead; its stream is locked
 *
 * Targets count them in their heads and may write any number there, so the kernel only reports it.
 *
 * Return: the sum over the CPUs.
 */
u64 pxt_pool_dropped_user(const struct pxt_pool *pool)
{
	u64 dropped = 0;
	u32 cpu;

	for (cpu = 0; cpu < pool->nr_cpus; cpu++)
		dropped += READ_ONCE(pool->heads[cpu].lost);
	return dropped;
}

/**
 * pxt_pool_dropped() - count user and kernel events dropped because the stream was full
 * @pool: not dead; its stream is locked
 *
 * Return: the sum over the CPUs.
 */
u64 pxt_pool_dropped(const struct pxt_pool *pool)
{
	u64 dropped = pxt_pool_dropped_user(pool);
	u32 cpu;

	for (cpu = 0; pool->kernel_heads && cpu < pool->nr_cpus; cpu++)
		dropped += READ_ONCE(pool->kernel_heads[cpu].lost);
	return dropped;
}
