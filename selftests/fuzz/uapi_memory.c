// SPDX-License-Identifier: GPL-2.0
/* Mapping memory of the device, and operations on mappings. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "uapi_fuzz.h"

#define PAGE	4096UL

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

/* A range of a file, and its protection. */
struct range {
	struct posixtrace_map map;
	enum part part;
	bool write;
	unsigned int slot;
};

static void range_of_stream(struct actor *a, const struct posixtrace_create *create,
			    struct range *range)
{
	bool reader = one_in(a, 3);

	if (a->want != PARTS)
		reader = a->want == PART_READER;
	if (reader) {
		range->part = PART_READER;
		range->map = create->reader;
		range->write = true;
	} else {
		range->part = PART_VIEW;
		range->map = create->ctrl;
		range->map.size += create->heads.size + create->pool.size;
	}
}

static void range_of_target(struct actor *a, const struct file *file, struct range *range)
{
	const struct posixtrace_slot *slot = file->slots;
	unsigned int i;

	for (i = 0; i < POSIXTRACE_SLOTS_MAX - 1 && (!slot->heads.size || one_in(a, 4)); i++)
		slot++;
	range->slot = slot - file->slots;
	switch (a->want == PARTS ? below(a, 6) : 2) {
	case 0:
		range->part = PART_GATE;
		range->map = file->attach.gate;
		break;
	case 1:
		range->part = PART_WAKEUP;
		range->map = slot->wakeup;
		break;
	default:
		range->part = PART_RING;
		range->map = slot->heads;
		range->map.size += slot->pool.size;
		range->write = true;
		break;
	}
}

/* Changes the range: to a part of it, to more, or to a different one. */
static void change_range(struct actor *a, struct range *range)
{
	uint64_t pages = range->map.size / PAGE + 1, skip;

	switch (below(a, 12)) {
	case 0:
		range->map.size = (1 + below(a, pages)) * PAGE;
		break;
	case 1:
		skip = below(a, pages);
		range->map.offset += skip * PAGE;
		range->map.size -= skip * PAGE;
		break;
	case 2:
		range->map.offset -= PAGE * below(a, 4);
		break;
	case 3:
		range->map.size += PAGE * below(a, 4);
		break;
	case 4:
		range->write = !range->write;
		break;
	default:
		break;
	}
}

static struct file *find_range(struct actor *a, struct range *range)
{
	enum role role = one_in(a, 2) ? ROLE_STREAM : ROLE_TARGET;
	struct file *file;

	if (a->want != PARTS)
		role = a->want == PART_RING ? ROLE_TARGET : ROLE_STREAM;
	memset(range, 0, sizeof(*range));
	file = pick_file(a, role);
	if (!file)
		return NULL;
	if (file->role == ROLE_STREAM)
		range_of_stream(a, &file->create, range);
	else
		range_of_target(a, file, range);
	if (a->want == PARTS)
		change_range(a, range);
	return file;
}

static void note_mapping(struct actor *a, const struct file *file, const struct range *range,
			 uintptr_t addr)
{
	const struct posixtrace_slot *slot = &file->slots[range->slot];
	struct mapping *map = add_mapping(a, addr, range->map.size);

	map->part = range->part;
	map->fd = file->fd;
	map->slot = range->slot;
	if (file->role == ROLE_STREAM) {
		map->stream = file->create.stream;
		map->heads_size = file->create.ctrl.size + file->create.heads.size;
	} else {
		map->stream = slot->stream;
		map->heads_size = slot->heads.size;
		map->subbuf_size = slot->subbuf_size;
		map->max_data = slot->max_data_size;
	}
}

long op_map(struct actor *a)
{
	struct posixtrace_mapping *arg = argument(a);
	struct range range;
	struct file *file = find_range(a, &range);
	long ret;

	arg->map = range.map;
	arg->flags = range.write ? POSIXTRACE_MAPPING_WRITE : 0;
	if (one_in(a, 3))
		arg->flags |= POSIXTRACE_MAPPING_POPULATE;
	ret = ioctl_with(a, file, POSIXTRACE_IOC_MAP, arg, sizeof(*arg));
	/* Another thread may have changed the argument, so check the answer. */
	if (!ret && file && arg->address && arg->map.size == range.map.size)
		note_mapping(a, file, &range, arg->address);
	return ret;
}

static uintptr_t playground(struct actor *a)
{
	return PLAYGROUND + below(a, PLAYGROUND_SIZE / PAGE) * PAGE;
}

long op_mmap(struct actor *a)
{
	int prot = PROT_READ, flags = MAP_SHARED;
	uintptr_t where = 0;
	struct range range;
	struct file *file = find_range(a, &range);
	long ret;

	if (!file)
		return -EBADF;
	if (range.write)
		prot |= PROT_WRITE;
	if (one_in(a, 8))
		prot = below(a, 8);
	if (one_in(a, 16))
		flags = one_in(a, 2) ? MAP_PRIVATE : MAP_SHARED_VALIDATE;
	if (one_in(a, 4))
		flags |= MAP_POPULATE;
	if (one_in(a, 16))
		flags |= MAP_LOCKED;
	if (one_in(a, 4) && range.map.size <= 1UL << 20) {
		flags |= MAP_FIXED;
		where = playground(a);
	}
	ret = sys(SYS_mmap, where, range.map.size, prot, flags, file->fd, range.map.offset);
	if (ret > 0)
		note_mapping(a, file, &range, ret);
	return ret;
}

/* Picks some pages of a known mapping. Occasionally also picks pages beyond it. */
static struct mapping *pick_pages(struct actor *a, uintptr_t *from, size_t *len)
{
	struct mapping *map = pick_mapping(a, PARTS);
	size_t pages;

	if (!map)
		return NULL;
	*from = map->addr;
	*len = map->len;
	pages = (map->len + PAGE - 1) / PAGE;
	if (one_in(a, 2) && pages) {
		*from += below(a, pages) * PAGE;
		*len = (1 + below(a, pages)) * PAGE;
	}
	if (one_in(a, 32))
		*from += below(a, PAGE);
	return map;
}

long op_munmap(struct actor *a)
{
	uintptr_t from;
	size_t len;
	struct mapping *map = pick_pages(a, &from, &len);

	if (!map)
		return -ENOMEM;
	if (from == map->addr && len == map->len)
		map->addr = 0;	/* the part that remains is accessed like other memory */
	return sys(SYS_munmap, from, len);
}

long op_mremap(struct actor *a)
{
	uintptr_t from, to = 0;
	size_t len, new_len;
	struct mapping *map = pick_pages(a, &from, &len);
	unsigned int flags = MREMAP_MAYMOVE;
	long ret;

	if (!map)
		return -ENOMEM;
	new_len = len;
	switch (below(a, 6)) {
	case 0:
		new_len += PAGE * (1 + below(a, 4));
		break;
	case 1:
		new_len = PAGE * (1 + below(a, len / PAGE + 1));
		break;
	case 2:
		len = 0;	/* a length of 0 maps the same memory a second time */
		break;
	case 3:
		flags |= MREMAP_DONTUNMAP;
		break;
	default:
		break;
	}
	if (one_in(a, 2) && new_len <= 1UL << 20) {
		flags |= MREMAP_FIXED;
		to = playground(a);
	}
	ret = sys(SYS_mremap, from, len, new_len, flags, to);
	if (ret > 0) {
		struct mapping old = *map;

		/* Forget the part of the mapping that remains at the old address. */
		if (len && !(flags & MREMAP_DONTUNMAP))
			map->addr = 0;
		map = add_mapping(a, ret, new_len);
		old.addr = ret;
		old.len = new_len;
		*map = old;
	}
	return ret;
}

long op_mprotect(struct actor *a)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_WRITE,
		PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC,
	};
	uintptr_t from;
	size_t len;

	if (!pick_pages(a, &from, &len))
		return -ENOMEM;
	return sys(SYS_mprotect, from, len, prots[below(a, ARRAY_SIZE(prots))]);
}

long op_madvise(struct actor *a)
{
	static const int advices[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE,
		MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_DOFORK, MADV_MERGEABLE,
		MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK,
		MADV_KEEPONFORK, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE,
	};
	uintptr_t from;
	size_t len;

	if (!pick_pages(a, &from, &len))
		return -ENOMEM;
	return sys(SYS_madvise, from, len, advices[below(a, ARRAY_SIZE(advices))]);
}

/* Other operations on ranges of memory. */
long op_mlock(struct actor *a)
{
	uintptr_t from;
	size_t len;

	if (!pick_pages(a, &from, &len))
		return -ENOMEM;
	switch (below(a, 4)) {
	case 0:
		return sys(SYS_mlock, from, len);
	case 1:
		return sys(SYS_munlock, from, len);
	case 2:
		return sys(SYS_msync, from, len, MS_SYNC);
	default:
		return sys(SYS_mincore, from, len < 1UL << 20 ? len : 1UL << 20,
			   a->arena + ARENA_DATA);
	}
}
