// SPDX-License-Identifier: GPL-2.0
/* Writes logs byte by byte. Shares no code with the code under test. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log_pack.h"
#include "log_writer.h"

__u32 log_crc(const void *data, size_t len)
{
	static __u32 table[16];
	const unsigned char *p = data;
	__u32 crc = ~0U;
	int i, bit;

	for (i = 0; i < 16 && !table[15]; i++) {
		__u32 rest = i;

		for (bit = 0; bit < 4; bit++)
			rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78U : 0);
		table[i] = rest;
	}
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static void log_room(struct log_writer *log, size_t end)
{
	size_t room = log->room ? log->room : 1 << 16;

	while (room < end)
		room *= 2;
	if (room != log->room) {
		log->data = realloc(log->data, room);
		if (!log->data)
			abort();
		memset(log->data + log->room, 0, room - log->room);
		log->room = room;
	}
	if (log->len < end)
		log->len = end;
}

void log_put(struct log_writer *log, size_t at, const void *data, size_t len)
{
	log_room(log, at + len);
	if (len)
		memcpy(log->data + at, data, len);
}

void log_header(struct log_writer *log)
{
	log->header.crc = 0;
	log->header.crc = log_crc(&log->header, sizeof(log->header));
	log_put(log, 0, &log->header, sizeof(log->header));
}

static void log_status(struct log_writer *log, __u32 flags)
{
	log->end.cookie = log->header.cookie;
	log->end.flags = flags;
	log->end.seq = log->seq;
	log->end.metadata = log->metadata_seq;
	log->end.names = log->nr_names;
	log->end.crc = 0;
	log->end.crc = log_crc(&log->end, sizeof(log->end));
}

void log_begin(struct log_writer *log, int log_policy, int stream_policy, __u32 nr_cpus,
	       size_t ring)
{
	const size_t names = POSIXTRACE_ID_MAX * sizeof(struct posixtrace_log_name);

	memset(log, 0, sizeof(*log));
	memcpy(log->header.magic, POSIXTRACE_LOG_MAGIC, sizeof(log->header.magic));
	log->header.order = POSIXTRACE_LOG_ORDER;
	log->header.version = POSIXTRACE_LOG_VERSION;
	log->header.size = sizeof(log->header);
	log->header.cookie = LOG_COOKIE;
	log->header.block_size = LOG_BLOCK;
	log->header.subbuf_size = LOG_SUBBUF;
	log->header.nr_cpus = nr_cpus;
	log->header.pid = 4711;
	log->header.data_offset = LOG_HEADER;
	log->header.attr.log_policy = log_policy;
	log->header.attr.stream_policy = stream_policy;
	log->header.attr.clock_resolution = 1;
	log->header.attr.stream_size = 64 << 10;
	log->header.attr.max_data_size = LOG_MAX_DATA;
	log->header.attr.log_size = ring ? ring : 1 << 20;
	log->header.attr.creation_time = LOG_TIME0;
	strcpy(log->header.attr.name, "of a test");
	strcpy(log->header.attr.version, "posixtrace 1.0");
	if (log_policy == POSIXTRACE_POLICY_LOOP) {
		log->header.ring_size = ring;
		log->header.end_offset = LOG_HEADER;
		log->header.names_offset = log->header.end_offset +
					   sizeof(struct posixtrace_log_end);
		log->header.data_offset = log->header.names_offset + names;
		log->header.metadata_offset = log->header.data_offset + ring;
		log->metadata_pos = log->header.metadata_offset;
		log_room(log, log->header.data_offset);
	}
	log->epoch = 1;
	log->mark_step = 1;
	log->pos = log->header.data_offset;
	log->oldest = log->pos;
	log_header(log);
	if (ring) {
		log_status(log, 0);
		log_put(log, log->header.end_offset, &log->end, sizeof(log->end));
	}
}

void log_free(struct log_writer *log)
{
	free(log->data);
	memset(log, 0, sizeof(*log));
}

/*
 * Makes space in the ring for a block of @size bytes at log->pos. This overwrites old blocks:
 * log->oldest moves past them.
 */
static void log_ring_place(struct log_writer *log, size_t size)
{
	size_t begin = log->header.data_offset, ring_end = begin + log->header.ring_size;
	struct posixtrace_log_block old;

	if (log->pos + size > ring_end) {
		/* The rest of the previous lap is gone; this lap becomes the previous one. */
		log->lap_end = log->pos;
		log->pos = begin;
		log->oldest = begin;
	}
	/*
	 * When all blocks of the previous lap are overwritten, the oldest block belongs to this
	 * lap.
	 */
	while (log->lap_end && log->oldest >= log->pos && log->oldest < log->pos + size) {
		memcpy(&old, log->data + log->oldest, sizeof(old));
		log->oldest += LOG_BLOCK + old.size;
		if (log->oldest >= log->lap_end) {
			log->lap_end = 0;
			log->oldest = begin;
		}
		log->end.flags |= POSIXTRACE_LOG_END_OVERRUN;
		log->end.overwritten += old.count;
	}
}

void log_block_begin(struct log_writer *log, __u32 type, __u32 cpu)
{
	log->at = log->len;
	memset(&log->block, 0, sizeof(log->block));
	log->block.magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	log->block.cookie = log->header.cookie;
	log->block.seq = ++log->seq;
	log->block.epoch = log->epoch;
	log->block.type = type;
	log->block.cpu = cpu;
	log->block.opened = ~0ULL;
	log->block.gap_generation = log->gap_generation;
	log->block.gap_first = log->gap_first;
	log->block.overwrite_watermark = log->overwrite_watermark;
	log->block.lost = log->lost;
	log->block.metadata = log->eventless;
	/* Build the block at the end of the file first, even if it belongs in a ring. */
	log_room(log, log->at + LOG_BLOCK);
}

void log_payload(struct log_writer *log, const void *data, size_t len)
{
	log_put(log, log->at + LOG_BLOCK + log->block.size, data, len);
	log->block.size += len;
}

void log_record(struct log_writer *log, const struct record *record, const void *data)
{
	static const unsigned char zeros[8];
	size_t len = record->data_len, size;
	const struct record *before = log->block.count ? &log->before : NULL;
	struct record written = *record;
	__u64 words[POSIXTRACE_KWORDS_MAX + POSIXTRACE_KRECORD_WORDS];
	char header[48];

	if (log->block.type == POSIXTRACE_LOG_KERNEL) {
		log_payload(log, words, record_format_kernel(&written, before, data, words));
	} else {
		size = record_format(&written, before, header);
		log_payload(log, header, size);
		log_payload(log, data, len);
		log_payload(log, zeros, -(size + len) % 8);
	}
	log->before = written;
	if (record->timestamp < log->block.opened)
		log->block.opened = record->timestamp;
	if (record->timestamp > log->block.closed)
		log->block.closed = record->timestamp;
	log->block.count++;
}

void log_event_id(struct log_writer *log, __u32 id, __u64 time, const void *data, size_t len)
{
	struct record record = {
		.data_len = len,
		.event_id = id,
		.flags = POSIXTRACE_RECORD_PACKS(len) ? POSIXTRACE_RECORD_PACKED : 0,
		.timestamp = LOG_TIME0 + time,
		.prog_address = 0x400000 + time,
		.thread_id = 0x7f0000 + log->block.cpu,
		.pid = 4711,
		.tid = 4712,
	};

	log_record(log, &record, data);
}

void log_event(struct log_writer *log, __u64 time)
{
	log_event_id(log, POSIXTRACE_ID_UNNAMED, time, &time, sizeof(time));
}

void log_block_header(struct log_writer *log, size_t at)
{
	log->block.crc = 0;
	log->block.crc = log_crc(&log->block, sizeof(log->block));
	log_put(log, at, &log->block, sizeof(log->block));
}

/* Compresses the records of the block in progress, even if that makes them larger. */
static void log_compress(struct log_writer *log)
{
	size_t len = log->block.size, size;
	unsigned char *packed = malloc(log_pack_room(len));

	if (!packed)
		abort();
	size = log_pack(packed, log->block.type, log->data + log->at + LOG_BLOCK, len, log->piece);
	log->block.compression = POSIXTRACE_COMPRESS_LZ4;
	log->block.records_size = len;
	log->block.size = 0;
	log_payload(log, packed, size);
	free(packed);
}

/* Updates the marks and log->eventless for a block that is now at @at. */
static size_t log_note(struct log_writer *log, size_t at)
{
	const struct posixtrace_log_block *block = &log->block;
	const struct posixtrace_log_mark mark = {
		.offset = at, .seq = block->seq, .epoch = block->epoch, .closed = block->closed,
	};

	if (block->type != POSIXTRACE_LOG_EVENTS && block->type != POSIXTRACE_LOG_KERNEL) {
		log->eventless = log->header.ring_size ? 0 : at;
		return at;
	}
	log->newest = mark;
	if (!block->size || block->cpu >= log->header.nr_cpus ||
	    (log->nr_marks && mark.epoch < log->mark[log->nr_marks - 1].epoch + log->mark_step))
		return at;
	if (log->nr_marks == LOG_MARKS) {
		for (log->nr_marks = 0; log->nr_marks < LOG_MARKS / 2; log->nr_marks++)
			log->mark[log->nr_marks] = log->mark[2 * log->nr_marks];
		log->mark_step *= 2;
	}
	log->mark[log->nr_marks++] = mark;
	return at;
}

size_t log_block_end(struct log_writer *log)
{
	size_t at = log->at, size;

	if (log->piece && (log->block.type == POSIXTRACE_LOG_EVENTS ||
			   log->block.type == POSIXTRACE_LOG_KERNEL))
		log_compress(log);
	size = LOG_BLOCK + log->block.size;
	if (log->block.opened == ~0ULL)
		log->block.opened = log->block.closed;
	log->block.payload_crc = log_crc(log->data + at + LOG_BLOCK, log->block.size);
	log->at = 0;
	if (!log->header.ring_size) {
		log_block_header(log, at);
		log->len = at + size;
		return log_note(log, at);
	}
	/* The block was built at the end of the file. Move it to its place in the ring. */
	log_ring_place(log, size);
	if (log->seq == 1)
		log->oldest = log->pos;
	log->block.tail = log->oldest;
	memmove(log->data + log->pos + LOG_BLOCK, log->data + at + LOG_BLOCK, log->block.size);
	log->len = at;
	log_block_header(log, log->pos);
	log_room(log, log->pos + size);
	at = log->pos;
	log->pos += size;
	return log_note(log, at);
}

__u32 log_fixed_name_crc(__u64 cookie, const struct posixtrace_log_name *name)
{
	unsigned char bytes[sizeof(cookie) + sizeof(*name)];
	struct posixtrace_log_name copy = *name;

	copy.crc = 0;
	memcpy(bytes, &cookie, sizeof(cookie));
	memcpy(bytes + sizeof(cookie), &copy, sizeof(copy));
	return log_crc(bytes, sizeof(bytes));
}

size_t log_name(struct log_writer *log, __u32 id, const char *text)
{
	struct posixtrace_log_name name = { .id = id };
	size_t at;

	snprintf(name.name, sizeof(name.name), "%s", text);
	name.crc = log->header.ring_size ? log_fixed_name_crc(log->header.cookie, &name) :
					   log_crc(&name, sizeof(name));
	if (log->header.ring_size) {
		at = log->header.names_offset + log->nr_names++ * sizeof(name);
		log_put(log, at, &name, sizeof(name));
		return at;
	}
	log_block_begin(log, POSIXTRACE_LOG_NAMES, 0);
	log_payload(log, &name, sizeof(name));
	log->block.count = 1;
	return log_block_end(log);
}

size_t log_metadata(struct log_writer *log, __u32 type, __u32 flags, __u32 count,
		    const void *payload, size_t len)
{
	const bool loop = log->header.ring_size;
	__u64 seq = log->seq;
	size_t at;

	log_block_begin(log, type, 0);
	log->block.flags = flags;
	log->block.count = count;
	if (!loop) {
		log_payload(log, payload, len);
		return log_block_end(log);
	}
	/* The block goes after the ring, in the area for metadata. */
	at = log->metadata_pos;
	log->len = log->at;
	log->at = at;
	log->seq = seq;
	log->block.seq = ++log->metadata_seq;
	log_payload(log, payload, len);
	log->block.payload_crc = log_crc(log->data + at + LOG_BLOCK, len);
	log_block_header(log, at);
	log->at = 0;
	log->metadata_pos += LOG_BLOCK + len;
	return at;
}

static size_t log_described(struct log_writer *log, __u32 type, __u32 id, const char *text,
			    size_t size)
{
	char payload[POSIXTRACE_LOG_DESCRIPTION_STEP(POSIXTRACE_DESCRIPTION_SIZE)] = { 0 };
	struct posixtrace_log_description head = { .id = id, .size = size };

	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), text, size);
	return log_metadata(log, type, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, payload,
			    POSIXTRACE_LOG_DESCRIPTION_STEP(size));
}

size_t log_description(struct log_writer *log, __u32 id, const char *text, size_t size)
{
	return log_described(log, POSIXTRACE_LOG_DESCRIPTIONS, id, text, size);
}

size_t log_kernel_type(struct log_writer *log, __u32 id, const char *text, size_t size)
{
	return log_described(log, POSIXTRACE_LOG_KERNEL_TYPES, id, text, size);
}

size_t log_born_task(struct log_writer *log, int pid, int tid, __u64 born, __u64 since,
		     const char *name)
{
	struct posixtrace_log_task task = {
		.pid = pid, .tid = tid, .start = born, .since = since,
	};

	strncpy(task.name, name, sizeof(task.name) - 1);
	return log_metadata(log, POSIXTRACE_LOG_TASKS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, &task,
			    sizeof(task));
}

size_t log_task(struct log_writer *log, int pid, int tid, __u64 since, const char *name)
{
	return log_born_task(log, pid, tid, 0, since, name);
}

size_t log_born_program(struct log_writer *log, int pid, __u64 born, __u64 since, const char *text,
			size_t size)
{
	char payload[POSIXTRACE_LOG_PROGRAM_STEP(POSIXTRACE_LOG_PROGRAM_SIZE)] = { 0 };
	struct posixtrace_log_program head = {
		.pid = pid, .size = size, .start = born, .since = since,
	};

	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), text, size);
	return log_metadata(log, POSIXTRACE_LOG_PROGRAMS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, payload,
			    POSIXTRACE_LOG_PROGRAM_STEP(size));
}

size_t log_program(struct log_writer *log, int pid, __u64 since, const char *text, size_t size)
{
	return log_born_program(log, pid, 0, since, text, size);
}

size_t log_mapping(struct log_writer *log, struct posixtrace_log_mapping *mapping,
		   const char *path)
{
	char payload[POSIXTRACE_LOG_MAPPING_STEP(POSIXTRACE_LOG_PATH_SIZE)] = { 0 };

	mapping->size = strlen(path) + 1;
	memcpy(payload, mapping, sizeof(*mapping));
	strcpy(payload + sizeof(*mapping), path);
	return log_metadata(log, POSIXTRACE_LOG_MAPPINGS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, payload,
			    POSIXTRACE_LOG_MAPPING_STEP(mapping->size));
}

size_t log_host(struct log_writer *log, const char *node)
{
	return log_host_machine(log, node, "");
}

size_t log_host_machine(struct log_writer *log, const char *node, const char *machine)
{
	struct posixtrace_log_host host = { .counter = POSIXTRACE_COUNTER_TSC };

	memcpy(host.boot_id, log->boot_id, sizeof(host.boot_id));
	strncpy(host.node, node, sizeof(host.node) - 1);
	strncpy(host.machine, machine, sizeof(host.machine) - 1);
	return log_metadata(log, POSIXTRACE_LOG_HOST, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1, &host,
			    sizeof(host));
}

size_t log_reset(struct log_writer *log)
{
	log_block_begin(log, POSIXTRACE_LOG_RESET, 0);
	return log_block_end(log);
}

size_t log_index(struct log_writer *log)
{
	if (log->nr_marks && log->mark[log->nr_marks - 1].seq != log->newest.seq)
		log->mark[log->nr_marks++] = log->newest;
	return log_metadata(log, POSIXTRACE_LOG_INDEX, POSIXTRACE_LOG_BLOCK_OPTIONAL,
			    log->nr_marks, log->mark, log->nr_marks * sizeof(*log->mark));
}

size_t log_end(struct log_writer *log, __u32 flags)
{
	log_status(log, log->end.flags | flags);
	if (log->header.ring_size) {
		log_put(log, log->header.end_offset, &log->end, sizeof(log->end));
		return log->header.end_offset;
	}
	log_block_begin(log, POSIXTRACE_LOG_END, 0);
	log_payload(log, &log->end, sizeof(log->end));
	return log_block_end(log);
}

int log_write(const struct log_writer *log, int fd, size_t from)
{
	size_t done = log->header.ring_size ? 0 : from;
	ssize_t n;

	while (done < log->len) {
		n = pwrite(fd, log->data + done, log->len - done, done);
		if (n <= 0)
			return -1;
		done += n;
	}
	return 0;
}

int log_bytes_file(const void *data, size_t len)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	if (fd >= 0 && len && write(fd, data, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return fd;
}

int log_file(const struct log_writer *log)
{
	return log_bytes_file(log->data, log->len);
}

__u64 log_epochs(struct log_writer *log, __u64 first, int epochs, int per_block)
{
	__u32 cpu, nr_cpus = log->header.nr_cpus;
	int epoch, i;

	for (epoch = 0; epoch < epochs; epoch++) {
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			log_block_begin(log, POSIXTRACE_LOG_EVENTS, cpu);
			for (i = 0; i < per_block; i++)
				log_event(log, first + (__u64)i * nr_cpus + cpu);
			log_block_end(log);
		}
		first += (__u64)per_block * nr_cpus;
		log->epoch++;
	}
	return first;
}
