// SPDX-License-Identifier: GPL-2.0
/*
 * Perf maps: see jitmap.h. The traced process writes the file, so nothing in it is trusted.
 *
 * Most functions are in jitmap.pieces, which do not overlap, so that a lookup is a binary search.
 * Functions read since the pieces were built are searched one by one. If there are too many of
 * them, the pieces are rebuilt.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/jitmap.h"
#include "event/event.h"

#define NAME_MAX_BYTES	4096		/* ignore longer names */
#define RECENT_MAX	256		/* functions that are searched one by one */
#define READ_BYTES	(64U << 10)

struct entry {
	uint64_t begin;
	uint64_t end;
	size_t name;			/* offset of the name in jitmap.text */
};

/* A range of addresses, and the index of the function that was written there last. */
struct piece {
	uint64_t begin;
	uint64_t end;
	size_t entry;
};

/**
 * struct jitmap - a perf map
 * @fd: the file
 * @budget: limits of all maps
 * @text: the lines read so far; names end with a null byte
 * @len: bytes of @text
 * @room: allocated bytes of @text
 * @parsed: bytes of @text that were parsed: complete lines
 * @entries: functions in the order of the file
 * @count: number of @entries
 * @pieces: ranges of the first @sorted entries, sorted
 * @nr_pieces: number of @pieces
 * @sorted: number of entries that are included in @pieces
 */
struct jitmap {
	int fd;
	struct jitmap_budget *budget;
	char *text;
	size_t len;
	size_t room;
	size_t parsed;
	struct entry *entries;
	size_t count;
	struct piece *pieces;
	size_t nr_pieces;
	size_t sorted;
};

int jitmap_new(int fd, struct jitmap_budget *budget, struct jitmap **map)
{
	*map = calloc(1, sizeof(**map));
	if (!*map) {
		close(fd);
		return -ENOMEM;
	}
	(*map)->fd = fd;
	(*map)->budget = budget;
	return 0;
}

/* Empties the map, and returns its memory to the budget. */
static void clear(struct jitmap *map)
{
	map->budget->bytes += map->len;
	map->budget->entries += map->count;
	free(map->text);
	free(map->entries);
	free(map->pieces);
	*map = (struct jitmap){ .fd = map->fd, .budget = map->budget };
}

void jitmap_free(struct jitmap *map)
{
	if (!map)
		return;
	clear(map);
	close(map->fd);
	free(map);
}

/* ------------------------------------------------------------------ */
/* Lines								*/

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a hexadecimal number, perhaps after "0x", and the blanks after it. */
static bool read_number(const char **at, uint64_t *number)
{
	const char *from = *at, *first;

	if (from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
		from += 2;
	first = from;
	for (*number = 0; nibble(*from) >= 0; from++) {
		if (*number >> 60)
			return false;
		*number = *number << 4 | (uint64_t)nibble(*from);
	}
	if (from == first || *from != ' ')
		return false;
	while (*from == ' ')
		from++;
	*at = from;
	return true;
}

/* Parses a line, which ends with a null byte at @end. Returns false if the format is wrong. */
static bool parse_line(const struct jitmap *map, const char *line, const char *end,
		       struct entry *entry)
{
	const char *at = line;
	uint64_t size;

	if (!read_number(&at, &entry->begin) || !read_number(&at, &size))
		return false;
	entry->end = entry->begin + size;
	entry->name = (size_t)(at - map->text);
	/* A null byte before the end would hide the rest of the name. */
	return entry->end > entry->begin && at < end && end - at < NAME_MAX_BYTES &&
	       strlen(at) == (size_t)(end - at);
}

static int add_entry(struct jitmap *map, const struct entry *entry)
{
	struct entry *grown = map->entries;

	if (!map->budget->entries)
		return -EFBIG;
	/* Double the table when the number is a power of two. */
	if (!(map->count & (map->count - 1)))
		grown = reallocarray(grown, map->count ? 2 * map->count : 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	map->entries = grown;
	grown[map->count++] = *entry;
	map->budget->entries--;
	return 0;
}

static int parse(struct jitmap *map)
{
	char *line, *end;
	struct entry entry;
	int err = 0;

	while (!err) {
		line = map->text + map->parsed;
		end = memchr(line, '\n', map->len - map->parsed);
		if (!end)
			return 0;
		*end = '\0';
		map->parsed = (size_t)(end + 1 - map->text);
		if (parse_line(map, line, end, &entry))
			err = add_entry(map, &entry);
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Pieces								*/

/*
 * Indices of the functions that contain the current address: a heap with the last function on top.
 */
struct heap {
	size_t *numbers;
	size_t count;
};

static void heap_add(struct heap *heap, size_t number)
{
	size_t at = heap->count++;

	while (at && heap->numbers[(at - 1) / 2] < number) {
		heap->numbers[at] = heap->numbers[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->numbers[at] = number;
}

static void heap_remove(struct heap *heap)
{
	const size_t number = heap->numbers[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && heap->numbers[child + 1] > heap->numbers[child])
			child++;
		if (heap->numbers[child] <= number)
			break;
		heap->numbers[at] = heap->numbers[child];
		at = child;
	}
	heap->numbers[at] = number;
}

static int compare_begins(const void *a, const void *b, void *entries)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct entry *s = (const struct entry *)entries + x;
	const struct entry *t = (const struct entry *)entries + y;

	if (s->begin != t->begin)
		return s->begin < t->begin ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * Builds the pieces in one pass over all addresses. @order: indices of all entries, sorted by
 * begin.
 */
static void fill_pieces(struct jitmap *map, const size_t *order, struct heap *heap)
{
	size_t next = 0;
	uint64_t at = 0, end;

	map->nr_pieces = 0;
	while (next < map->count || heap->count) {
		/*
		 * Drop functions that have ended, if they are at the top. Others do no harm further
		 * down.
		 */
		while (heap->count && map->entries[heap->numbers[0]].end <= at)
			heap_remove(heap);
		if (!heap->count && next < map->count)
			at = map->entries[order[next]].begin;
		while (next < map->count && map->entries[order[next]].begin <= at)
			heap_add(heap, order[next++]);
		if (!heap->count)
			continue;
		end = map->entries[heap->numbers[0]].end;
		if (next < map->count && map->entries[order[next]].begin < end)
			end = map->entries[order[next]].begin;
		if (end > at)
			map->pieces[map->nr_pieces++] = (struct piece){ at, end, heap->numbers[0] };
		at = end;
	}
}

static int make_pieces(struct jitmap *map)
{
	/* A piece begins where a function begins or ends. */
	struct piece *pieces = reallocarray(map->pieces, map->count, 2 * sizeof(*pieces));
	struct heap heap = { .numbers = calloc(map->count, sizeof(*heap.numbers)) };
	size_t *order = calloc(map->count, sizeof(*order));

	if (pieces)
		map->pieces = pieces;
	if (pieces && heap.numbers && order) {
		for (size_t i = 0; i < map->count; i++)
			order[i] = i;
		qsort_r(order, map->count, sizeof(*order), compare_begins, map->entries);
		fill_pieces(map, order, &heap);
		map->sorted = map->count;
	}
	free(order);
	free(heap.numbers);
	return map->sorted == map->count ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ */
/* The file								*/

static int read_part(struct jitmap *map)
{
	size_t more = map->room ? 2 * map->room : 2 * READ_BYTES;
	ssize_t n;
	char *text;

	if (map->room - map->len < READ_BYTES) {
		text = realloc(map->text, more);
		if (!text)
			return -ENOMEM;
		map->text = text;
		map->room = more;
	}
	n = pread(map->fd, map->text + map->len, READ_BYTES, (off_t)map->len);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if ((size_t)n > map->budget->bytes)
		return -EFBIG;
	map->budget->bytes -= (size_t)n;
	map->len += (size_t)n;
	return n > 0;
}

/* Checks that the last bytes that were read are still in the file. Each "\n" was replaced by 0. */
static bool is_same(const struct jitmap *map)
{
	char part[256];
	size_t len = map->len < sizeof(part) ? map->len : sizeof(part), from = map->len - len;

	if (pread(map->fd, part, len, (off_t)from) != (ssize_t)len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (part[i] != map->text[from + i] && !(part[i] == '\n' && !map->text[from + i]))
			return false;
	}
	return true;
}

static int read_stat(const struct jitmap *map, size_t *size, uint64_t *written)
{
	struct stat stat_of;

	if (fstat(map->fd, &stat_of))
		return -errno;
	*size = (size_t)stat_of.st_size;
	*written = (uint64_t)stat_of.st_mtim.tv_sec * NSEC_PER_SEC +
		   (uint64_t)stat_of.st_mtim.tv_nsec;
	return 0;
}

static int update(struct jitmap *map, uint64_t *written)
{
	size_t size;
	int ret = read_stat(map, &size, written);

	if (ret)
		return ret;
	if (size < map->len || !is_same(map))
		return -ESTALE;
	if (size == map->len)
		return 0;
	if (size - map->len > map->budget->bytes)
		return -EFBIG;
	while ((ret = read_part(map)) > 0)
		;
	if (!ret)
		ret = parse(map);
	if (!ret && map->count - map->sorted > RECENT_MAX)
		ret = make_pieces(map);
	/* The file may have changed while it was read. */
	return ret ? ret : read_stat(map, &size, written);
}

int jitmap_update(struct jitmap *map, uint64_t *written)
{
	int err = update(map, written);

	if (err)
		clear(map);
	return err;
}

const char *jitmap_find(const struct jitmap *map, uint64_t address, uint64_t *begin)
{
	const struct entry *entry = NULL;
	size_t low = 0, high = map->nr_pieces;

	for (size_t i = map->count; !entry && i > map->sorted; i--) {
		if (address >= map->entries[i - 1].begin && address < map->entries[i - 1].end)
			entry = &map->entries[i - 1];
	}
	/* Find the last piece that begins at or before the address. */
	while (!entry && low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->pieces[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!entry && low && address < map->pieces[low - 1].end)
		entry = &map->entries[map->pieces[low - 1].entry];
	if (!entry)
		return NULL;
	*begin = entry->begin;
	return map->text + entry->name;
}
