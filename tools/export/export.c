// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by the exporters: see export.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "analyze/spans.h"
#include "export/compress.h"
#include "export/export.h"

#define PROGRESS_EVERY	(1 << 16)	/* events */

/* ------------------------------------------------------------------ */
/* Signals: an interrupted export leaves no partial output behind	*/

/* Set by the signal handler, accessed atomically. */
static int signal_number;

static void take_signal(int number)
{
	__atomic_store_n(&signal_number, number, __ATOMIC_RELAXED);
}

static int signal_taken(void)
{
	return __atomic_load_n(&signal_number, __ATOMIC_RELAXED);
}

int export_interrupted(void)
{
	return signal_taken() ? -EINTR : 0;
}

void export_begin_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	/* Without SA_RESTART, a signal also interrupts a blocked write. */
	const struct sigaction take = { .sa_handler = take_signal };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* Keep SIGHUP ignored under nohup(1). */
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &take, NULL);
	}
	/*
	 * Ignore SIGXFSZ: write() then fails with EFBIG at the file size limit, which is reported.
	 */
	signal(SIGXFSZ, SIG_IGN);
}

void export_obey_signal(void)
{
	signal(signal_taken(), SIG_DFL);
	raise(signal_taken());
}

/* ------------------------------------------------------------------ */
/* Events and output							*/

static void show_progress(const struct export *export, const char *end)
{
	uint64_t total = source_total_bytes(export->source);

	fprintf(stderr, "\rposixtrace: %llu events", (unsigned long long)export->events);
	if (total)
		fprintf(stderr, ", %3.0f %%", 100.0 * source_read_bytes(export->source) / total);
	fputs(end, stderr);
	fflush(stderr);
}

int export_states(struct export *export)
{
	/* Threads may have states although none of their events is exported. */
	if (!select_has_all(export->selection))
		return 0;
	return snapshot_read(export->source, &export->snapshot);
}

int export_start(struct export *export, struct spans *spans)
{
	int err = export_states(export);

	if (!err && export->snapshot)
		spans_start(spans, export->snapshot);
	return err;
}

int export_next(struct export *export, struct event *event)
{
	int ret;

	do {
		ret = export_interrupted();
		if (!ret)
			ret = select_next(export->selection, export->source, event);
		if (ret <= 0)
			return ret;
		logend_event(&export->end, event);
	} while (!select_event(export->selection, event));
	if (!export->events++)
		export->first_time = event->time;
	if (event->time > export->last_time)
		export->last_time = event->time;
	export->user_events += event->user;
	export->newly_lost = event->lost > export->lost ? event->lost - export->lost : 0;
	export->lost = event->lost;
	if (export->progress && export->events % PROGRESS_EVERY == 0)
		show_progress(export, "");
	return 1;
}

void export_end_progress(const struct export *export)
{
	if (export->progress && export->events >= PROGRESS_EVERY)
		show_progress(export, "\n");
}

static int write_out(struct export *export, struct buffer *buffer)
{
	if (buffer->failed)
		return -ENOMEM;
	if (buffer->len && fwrite(buffer->data, buffer->len, 1, export->file) != 1)
		return errno ? -errno : -EIO;
	buffer_reset(buffer);
	return 0;
}

int export_flush(struct export *export, struct buffer *buffer, size_t least)
{
	int err;

	if (buffer->failed)
		return -ENOMEM;
	if (buffer->len < least)
		return 0;
	if (export->compression == EXPORT_PLAIN)
		return write_out(export, buffer);
	err = export->compression == EXPORT_GZIP && !export->gzip ? gzip_new(&export->gzip) : 0;
	if (err)
		return err;
	if (export->compression == EXPORT_GZIP)
		gzip_put(export->gzip, buffer->data, buffer->len, false, &export->compressed);
	else
		compress_packets(buffer, &export->compressed);
	buffer_reset(buffer);
	return write_out(export, &export->compressed);
}

int export_finish(struct export *export, int err)
{
	if (!err && export->gzip) {
		gzip_put(export->gzip, NULL, 0, true, &export->compressed);
		err = write_out(export, &export->compressed);
	}
	gzip_free(export->gzip);
	export->gzip = NULL;
	buffer_free(&export->compressed);
	return err;
}

int export_find_thread(const struct export *export, struct threads *threads,
		       const struct event *event, uint32_t *number)
{
	(void)export;
	return threads_find(threads, event->pid, event_thread_key(event), number);
}

void export_trace_name(const struct export *export, char *name, size_t size)
{
	char text[TRACE_NAME_MAX + 1] = "";
	trace_attr_t attr;

	if (!posix_trace_get_attr(source_trid(export->source), &attr))
		posix_trace_attr_getname(&attr, text);
	snprintf(name, size, "%s", text);
}

unsigned int export_kernel_classes(const struct export *export)
{
	unsigned int classes;

	return source_get_classes(export->source, &classes) ? 0 : classes;
}
