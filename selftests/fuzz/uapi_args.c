// SPDX-License-Identifier: GPL-2.0
/* The arguments of calls: existing objects, valid values, and corrupted ones. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "uapi_fuzz.h"

enum spoil {
	SPOIL_NONE,
	SPOIL_BITS,	/* some bits of the argument are wrong */
	SPOIL_WORD,	/* one word has a typical wrong value */
	SPOIL_WORD64,
	SPOIL_NOISE,	/* the whole argument is random */
	SPOIL_NULL,
	SPOIL_KERNEL,
	SPOIL_NO_ADDRESS,
	SPOIL_HALF,	/* only the first part of the argument is accessible */
	SPOIL_CONST,	/* the argument is read-only */
	SPOIL_MAPPED,	/* the argument is in memory of the device */
	SPOIL_SHARED,	/* the argument is shared with another thread */
	SPOIL_FILE,	/* use a different file */
	SPOIL_SIZE,	/* the command has a different size */
	SPOILS,
};

/*
 * Chooses how to spoil a call. Most calls are not spoiled, because an early error reaches little
 * code.
 */
uint8_t random_how(uint64_t *state)
{
	uint64_t r = next_random(state);
	uint8_t how = 0;

	if (r % 5 == 0)
		how = (r >> 8) % SPOILS;
	if ((r >> 16) % 16 == 0)
		how |= HOW_COMPAT;
	if ((r >> 24) % 8 == 0)
		how |= HOW_CHECKED;
	return how;
}

/* Picks a file at random, and returns the first file with the role from there on; NULL: none. */
struct file *pick_file(struct actor *a, enum role role)
{
	for (unsigned int i = 0; i < FILES_MAX; i++) {
		struct file *file = &a->objects->files[(a->call.pick + i) % FILES_MAX];

		if (file->fd && (role == ROLE_ANY || file->role == role))
			return file;
	}
	return NULL;
}

void drop_file(struct file *file)
{
	int fd = file->fd;

	file->fd = 0;
	if (fd)
		sys(SYS_close, fd);
}

/* Adds a file. If all places are in use, replaces and closes another file. */
struct file *add_file(struct actor *a, int fd)
{
	struct file *file = NULL;

	for (unsigned int i = 0; i < FILES_MAX && !file; i++)
		if (!a->objects->files[i].fd)
			file = &a->objects->files[i];
	if (!file) {
		file = &a->objects->files[a->call.pick % FILES_MAX];
		drop_file(file);
	}
	memset(file, 0, sizeof(*file));
	file->fd = fd;
	return file;
}

struct mapping *pick_mapping(struct actor *a, enum part part)
{
	for (unsigned int i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping *map = &a->objects->mappings[(a->call.pick + i) % MAPPINGS_MAX];

		if (map->addr && (part == PARTS || map->part == part))
			return map;
	}
	return NULL;
}

/* Returns a known view mapping of the stream that @reader belongs to, or NULL. */
struct mapping *view_of(struct actor *a, const struct mapping *reader)
{
	struct mapping *map = a->objects->mappings;

	for (; map < a->objects->mappings + MAPPINGS_MAX; map++)
		if (map->addr && map->part == PART_VIEW && map->stream == reader->stream)
			return map;
	return NULL;
}

void drop_mapping(struct mapping *map)
{
	uintptr_t addr = map->addr;

	map->addr = 0;
	if (addr)
		sys(SYS_munmap, addr, map->len);
}

struct mapping *add_mapping(struct actor *a, uintptr_t addr, size_t len)
{
	struct mapping *map = NULL;

	for (unsigned int i = 0; i < MAPPINGS_MAX && !map; i++)
		if (!a->objects->mappings[i].addr)
			map = &a->objects->mappings[i];
	if (!map) {
		map = &a->objects->mappings[a->call.pick % MAPPINGS_MAX];
		drop_mapping(map);
	}
	memset(map, 0, sizeof(*map));
	map->addr = addr;
	map->len = len;
	map->part = PART_OTHER;
	return map;
}

/* Returns zeroed memory for the argument of a call. */
void *argument(struct actor *a)
{
	return memset(a->arena, 0, ARG_MAX);
}

static uint64_t odd_number(struct actor *a)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 7, 8, 24, 31, 32, 33, 47, 48, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097,
		65535, 65536, 65537, 528384, 1 << 20, 1 << 30, 0x7fffffff, 0x80000000, 0xfffffff8,
		0xffffffff, 0x100000000, 0x3fffff000, 0x400000000, 0x400001000, 0x7ffffffff000,
		0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff,
	};
	uint64_t number = numbers[below(a, ARRAY_SIZE(numbers))];

	return one_in(a, 8) ? number ^ (1ULL << below(a, 64)) : number;
}

/*
 * Returns the id of a user event type that often exists, because processes use the first ids first.
 */
uint32_t user_type(struct actor *a)
{
	return POSIXTRACE_ID_UNNAMED + 1 + below(a, one_in(a, 4) ? 40 : 4);
}

static void *bad_address(struct actor *a, enum spoil spoil)
{
	switch (spoil) {
	case SPOIL_NULL:
		return (void *)(below(a, 3) * 4);
	case SPOIL_KERNEL:
		return (void *)(0xffff888000000000 + (below(a, 1 << 20) << 12));
	default:
		return (void *)(0x7ffffffff000 - 8 + below(a, 1 << 20));
	}
}

/* Returns memory to which arguments can point. */
void *data_pointer(struct actor *a, size_t len)
{
	struct mapping *map;

	switch (below(a, 24)) {
	case 0:
		return bad_address(a, SPOIL_NULL + below(a, 3));
	case 1:
		return a->arena + ARENA_HOLE - below(a, 1 + (len < 4096 ? len : 4096));
	case 2:
		return a->arena + ARENA_CONST;
	case 3:
		map = pick_mapping(a, PARTS);
		if (map)
			return (void *)(map->addr + (below(a, map->len) & ~7ULL));
		break;
	default:
		break;
	}
	if (len >= ARENA_DATA_SIZE)
		return a->arena + ARENA_DATA;
	return a->arena + ARENA_DATA + (below(a, ARENA_DATA_SIZE - len) & ~7ULL);
}

static void spoil_content(struct actor *a, enum spoil how, char *arg, size_t size)
{
	unsigned int i;

	switch (how) {
	case SPOIL_BITS:
		for (i = 0; i <= below(a, 3); i++)
			arg[below(a, size)] ^= 1 << below(a, 8);
		break;
	case SPOIL_WORD:
		*(uint32_t *)(arg + (below(a, size) & ~3ULL)) = odd_number(a);
		break;
	case SPOIL_WORD64:
		if (size >= 8)
			*(uint64_t *)(arg + (below(a, size - 7) & ~7ULL)) = odd_number(a);
		break;
	case SPOIL_NOISE:
		for (i = 0; i < size; i++)
			arg[i] = rnd(a);
		break;
	default:
		break;
	}
}

/* Returns the address that is passed to the call for its argument. */
static char *place(struct actor *a, enum spoil how, char *arg, size_t size)
{
	struct mapping *map;
	char *to;

	switch (how) {
	case SPOIL_NULL:
	case SPOIL_KERNEL:
	case SPOIL_NO_ADDRESS:
		return bad_address(a, how);
	case SPOIL_HALF:
		to = a->arena + ARENA_HOLE - (size ? below(a, size) : 0);
		memcpy(to, arg, a->arena + ARENA_HOLE - to);
		return to;
	case SPOIL_CONST:
		return a->arena + ARENA_CONST;
	case SPOIL_MAPPED:
		map = pick_mapping(a, PARTS);
		if (!map)
			return arg;
		to = (char *)map->addr + (below(a, map->len) & ~7ULL);
		copy(to, arg, size);
		return to;
	case SPOIL_SHARED:
		if (shared->options.alone)
			return arg;
		to = shared->arenas[a->worker - shared->workers][below(a, ARENAS)];
		memcpy(to, arg, size);
		return to;
	default:
		return arg;
	}
}

static int spoil_file(struct actor *a, int fd)
{
	struct file *other;

	if (one_in(a, 4))
		return (int)below(a, 64) - 1;
	a->call.pick = rnd(a);
	other = pick_file(a, ROLE_ANY);
	return other ? other->fd : fd;
}

static unsigned int spoil_size(struct actor *a, unsigned int cmd)
{
	if (one_in(a, 2))
		return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), below(a, 1024));
	return _IOC(below(a, 4), _IOC_TYPE(cmd), _IOC_NR(cmd), _IOC_SIZE(cmd));
}

/*
 * Should the file be dropped after this result? Files of ended streams and other kinds of files are
 * kept for a few more calls. If the descriptor is unused or of a different kind, another thread has
 * closed it.
 */
static bool is_useless(struct actor *a, long ret, bool spoiled)
{
	if (ret == -ESHUTDOWN)
		return one_in(a, 3);
	if (ret == -ENOTTY || ret == -EBADF)
		return !spoiled && ops[a->call.op].run != op_unknown;
	return ret == -EINVAL && !spoiled && one_in(a, 12);
}

/* Makes a command, and spoils it as the call says. The answer is in @arg. */
long ioctl_with(struct actor *a, struct file *file, unsigned int cmd, void *arg, size_t size)
{
	enum spoil spoil = (a->call.how & HOW_SPOIL) % SPOILS;
	int fd = file ? file->fd : -1;
	char *at = arg;
	long ret;

	if (spoil && size) {
		spoil_content(a, spoil, arg, size);
		at = place(a, spoil, arg, size);
	}
	if (spoil == SPOIL_FILE)
		fd = spoil_file(a, fd);
	else if (spoil == SPOIL_SIZE)
		cmd = spoil_size(a, cmd);
	if (a->call.how & HOW_CHECKED) {
		struct posixtrace_checked *checked = (void *)(a->arena + ARENA_WRAP);

		memset(checked, 0, sizeof(*checked));
		if (file && file->role == ROLE_STREAM)
			checked->stream = file->create.stream;
		checked->arg = (uintptr_t)at;
		checked->cmd = cmd;
		if (spoil)
			spoil_content(a, below(a, SPOIL_NOISE + 1), (char *)checked,
				      sizeof(*checked));
		at = (char *)checked;
		cmd = POSIXTRACE_IOC_CHECKED;
	}
	if (a->call.how & HOW_COMPAT && (uintptr_t)at <= UINT32_MAX)
		ret = sys_ioctl32(fd, cmd, (uintptr_t)at);
	else
		ret = sys(SYS_ioctl, fd, cmd, at);
	if (is_useless(a, ret, spoil) && file >= a->objects->files &&
	    file < a->objects->files + FILES_MAX)
		drop_file(file);
	return ret;
}
