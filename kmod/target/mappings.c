// SPDX-License-Identifier: GPL-2.0
/*
 * The files that a process executes code from. The process collects them itself, so that no other
 * process waits for its memory, which may be mapped from a file that hangs.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/posixtrace_log.h>

#include "compat.h"
#include "target/buildid.h"
#include "target/mappings.h"
#include "target/text.h"

/* Limits of what a log records about one process; the rest is omitted. */
#define MAPPINGS_MAX	512
#define MAPPINGS_SIZE	(64U << 10)

/**
 * struct found - a mapping
 * @file: a reference to the file
 * @address: first byte
 * @length: bytes
 * @offset: offset of the first byte in the file
 * @head: address where the start of the file is mapped, or 0
 * @head_length: bytes mapped at @head
 */
struct found {
	struct file *file;
	u64 address;
	u64 length;
	u64 offset;
	u64 head;
	u64 head_length;
};

/**
 * struct collection - the mappings of a process during their collection
 * @found: mappings found
 * @count: number of them
 * @looks: pxt_target.looks
 * @hash: hash of all mappings
 * @size: bytes of @data
 * @path: buffer for a path
 * @data: struct posixtrace_log_mapping[]
 */
struct collection {
	struct found found[MAPPINGS_MAX];
	u32 count;
	u32 looks;
	u64 hash;
	u32 size;
	char path[POSIXTRACE_LOG_PATH_SIZE];
	char data[MAPPINGS_SIZE];
};

static bool same_file(const struct vm_area_struct *a, const struct vm_area_struct *b)
{
	return file_inode(a->vm_file) == file_inode(b->vm_file);
}

static void add_found(struct collection *to, struct vm_area_struct *vma,
		      const struct vm_area_struct *head)
{
	struct found *found = &to->found[to->count++];

	*found = (struct found){
		.file = get_file(vma->vm_file),
		.address = vma->vm_start,
		.length = vma->vm_end - vma->vm_start,
		.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
	};
	if (head && same_file(head, vma)) {
		found->head = head->vm_start;
		found->head_length = head->vm_end - head->vm_start;
	}
}

static u64 mix(u64 hash, u64 value)
{
	return (hash + value) * GOLDEN_RATIO_64;
}

/* Hash all mappings of code, and add them to @to unless it is NULL. Returns 0 without any. */
static u64 scan(struct mm_struct *mm, struct collection *to)
{
	VMA_ITERATOR(vmi, mm, 0);
	const struct vm_area_struct *head = NULL;
	struct vm_area_struct *vma;
	u64 hash = 0;

	if (mmap_read_lock_killable(mm))
		return 0;
	for_each_vma(vmi, vma) {
		/* A process may have tens of thousands of mappings. */
		cond_resched();
		if (!vma->vm_file)
			continue;
		if (!vma->vm_pgoff)
			head = vma;
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		hash = mix(hash, vma->vm_start);
		hash = mix(hash, vma->vm_end);
		hash = mix(hash, vma->vm_pgoff);
		hash = mix(hash, file_inode(vma->vm_file)->i_ino);
		if (to && to->count < MAPPINGS_MAX)
			add_found(to, vma, head);
	}
	mmap_read_unlock(mm);
	return hash;
}

/* Add one mapping if there is room. */
static void put_mapping(struct collection *to, const struct posixtrace_log_mapping *mapping,
			const char *path)
{
	u32 step = POSIXTRACE_LOG_MAPPING_STEP(mapping->size);

	if (step > sizeof(to->data) - to->size)
		return;
	memset(to->data + to->size, 0, step);
	memcpy(to->data + to->size, mapping, sizeof(*mapping));
	memcpy(to->data + to->size + sizeof(*mapping), path, mapping->size);
	to->size += step;
}

static void put_found(struct collection *to, const struct found *found)
{
	struct posixtrace_log_mapping mapping = {
		.since = to->looks,
		.address = found->address,
		.length = found->length,
		.offset = found->offset,
	};
	const char *path = d_path(pxt_file_user_path(found->file), to->path, sizeof(to->path));

	/* A truncated path would be useless. */
	if (IS_ERR(path))
		path = "";
	mapping.size = strlen(path) + 1;
	if (found->head)
		mapping.build_id_size = pxt_buildid_read(found->head, found->head_length,
							 mapping.build_id);
	put_mapping(to, &mapping, path);
}

static bool overlaps(const struct collection *to, const struct posixtrace_log_mapping *mapping)
{
	const struct found *found;

	for (found = to->found; found < to->found + to->count; found++) {
		if (mapping->address < found->address + found->length &&
		    found->address < mapping->address + mapping->length)
			return true;
	}
	return false;
}

/*
 * A library may be unloaded before its mapping is in the log, so keep the mapping until another one
 * takes its place.
 */
static void put_old(struct collection *to, const struct pxt_text *old)
{
	const struct posixtrace_log_mapping *mapping;
	u32 pos = 0;

	while (old && pos < old->size) {
		mapping = (const void *)(old->data + pos);
		if (!overlaps(to, mapping))
			put_mapping(to, mapping, mapping->path);
		pos += POSIXTRACE_LOG_MAPPING_STEP(mapping->size);
		cond_resched();
	}
}

static struct pxt_text *to_text(const struct collection *from)
{
	struct pxt_text *text = pxt_text_new(from->size);

	if (!text)
		return NULL;
	memcpy(text->data, from->data, from->size);
	text->hash = from->hash;
	return text;
}

/**
 * pxt_mappings_capture() - collect the mappings of the calling process
 * @old: previous mappings of the same process; may be NULL
 * @looks: pxt_target.looks
 * @again: collect them even if unchanged
 *
 * Context: may sleep.
 * Return: one reference; NULL if the mappings are unchanged or empty, or out of memory.
 */
struct pxt_text *pxt_mappings_capture(const struct pxt_text *old, u32 looks, bool again)
{
	u64 hash = scan(current->mm, NULL);
	struct collection *collection;
	struct pxt_text *text;
	u32 i;

	if (!hash || (!again && old && old->hash == hash))
		return NULL;
	collection = kvzalloc(sizeof(*collection), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!collection)
		return NULL;
	collection->looks = looks;
	collection->hash = scan(current->mm, collection);
	for (i = 0; i < collection->count; i++) {
		put_found(collection, &collection->found[i]);
		fput(collection->found[i].file);
		cond_resched();
	}
	put_old(collection, old);
	text = collection->size ? to_text(collection) : NULL;
	kvfree(collection);
	return text;
}
