// SPDX-License-Identifier: GPL-2.0
/*
 * Decides if a program records its own events. A program does if it has the section that
 * <posixtrace/points.h> writes, needs the shared library, or defines one of the library's
 * functions.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/traceable.h"

#define SECTION		".note.posixtrace"
#define LIBRARY		"libposixtrace.so"
#define FUNCTION	"posix_trace_event"

/* Read at most this many entries of a table: a forged file may claim any number. */
#define ENTRIES_MAX	(1 << 20)

#define DEFAULT_PATH	"/bin:/usr/bin"

/* Returns the number of entries to read of a table. */
static int count_entries(const GElf_Shdr *header)
{
	const GElf_Xword count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	return count < ENTRIES_MAX ? (int)count : ENTRIES_MAX;
}

static bool needs_library(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *name;
	GElf_Dyn entry;

	for (int i = 0; data && i < count_entries(header); i++) {
		if (!gelf_getdyn(data, i, &entry) || entry.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		if (name && !strncmp(name, LIBRARY, strlen(LIBRARY)))
			return true;
	}
	return false;
}

static bool defines_function(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *name;
	GElf_Sym symbol;

	for (int i = 0; data && i < count_entries(header); i++) {
		if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && !strcmp(name, FUNCTION))
			return true;
	}
	return false;
}

static bool section_tells(Elf *elf, Elf_Scn *section, size_t names)
{
	const char *name;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return false;
	switch (header.sh_type) {
	case SHT_NOTE:
		name = elf_strptr(elf, names, header.sh_name);
		return name && !strcmp(name, SECTION);
	case SHT_DYNAMIC:
		return needs_library(elf, section, &header);
	case SHT_SYMTAB:
		return defines_function(elf, section, &header);
	default:
		return false;
	}
}

static bool file_tells(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (section_tells(elf, section, names))
			return true;
	}
	return false;
}

/* Examines a file. A script is not an ELF file, so it has no trace points. */
static bool examine(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool tells = true;
	Elf *elf;

	if (fd < 0)
		return true;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf) {
		tells = elf_kind(elf) == ELF_K_ELF && file_tells(elf);
		elf_end(elf);
	}
	close(fd);
	return tells;
}

static bool is_program(const char *path)
{
	struct stat stat_buf;

	return !stat(path, &stat_buf) && S_ISREG(stat_buf.st_mode) && !access(path, X_OK);
}

bool traceable_program(const char *program)
{
	const char *dir = getenv("PATH") ?: DEFAULT_PATH;
	char path[PATH_MAX];
	size_t len;
	int size;

	if (strchr(program, '/'))
		return !is_program(program) || examine(program);
	for (; dir; dir = dir[len] ? dir + len + 1 : NULL) {
		len = strcspn(dir, ":");
		/* An empty entry of PATH means the current directory. */
		size = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dir, len ? "/" : "./",
				program);
		if (size < (int)sizeof(path) && is_program(path))
			return examine(path);
	}
	return true;
}
