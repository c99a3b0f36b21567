// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: reading a file of any contents as a log does not crash, hang or take much
 * memory, and a second reading gives the same result.
 *
 * The rest of the input after the first byte is the file. The bits of the first byte select how the
 * file is changed and read. Most mutations break a checksum, and the reader then ignores everything
 * else. One bit therefore requests that all checksums are repaired.
 */
#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/log_reading.h"

#define REPAIR		0x01	/* repair all checksums */
#define GROW		0x02	/* write the second half of the file while it is read */
#define CUT		0x04	/* truncate the file while it is read */
#define BATCH		0x08	/* read with posixtrace_getevents() */

#define SIZE_MAX_FUZZ	(256U << 10)

static unsigned char file[SIZE_MAX_FUZZ];

/*
 * The fuzzer has appended, after the open, a block that the reader must not skip. All later reads
 * must fail.
 */
static bool refused;

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "log_fuzz: %s\n", what);
	abort();
}

/* True if the file has a block of a later version, which this library must not skip. */
static bool has_foreign_block(size_t len)
{
	const __u32 magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	struct posixtrace_log_block block;

	for (size_t at = 0; len >= sizeof(block) && at <= len - sizeof(block); at += 8) {
		memcpy(&block, file + at, sizeof(block));
		if (block.magic != magic)
			continue;
		if (block.type > POSIXTRACE_LOG_PROGRAMS &&
		    !(block.flags & POSIXTRACE_LOG_BLOCK_OPTIONAL))
			return true;
		if ((block.type == POSIXTRACE_LOG_EVENTS || block.type == POSIXTRACE_LOG_KERNEL) &&
		    block.compression > POSIXTRACE_COMPRESS_LZ4)
			return true;
	}
	return false;
}

/* Checks the result of a function that reads the file. */
static bool good(int err, size_t len, const char *what)
{
	if (err == ENOTSUP && has_foreign_block(len))
		refused = true;
	else
		check(!err, what);
	return !err;
}

/* @header: the header of a LOOP log, for names at their fixed places, or NULL. */
static void repair_names(unsigned char *at, size_t len, const struct posixtrace_log_header *header)
{
	struct posixtrace_log_name name;

	for (; len >= sizeof(name); at += sizeof(name), len -= sizeof(name)) {
		memcpy(&name, at, sizeof(name));
		if (!name.id)
			continue;
		name.crc = 0;
		name.crc = header ? log_fixed_name_crc(header->cookie, &name) :
				    log_crc(&name, sizeof(name));
		memcpy(at, &name, sizeof(name));
	}
}

static void repair_end(unsigned char *at, size_t len, __u64 cookie)
{
	struct posixtrace_log_end end;

	if (len < sizeof(end))
		return;
	memcpy(&end, at, sizeof(end));
	end.cookie = cookie;
	end.crc = 0;
	end.crc = log_crc(&end, sizeof(end));
	memcpy(at, &end, sizeof(end));
}

/* Repairs the checksum of a block, and returns the size of the block. */
static size_t repair_block(unsigned char *at, size_t len,
			   const struct posixtrace_log_header *header)
{
	struct posixtrace_log_block block;
	size_t size = header->block_size;

	memcpy(&block, at, sizeof(block));
	block.cookie = header->cookie;
	if (block.size <= len - size) {
		if (block.type == POSIXTRACE_LOG_NAMES)
			repair_names(at + size, block.size, NULL);
		if (block.type == POSIXTRACE_LOG_END)
			repair_end(at + size, block.size, header->cookie);
		block.payload_crc = log_crc(at + size, block.size);
	}
	block.crc = 0;
	memcpy(at, &block, sizeof(block));
	block.crc = log_crc(at, size);
	memcpy(at, &block, sizeof(block));
	return block.size <= len - size ? size + block.size : size;
}

static void repair(size_t len)
{
	const __u32 magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	struct posixtrace_log_header header;
	size_t at;

	if (len < sizeof(header))
		return;
	memcpy(&header, file, sizeof(header));
	if (header.size < sizeof(header) || header.size > len || header.size > 4096 ||
	    header.block_size < LOG_BLOCK || header.block_size > 1024)
		return;
	header.crc = 0;
	memcpy(file, &header, sizeof(header));
	header.crc = log_crc(file, header.size);
	memcpy(file, &header, sizeof(header));
	if (header.ring_size && header.names_offset < len)
		repair_names(file + header.names_offset, len - header.names_offset < 7200 ?
			     len - header.names_offset : 7200, &header);
	if (header.ring_size && header.end_offset < len)
		repair_end(file + header.end_offset, len - header.end_offset, header.cookie);
	for (at = header.data_offset; at < len && len - at >= header.block_size;) {
		if (memcmp(file + at, &magic, sizeof(magic)))
			at += 8;
		else
			at += repair_block(file + at, len - at, &header);
	}
}

/*
 * Looks up a mapping. Its path may have any contents, but must be a string. The address must be
 * inside the mapping.
 */
static void look_at_mapping(trace_id_t trid, pid_t pid, const struct timespec *time,
			    const void *address, size_t len)
{
	struct posixtrace_mapping_info info;
	int err = posixtrace_get_mapping(trid, pid, time, address, &info);

	if (err == ENOENT || !good(err, len, "get_mapping"))
		return;
	check(strnlen(info.path, sizeof(info.path)) < sizeof(info.path), "path of a mapping");
	check(info.build_id_size <= sizeof(info.build_id), "size of a build id");
	check((uintptr_t)address - info.address < info.size, "address outside of the mapping");
}

static void look_at_mappings(trace_id_t trid, size_t len)
{
	struct posixtrace_mapping_info infos[4];
	unsigned long long next = 0;
	size_t count, n = 0;

	do {
		if (!good(posixtrace_get_mappings(trid, infos, 4, &count, &next), len,
			  "get_mappings"))
			return;
		for (size_t i = 0; i < count; i++)
			check(strnlen(infos[i].path, sizeof(infos[i].path)) <
			      sizeof(infos[i].path) &&
			      infos[i].build_id_size <= sizeof(infos[i].build_id),
			      "one of all mappings");
		n += count;
		check(n <= len, "more mappings than have room");
	} while (count);
}

/*
 * Returns the maximum number of events in @len bytes. A record has at least 16 bytes, a kernel
 * event at least one word, and a damaged place 8 bytes. A gap counts as two events. A compressed
 * block may have any number of records, but not more than a sub-buffer.
 */
static size_t events_max(size_t len)
{
	return len + len / LOG_BLOCK * (POSIXTRACE_SUBBUF_SIZE_MAX / 8);
}

/* Reads to the end of the log. Returns the number of events. */
static size_t read_all(trace_id_t trid, size_t len, int batch)
{
	static struct posixtrace_batch_event events[16];
	static unsigned char buffer[1024];
	struct event event;
	size_t n = 0, count;
	int ret = 0;

	do {
		if (batch) {
			ret = -posixtrace_getevents(trid, events, 16, buffer, sizeof(buffer),
						    &count, 0);
			n += ret ? 0 : count;
			for (size_t i = 0; !ret && i < count; i++)
				look_at_mapping(trid, events[i].event.posix_pid,
						&events[i].event.posix_timestamp,
						events[i].event.posix_prog_address, len);
			ret = ret ? ret : count > 0;
		} else {
			ret = log_take(trid, &event);
			n += ret == 1;
		}
		check(n <= events_max(len), "more events than have room");
	} while (ret == 1);
	if (ret != -ENOMEM)
		good(-ret, len, "reading failed");
	return n;
}

/* Looks up a description. It may have any contents, but must be a string. */
static void look_at_description(trace_id_t trid, trace_event_id_t id, size_t len)
{
	char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	size_t needed = 0;
	int err = posixtrace_eventid_get_description(trid, id, text, sizeof(text), &needed);

	if (err == ENOENT || !good(err, len, "get_description"))
		return;
	check(needed >= 2 && needed <= sizeof(text), "size of a description");
	check(strnlen(text, sizeof(text)) == needed - 1, "length of a description");
	for (size_t i = 0; i < needed - 1; i++)
		check((unsigned char)text[i] >= ' ' && text[i] != 0x7f, "control character");
}

/* The process, thread and address in the logs of log_corpus.c. */
#define PID	5
#define TID	6
#define MAPPED	0x400010UL

static void look_at_names(trace_id_t trid, size_t len)
{
	const struct timespec time = { 1700000000, 0 };
	char name[POSIXTRACE_THREAD_NAME_SIZE], program[POSIXTRACE_PROGRAM_SIZE];
	struct posixtrace_host_info host;
	size_t needed = 0;
	int err;

	err = posixtrace_get_thread_name(trid, PID, TID, &time, name);
	if (err != ENOENT && good(err, len, "get_thread_name"))
		check(strnlen(name, sizeof(name)) < sizeof(name), "name of a thread");
	err = posixtrace_get_program(trid, PID, &time, program, sizeof(program), &needed);
	if (err != ENOENT && good(err, len, "get_program"))
		check(needed && needed <= sizeof(program) && !program[needed - 1], "program");
	look_at_mapping(trid, PID, &time, (void *)MAPPED, len);
	look_at_mappings(trid, len);
	err = posixtrace_get_host(trid, &host);
	if (err != ENOENT && good(err, len, "get_host"))
		check(strnlen(host.node, sizeof(host.node)) < sizeof(host.node),
		      "name of the host");
}

/* Pairs of clocks are in order, and a time either has no bound or a small one. */
static void look_at_clocks(trace_id_t trid, size_t len)
{
	static const uint64_t times[] = { 0, 1700000000000000015ULL, UINT64_MAX };
	struct posixtrace_clock_pair pairs[3], last = { .clock = INT32_MIN };
	struct posixtrace_clock_time results[3];
	unsigned long long next = 0;
	size_t count, i;
	int err;

	do {
		if (!good(posixtrace_get_clock_pairs(trid, pairs, 3, &count, &next), len,
			  "get_clock_pairs"))
			return;
		for (i = 0; i < count; i++) {
			check(pairs[i].clock > last.clock ||
			      (pairs[i].clock == last.clock && pairs[i].time >= last.time),
			      "order of pairs of clocks");
			last = pairs[i];
		}
	} while (count);
	err = posixtrace_convert_times(trid, POSIXTRACE_CLOCKID_UTC, times, 3, results);
	if (err == ENOENT || !good(err, len, "convert_times"))
		return;
	for (i = 0; i < 3; i++)
		check(results[i].error == POSIXTRACE_CLOCK_UNKNOWN || results[i].error >> 62 == 0,
		      "error of a clock");
}

static void look_at_all(trace_id_t trid, size_t len)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	struct posixtrace_log_info info;
	trace_event_id_t id;
	trace_attr_t attr;
	int unavailable;
	int count = 0;

	check(!posix_trace_get_attr(trid, &attr), "get_attr");
	if (!good(posix_trace_get_status(trid, &status), len, "get_status") ||
	    !good(posixtrace_get_log_info(trid, &info), len, "get_log_info"))
		return;
	check(info.read <= info.size, "more read than there is");
	look_at_names(trid, len);
	look_at_clocks(trid, len);
	check(!posix_trace_eventtypelist_rewind(trid), "eventtypelist_rewind");
	for (;; count++) {
		check(!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable),
		      "eventtypelist_getnext_id");
		if (unavailable)
			break;
		check(!posix_trace_eventid_get_name(trid, id, name), "type without a name");
		check(name[0] && strnlen(name, sizeof(name)) < sizeof(name), "bad name");
		look_at_description(trid, id, len);
	}
	check(count >= 9 && count <= POSIXTRACE_ID_MAX, "number of types");
}

/* Seeks to some times, and reads to the end: only events of the log may be reported. */
static void seek_some(trace_id_t trid, size_t len)
{
	static const time_t seconds[] = { 1700000000, 0, INT32_MAX };
	struct timespec time = { .tv_nsec = 25 };

	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]) && !refused; i++) {
		time.tv_sec = seconds[i];
		if (good(posixtrace_seek(trid, &time), len, "seek"))
			read_all(trid, len, 0);
	}
}

static void write_file(int fd, size_t from, size_t to)
{
	check(pwrite(fd, file + from, to - from, from) == (ssize_t)(to - from), "write");
}

static void use(trace_id_t trid, int fd, unsigned char how, size_t len)
{
	struct event event;
	size_t first, again;
	int i;

	if (how & GROW) {
		read_all(trid, len, how & BATCH);
		write_file(fd, len / 2, len);
	}
	if (refused)
		return;
	seek_some(trid, len);
	if (refused || !good(posix_trace_rewind(trid), len, "rewind"))
		return;
	if (how & CUT) {
		for (i = 0; i < 5; i++)
			log_take(trid, &event);
		check(!ftruncate(fd, len / 3), "ftruncate");
	}
	read_all(trid, len, how & BATCH);
	look_at_all(trid, len);
	/* The file no longer changes, so two readings must be equal. */
	if (refused || !good(posix_trace_rewind(trid), len, "rewind"))
		return;
	first = read_all(trid, len, 0);
	if (refused)
		return;
	check(!posix_trace_rewind(trid), "rewind");
	again = read_all(trid, len, 1);
	check(first == again, "not the same when read again");
	check(!log_take(trid, &event), "more after the end");
	look_at_all(trid, len);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd = -1;
	trace_id_t trid;
	size_t len;

	if (fd < 0)
		fd = memfd_create("log_fuzz", MFD_CLOEXEC);
	if (!size || size - 1 > sizeof(file))
		return -1;
	len = size - 1;
	memcpy(file, data + 1, len);
	if (data[0] & REPAIR)
		repair(len);
	check(!ftruncate(fd, 0), "ftruncate");
	write_file(fd, 0, data[0] & GROW ? len / 2 : len);
	refused = false;
	if (posix_trace_open(fd, &trid))
		return 0;
	use(trid, fd, data[0], len);
	check(!posix_trace_close(trid), "close");
	return 0;
}
