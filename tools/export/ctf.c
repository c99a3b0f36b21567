// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Common Trace Format 1.8: a directory with a file of events for each CPU, and the file
 * "metadata", which describes them in TSDL, the CTF description language.
 *
 * If the stream requested kernel events, the log becomes two traces, as with LTTng: "kernel" with
 * LTTng's names and fields, and "user" with all other events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event_names.h"
#include "export/ctf_fields.h"
#include "export/ctf_kernel.h"
#include "export/ctf_metadata.h"
#include "export/ctf_trace.h"
#include "export/export.h"
#include "util/escape.h"
#include "util/message.h"

/* Can TSDL describe the fields of an event type? 0 means not known yet. */
#define FIELDS_POSSIBLE		1
#define FIELDS_IMPOSSIBLE	2

struct ctf {
	struct export *export;
	struct ctf_metadata metadata;
	struct ctf_trace trace;
	struct ctf_kernel *kernel;	/* NULL: no kernel events */
	int directory;
	bool made;		/* this export created the directory, so remove it after an error */
	uint64_t changed_times;
	unsigned char possible[EXPORT_TYPES];	/* FIELDS_*, by event type */
};

/* ------------------------------------------------------------------ */
/* Events								*/

/* Returns the fields of the event. NULL if its data must be shown as bytes. */
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

	/* Viewers print the name without escaping, so escape it here. */
	if (event_thread_name(event, name))
		escape_plain(packet, name, strlen(name));
	buffer_byte(packet, '\0');
}

static int put_event(struct ctf *ctf, const struct event *event)
{
	const struct description *fields = find_fields(ctf, event);
	struct buffer *packet;
	unsigned int id;
	bool changed;
	int err;

	err = ctf_metadata_event(&ctf->metadata, event->cpu == SOURCE_NO_CPU ? CTF_SYSTEM_STREAM :
				 CTF_CPU_STREAM, event, fields, &id);
	if (!err)
		err = ctf_trace_begin(&ctf->trace, event->cpu, id, event->time,
				      ctf->export->newly_lost, event->len, &packet, &changed);
	if (err)
		return err;
	ctf->changed_times += changed;
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
	return packet->failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ */
/* The directory							*/

static int make_directories(struct ctf *ctf)
{
	const char *path = ctf->export->path;
	int err = ctf_trace_directory(AT_FDCWD, path, &ctf->directory);

	if (err == -EEXIST)
		tell("--output: %s: already exists; remove it, or choose another name", path);
	if (err)
		return err;
	ctf->made = true;
	if (!export_kernel_classes(ctf->export)) {
		ctf->trace.directory = ctf->directory;
		ctf->directory = -1;
		return 0;
	}
	err = ctf_trace_directory(ctf->directory, "user", &ctf->trace.directory);
	return err ? err : ctf_kernel_new(ctf->export, ctf->directory, &ctf->kernel);
}

static int write_events(struct ctf *ctf)
{
	struct buffer text = { };
	struct event event;
	int ret;

	while ((ret = export_next(ctf->export, &event)) > 0) {
		ctf->trace.first_time = ctf->export->first_time;
		ret = ctf->kernel ? ctf_kernel_event(ctf->kernel, &event) : 0;
		if (!ret)
			ret = put_event(ctf, &event);
		if (ret < 0)
			return ret;
	}
	if (!ret && ctf->kernel)
		ret = ctf_kernel_end(ctf->kernel, &ctf->changed_times);
	if (ret)
		return ret;
	ctf_metadata_write(&ctf->metadata, ctf->export, ctf->trace.uuid, &text);
	ret = ctf_trace_end(&ctf->trace, ctf->export->last_time, &text);
	buffer_free(&text);
	return ret;
}

int export_ctf(struct export *export)
{
	struct ctf ctf = { .export = export, .directory = -1, .trace = { .directory = -1 } };
	int err = make_directories(&ctf);

	if (!err)
		err = ctf_trace_uuid(ctf.trace.uuid);
	if (!err)
		err = write_events(&ctf);
	if (!err)
		err = export_interrupted();
	if (err && ctf.made)
		ctf_trace_remove(AT_FDCWD, export->path);
	if (!err && ctf.changed_times)
		tell("export: CTF cannot store the time%s of %llu event%s: used the nearest",
		     ctf.changed_times == 1 ? "" : "s", (unsigned long long)ctf.changed_times,
		     ctf.changed_times == 1 ? "" : "s");
	ctf_kernel_free(ctf.kernel);
	ctf_trace_free(&ctf.trace);
	ctf_metadata_free(&ctf.metadata);
	if (ctf.directory >= 0)
		close(ctf.directory);
	return err;
}
