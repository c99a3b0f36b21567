// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points in an ELF file. The macros of <posixtrace/points.h> write a note for each trace
 * point into the section .note.posixtrace, with owner "posixtrace" and type 1:
 *
 *	the address of the place, in the size of the file's pointers
 *	u32 line
 *	strings: name of the event type, description of its fields, name of the source file
 *
 * If the compiler duplicates a place, each copy has its own note. If the file has symbols, the
 * address identifies the function.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/points.h"
#include "elf/symtab.h"
#include "util/escape.h"
#include "util/message.h"

#define SECTION		".note.posixtrace"
#define OWNER		"posixtrace"
#define TYPE		1

/* A place in the code with a trace point. The strings belong to the file or are constants. */
struct place {
	const char *name;
	const char *fields;
	const char *file;
	const char *function;	/* "" if it is unknown */
	uint32_t line;
};

struct points {
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	struct place *places;
	size_t nr_places;
	struct symtab functions;
};

bool points_are_in(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG];
	bool found;

	if (fd < 0)
		return false;
	found = pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		memcmp(magic, ELFMAG, SELFMAG) == 0;
	close(fd);
	return found;
}

/* Doubles the array when the number of elements is a power of two. */
static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

/* ------------------------------------------------------------------ */
/* Functions								*/

/* Do not read compressed strings: they could expand to a thousand times the size of the file. */
static bool is_compressed(const struct points *points, size_t section)
{
	GElf_Shdr header;

	return !gelf_getshdr(elf_getscn(points->elf, section), &header) ||
	       header.sh_flags & SHF_COMPRESSED;
}

static int read_symbols(struct points *points, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	int err = 0;

	if (is_compressed(points, header->sh_link))
		return 0;
	for (int i = 0; !err && data && gelf_getsym(data, i, &symbol); i++)
		err = symtab_add(&points->functions, &symbol, symbol.st_value,
				 elf_strptr(points->elf, header->sh_link, symbol.st_name));
	return err;
}

/*
 * A valid file has at most one table of a type. A forged file may have thousands that share their
 * bytes.
 */
static int load_table(struct points *points, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(points->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return read_symbols(points, section, &header);
	}
	return 0;
}

/* A stripped file has only the dynamic symbols, which are a subset of all symbols. */
static int load_symbols(struct points *points)
{
	int err = load_table(points, SHT_SYMTAB);

	if (!err && !points->functions.count)
		err = load_table(points, SHT_DYNSYM);
	symtab_sort(&points->functions);
	return err;
}

/* ------------------------------------------------------------------ */
/* Notes								*/

/* Returns the string at *at and advances past it; NULL if it is not terminated before @end. */
static const char *read_string(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static bool read_place(const struct points *points, const char *at, size_t size,
		       struct place *place)
{
	size_t width = gelf_getclass(points->elf) == ELFCLASS64 ? 8 : 4;
	const char *end = at + size;
	uint64_t address = 0;

	if (size < width + sizeof(place->line))
		return false;
	/* Little-endian, like all machines that the library supports. */
	memcpy(&address, at, width);
	at += width;
	memcpy(&place->line, at, sizeof(place->line));
	at += sizeof(place->line);
	place->name = read_string(&at, end);
	place->fields = place->name ? read_string(&at, end) : NULL;
	place->file = place->fields ? read_string(&at, end) : NULL;
	place->function = "";
	if (!place->file)
		return false;
	/* In object files, the addresses are not determined yet. */
	if (points->header.e_type == ET_REL)
		return true;
	/* The address is 0 if the linker has removed the code but not the note. */
	if (!address)
		return false;
	place->function = symtab_find(&points->functions, address, NULL) ?: "";
	return true;
}

static int add_place(struct points *points, const struct place *place)
{
	struct place *grown = grow(points->places, points->nr_places, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	points->places = grown;
	points->places[points->nr_places++] = *place;
	return 0;
}

static int read_notes(struct points *points, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name, desc;
	struct place place;
	GElf_Nhdr note;
	int err = 0;

	while (!err && data && (offset = gelf_getnote(data, offset, &note, &name, &desc)) > 0) {
		const char *at = data->d_buf;

		if (note.n_type == TYPE && note.n_namesz == sizeof(OWNER) &&
		    memcmp(at + name, OWNER, sizeof(OWNER)) == 0 &&
		    read_place(points, at + desc, note.n_descsz, &place))
			err = add_place(points, &place);
	}
	return err;
}

static int load_notes(struct points *points)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	struct stat stat;
	size_t names, count;
	uint64_t left;
	int err = 0;

	if (elf_getshdrnum(points->elf, &count) || (!count && points->header.e_shoff))
		return -ENOEXEC;
	/* A program need not have sections. */
	if (!count)
		return 0;
	if (elf_getshdrstrndx(points->elf, &names) || is_compressed(points, names) ||
	    fstat(points->fd, &stat))
		return -ENOEXEC;
	left = (uint64_t)stat.st_size;
	while (!err && (section = elf_nextscn(points->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		name = elf_strptr(points->elf, names, header.sh_name);
		if (!name || strcmp(name, SECTION) != 0)
			continue;
		/* Sections must not overlap, so their sizes add up to at most the file size. */
		if (header.sh_size > left)
			return -ENOEXEC;
		left -= header.sh_size;
		err = read_notes(points, section);
	}
	return err;
}

static int compare_points(const struct place *a, const struct place *b)
{
	int order = strcmp(a->name, b->name);

	if (!order)
		order = strcmp(a->fields, b->fields);
	if (!order)
		order = strcmp(a->file, b->file);
	if (!order && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	return order;
}

/* Ignores the suffix of function parts such as "work.cold". */
static int function_len(const char *function)
{
	return (int)(*function ? 1 + strcspn(function + 1, ".") : 0);
}

static int compare_functions(const struct place *a, const struct place *b)
{
	int a_len = function_len(a->function), b_len = function_len(b->function);
	int order = strncmp(a->function, b->function, (size_t)(a_len < b_len ? a_len : b_len));

	return order ? order : a_len - b_len;
}

static int compare_places(const void *a, const void *b)
{
	int order = compare_points(a, b);

	return order ? order : compare_functions(a, b);
}

static void points_close(struct points *points)
{
	free(points->places);
	symtab_free(&points->functions);
	if (points->elf)
		elf_end(points->elf);
	if (points->fd >= 0)
		close(points->fd);
}

static int points_open(const char *path, struct points *points)
{
	int err;

	*points = (struct points){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (points->fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	points->elf = elf_begin(points->fd, ELF_C_READ, NULL);
	if (!points->elf || elf_kind(points->elf) != ELF_K_ELF ||
	    !gelf_getehdr(points->elf, &points->header) ||
	    points->header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	err = load_symbols(points);
	if (!err)
		err = load_notes(points);
	if (!err && points->nr_places)
		qsort(points->places, points->nr_places, sizeof(*points->places), compare_places);
	return err;
}

/* ------------------------------------------------------------------ */
/* Output								*/

static void print_text(const char *text, size_t len)
{
	struct buffer buffer = { };

	escape_plain(&buffer, text, len);
	if (buffer.len && !buffer.failed)
		fwrite(buffer.data, 1, buffer.len, stdout);
	buffer_free(&buffer);
}

static void print_point(const struct place *place)
{
	printf("  ");
	print_text(place->name, strlen(place->name));
	if (*place->fields)
		putchar(' ');
	print_text(place->fields, strlen(place->fields));
	printf("\n      ");
	print_text(place->file, strlen(place->file));
	printf("%s%u", *place->file ? ":" : "line ", place->line);
}

/* Returns how many different field descriptions the event type at this place has. */
static size_t count_fields(const struct points *points, size_t first)
{
	const struct place *places = points->places;
	size_t count = 1;

	for (size_t i = first + 1;
	     i < points->nr_places && !strcmp(places[i].name, places[first].name); i++)
		count += !!strcmp(places[i].fields, places[i - 1].fields);
	return count;
}

/*
 * Prints the names that open_point() in lib/record/point.c replaces. @points is sorted by name,
 * then by fields.
 */
static void print_names(const struct points *points)
{
	const struct place *places = points->places;
	bool any = false;

	for (size_t i = 0; i < points->nr_places; i++) {
		size_t count;

		if (i && !strcmp(places[i - 1].name, places[i].name))
			continue;
		count = count_fields(points, i);
		if (count < 2)
			continue;
		if (!any)
			printf("one name, different fields (the second one reached is NAME#2):\n");
		any = true;
		printf("  ");
		print_text(places[i].name, strlen(places[i].name));
		printf("  %zu\n", count);
	}
}

int points_list(const char *path)
{
	struct points points;
	int err = points_open(path, &points);

	if (err) {
		if (err == -ENOEXEC)
			tell("%s: the ELF file is damaged", path);
		else
			complain(path, -err);
		points_close(&points);
		return 1;
	}
	printf("trace points:%s\n", points.nr_places ? "" : " none");
	for (size_t i = 0; i < points.nr_places; i++) {
		const struct place *place = &points.places[i];
		const struct place *last = i ? place - 1 : NULL;
		bool same = last && !compare_points(last, place);

		if (!same) {
			if (last)
				putchar('\n');
			print_point(place);
		}
		if (*place->function && !(same && !compare_functions(last, place))) {
			printf(same && *last->function ? ", " : "  ");
			print_text(place->function, (size_t)function_len(place->function));
		}
	}
	if (points.nr_places)
		putchar('\n');
	print_names(&points);
	points_close(&points);
	return 0;
}
