// SPDX-License-Identifier: GPL-2.0
/*
 * Where glibc waits for a mutex: see lock_wait.h.
 *
 * glibc waits in the function "__lll_lock_wait", which is not exported. In a file without a symbol
 * table, it is located by two exported functions of the same source file: it lies after
 * "__lll_lock_wait_private", which waits for the library's internal locks, and before
 * "__lll_lock_wake_private". If the path of the file comes from a log, the build id must be that in
 * the log.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/lock_wait.h"
#include "event/source.h"

/*
 * Largest distance, in bytes, between the two "_private" functions. If they are further apart, the
 * linker has put functions of other files between them.
 */
#define SPAN_MAX	512

/**
 * struct range - a part of a file
 * @begin: offset of its first byte
 * @end: offset after its last byte; equal to @begin if the function was not found
 */
struct range {
	uint64_t begin;
	uint64_t end;
};

struct lock_wait {
	bool looked;		/* @info and @range are valid */
	pid_t pid;
	struct posixtrace_mapping_info info;	/* mapping found by the last lookup */
	struct range range;
};

/* Addresses of symbols; 0: not found. */
struct found {
	GElf_Addr begin;	/* __lll_lock_wait */
	GElf_Addr end;
	GElf_Addr after_private;	/* end of __lll_lock_wait_private */
	GElf_Addr wake;		/* __lll_lock_wake_private */
};

int lock_wait_new(struct lock_wait **cache)
{
	*cache = calloc(1, sizeof(**cache));
	return *cache ? 0 : -ENOMEM;
}

void lock_wait_free(struct lock_wait *cache)
{
	free(cache);
}

static void note_symbol(struct found *found, const char *name, const GElf_Sym *symbol)
{
	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_value || !symbol->st_size)
		return;
	if (!strcmp(name, "__lll_lock_wait")) {
		found->begin = symbol->st_value;
		found->end = symbol->st_value + symbol->st_size;
	} else if (!strcmp(name, "__lll_lock_wait_private")) {
		found->after_private = symbol->st_value + symbol->st_size;
	} else if (!strcmp(name, "__lll_lock_wake_private")) {
		found->wake = symbol->st_value;
	}
}

static void note_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct found *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	const char *name;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		if (!gelf_getsym(data, (int)i, &symbol))
			return;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name)
			note_symbol(found, name, &symbol);
	}
}

static struct found find_symbols(Elf *elf)
{
	struct found found = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			note_table(elf, section, &header, &found);
	}
	if (!found.begin && found.after_private < found.wake &&
	    found.wake - found.after_private < SPAN_MAX) {
		found.begin = found.after_private;
		found.end = found.wake;
	}
	return found;
}

/* Converts addresses to offsets in the file. */
static struct range to_range(Elf *elf, const struct found *found)
{
	struct range range = { 0 };
	GElf_Phdr segment;
	size_t count;

	if (!found->begin || elf_getphdrnum(elf, &count))
		return range;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    found->begin < segment.p_vaddr ||
		    found->begin - segment.p_vaddr >= segment.p_filesz)
			continue;
		range.begin = found->begin - segment.p_vaddr + segment.p_offset;
		range.end = range.begin + (found->end - found->begin);
		break;
	}
	return range;
}

static bool is_mapped_file(Elf *elf, const struct posixtrace_mapping_info *info, bool is_log)
{
	const void *id;
	ssize_t size;

	/* For a living process, the path leads through /proc to the file that is mapped. */
	if (!is_log)
		return true;
	size = dwelf_elf_gnu_build_id(elf, &id);
	return size > 0 && size == (ssize_t)info->build_id_size &&
	       !memcmp(id, info->build_id, (size_t)size);
}

static struct range read_elf(int fd, const struct posixtrace_mapping_info *info, bool is_log)
{
	struct range range = { 0 };
	struct found found;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return range;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && is_mapped_file(elf, info, is_log)) {
		found = find_symbols(elf);
		range = to_range(elf, &found);
	}
	elf_end(elf);
	return range;
}

/* Returns the range in the mapped file; empty if that is not a regular file. */
static struct range read_file(pid_t pid, const struct posixtrace_mapping_info *info, bool is_log)
{
	char path[POSIXTRACE_PATH_SIZE + 32];
	struct range range = { 0 };
	struct stat stat;
	int fd;

	if (info->path[0] != '/')
		return range;
	/* Open the file below the root directory of the process, which may be in a container. */
	if (is_log)
		snprintf(path, sizeof(path), "%s", info->path);
	else
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, info->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return range;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size)
		range = read_elf(fd, info, is_log);
	close(fd);
	return range;
}

bool lock_wait_has(struct lock_wait *cache, const struct event *event)
{
	struct posixtrace_mapping_info info;
	uint64_t offset;

	if (!source_get_mapping(event->source, event, event->address, &info))
		return false;
	if (!cache->looked || cache->pid != event->pid || strcmp(cache->info.path, info.path) ||
	    memcmp(cache->info.build_id, info.build_id, sizeof(info.build_id)))
		cache->range = read_file(event->pid, &info, source_is_log(event->source));
	cache->looked = true;
	cache->pid = event->pid;
	cache->info = info;
	offset = event->address - info.address + info.offset;
	return offset >= cache->range.begin && offset < cache->range.end;
}
