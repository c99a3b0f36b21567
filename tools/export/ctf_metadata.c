// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the metadata of a CTF trace in TSDL: see ctf_metadata.h. ctf.c writes the events.
 */
#include <errno.h>
#include <posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "export/ctf_fields.h"
#include "export/ctf_metadata.h"
#include "util/escape.h"

int ctf_metadata_event(struct ctf_metadata *metadata, unsigned int stream,
		       const struct event *event, const struct description *fields,
		       unsigned int *id)
{
	if (event->type >= EXPORT_TYPES)
		return -ERANGE;
	*id = event->type + (fields ? EXPORT_TYPES : 0);
	metadata->used[stream][*id] = true;
	if (fields)
		metadata->fields[event->type] = fields;
	if (!metadata->names[event->type])
		metadata->names[event->type] = strdup(event->name);
	return metadata->names[event->type] ? 0 : -ENOMEM;
}

void ctf_metadata_free(struct ctf_metadata *metadata)
{
	for (size_t i = 0; i < EXPORT_TYPES; i++)
		free(metadata->names[i]);
}

static void put_uuid(struct buffer *text, const unsigned char *uuid)
{
	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			buffer_byte(text, '-');
		escape_hex(text, uuid + i, 1);
	}
}

static void put_clock(struct buffer *text, const unsigned char *boot_id)
{
	static const unsigned char unknown[16];

	buffer_text(text, "clock {\n\tname = \"realtime\";\n");
	if (memcmp(boot_id, unknown, sizeof(unknown)) != 0) {
		buffer_text(text, "\tuuid = \"");
		put_uuid(text, boot_id);
		buffer_text(text, "\";\n");
	}
	buffer_text(text,
		    "\tdescription = \"CLOCK_REALTIME: nanoseconds since the Epoch\";\n"
		    "\tfreq = 1000000000;\n"
		    "\toffset_s = 0;\n"
		    "\toffset = 0;\n"
		    "\tabsolute = true;\n"
		    "};\n\n"
		    "typealias integer {\n"
		    "\tsize = 32; align = 8; signed = false; map = clock.realtime.value;\n"
		    "} := time32_t;\n"
		    "typealias integer {\n"
		    "\tsize = 64; align = 8; signed = false; map = clock.realtime.value;\n"
		    "} := time64_t;\n\n");
}

void ctf_metadata_trace(struct buffer *text, const unsigned char uuid[16],
			const unsigned char boot_id[16])
{
	buffer_text(text, "/* CTF 1.8 */\n\n");
	ctf_fields_aliases(text);
	buffer_text(text, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\tuuid = \"");
	put_uuid(text, uuid);
	buffer_text(text,
		    "\";\n"
		    "\tpacket.header := struct {\n"
		    "\t\tuint32_t magic;\n"
		    "\t\tuint8_t uuid[16];\n"
		    "\t\tuint32_t stream_id;\n"
		    "\t\tuint64_t stream_instance_id;\n"
		    "\t};\n};\n\n");
	put_clock(text, boot_id);
}

static void put_environment(struct buffer *text, const char *trace_name)
{
	buffer_text(text, "env {\n\ttracer_name = \"posixtrace\";\n");
	buffer_printf(text, "\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttrace_name = ",
		      POSIXTRACE_VERSION_MAJOR, POSIXTRACE_VERSION_MINOR);
	escape_string(text, trace_name, strlen(trace_name), false);
	buffer_text(text, ";\n};\n\n");
}

void ctf_metadata_stream(struct buffer *text, unsigned int stream, const char *context)
{
	buffer_printf(text, "stream {\n\tid = %u;\n", stream);
	buffer_text(text,
		    "\tpacket.context := struct {\n"
		    "\t\ttime64_t timestamp_begin;\n"
		    "\t\ttime64_t timestamp_end;\n"
		    "\t\tuint64_t content_size;\n"
		    "\t\tuint64_t packet_size;\n"
		    "\t\tuint64_t packet_seq_num;\n"
		    "\t\tuint64_t events_discarded;\n");
	if (stream == CTF_CPU_STREAM)
		buffer_text(text, "\t\tuint32_t cpu_id;\n");
	buffer_text(text,
		    "\t};\n"
		    "\tevent.header := struct {\n"
		    "\t\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
		    "\t\tvariant <id> {\n"
		    "\t\t\tstruct {\n"
		    "\t\t\t\ttime32_t timestamp;\n"
		    "\t\t\t} compact;\n"
		    "\t\t\tstruct {\n"
		    "\t\t\t\tuint32_t id;\n"
		    "\t\t\t\ttime64_t timestamp;\n"
		    "\t\t\t} extended;\n"
		    "\t\t} v;\n"
		    "\t};\n"
		    "\tevent.context := struct {\n");
	buffer_text(text, context);
	buffer_text(text, "\t};\n};\n\n");
}

/*
 * Does another type already have this name? Names must be unique, but a forged log may use a name
 * twice, and a type may have events both with and without fields.
 */
static bool is_taken(const struct ctf_metadata *metadata, size_t type)
{
	for (size_t i = 0; i < type; i++) {
		if (metadata->names[i] && !strcmp(metadata->names[i], metadata->names[type]))
			return true;
	}
	return false;
}

static void put_event(struct buffer *text, const struct ctf_metadata *metadata,
		      unsigned int stream, unsigned int id)
{
	size_t type = id % EXPORT_TYPES;
	bool fields = id >= EXPORT_TYPES;
	struct buffer name = { };

	buffer_text(&name, metadata->names[type]);
	if (is_taken(metadata, type))
		buffer_printf(&name, " (type %zu)", type);
	if (!fields && metadata->fields[type])
		buffer_text(&name, " (bytes)");
	text->failed |= name.failed;
	buffer_text(text, "event {\n\tname = ");
	escape_string(text, name.data, name.len, false);
	buffer_printf(text, ";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", id, stream);
	if (fields)
		ctf_fields_describe(text, metadata->fields[type]);
	else
		buffer_text(text, "\t\tuint32_t _len;\n\t\txint8_t _data[_len];\n");
	buffer_text(text, "\t};\n};\n\n");
	buffer_free(&name);
}

void ctf_metadata_write(struct ctf_metadata *metadata, const struct export *export,
			const unsigned char uuid[16], struct buffer *text)
{
	struct posixtrace_host_info host = { };
	char name[TRACE_NAME_MAX + 1];

	if (source_get_host(export->source, &host))
		memset(&host, 0, sizeof(host));
	export_trace_name(export, name, sizeof(name));
	ctf_metadata_trace(text, uuid, host.boot_id);
	put_environment(text, name);
	for (unsigned int stream = 0; stream < CTF_STREAMS; stream++) {
		ctf_metadata_stream(text, stream,
				    "\t\tint32_t pid;\n"
				    "\t\tint32_t tid;\n"
				    "\t\tstring comm;\n"
				    "\t\txint64_t thread;\n"
				    "\t\txint64_t address;\n"
				    "\t\tuint8_t truncated;\n");
		for (unsigned int id = 0; id < 2 * EXPORT_TYPES; id++) {
			if (metadata->used[stream][id])
				put_event(text, metadata, stream, id);
		}
	}
}
