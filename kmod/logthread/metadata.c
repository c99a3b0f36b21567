// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the metadata of a log: names and descriptions of event types, names of threads and
 * processes, their files, the host, pairs of clocks. Runs in the task that serves the log.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "log/log.h"
#include "log/logblock.h"
#include "log/logturn.h"
#include "logthread/metadata.h"
#include "logthread/taskblocks.h"
#include "ring/clock.h"
#include "stream/stream.h"
#include "target/description.h"
#include "target/eventid.h"
#include "target/files.h"
#include "target/kerneltype.h"
#include "target/logtasks.h"
#include "target/logwakers.h"
#include "target/threadstate.h"

/* Write the names of event types that are missing from the log. */
static int write_names(struct pxt_log *log)
{
	struct posixtrace_log_name *names = pxt_logwriter_payload(&log->writer);
	struct pxt_table *table = log->stream->link.table;
	u32 count;
	int err = 0;

	do {
		count = pxt_eventid_names(table, log->writer.names, names, PXT_LOG_NAMES_MAX);
		if (count)
			err = pxt_logwriter_names(&log->writer, count);
	} while (count && !err);
	return err;
}

/* Put a description at offset @at of the payload. Returns its size, or 0 if there is no room. */
static u32 put_description(struct pxt_log *log, u32 at, u32 id, const char *text, u32 size)
{
	struct posixtrace_log_description *to = pxt_logwriter_payload(&log->writer) + at;
	u32 step = POSIXTRACE_LOG_DESCRIPTION_STEP(size);

	if (at + step > pxt_logwriter_room(&log->writer))
		return 0;
	memset(to, 0, step);
	to->id = id;
	to->size = size;
	memcpy(to->text, text, size);
	return step;
}

/* Put the descriptions after @last into the payload of a block, and advance @last. */
static u32 fill_descriptions(struct pxt_log *log, const struct pxt_description **last, u32 *count)
{
	struct pxt_table *table = log->stream->link.table;
	const struct pxt_description *next;
	u32 size = 0, step;

	for (*count = 0; (next = pxt_description_next(table, *last)); ++*count) {
		step = put_description(log, size, next->id, next->text, next->size);
		if (!step)
			break;
		size += step;
		*last = next;
	}
	return size;
}

/* Write the descriptions of event types that are missing from the log. */
static int write_descriptions(struct pxt_log *log)
{
	struct pxt_logwriter *w = &log->writer;
	const struct pxt_description *last;
	u32 size, count;
	int err = 0;

	do {
		last = w->described;
		size = fill_descriptions(log, &last, &count);
		if (size)
			err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_DESCRIPTIONS, size, count);
		if (size && !err)
			w->described = last;
	} while (size && !err);
	return err;
}

/* Text of a kernel type, or names of system calls; NULL if there are none with this id. */
static const char *kernel_text(u64 types, u32 id)
{
	const struct pxt_kernel_type *type = pxt_kernel_type_find(types, id);

	return type ? type->description : pxt_kernel_names(types, id);
}

/* Like fill_descriptions(), for the ids of the kernel from @next on. */
static u32 fill_kernel_types(struct pxt_log *log, u32 *next, u32 *count)
{
	u32 size = 0, step;
	const char *text;

	for (*count = 0; *next < POSIXTRACE_ID_UNNAMED; ++*next) {
		text = kernel_text(log->stream->link.kernel_types, *next);
		if (!text)
			continue;
		step = put_description(log, size, *next, text, strlen(text) + 1);
		if (!step)
			break;
		size += step;
		++*count;
	}
	return size;
}

/* Write the descriptions of the kernel types, once per log. */
static int write_kernel_types(struct pxt_log *log)
{
	struct pxt_logwriter *w = &log->writer;
	u32 size, count, next;
	int err = 0;

	do {
		next = w->kernel_described;
		size = fill_kernel_types(log, &next, &count);
		if (size)
			err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_KERNEL_TYPES, size, count);
		if (!err)
			w->kernel_described = next;
	} while (size && !err);
	return err;
}

/* Write the names of the threads that pxt_logtasks_take() took. */
static int write_tasks(struct pxt_log *log)
{
	const struct pxt_stream *stream = log->stream;
	struct pxt_logwriter *w = &log->writer;
	u32 count;

	memset(pxt_logwriter_payload(w), 0,
	       PXT_LOGTASKS_NAMES_MAX * sizeof(struct posixtrace_log_task));
	count = pxt_logtasks_fill_names(stream->link.logtasks, stream->ns,
					pxt_logwriter_payload(w));
	if (!count)
		return 0;
	return pxt_logwriter_metadata(w, POSIXTRACE_LOG_TASKS,
				  count * sizeof(struct posixtrace_log_task), count);
}

/* Write the texts of one kind; @fill is from taskblocks.h. */
static int write_texts(struct pxt_log *log, u32 type,
		       u32 (*fill)(struct pxt_logtasks *tasks, struct pid_namespace *ns, void *to,
				   size_t room, struct pxt_logtask_cursor *cursor, u32 *count))
{
	const struct pxt_stream *stream = log->stream;
	struct pxt_logwriter *w = &log->writer;
	struct pxt_logtask_cursor cursor = { };
	u32 count, size;
	int err;

	do {
		size = fill(stream->link.logtasks, stream->ns, pxt_logwriter_payload(w),
			    pxt_logwriter_room(w), &cursor, &count);
		err = size ? pxt_logwriter_metadata(w, type, size, count) : 0;
	} while (size && !err);
	return err;
}

/* Write updates about threads and processes. */
static int write_logtasks(struct pxt_log *log)
{
	struct pxt_logtasks *tasks = log->stream->link.logtasks;
	int err = 0;

	pxt_logtasks_begin(tasks);
	while (!err && pxt_logtasks_take(tasks)) {
		/* Skip these tasks once an UNTIL_FULL log has reached its limit of metadata. */
		if (pxt_logwriter_takes_metadata(&log->writer)) {
			err = write_tasks(log);
			if (!err)
				err = write_texts(log, POSIXTRACE_LOG_PROGRAMS,
						  pxt_logtasks_fill_programs);
			if (!err)
				err = write_texts(log, POSIXTRACE_LOG_MAPPINGS,
						  pxt_logtasks_fill_mappings);
		}
		pxt_logtasks_give_back(tasks, !err);
	}
	return err;
}

/* Write the new names of threads that are not traced. */
static int write_wakers(struct pxt_log *log)
{
	struct pxt_logwakers *wakers = log->stream->link.logwakers;
	struct pxt_logwriter *w = &log->writer;
	u32 count;
	int err;

	if (!pxt_logwriter_takes_metadata(w))
		return 0;
	memset(pxt_logwriter_payload(w), 0, PXT_LOGWAKERS * sizeof(struct posixtrace_log_task));
	count = pxt_logwakers_take(wakers, pxt_logwriter_payload(w));
	if (!count)
		return 0;
	err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_TASKS,
				     count * sizeof(struct posixtrace_log_task), count);
	/* Let the next flush write these names again. */
	if (err)
		pxt_logwakers_restart(wakers);
	return err;
}

/* Number of states of threads that fit into one block. */
static u32 states_room(const struct pxt_log *log)
{
	return pxt_logwriter_room(&log->writer) / sizeof(struct posixtrace_state);
}

/*
 * Write the states of all threads, once after each START. A stream that has not started has no
 * events that the states could explain.
 */
static int write_states(struct pxt_log *log)
{
	const struct pxt_stream *stream = log->stream;
	struct pxt_logwriter *w = &log->writer;
	pid_t next;
	int err = 0;
	u32 count;

	while (log->states_next >= 0 && pxt_logwriter_takes_metadata(w)) {
		next = log->states_next;
		count = pxt_threadstate_fill(&stream->link, stream->ns, pxt_logwriter_payload(w),
					     states_room(log), &next);
		if (count)
			err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_STATES,
						     count * sizeof(struct posixtrace_state),
						     count);
		if (err)
			return err;
		/* Check after a block, so that each call makes progress. */
		log->states_next = next;
		if (next >= 0 && pxt_log_pauses(log))
			return -ERESTARTSYS;
	}
	return err;
}

/* Maximum rows of open files at each start: at most half of the metadata of the smallest log. */
#define FILES_MAX	8192

/* Write a row which says that further processes have no rows. */
static int write_end_of_files(struct pxt_log *log)
{
	struct posixtrace_file *file = pxt_logwriter_payload(&log->writer);

	memset(file, 0, sizeof(*file));
	file->time = pxt_clock_now();
	file->fd = -1;
	file->kind = POSIXTRACE_FILE_MORE;
	return pxt_logwriter_metadata(&log->writer, POSIXTRACE_LOG_FILES, sizeof(*file), 1);
}

/* Write the open files of all processes, once after each START. */
static int write_files(struct pxt_log *log)
{
	const struct pxt_stream *stream = log->stream;
	struct pxt_logwriter *w = &log->writer;
	u32 room = pxt_logwriter_room(w) / sizeof(struct posixtrace_file);
	struct pxt_files_cursor next;
	int err = 0;
	u32 count;

	if (!(stream->attr.classes & POSIXTRACE_CLASS_STRINGS))
		return 0;
	while (log->files_next.pid >= 0 && pxt_logwriter_takes_metadata(w)) {
		if (log->files_written >= FILES_MAX)
			return write_end_of_files(log);
		next = log->files_next;
		count = pxt_files_fill(&stream->link, stream->ns, pxt_logwriter_payload(w), room,
				       &next);
		if (count)
			err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_FILES,
						     count * sizeof(struct posixtrace_file), count);
		if (err)
			return err;
		log->files_next = next;
		log->files_written += count;
		if (next.pid >= 0 && pxt_log_pauses(log))
			return -ERESTARTSYS;
	}
	return 0;
}

static int write_due_states(struct pxt_log *log)
{
	int err;

	if (!log->states_due || !log->stream->attr.classes || !READ_ONCE(log->stream->running))
		return 0;
	err = write_states(log);
	if (!err)
		err = write_files(log);
	if (!err)
		log->states_due = false;
	return err;
}

/* Does the error mean that the file cannot grow? */
static bool lacks_room(int err)
{
	return err == -EFBIG || err == -ENOSPC || err == -EDQUOT;
}

/* Write pairs of clocks if they are due. A log can do without those between its start and end. */
static int write_clocks(struct pxt_log *log)
{
	struct pxt_logwriter *w = &log->writer;
	struct pxt_logclocks *clocks = &w->clocks;
	struct pxt_clock_error error;
	bool noted;
	u32 count;
	int err;

	if (!pxt_logclocks_due(clocks) ||
	    (clocks->points_written && !pxt_logwriter_takes_metadata(w)))
		return 0;
	noted = pxt_log_take_clock_error(log, &error);
	count = pxt_logclocks_fill(clocks, noted ? &error : NULL, pxt_logwriter_payload(w));
	err = pxt_logwriter_metadata(w, POSIXTRACE_LOG_CLOCKS,
				     count * sizeof(struct posixtrace_log_clock), count);
	if (!err)
		pxt_logclocks_written(clocks);
	return lacks_room(err) ? 0 : err;
}

static int write_metadata(struct pxt_log *log)
{
	struct pxt_logwriter *w = &log->writer;
	int err;

	/* All metadata is missing if the log is new, was cleared, or restarts its metadata. */
	if (pxt_logwriter_begins_metadata(w)) {
		pxt_logtasks_restart(log->stream->link.logtasks);
		pxt_logwakers_restart(log->stream->link.logwakers);
		pxt_log_make_states_due(log);
	}
	err = pxt_logwriter_host(w);
	if (!err)
		err = write_clocks(log);
	if (!err)
		err = write_kernel_types(log);
	if (!err)
		err = write_descriptions(log);
	if (!err)
		err = write_logtasks(log);
	if (!err)
		err = write_wakers(log);
	if (!err)
		err = write_due_states(log);
	if (!err)
		pxt_logwriter_metadata_done(w);
	/*
	 * A LOOP log may lack room for metadata, because the ring precedes the metadata in the
	 * file. Events matter more than metadata, so this is no error.
	 */
	return lacks_room(err) && w->policy == POSIXTRACE_POLICY_LOOP ? 0 : err;
}

/**
 * pxt_metadata_write() - write missing metadata, including what the next events may need
 * @log: started; no blocks are queued
 *
 * Context: may sleep.
 * Return: 0 or negative errno.
 */
int pxt_metadata_write(struct pxt_log *log)
{
	int err = write_names(log);

	return err ? err : write_metadata(log);
}
