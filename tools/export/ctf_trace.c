// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the files of a CTF trace: see ctf_trace.h.
 *
 * Fields are byte-aligned. Events have LTTng's "large" event header: six bytes if the time since
 * the previous event fits into 32 bits, otherwise 14. In CTF, time must not go backwards within a
 * file, so an event that is older than the previous one gets the time of the previous one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/ctf_metadata.h"
#include "export/ctf_trace.h"

/* Powers of two, like the sizes of buffers. */
#define PACKET_SIZE	(64U << 10)	/* bytes; a large event may exceed it */
#define PACKET_SIZE_MIN	4096U
#define PACKETS_SIZE	(32U << 20)	/* bytes of all open packets but the current one */

#define MAGIC		0xc1fc1fc1U
#define ID_EXTENDED	0xffffU

/* Offsets of packet header fields that end_packet() fills in. */
#define AT_BEGIN	32
#define AT_END		40
#define AT_CONTENT	48
#define AT_SIZE		56

/* The file of a CPU, or of the system events that were not recorded on a CPU. */
struct ctf_file {
	struct buffer packet;	/* the open packet; empty if there is none */
	size_t events;		/* number of events in @packet */
	uint64_t time;		/* time of the last event */
	uint64_t packets;
	uint64_t discarded;
};

static void file_name(size_t index, char *name, size_t size)
{
	if (index)
		snprintf(name, size, "cpu%zu", index - 1);
	else
		snprintf(name, size, "system");
}

/* ------------------------------------------------------------------ */
/* Packets								*/

static void begin_packet(struct ctf_trace *trace, struct ctf_file *file, uint64_t time)
{
	struct buffer *packet = &file->packet;
	size_t index = file - trace->files;

	buffer_reset(packet);
	buffer_number(packet, MAGIC, 4);
	buffer_put(packet, trace->uuid, sizeof(trace->uuid));
	buffer_number(packet, index ? CTF_CPU_STREAM : CTF_SYSTEM_STREAM, 4);
	buffer_number(packet, index, 8);
	buffer_number(packet, time, 8);		/* AT_BEGIN */
	buffer_number(packet, time, 8);		/* AT_END */
	buffer_number(packet, 0, 8);		/* AT_CONTENT */
	buffer_number(packet, 0, 8);		/* AT_SIZE */
	buffer_number(packet, file->packets++, 8);
	buffer_number(packet, file->discarded, 8);
	if (index)
		buffer_number(packet, index - 1, 4);
	file->events = 0;
	file->time = time;
}

static int write_all(int fd, const unsigned char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
	return 0;
}

/* Writes a packet. The file is opened only for this: there may be more CPUs than descriptors. */
static int end_packet(struct ctf_trace *trace, struct ctf_file *file)
{
	struct buffer *packet = &file->packet;
	char name[32];
	int fd, err;

	buffer_patch(packet, AT_END, file->time, 8);
	buffer_patch(packet, AT_CONTENT, (uint64_t)packet->len * 8, 8);
	buffer_patch(packet, AT_SIZE, (uint64_t)packet->len * 8, 8);
	if (packet->failed)
		return -ENOMEM;
	file_name(file - trace->files, name, sizeof(name));
	fd = openat(trace->directory, name,
		    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, packet->data, packet->len);
	if (close(fd) && !err)
		err = -errno;
	buffer_reset(packet);
	if (packet->room > trace->limit)
		buffer_free(packet);
	return err;
}

/* Writes the packet of a file if it exceeds the file's share of the memory. */
static int limit_packet(struct ctf_trace *trace, struct ctf_file *file)
{
	if (file->packet.room <= trace->limit)
		return 0;
	if (file->packet.len)
		return end_packet(trace, file);
	buffer_free(&file->packet);
	return 0;
}

/* Adds a file. All files share the memory of PACKETS_SIZE, so this may lower the limit of each. */
static int add_file(struct ctf_trace *trace)
{
	size_t limit = PACKET_SIZE;
	int err = 0;

	trace->nr_used++;
	while (limit > PACKET_SIZE_MIN && limit * trace->nr_used > PACKETS_SIZE)
		limit /= 2;
	if (limit == trace->limit)
		return 0;
	trace->limit = limit;
	for (size_t i = 0; !err && i < trace->nr_files; i++)
		err = limit_packet(trace, &trace->files[i]);
	return err;
}

static int find_file(struct ctf_trace *trace, unsigned int cpu, struct ctf_file **file)
{
	size_t index = cpu == SOURCE_NO_CPU ? 0 : (size_t)cpu + 1;

	if (index > CTF_CPUS_MAX)
		return -ERANGE;
	if (index >= trace->nr_files) {
		struct ctf_file *files = realloc(trace->files, (index + 1) * sizeof(*files));

		if (!files)
			return -ENOMEM;
		memset(files + trace->nr_files, 0, (index + 1 - trace->nr_files) * sizeof(*files));
		trace->files = files;
		trace->nr_files = index + 1;
	}
	*file = &trace->files[index];
	return 0;
}

/*
 * Begins a new packet if none is open, or if an event of @len bytes does not fit into the open one.
 * CTF readers detect losses by comparing the discard counts of two successive packets, so before a
 * loss there must be a packet, even if it is empty.
 */
static int prepare_packet(struct ctf_trace *trace, struct ctf_file *file, uint64_t lost,
			  size_t len, uint64_t time)
{
	int err;

	if (!file->packets) {
		err = add_file(trace);
		if (err)
			return err;
		begin_packet(trace, file, trace->first_time < time ? trace->first_time : time);
	} else if (!file->packet.len) {
		file->discarded += lost;
		begin_packet(trace, file, time);
		return 0;
	}
	if (!lost && file->packet.len + len < trace->limit)
		return 0;
	if (file->events || lost) {
		err = end_packet(trace, file);
		if (err)
			return err;
		file->discarded += lost;
		begin_packet(trace, file, time);
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void put_header(struct ctf_file *file, unsigned int id, uint64_t time)
{
	struct buffer *packet = &file->packet;

	if (time - file->time <= UINT32_MAX) {
		buffer_number(packet, id, 2);
		buffer_number(packet, time, 4);
	} else {
		buffer_number(packet, ID_EXTENDED, 2);
		buffer_number(packet, id, 4);
		buffer_number(packet, time, 8);
	}
	file->time = time;
}

int ctf_trace_begin(struct ctf_trace *trace, unsigned int cpu, unsigned int id, uint64_t time,
		    uint64_t lost, size_t len, struct buffer **packet, bool *changed)
{
	uint64_t wanted = time;
	struct ctf_file *file;
	int err = 0;

	/* The caller has appended the previous event only now, so its packet may be too large. */
	if (trace->nr_files)
		err = limit_packet(trace, &trace->files[trace->last]);
	if (!err)
		err = find_file(trace, cpu, &file);
	if (err)
		return err;
	trace->last = file - trace->files;
	if (time > CTF_TIME_MAX)
		time = CTF_TIME_MAX;
	if (file->packets && time < file->time)
		time = file->time;
	*changed = time != wanted;
	err = prepare_packet(trace, file, lost, len, time);
	if (err)
		return err;
	put_header(file, id, time);
	file->events++;
	*packet = &file->packet;
	return 0;
}

/* ------------------------------------------------------------------ */
/* The directory							*/

int ctf_trace_uuid(unsigned char uuid[16])
{
	if (getrandom(uuid, 16, 0) != 16)
		return -errno;
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	return 0;
}

int ctf_trace_directory(int at, const char *path, int *directory)
{
	int err;

	if (mkdirat(at, path, 0700))
		return -errno;
	*directory = openat(at, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*directory >= 0)
		return 0;
	err = -errno;
	unlinkat(at, path, AT_REMOVEDIR);
	return err;
}

static int write_metadata(struct ctf_trace *trace, const struct buffer *text)
{
	int fd, err;

	if (text->failed)
		return -ENOMEM;
	fd = openat(trace->directory, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : write_all(fd, text->data, text->len);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

void ctf_trace_remove(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && (errno == EISDIR || errno == EPERM))
			ctf_trace_remove(fd, entry->d_name);
	}
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	unlinkat(at, path, AT_REMOVEDIR);
}

int ctf_trace_end(struct ctf_trace *trace, uint64_t time, const struct buffer *metadata)
{
	struct ctf_file *file = trace->files;
	int err = 0;

	if (time > CTF_TIME_MAX)
		time = CTF_TIME_MAX;
	for (size_t i = 0; !err && i < trace->nr_files; i++, file++) {
		if (!file->packets)
			continue;
		if (!file->packet.len && file->time < time)
			begin_packet(trace, file, file->time);
		if (file->time < time)
			file->time = time;
		if (file->packet.len)
			err = end_packet(trace, file);
	}
	return err ? err : write_metadata(trace, metadata);
}

void ctf_trace_free(struct ctf_trace *trace)
{
	for (size_t i = 0; i < trace->nr_files; i++)
		buffer_free(&trace->files[i].packet);
	free(trace->files);
	if (trace->directory >= 0)
		close(trace->directory);
}
