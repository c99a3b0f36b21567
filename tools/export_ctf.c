// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Common Trace Format 1.8: a directory with one file for the events of each CPU, and the
 * file "metadata", which describes them in CTF's own language (TSDL).
 *
 * Fields are aligned to bytes only. Events have the header that LTTng calls large: six bytes as
 * long as the time since the previous event fits into 32 bits. CTF does not allow a time that
 * goes back within a file: such an event gets the time of the previous one, and a warning tells
 * the user.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "ctf_fields.h"
#include "ctf_metadata.h"
#include "escape.h"
#include "export.h"

#define PACKET_SIZE	(64 << 10)	/* bytes; a large event may exceed it */
#define PACKET_SIZE_MIN	4096
#define PACKETS_SIZE	(32 << 20)	/* bytes of the open packets of all CPUs */
#define CPUS_MAX	8192
/* Readers use signed 64-bit nanoseconds: the last full second in that range. */
#define TIME_MAX	(INT64_MAX / 1000000000 * 1000000000)

#define MAGIC		0xc1fc1fc1U
#define ID_EXTENDED	0xffffU

/* Offsets of the packet fields that end_packet() fills in. */
#define AT_BEGIN	32
#define AT_END		40
#define AT_CONTENT	48
#define AT_SIZE		56

/* Whether TSDL can describe the fields of an event type; 0 is not known yet. */
#define FIELDS_POSSIBLE		1
#define FIELDS_IMPOSSIBLE	2

/* The file of a CPU, or of the system events that no CPU recorded. */
struct file {
	struct buffer packet;
	size_t events;		/* in the packet */
	uint64_t time;		/* of the last event */
	uint64_t packets;
	uint64_t discarded;
};

struct ctf {
	struct export *export;
	struct ctf_metadata metadata;
	int directory;
	struct file *files;	/* first the file of system events, then one per CPU */
	size_t nr_files;
	size_t nr_used;
	uint64_t changed_times;
	unsigned char possible[EXPORT_TYPES];	/* whether TSDL has the fields of a type */
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

static void begin_packet(struct ctf *ctf, struct file *file, uint64_t time)
{
	struct buffer *packet = &file->packet;
	size_t index = file - ctf->files;

	buffer_reset(packet);
	buffer_number(packet, MAGIC, 4);
	buffer_put(packet, ctf->metadata.uuid, sizeof(ctf->metadata.uuid));
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

/* Files do not stay open: there may be more CPUs than descriptors. */
static int end_packet(struct ctf *ctf, struct file *file)
{
	struct buffer *packet = &file->packet;
	char name[32];
	int fd, err;

	buffer_patch(packet, AT_END, file->time, 8);
	buffer_patch(packet, AT_CONTENT, (uint64_t)packet->len * 8, 8);
	buffer_patch(packet, AT_SIZE, (uint64_t)packet->len * 8, 8);
	if (packet->failed)
		return -ENOMEM;
	file_name(file - ctf->files, name, sizeof(name));
	fd = openat(ctf->directory, name,
		    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = write_all(fd, packet->data, packet->len);
	if (close(fd) && !err)
		err = -errno;
	buffer_reset(packet);
	return err;
}

static int find_file(struct ctf *ctf, const struct event *event, struct file **file)
{
	size_t index = event->cpu == SOURCE_NO_CPU ? 0 : (size_t)event->cpu + 1;

	if (index > CPUS_MAX)
		return -ERANGE;
	if (index >= ctf->nr_files) {
		struct file *files = realloc(ctf->files, (index + 1) * sizeof(*files));

		if (!files)
			return -ENOMEM;
		memset(files + ctf->nr_files, 0, (index + 1 - ctf->nr_files) * sizeof(*files));
		ctf->files = files;
		ctf->nr_files = index + 1;
	}
	*file = &ctf->files[index];
	return 0;
}

/*
 * Begins a new packet if the event needs one. A packet has a count of discarded events, and a
 * reader compares it with the count of the previous packet. So a loss needs a previous packet,
 * even an empty one.
 */
static int prepare_packet(struct ctf *ctf, struct file *file, const struct event *event,
			  uint64_t time)
{
	size_t limit;
	int err;

	if (!file->packets) {
		ctf->nr_used++;
		begin_packet(ctf, file, ctf->export->first_time < time ?
					ctf->export->first_time : time);
	}
	limit = PACKETS_SIZE / ctf->nr_used;
	if (limit > PACKET_SIZE)
		limit = PACKET_SIZE;
	if (limit < PACKET_SIZE_MIN)
		limit = PACKET_SIZE_MIN;
	if (!ctf->export->newly_lost && file->packet.len + event->len < limit)
		return 0;
	if (file->events || ctf->export->newly_lost) {
		err = end_packet(ctf, file);
		if (err)
			return err;
		file->discarded += ctf->export->newly_lost;
		begin_packet(ctf, file, time);
	}
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void put_header(struct file *file, unsigned int id, uint64_t time)
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

/* Returns the fields of the event, or NULL if its data have to be shown as bytes. */
static const struct description *find_fields(struct ctf *ctf, const struct event *event)
{
	const struct description *fields = event->description;
	unsigned char *possible;

	if (!fields || event->type >= EXPORT_TYPES ||
	    event->truncated != POSIX_TRACE_NOT_TRUNCATED || !event_has_fields(event, event->len))
		return NULL;
	possible = &ctf->possible[event->type];
	if (!*possible)
		*possible = ctf_fields_possible(fields) ? FIELDS_POSSIBLE : FIELDS_IMPOSSIBLE;
	return *possible == FIELDS_POSSIBLE ? fields : NULL;
}

static void put_comm(struct buffer *packet, const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	/* Readers print it as it is. */
	if (event_thread_name(event, name))
		escape_plain(packet, name, strlen(name));
	buffer_byte(packet, '\0');
}

static int put_event(struct ctf *ctf, const struct event *event)
{
	const struct description *fields = find_fields(ctf, event);
	uint64_t time = event->time;
	struct buffer *packet;
	struct file *file;
	unsigned int id;
	int err;

	err = find_file(ctf, event, &file);
	if (err)
		return err;
	if (time > TIME_MAX)
		time = TIME_MAX;
	if (file->packets && time < file->time)
		time = file->time;
	ctf->changed_times += time != event->time;
	err = prepare_packet(ctf, file, event, time);
	if (err)
		return err;
	err = ctf_metadata_event(&ctf->metadata, file == ctf->files ? CTF_SYSTEM_STREAM :
				 CTF_CPU_STREAM, event, fields, &id);
	if (err)
		return err;

	packet = &file->packet;
	put_header(file, id, time);
	buffer_number(packet, event->pid, 4);
	buffer_number(packet, event->tid, 4);
	put_comm(packet, event);
	buffer_number(packet, event->thread, 8);
	buffer_number(packet, event->address, 8);
	buffer_number(packet, event->truncated != POSIX_TRACE_NOT_TRUNCATED, 1);
	if (fields) {
		ctf_fields_put(packet, event);
	} else {
		buffer_number(packet, event->len, 4);
		buffer_put(packet, event->data, event->len);
	}
	file->events++;
	return packet->failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ */
/* The directory							*/

static int write_metadata(struct ctf *ctf)
{
	struct buffer text = { };
	char name[TRACE_NAME_MAX + 1];
	int fd, err;

	export_trace_name(ctf->export, name, sizeof(name));
	ctf_metadata_write(&ctf->metadata, name, &text);
	if (text.failed) {
		buffer_free(&text);
		return -ENOMEM;
	}
	fd = openat(ctf->directory, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	err = fd < 0 ? -errno : write_all(fd, text.data, text.len);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	buffer_free(&text);
	return err;
}

static int make_directory(struct ctf *ctf)
{
	const char *path = ctf->export->path;
	int err;

	if (mkdir(path, 0777)) {
		err = errno;
		if (err == EEXIST)
			tell("--output: %s: already exists; remove it, or choose another name",
			     path);
		return -err;
	}
	ctf->directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return ctf->directory < 0 ? -errno : 0;
}

static int write_events(struct ctf *ctf)
{
	struct event event;
	int ret;

	while ((ret = export_next(ctf->export, &event)) > 0) {
		ret = put_event(ctf, &event);
		if (ret)
			return ret;
	}
	for (size_t i = 0; !ret && i < ctf->nr_files; i++) {
		if (ctf->files[i].packets)
			ret = end_packet(ctf, &ctf->files[i]);
	}
	return ret;
}

int export_ctf(struct export *export)
{
	struct ctf ctf = { .export = export, .directory = -1 };
	int err = make_directory(&ctf);

	if (err)
		return err;
	if (getrandom(ctf.metadata.uuid, sizeof(ctf.metadata.uuid), 0) !=
	    sizeof(ctf.metadata.uuid))
		err = -errno;
	/* A random UUID: version 4 of RFC 4122. */
	ctf.metadata.uuid[6] = (ctf.metadata.uuid[6] & 0x0f) | 0x40;
	ctf.metadata.uuid[8] = (ctf.metadata.uuid[8] & 0x3f) | 0x80;
	if (!err)
		err = write_events(&ctf);
	/* Write "metadata" last: readers reject an incomplete trace, which lacks it. */
	if (!err)
		err = write_metadata(&ctf);
	if (!err && ctf.changed_times)
		tell("export: CTF cannot store the time%s of %llu event%s: changed to the nearest",
		     ctf.changed_times == 1 ? "" : "s", (unsigned long long)ctf.changed_times,
		     ctf.changed_times == 1 ? "" : "s");
	for (size_t i = 0; i < ctf.nr_files; i++)
		buffer_free(&ctf.files[i].packet);
	free(ctf.files);
	ctf_metadata_free(&ctf.metadata);
	close(ctf.directory);
	return err;
}
