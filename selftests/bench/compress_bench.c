// SPDX-License-Identifier: GPL-2.0
/*
 * Compares compressors on the blocks of uncompressed logs. Prints bytes and nanoseconds per event,
 * for kernel events and for events of programs. "heads" first moves the first words of the records
 * to the front of the block, as kmod/log/pack.c does, and includes the time for that. With SIZES in
 * the environment, also measures blocks of other sizes, which end anywhere in a record. Runs in
 * user space, with the libraries of this machine. The kernel has the same algorithms.
 *
 * usage: compress_bench LOG...
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/posixtrace_log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS		15
#define SIZE_MIN	(4U << 10)
#define SIZE_MAX_BENCH	(512U << 10)
#define BOUND		(SIZE_MAX_BENCH + SIZE_MAX_BENCH / 128 + 1024)

/* The parts of <zstd.h>, <lz4.h> and <lz4hc.h> used here. */
static void *(*zstd_create)(void);
static size_t (*zstd_compress)(void *ctx, void *to, size_t room, const void *from, size_t len,
			       int level);
static size_t (*zstd_decompress)(void *to, size_t room, const void *from, size_t len);
static int (*lz4_compress)(const char *from, char *to, int len, int room, int acceleration);
static int (*lz4_hc)(const char *from, char *to, int len, int room, int level);
static int (*lz4_decompress)(const char *from, char *to, int len, int room);
static void *zstd_ctx;

struct codec {
	const char *name;
	int level;
	size_t (*pack)(char *to, const char *from, size_t len, int level);
	int zstd;
};

static size_t pack_zstd(char *to, const char *from, size_t len, int level)
{
	return zstd_compress(zstd_ctx, to, BOUND, from, len, level);
}

static size_t pack_lz4(char *to, const char *from, size_t len, int level)
{
	return (size_t)lz4_compress(from, to, (int)len, BOUND, level);
}

static size_t pack_lz4hc(char *to, const char *from, size_t len, int level)
{
	return (size_t)lz4_hc(from, to, (int)len, BOUND, level);
}

static const struct codec codecs[] = {
	{ "lz4", 1, pack_lz4, 0 },	{ "lz4", 4, pack_lz4, 0 },
	{ "lz4hc", 3, pack_lz4hc, 0 },	{ "lz4hc", 9, pack_lz4hc, 0 },
	{ "zstd", -5, pack_zstd, 1 },	{ "zstd", -1, pack_zstd, 1 },
	{ "zstd", 1, pack_zstd, 1 },	{ "zstd", 2, pack_zstd, 1 },
	{ "zstd", 3, pack_zstd, 1 },	{ "zstd", 6, pack_zstd, 1 },
};

/* All payloads of one type in a row, with the end of each. */
struct payloads {
	char *data;
	size_t len;
	size_t *end;
	size_t blocks;
	unsigned long long events;
	unsigned int type;
};

static void add(struct payloads *all, const void *data, size_t len, unsigned int events)
{
	all->data = realloc(all->data, all->len + len);
	all->end = realloc(all->end, (all->blocks + 1) * sizeof(*all->end));
	if (!all->data || !all->end)
		exit(1);
	memcpy(all->data + all->len, data, len);
	all->len += len;
	all->end[all->blocks++] = all->len;
	all->events += events;
}

static void read_log(const char *path, struct payloads *kernel, struct payloads *user)
{
	const struct posixtrace_log_header *header;
	const struct posixtrace_log_block *block;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	const char *map;
	size_t at;

	if (fd < 0 || fstat(fd, &stat)) {
		perror(path);
		exit(1);
	}
	map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	header = (const void *)map;
	for (at = header->data_offset; at + header->block_size <= (size_t)stat.st_size;
	     at += header->block_size + block->size) {
		block = (const void *)(map + at);
		if (block->magic != POSIXTRACE_LOG_BLOCK_MAGIC)
			break;
		if (block->type == POSIXTRACE_LOG_KERNEL)
			add(kernel, map + at + header->block_size, block->size, block->count);
		else if (block->type == POSIXTRACE_LOG_EVENTS && block->cpu < header->nr_cpus)
			add(user, map + at + header->block_size, block->size, block->count);
	}
	close(fd);
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/*
 * Moves the heads as the module does. Returns false if the block does not consist of whole records.
 */
static int move_heads(unsigned long long *to, unsigned int type, const unsigned long long *from,
		      unsigned int words)
{
	unsigned int heads = 0, at, step, *low = (unsigned int *)to, before = 0, high, value;
	unsigned long long *rest;
	unsigned char *bytes;

	for (at = 0; at < words; at += step, heads++) {
		step = posixtrace_log_item_words(type, (unsigned int)from[at], from + at + 1,
						 words - at - 1);
		if (!step || step > words - at)
			return 0;
	}
	bytes = (unsigned char *)(low + heads);
	rest = to + heads;
	for (unsigned int i = 0; i < heads; i++) {
		low[i] = (unsigned int)*from;
		high = *from++ >> 32;
		value = high;
		if (low[i]) {
			value -= before;
			before = high;
		}
		for (unsigned int k = 0; k < sizeof(value); k++)
			bytes[k * heads + i] = value >> 8 * k;
		step = posixtrace_log_item_words(type, low[i], from, words);
		for (; step > 1; step--)
			*rest++ = *from++;
	}
	return 1;
}

/* Returns the end of the block at @at: after @size bytes, or the end of the log if @size is 0. */
static size_t end_of(const struct payloads *all, size_t at, size_t i, size_t size)
{
	if (!size)
		return all->end[i];
	return at + size < all->len ? at + size : all->len;
}

static void measure(const struct payloads *all, const char *what, const struct codec *codec,
		    size_t size, int heads)
{
	static char packed[BOUND], plain[SIZE_MAX_BENCH], moved[SIZE_MAX_BENCH];
	const char *from;
	double pack = 1e18, unpack = 1e18, begin, packing, unpacking;
	size_t at, i, end, len, total = 0;

	for (int round = 0; round < ROUNDS; round++) {
		total = 0;
		packing = 0;
		unpacking = 0;
		for (at = 0, i = 0; at < all->len; at = end, i++) {
			end = end_of(all, at, i, size);
			begin = now_ns();
			from = all->data + at;
			if (heads && move_heads((void *)moved, all->type, (const void *)from,
						(end - at) / 8))
				from = moved;
			len = codec->pack(packed, from, end - at, codec->level);
			packing += now_ns() - begin;
			begin = now_ns();
			if (codec->zstd)
				zstd_decompress(plain, end - at, packed, len);
			else
				lz4_decompress(packed, plain, (int)len, (int)(end - at));
			unpacking += now_ns() - begin;
			if (memcmp(plain, from, end - at)) {
				fprintf(stderr, "compress_bench: %s is wrong\n", codec->name);
				exit(1);
			}
			/*
			 * The module stores a block uncompressed if compression does not shrink it.
			 */
			len = (len + 7) / 8 * 8;
			total += len < end - at ? len : end - at;
		}
		pack = packing < pack ? packing : pack;
		unpack = unpacking < unpack ? unpacking : unpack;
	}
	printf("%-6s %6zu %-5s %-6s %3d", what, size >> 10, heads ? "heads" : "", codec->name,
	       codec->level);
	printf(" %8.2f bytes %8.1f ns %8.1f ns to unpack\n", (double)total / (double)all->events,
	       pack / (double)all->events, unpack / (double)all->events);
}

static void measure_all(const struct payloads *all, const char *what)
{
	if (!all->events)
		return;
	printf("%s: %llu events in %zu blocks, %.2f bytes each\n", what, all->events, all->blocks,
	       (double)all->len / (double)all->events);
	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
		measure(all, what, &codecs[i], 0, 0);
	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
		measure(all, what, &codecs[i], 0, 1);
	for (size_t size = SIZE_MIN; getenv("SIZES") && size <= SIZE_MAX_BENCH;
	     size *= 2)
		for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
			measure(all, what, &codecs[i], size, 0);
}

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "compress_bench: %s\n", dlerror());
		exit(1);
	}
	return found;
}

int main(int argc, char **argv)
{
	void *zstd = dlopen("libzstd.so.1", RTLD_NOW), *lz4 = dlopen("liblz4.so.1", RTLD_NOW);
	struct payloads kernel = { .type = POSIXTRACE_LOG_KERNEL };
	struct payloads user = { .type = POSIXTRACE_LOG_EVENTS };

	*(void **)&zstd_create = symbol(zstd, "ZSTD_createCCtx");
	*(void **)&zstd_compress = symbol(zstd, "ZSTD_compressCCtx");
	*(void **)&zstd_decompress = symbol(zstd, "ZSTD_decompress");
	*(void **)&lz4_compress = symbol(lz4, "LZ4_compress_fast");
	*(void **)&lz4_hc = symbol(lz4, "LZ4_compress_HC");
	*(void **)&lz4_decompress = symbol(lz4, "LZ4_decompress_safe");
	zstd_ctx = zstd_create();
	for (int i = 1; i < argc; i++)
		read_log(argv[i], &kernel, &user);
	measure_all(&kernel, "kernel");
	measure_all(&user, "user");
	return 0;
}
