/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The description of a CTF trace: which event types there are, and what their fields are.
 */
#ifndef POSIXTRACE_CTF_METADATA_H
#define POSIXTRACE_CTF_METADATA_H

#include "buffer.h"
#include "export.h"

/* Streams: what CPUs recorded, and what none did. */
#define CTF_CPU_STREAM		0
#define CTF_SYSTEM_STREAM	1
#define CTF_STREAMS		2

/**
 * struct ctf_metadata - all zero but for @uuid to begin with
 * @uuid: of the trace
 * @names: by event type, those that there are
 * @layouts: by event type, the fields of those whose data have some
 * @used: by stream and by id in the trace, whether there are such events
 */
struct ctf_metadata {
	unsigned char uuid[16];
	char *names[EXPORT_TYPES];
	const struct layout *layouts[EXPORT_TYPES];
	bool used[CTF_STREAMS][2 * EXPORT_TYPES];
};

/**
 * ctf_metadata_event() - an event that is in the trace
 * @metadata: what there is
 * @stream: CTF_CPU_STREAM or CTF_SYSTEM_STREAM
 * @event: the event
 * @layout: its fields, NULL if its data are bytes
 * @id: where to put its id in the trace
 *
 * Return: 0, -ENOMEM, or -ERANGE if no event type can have that id.
 */
int ctf_metadata_event(struct ctf_metadata *metadata, unsigned int stream,
		       const struct event *event, const struct layout *layout,
		       unsigned int *id);

/* ctf_metadata_write() - all of it, as TSDL; @trace_name may have any bytes */
void ctf_metadata_write(struct ctf_metadata *metadata, const char *trace_name,
			struct buffer *text);

void ctf_metadata_free(struct ctf_metadata *metadata);

#endif /* POSIXTRACE_CTF_METADATA_H */
