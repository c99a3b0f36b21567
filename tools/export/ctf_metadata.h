/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metadata of a CTF trace: its event types and their fields.
 */
#ifndef POSIXTRACE_CTF_METADATA_H
#define POSIXTRACE_CTF_METADATA_H

#include "export/export.h"
#include "util/buffer.h"

/* CTF streams: one for events recorded on a CPU, one for events that belong to no CPU. */
#define CTF_CPU_STREAM		0
#define CTF_SYSTEM_STREAM	1
#define CTF_STREAMS		2

/**
 * struct ctf_metadata - contents of the metadata; initially all zero
 * @names: name of each event type seen, by event type
 * @fields: fields of each event type that has a description, by event type
 * @used: whether the trace contains such events, by stream and by id in the trace
 */
struct ctf_metadata {
	char *names[EXPORT_TYPES];
	const struct description *fields[EXPORT_TYPES];
	bool used[CTF_STREAMS][2 * EXPORT_TYPES];
};

/**
 * ctf_metadata_event() - register the type of an event and get its id
 * @metadata: the metadata
 * @stream: CTF_CPU_STREAM or CTF_SYSTEM_STREAM
 * @event: the event
 * @fields: its fields; NULL if its data is written as bytes
 * @id: where to store its id in the trace
 *
 * Return: 0, -ENOMEM, or -ERANGE if the type number of the event is out of range.
 */
int ctf_metadata_event(struct ctf_metadata *metadata, unsigned int stream,
		       const struct event *event, const struct description *fields,
		       unsigned int *id);

/* ctf_metadata_write() - append the metadata of a trace in TSDL */
void ctf_metadata_write(struct ctf_metadata *metadata, const struct export *export,
			const unsigned char uuid[16], struct buffer *text);

/**
 * ctf_metadata_trace() - append the packet header and the clock
 * @text: where to append
 * @uuid: UUID of the trace
 * @boot_id: boot id, which clocks of the same host share; all zero if unknown
 */
void ctf_metadata_trace(struct buffer *text, const unsigned char uuid[16],
			const unsigned char boot_id[16]);

/**
 * ctf_metadata_stream() - append the description of a stream
 * @text: where to append
 * @stream: CTF_CPU_STREAM or CTF_SYSTEM_STREAM
 * @context: members of the event context
 */
void ctf_metadata_stream(struct buffer *text, unsigned int stream, const char *context);

void ctf_metadata_free(struct ctf_metadata *metadata);

#endif /* POSIXTRACE_CTF_METADATA_H */
