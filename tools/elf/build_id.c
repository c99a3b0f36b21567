// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the build id of a file: see build_id.h. libelf reads each note as a whole, and notes can be
 * as large as a file that root is told to copy.
 */
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "elf/build_id.h"

#define SEGMENTS_MAX	64
#define NOTES_MAX	4096	/* bytes of notes read from a segment */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE		ELFDATA2LSB
#else
#define NATIVE		ELFDATA2MSB
#endif

/* The part of a file header that both classes have, in their own sizes. */
struct segments {
	uint64_t offset;
	unsigned int size;	/* of an entry */
	unsigned int count;
};

struct notes {
	uint64_t offset;
	uint64_t size;
	size_t align;
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Reads the header of the file. Returns the class, or ELFCLASSNONE. */
static int read_header(int fd, struct segments *segments)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;

	if (!read_at(fd, head.ident, sizeof(head.ident), 0) ||
	    memcmp(head.ident, ELFMAG, SELFMAG) || head.ident[EI_DATA] != NATIVE)
		return ELFCLASSNONE;
	if (head.ident[EI_CLASS] == ELFCLASS64 && read_at(fd, &head.wide, sizeof(head.wide), 0)) {
		segments->offset = head.wide.e_phoff;
		segments->size = head.wide.e_phentsize;
		segments->count = head.wide.e_phnum;
		return segments->size == sizeof(Elf64_Phdr) ? ELFCLASS64 : ELFCLASSNONE;
	}
	if (head.ident[EI_CLASS] == ELFCLASS32 &&
	    read_at(fd, &head.narrow, sizeof(head.narrow), 0)) {
		segments->offset = head.narrow.e_phoff;
		segments->size = head.narrow.e_phentsize;
		segments->count = head.narrow.e_phnum;
		return segments->size == sizeof(Elf32_Phdr) ? ELFCLASS32 : ELFCLASSNONE;
	}
	return ELFCLASSNONE;
}

/* Reads the header of a segment. Returns true if it has notes. */
static bool read_segment(int fd, int class, uint64_t offset, struct notes *notes)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (class == ELFCLASS64) {
		if (!read_at(fd, &wide, sizeof(wide), offset) || wide.p_type != PT_NOTE)
			return false;
		*notes = (struct notes){ wide.p_offset, wide.p_filesz, wide.p_align };
	} else {
		if (!read_at(fd, &narrow, sizeof(narrow), offset) || narrow.p_type != PT_NOTE)
			return false;
		*notes = (struct notes){ narrow.p_offset, narrow.p_filesz, narrow.p_align };
	}
	notes->align = notes->align == 8 ? 8 : 4;
	return true;
}

static size_t align_up(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

/* Looks for the build id in notes. Returns NULL, or the id after storing its size. */
static const unsigned char *find_id(const unsigned char *bytes, size_t size, size_t align,
				    size_t *id_size)
{
	Elf32_Nhdr note;	/* the same in both classes */
	size_t at = 0, name, id;

	while (size - at >= sizeof(note)) {
		memcpy(&note, bytes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > size - name)
			return NULL;
		id = align_up(name + note.n_namesz, align);
		if (id > size || note.n_descsz > size - id)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id_size = note.n_descsz;
			return bytes + id;
		}
		at = align_up(id + note.n_descsz, align);
		if (at > size)
			return NULL;
	}
	return NULL;
}

bool build_id_is(int fd, const unsigned char *id, size_t size)
{
	unsigned char bytes[NOTES_MAX];
	const unsigned char *found = NULL;
	struct segments segments;
	int class = read_header(fd, &segments);
	size_t found_size = 0, len;
	struct notes notes;

	if (class == ELFCLASSNONE || segments.offset > INT64_MAX / 2)
		return false;
	for (unsigned int i = 0; i < segments.count && i < SEGMENTS_MAX && !found; i++) {
		if (!read_segment(fd, class, segments.offset + (uint64_t)i * segments.size,
				  &notes))
			continue;
		len = notes.size < NOTES_MAX ? (size_t)notes.size : NOTES_MAX;
		if (read_at(fd, bytes, len, notes.offset))
			found = find_id(bytes, len, notes.align, &found_size);
	}
	return found && found_size == size && !memcmp(found, id, size);
}
