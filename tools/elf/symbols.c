// SPDX-License-Identifier: GPL-2.0
/*
 * Locations of events: see symbols.h. Paths come from the log, which may be forged: open only
 * regular files, and check the build id if the log has it. Each file is a separate module in
 * libdwfl, so addresses of different files never collide.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "elf/debuginfod.h"
#include "elf/jitmaps.h"
#include "elf/kept.h"
#include "elf/symbols.h"
#include "elf/symtab.h"
#include "util/escape.h"
#include "util/message.h"

#define FILES_MAX	256	/* opened files */
#define CACHED		4096	/* locations; a power of two */
/* Load address for a module that is only known by its build id. */
#define ANY_ADDRESS	0x100000

/* Address range of a compilation unit. */
struct range {
	Dwarf_Addr begin;
	Dwarf_Addr end;
	Dwarf_Off unit;
};

/* A file with code; dwfl is NULL if its symbols cannot be read. */
struct file {
	char *path;
	unsigned char build_id[sizeof(((struct posixtrace_mapping_info *)0)->build_id)];
	unsigned int build_id_size;
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct symtab functions;
	bool has_functions;	/* @functions is filled */
	struct range *ranges;	/* address ranges of its units, sorted; NULL: not read */
	size_t nr_ranges;
};

/* A location by file and offset. The strings belong to libdw until the file is closed. */
struct cached {
	const struct file *file;	/* NULL: empty entry */
	uint64_t offset;
	struct location location;
};

/**
 * struct symbols - files and locations
 * @root: directory with the files of the traced machine, or -1
 * @root_path: its absolute path, or NULL
 * @debug_path: directories with separate debug information; NULL: the defaults of libdwfl
 * @kept: copies of programs and libraries
 * @callbacks: functions that libdwfl calls
 * @files: files that were opened or could not be opened
 * @nr_files: number of @files
 * @last: the last file used, or NULL
 * @too_many: the limit of files was reported
 * @info: mapping found by the last lookup
 * @maps: perf maps
 * @cached: locations, hashed by file and offset
 */
struct symbols {
	int root;
	char *root_path;
	char *debug_path;
	struct kept kept;
	Dwfl_Callbacks callbacks;
	struct file files[FILES_MAX];
	size_t nr_files;
	struct file *last;
	bool too_many;
	struct posixtrace_mapping_info info;
	struct jitmaps *maps;
	struct cached cached[CACHED];
};

/* Uses the files below @root instead of the files of this machine. */
static int set_root(struct symbols *symbols, const char *root)
{
	symbols->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (symbols->root < 0)
		return -errno;
	symbols->root_path = realpath(root, NULL);
	if (!symbols->root_path)
		return -errno;
	/* The default path of libdwfl, plus the directory below @root. */
	if (asprintf(&symbols->debug_path, ":.debug:%s/usr/lib/debug:/usr/lib/debug",
		     symbols->root_path) < 0) {
		symbols->debug_path = NULL;
		return -ENOMEM;
	}
	symbols->callbacks.debuginfo_path = &symbols->debug_path;
	return 0;
}

int symbols_new(const char *root, struct symbols **symbols)
{
	struct symbols *new = calloc(1, sizeof(*new));
	int err = 0;

	if (!new)
		return -ENOMEM;
	new->root = -1;
	new->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	if (root)
		err = set_root(new, root);
	if (!err)
		err = jitmaps_new(new->root, new->root_path, &new->maps);
	if (err)
		symbols_free(new);
	else
		*symbols = new;
	return err;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->nr_files; i++) {
		dwfl_end(symbols->files[i].dwfl);
		free(symbols->files[i].path);
		free(symbols->files[i].ranges);
		symtab_free(&symbols->files[i].functions);
	}
	if (symbols->root >= 0)
		close(symbols->root);
	kept_close(&symbols->kept);
	free(symbols->root_path);
	free(symbols->debug_path);
	jitmaps_free(symbols->maps);
	free(symbols);
}

void symbols_add_log(struct symbols *symbols, const char *path)
{
	kept_add(&symbols->kept, path);
}

int symbols_learn(struct symbols *symbols, struct source *source, bool complete)
{
	return jitmaps_learn(symbols->maps, source, complete);
}

int symbols_event(struct symbols *symbols, const struct event *event)
{
	return jitmaps_event(symbols->maps, event);
}

/* ------------------------------------------------------------------ */
/* Files								*/

static Dwfl *begin_session(const struct symbols *symbols, const struct file *file)
{
	Dwfl *dwfl = dwfl_begin(&symbols->callbacks);

	if (dwfl)
		debuginfod_watch(dwfl, file->path);
	return dwfl;
}

static void close_file(struct file *file)
{
	dwfl_end(file->dwfl);
	file->dwfl = NULL;
	file->module = NULL;
}

/* Opens a path. ".." and links cannot leave the directory @root, unless it is -1. */
static int open_path(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT,
	};

	if (root < 0)
		return open(path, flags | O_CLOEXEC);
	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool is_special(int root, const char *path)
{
	int fd = open_path(root, path, O_PATH);
	struct stat stat_of;
	bool special = fd >= 0 && !fstat(fd, &stat_of) && !S_ISREG(stat_of.st_mode);

	if (fd >= 0)
		close(fd);
	return special;
}

/* Returns a descriptor, or -1 and the reason in *why. Does not open FIFOs or devices. */
static int open_elf(int root, const char *path, const char **why)
{
	char magic[SELFMAG];
	struct stat stat_of;
	int fd = -1;

	*why = NULL;
	if (is_special(root, path))
		*why = "not a regular file";
	else
		fd = open_path(root, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		*why = *why ? *why : strerror(errno);
		return -1;
	}
	/* Files in /proc are regular, but have no size. */
	if (fstat(fd, &stat_of) || !S_ISREG(stat_of.st_mode))
		*why = "not a regular file";
	else if (!stat_of.st_size || pread(fd, magic, SELFMAG, 0) != SELFMAG ||
		 memcmp(magic, ELFMAG, SELFMAG))
		*why = "not a program or library";
	else
		return fd;
	close(fd);
	return -1;
}

static bool is_traced_file(const struct file *file)
{
	const unsigned char *bits = NULL;
	GElf_Addr address;
	int size;

	if (!file->build_id_size)
		return true;
	size = dwfl_module_build_id(file->module, &bits, &address);
	return size == (int)file->build_id_size && !memcmp(bits, file->build_id, (size_t)size);
}

/* Takes ownership of the descriptor. Returns NULL, or the reason why the file cannot be used. */
static const char *open_fd(const struct symbols *symbols, struct file *file, int fd)
{
	char *path = NULL;
	const char *why;

	file->dwfl = begin_session(symbols, file);
	/* Separate debug information may be beside the file. */
	if (symbols->root >= 0 && asprintf(&path, "%s%s", symbols->root_path, file->path) < 0)
		path = NULL;
	/* Use the link-time addresses. On success, libdwfl owns the descriptor. */
	if (file->dwfl)
		file->module = dwfl_report_elf(file->dwfl, file->path, path ? path : file->path, fd,
					       0, true);
	free(path);
	if (!file->module) {
		why = dwfl_errmsg(-1);
		close(fd);
		close_file(file);
		return why;
	}
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (is_traced_file(file))
		return NULL;
	close_file(file);
	return "not the file that was traced: its build id differs";
}

/* Opens the file that currently has the path. Returns NULL, or the reason why it cannot be used. */
static const char *open_by_path(const struct symbols *symbols, struct file *file)
{
	const char *why;
	int fd;

	/* A relative path would depend on the current directory. */
	if (file->path[0] != '/')
		return "its path is not known";
	fd = open_elf(symbols->root, file->path, &why);
	return fd < 0 ? why : open_fd(symbols, file, fd);
}

/* Opens the copy of the file in @dir. */
static bool open_copy(const struct symbols *symbols, struct file *file, int dir)
{
	char name[KEPT_NAME_SIZE];
	const char *why;
	int fd;

	if (dir < 0 || !kept_name(file->build_id, file->build_id_size, name))
		return false;
	fd = open_elf(dir, name, &why);
	return fd >= 0 && !open_fd(symbols, file, fd);
}

static bool open_kept(const struct symbols *symbols, struct file *file)
{
	bool found = open_copy(symbols, file, symbols->root);

	for (size_t i = 0; i < symbols->kept.nr_dirs && !found; i++)
		found = open_copy(symbols, file, symbols->kept.dirs[i]);
	return found;
}

/* Searches the debug information directories and debuginfod servers for the file. */
static bool open_by_build_id(const struct symbols *symbols, struct file *file)
{
	GElf_Addr bias;

	if (!file->build_id_size)
		return false;
	file->dwfl = begin_session(symbols, file);
	if (file->dwfl)
		file->module = dwfl_report_module(file->dwfl, file->path, ANY_ADDRESS, INT64_MAX);
	if (file->module &&
	    !dwfl_module_report_build_id(file->module, file->build_id, file->build_id_size, 0) &&
	    !dwfl_report_end(file->dwfl, NULL, NULL) && dwfl_module_getelf(file->module, &bias) &&
	    is_traced_file(file))
		return true;
	close_file(file);
	return false;
}

static bool is_file(const struct file *file, const struct posixtrace_mapping_info *info)
{
	return file->build_id_size == info->build_id_size &&
	       !memcmp(file->build_id, info->build_id, sizeof(file->build_id)) &&
	       !strcmp(file->path, info->path);
}

static struct file *add_file(struct symbols *symbols)
{
	const struct posixtrace_mapping_info *info = &symbols->info;
	struct file *file = &symbols->files[symbols->nr_files];
	const char *why;

	if (symbols->nr_files == FILES_MAX) {
		if (!symbols->too_many)
			tell("more than %d programs and libraries: %s", FILES_MAX,
			     "functions and lines of the others are not shown");
		symbols->too_many = true;
		return NULL;
	}
	file->path = strdup(info->path);
	if (!file->path)
		return NULL;
	memcpy(file->build_id, info->build_id, sizeof(file->build_id));
	file->build_id_size = info->build_id_size;
	symbols->nr_files++;
	why = open_by_path(symbols, file);
	if (why && !open_kept(symbols, file) && !open_by_build_id(symbols, file) && file->path[0])
		tell("%s: %s; its functions and lines are not shown", file->path, why);
	return file;
}

/* Returns the file of the last mapping, or NULL. */
static struct file *find_file(struct symbols *symbols)
{
	if (symbols->last && is_file(symbols->last, &symbols->info))
		return symbols->last;
	symbols->last = NULL;
	for (size_t i = 0; i < symbols->nr_files && !symbols->last; i++) {
		if (is_file(&symbols->files[i], &symbols->info))
			symbols->last = &symbols->files[i];
	}
	if (!symbols->last)
		symbols->last = add_file(symbols);
	return symbols->last;
}

/* ------------------------------------------------------------------ */
/* Locations								*/

/* Returns the last @count components of the path. */
static const char *end_of_path(const char *path, int count)
{
	const char *at = path + strlen(path);

	while (at > path && !(at[-1] == '/' && --count == 0))
		at--;
	return at;
}

/* Converts a file offset to an address in the module; false if the offset is not loaded. */
static bool to_address(const struct file *file, uint64_t offset, GElf_Addr *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz) {
			*address = offset - segment.p_offset + segment.p_vaddr + bias;
			return true;
		}
	}
	return false;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *s = a, *t = b;

	return s->begin < t->begin ? -1 : s->begin > t->begin;
}

static void add_range(struct file *file, size_t *room, Dwarf_Addr begin, Dwarf_Addr end,
		      Dwarf_Off unit)
{
	if (file->nr_ranges == *room) {
		size_t more = *room ? 2 * *room : 64;
		struct range *ranges = reallocarray(file->ranges, more, sizeof(*ranges));

		if (!ranges)
			return;
		file->ranges = ranges;
		*room = more;
	}
	file->ranges[file->nr_ranges++] = (struct range){ begin, end, unit };
}

/* Reads the ranges of all units, because clang does not write .debug_aranges. */
static void find_ranges(struct file *file, Dwarf *dwarf)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Off at = 0, next;
	size_t room = 0, head;
	ptrdiff_t offset;
	Dwarf_Die unit;

	for (; !dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL); at = next) {
		if (!dwarf_offdie(dwarf, at + head, &unit))
			continue;
		offset = 0;
		while ((offset = dwarf_ranges(&unit, offset, &base, &begin, &end)) > 0)
			add_range(file, &room, begin, end, dwarf_dieoffset(&unit));
	}
	if (file->nr_ranges)
		qsort(file->ranges, file->nr_ranges, sizeof(*file->ranges), compare_ranges);
}

/* Finds the compilation unit of an address. */
static Dwarf_Die *find_unit(struct file *file, GElf_Addr address, Dwarf_Die *room, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(file->module, address, bias);
	Dwarf *dwarf = unit ? NULL : dwfl_module_getdwarf(file->module, bias);
	size_t low = 0, high, middle;

	if (!dwarf)
		return unit;
	if (!file->ranges)
		find_ranges(file, dwarf);
	address -= *bias;
	for (high = file->nr_ranges; low < high;) {
		middle = low + (high - low) / 2;
		if (file->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= file->ranges[low - 1].end)
		return NULL;
	return dwarf_offdie(dwarf, file->ranges[low - 1].unit, room);
}

/* Checks if the path is a header of the library, such as <posixtrace/trace.h>. */
static bool is_our_header(const char *path)
{
	static const char directory[] = "posixtrace/";
	const char *dot = strrchr(path, '.');

	return dot && (!strcmp(dot, ".h") || !strcmp(dot, ".hpp")) &&
	       !strncmp(end_of_path(path, 2), directory, sizeof(directory) - 1);
}

/* Sets the location to the place where the code of @die was inlined. */
static void set_caller(Dwarf_Files *files, Dwarf_Die *die, struct location *location)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    !dwarf_filesrc(files, file, NULL, NULL))
		return;
	location->file = dwarf_filesrc(files, file, NULL, NULL);
	location->line = (int)line;
}

/* Replaces a location in an inline function of our headers by the location of its caller. */
static void leave_our_headers(Dwarf_Die *unit, Dwarf_Addr address, struct location *location)
{
	Dwarf_Die *scopes = NULL, *outer = NULL;
	Dwarf_Files *files;
	int count = 0;

	if (!dwarf_getsrcfiles(unit, &files, NULL) && dwarf_getscopes(unit, address, &scopes) > 0)
		count = dwarf_getscopes_die(&scopes[0], &outer);
	for (int i = 0; i < count && is_our_header(location->file); i++) {
		if (dwarf_tag(&outer[i]) == DW_TAG_inlined_subroutine)
			set_caller(files, &outer[i], location);
	}
	free(outer);
	free(scopes);
}

/* Reads the functions from the file or its separate debug information. */
static void find_functions(struct file *file)
{
	int count = dwfl_module_getsymtab(file->module);
	const char *name;
	GElf_Addr address;
	GElf_Word index;
	GElf_Sym symbol;
	bool full = false;

	file->has_functions = true;
	for (int i = 0; i < count && !full; i++) {
		name = dwfl_module_getsym_info(file->module, i, &symbol, &address, &index, NULL,
					       NULL);
		full = symtab_add(&file->functions, &symbol, address, name);
	}
	symtab_sort(&file->functions);
}

/* Finds the location of the instruction that contains or ends at @offset of the file. */
static void look_up(struct file *file, uint64_t offset, struct location *location)
{
	GElf_Addr address, bias;
	Dwarf_Die room, *unit;
	Dwarf_Line *line;
	uint64_t begin;

	if (!file->dwfl || !to_address(file, offset, &address))
		return;
	if (!file->has_functions)
		find_functions(file);
	location->function = symtab_find(&file->functions, address, &begin);
	location->function_offset = location->function ? address - begin + 1 : 0;
	unit = find_unit(file, address, &room, &bias);
	line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	if (line && !dwarf_lineno(line, &location->line) && location->line)
		location->file = dwarf_linesrc(line, NULL, NULL);
	if (location->file && is_our_header(location->file))
		leave_our_headers(unit, address - bias, location);
}

static const struct location *find_location(struct symbols *symbols, struct file *file,
					    uint64_t offset)
{
	uint64_t hash = (offset ^ (uint64_t)(file - symbols->files) << 40) * 0x9e3779b97f4a7c15ULL;
	struct cached *cached = &symbols->cached[(hash >> 32) % CACHED];

	if (cached->file != file || cached->offset != offset) {
		*cached = (struct cached){ .file = file, .offset = offset };
		look_up(file, offset, &cached->location);
	}
	return &cached->location;
}

/* Can the mapping contain code from a JIT compiler? Named anonymous memory looks like a file. */
static bool is_memory(const struct posixtrace_mapping_info *info)
{
	static const char *const begins[] = { "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (!info->build_id_size && !strncmp(info->path, begins[i], strlen(begins[i])))
			return true;
	}
	return false;
}

static bool find_in_map(struct symbols *symbols, const struct event *event, uint64_t address,
			struct location *location)
{
	uint64_t begin = 0;

	*location = (struct location){ .is_map = true };
	location->function = jitmaps_find(symbols->maps, event, address, &begin,
					  &location->module);
	location->function_offset = address - begin + 1;
	return location->function;
}

bool symbols_find(struct symbols *symbols, const struct event *event, struct location *location)
{
	struct posixtrace_mapping_info *info = &symbols->info;
	struct file *file;
	/*
	 * The address is a return address. Subtract 1, because the call may be the function's last
	 * instruction.
	 */
	const uint64_t address = event->address - 1;
	uint64_t offset;
	bool mapped;

	if (!event->address)
		return false;
	mapped = source_get_mapping(event->source, event, address, info);
	if ((!mapped || is_memory(info)) && find_in_map(symbols, event, address, location))
		return true;
	if (!mapped)
		return false;
	offset = address - info->address + info->offset;
	file = find_file(symbols);
	*location = file ? *find_location(symbols, file, offset) : (struct location){};
	location->module = info->path;
	location->module_offset = offset + 1;
	return location->function || location->file || info->path[0];
}

/* ------------------------------------------------------------------ */
/* Output								*/

static void put_text(struct buffer *to, const char *text)
{
	escape_plain(to, text, strlen(text));
}

void symbols_text(struct buffer *to, const struct location *location)
{
	if (location->function) {
		put_text(to, location->function);
		buffer_printf(to, "+0x%" PRIx64, location->function_offset);
	} else {
		put_text(to, end_of_path(location->module, 1));
		buffer_printf(to, "+0x%" PRIx64, location->module_offset);
	}
	if (location->file) {
		buffer_text(to, " (");
		put_text(to, end_of_path(location->file, 2));
		buffer_printf(to, ":%d)", location->line);
	}
}

static void put_member(struct buffer *to, const char *name, const char *text)
{
	buffer_printf(to, ",\"%s\":", name);
	escape_string(to, text, strlen(text), false);
}

void symbols_json(struct buffer *to, const struct location *location)
{
	put_member(to, "module", location->module);
	if (!location->is_map)
		buffer_printf(to, ",\"module_offset\":\"0x%" PRIx64 "\"",
			      location->module_offset);
	if (location->function) {
		put_member(to, "function", location->function);
		buffer_printf(to, ",\"function_offset\":\"0x%" PRIx64 "\"",
			      location->function_offset);
	}
	if (location->file) {
		put_member(to, "file", location->file);
		buffer_printf(to, ",\"line\":%d", location->line);
	}
}
