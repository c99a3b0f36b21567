/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the files of a CTF trace: one file of packets for each CPU, and one for events that belong
 * to no CPU. ctf_metadata.c describes their contents.
 */
#ifndef POSIXTRACE_CTF_TRACE_H
#define POSIXTRACE_CTF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

#define CTF_CPUS_MAX	8192
/* CTF readers use signed 64-bit nanoseconds. This is the last full second in that range. */
#define CTF_TIME_MAX	(INT64_MAX / 1000000000 * 1000000000)

struct ctf_file;

/**
 * struct ctf_trace - a trace; initially all zero except @uuid, @directory and @first_time
 * @uuid: UUID of the trace
 * @directory: descriptor of its directory
 * @first_time: time of the first event
 * @files: first the file of events without a CPU, then one file for each CPU
 * @nr_files: number of @files
 * @nr_used: number of files with events
 * @limit: maximum memory of the open packet of a file, bytes
 * @last: index of the file of the last event
 */
struct ctf_trace {
	unsigned char uuid[16];
	int directory;
	uint64_t first_time;
	struct ctf_file *files;
	size_t nr_files;
	size_t nr_used;
	size_t limit;
	size_t last;
};

/* ctf_trace_uuid() - create a random UUID (RFC 4122, version 4); returns 0 or an error */
int ctf_trace_uuid(unsigned char uuid[16]);

/* ctf_trace_directory() - create a directory below @at and open it as @directory */
int ctf_trace_directory(int at, const char *path, int *directory);

/**
 * ctf_trace_begin() - begin an event
 * @trace: the trace
 * @cpu: the CPU, or SOURCE_NO_CPU
 * @id: id of the event in the trace
 * @time: time of the event, which is clamped to the range of CTF
 * @lost: number of events known to be lost before it
 * @len: approximate number of bytes that follow
 * @packet: where to store the buffer; the caller appends the event to it before the next call
 * @changed: where to store whether the time was changed
 *
 * Return: 0 or a negative error number.
 */
int ctf_trace_begin(struct ctf_trace *trace, unsigned int cpu, unsigned int id, uint64_t time,
		    uint64_t lost, size_t len, struct buffer **packet, bool *changed);

/* ctf_trace_remove() - remove a directory below @at with all of its contents, even foreign files */
void ctf_trace_remove(int at, const char *path);

/**
 * ctf_trace_end() - write all packets, then the metadata
 * @trace: the trace
 * @time: time of the last event in any file. All files end at this time, because analyses use only
 *	the part of a trace that all files cover.
 * @metadata: the metadata
 *
 * The metadata is written last, so that CTF readers reject an incomplete trace.
 *
 * Return: 0 or a negative error number.
 */
int ctf_trace_end(struct ctf_trace *trace, uint64_t time, const struct buffer *metadata);

void ctf_trace_free(struct ctf_trace *trace);

#endif /* POSIXTRACE_CTF_TRACE_H */
