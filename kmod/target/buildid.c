// SPDX-License-Identifier: GPL-2.0
/*
 * Build ids of the files a process has mapped, read from its memory. Do not trust the contents: the
 * process may have written anything there.
 */
#include <linux/align.h>
#include <linux/elf.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "target/buildid.h"

/* Type of the note with the build id; its name is "GNU". */
#define NOTE_BUILD_ID	3
#define SEGMENTS_MAX	64
/* Bytes read from a segment of notes. */
#define NOTES_SIZE	512

/* A mapping of the start of a file. */
struct image {
	u64 address;
	u64 length;
};

static bool read_image(const struct image *image, u64 offset, void *to, size_t size)
{
	if (offset > image->length || image->length - offset < size)
		return false;
	return !copy_from_user(to, u64_to_user_ptr(image->address + offset), size);
}

/* Extract the build id from notes. Returns its size in bytes; 0 if not found. */
static u32 find_note(const u8 *notes, u32 size, u8 *id)
{
	struct elf32_note note;	/* the same as elf64_note */
	u32 pos = 0, name, data;

	while (size - pos >= sizeof(note)) {
		memcpy(&note, notes + pos, sizeof(note));
		pos += sizeof(note);
		if (note.n_namesz > size - pos)
			return 0;
		name = pos;
		pos = min(ALIGN(pos + note.n_namesz, 4), size);
		if (note.n_descsz > size - pos)
			return 0;
		data = pos;
		pos = min(ALIGN(pos + note.n_descsz, 4), size);
		if (note.n_type != NOTE_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(notes + name, "GNU", sizeof("GNU")))
			continue;
		if (note.n_descsz > POSIXTRACE_LOG_BUILD_ID_SIZE)
			return 0;
		memcpy(id, notes + data, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

static u32 read_notes(const struct image *image, u64 offset, u64 size, u8 *id)
{
	u8 notes[NOTES_SIZE];

	size = min_t(u64, size, sizeof(notes));
	return read_image(image, offset, notes, size) ? find_note(notes, size, id) : 0;
}

/* Read the header of an ELF file. For 32 bits, fill in only the fields that are needed. */
static bool read_head(const struct image *image, bool is_64, struct elf64_hdr *to)
{
	struct elf32_hdr head;

	if (is_64)
		return read_image(image, 0, to, sizeof(*to));
	if (!read_image(image, 0, &head, sizeof(head)))
		return false;
	to->e_phoff = head.e_phoff;
	to->e_phnum = head.e_phnum;
	to->e_phentsize = head.e_phentsize;
	return true;
}

/* Read a program header. For 32 bits, fill in only the fields that are needed. */
static bool read_segment(const struct image *image, bool is_64, u64 offset, struct elf64_phdr *to)
{
	struct elf32_phdr segment;

	if (is_64)
		return read_image(image, offset, to, sizeof(*to));
	if (!read_image(image, offset, &segment, sizeof(segment)))
		return false;
	to->p_type = segment.p_type;
	to->p_offset = segment.p_offset;
	to->p_filesz = segment.p_filesz;
	return true;
}

static u32 read_elf(const struct image *image, bool is_64, u8 *id)
{
	u32 step = is_64 ? sizeof(struct elf64_phdr) : sizeof(struct elf32_phdr), i, size = 0;
	struct elf64_phdr segment;
	struct elf64_hdr head;

	if (!read_head(image, is_64, &head) || head.e_phentsize != step ||
	    head.e_phoff > image->length)
		return 0;
	for (i = 0; i < min_t(u32, head.e_phnum, SEGMENTS_MAX) && !size; i++) {
		if (!read_segment(image, is_64, head.e_phoff + (u64)i * step, &segment))
			return 0;
		if (segment.p_type == PT_NOTE)
			size = read_notes(image, segment.p_offset, segment.p_filesz, id);
	}
	return size;
}

/**
 * pxt_buildid_read() - read the build id of a file from the memory of the calling process
 * @address: where the start of the file is mapped
 * @length: bytes mapped there
 * @id: the build id
 *
 * Context: may sleep.
 * Return: bytes of the build id; 0 if not found.
 */
u32 pxt_buildid_read(u64 address, u64 length, u8 id[POSIXTRACE_LOG_BUILD_ID_SIZE])
{
	const struct image image = { .address = address, .length = length };
	u8 ident[EI_NIDENT];

	if (!read_image(&image, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG))
		return 0;
	switch (ident[EI_CLASS]) {
	case ELFCLASS32:
		return read_elf(&image, false, id);
	case ELFCLASS64:
		return read_elf(&image, true, id);
	default:
		return 0;
	}
}
