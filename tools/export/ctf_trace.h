/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CTF trace on its way to a directory: one file of packets for each processor, and one for
 * events that no processor recorded. ctf_metadata.h describes what is in them.
 */
#ifndef POSIXTRACE_CTF_TRACE_H
#define POSIXTRACE_CTF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

#define CTF_CPUS_MAX	8192
/* Readers use signed 64-bit nanoseconds: the last full second in that range. */
#define CTF_TIME_MAX	(INT64_MAX / 1000000000 * 1000000000)

struct ctf_file;

/**
 * struct ctf_trace - a trace; initially all zero except @uuid, @directory and @first_time
 * @uuid: UUID of the trace
 * @directory: the directory, as a descriptor
 * @first_time: time of the first event
 * @files: first the file of events without a processor, then one for each processor
 * @nr_files: number of @files
 * @nr_used: number of files with events
 * @limit: bytes of memory that the packet of a file may keep
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

/* ctf_trace_uuid() - make a random UUID: version 4 of RFC 4122; returns 0 or an error */
int ctf_trace_uuid(unsigned char uuid[16]);

/* ctf_trace_directory() - make a directory below @at; store its descriptor */
int ctf_trace_directory(int at, const char *path, int *directory);

/**
 * ctf_trace_begin() - begin an event
 * @trace: the trace
 * @cpu: the processor, or SOURCE_NO_CPU
 * @id: id of the event in the trace
 * @time: its time. If CTF cannot store that, it gets the nearest possible one.
 * @lost: number of events known to be lost before it
 * @len: number of bytes that follow, approximately
 * @packet: where to store the buffer to which the caller appends the event before the next call
 * @changed: where to store whether it got another time
 *
 * Return: 0 or a negative error number.
 */
int ctf_trace_begin(struct ctf_trace *trace, unsigned int cpu, unsigned int id, uint64_t time,
		    uint64_t lost, size_t len, struct buffer **packet, bool *changed);

/* ctf_trace_remove() - remove a directory below @at with all that is in it, also others */
void ctf_trace_remove(int at, const char *path);

/**
 * ctf_trace_end() - write all packets, and the metadata as the last file
 * @trace: the trace
 * @time: time of the last event of all files. They end then: analyses use the part of a trace that
 *	all files have.
 * @metadata: the text
 *
 * Readers reject an incomplete trace, which lacks the metadata.
 *
 * Return: 0 or a negative error number.
 */
int ctf_trace_end(struct ctf_trace *trace, uint64_t time, const struct buffer *metadata);

void ctf_trace_free(struct ctf_trace *trace);

#endif /* POSIXTRACE_CTF_TRACE_H */
