// SPDX-License-Identifier: GPL-2.0
/*
 * Reads events for the commands, and identifies their threads: see source.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/posixtrace_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <trace.h>
#include <unistd.h>

#include "event/hosts.h"
#include "event/live_names.h"
#include "event/lives.h"
#include "event/logs_fit.h"
#include "event/merge.h"
#include "event/reader.h"
#include "event/source.h"
#include "event/spool.h"
#include "util/message.h"

/**
 * struct source - logs, or a stream, to read events from
 * @readers: one for each log, or one for the stream
 * @count: number of @readers
 * @is_log: true for logs, false for a stream
 * @names: if the source may have thread names
 * @batches: number of batches so far, of all @readers
 * @hosts: hosts of several logs; NULL for a single log or stream
 * @merge: merges the events of several logs; NULL for a single log or stream
 * @number: number of events so far, since the last rewind
 * @lives: identifies threads and processes
 * @live_names: thread names of an active stream; NULL for a log
 */
struct source {
	struct reader **readers;
	size_t count;
	bool is_log;
	enum { NAMES_UNKNOWN, NAMES_NO, NAMES_YES } names;
	uint64_t batches;
	struct hosts *hosts;
	struct merge *merge;
	uint64_t number;
	struct lives *lives;
	struct live_names *live_names;
};

/* ------------------------------------------------------------------ */
/* Logs and streams							*/

const char *source_path(const char *operand)
{
	return spool_path(operand);
}

bool source_is_stdin(const char *path)
{
	return spool_is_stdin(path);
}

/* Returns the version of a log. 0 if the file is not a log in native byte order. */
static unsigned int log_version(const char *path)
{
	struct posixtrace_log_header header = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.magic, POSIXTRACE_LOG_MAGIC, sizeof(header.magic)) ||
	    header.order != POSIXTRACE_LOG_ORDER)
		header.version = 0;
	close(fd);
	return header.version;
}

static void complain_of_log(const char *path)
{
	unsigned int version = log_version(path);

	if (version && version != POSIXTRACE_LOG_VERSION)
		tell("%s: a log of version %u; this command reads version %u", path, version,
		     POSIXTRACE_LOG_VERSION);
	else
		tell("%s: not a trace log, or its first 512 bytes are missing or damaged", path);
}

void source_complain(const char *path, int err)
{
	switch (-err) {
	case EINVAL:
		complain_of_log(path);
		break;
	case EOPNOTSUPP:
		tell("%s: has parts that only a later version of posixtrace can read", path);
		break;
	case ESPIPE:
		tell("%s: not a file or pipe", path);
		break;
	case ECANCELED:
		break;
	default:
		complain(path, -err);
	}
}

static int new_source(size_t count, struct source **source)
{
	struct source *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->readers = calloc(count, sizeof(struct reader *));
	if (!new->readers) {
		free(new);
		return -ENOMEM;
	}
	*source = new;
	return 0;
}

/* Closes the source after an error. */
static int fail(struct source **source, int err)
{
	source_close(*source);
	*source = NULL;
	return err;
}

int source_open_log(const char *path, struct source **source)
{
	int err = new_source(1, source);

	if (err)
		return err;
	(*source)->is_log = true;
	err = reader_open(path, &(*source)->batches, &(*source)->readers[0]);
	if (err)
		return fail(source, err);
	(*source)->count = 1;
	err = lives_new((*source)->readers, 1, NULL, &(*source)->lives);
	return err ? fail(source, err) : 0;
}

/* Reports why a log could not be opened after @before others were opened. */
static void complain_of_many(const char *path, size_t before, int err)
{
	struct rlimit limit = { };

	if (err == -EAGAIN || (err == -EMFILE && !getrlimit(RLIMIT_NOFILE, &limit)))
		tell("%s: too many logs: %zu fit in the limit of %llu %s", path, before,
		     err == -EAGAIN ? (unsigned long long)SOURCE_LOGS_MAX :
				      (unsigned long long)limit.rlim_cur,
		     err == -EAGAIN ? "trace ids" : "descriptors (ulimit -n)");
	else
		source_complain(path, err);
}

static int open_logs(struct source *source, const char *const *paths, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count; i++) {
		err = reader_open(paths[i], &source->batches, &source->readers[i]);
		if (err) {
			complain_of_many(paths[i], i, err);
			return -ECANCELED;
		}
		source->count++;
		/* The library has its own descriptor, so free this one. */
		reader_close_file(source->readers[i]);
	}
	err = hosts_new(source->readers, count, &source->hosts);
	if (!err)
		err = logs_fit(source->readers, count, source->hosts);
	if (!err)
		err = merge_new(source->readers, count, source->hosts, &source->merge);
	if (!err)
		err = lives_new(source->readers, count, source->hosts, &source->lives);
	return err;
}

int source_open_logs(const char *const *paths, size_t count, struct source **source)
{
	int err;

	if (count > SOURCE_LOGS_MAX) {
		tell("%zu logs are too many: at most %d can be read together", count,
		     SOURCE_LOGS_MAX);
		return -ECANCELED;
	}
	if (count == 1) {
		err = source_open_log(paths[0], source);
		if (err)
			source_complain(paths[0], err);
		return err;
	}
	err = new_source(count, source);
	if (!err) {
		(*source)->is_log = true;
		err = open_logs(*source, paths, count);
		if (err)
			fail(source, err);
	}
	if (err && err != -ECANCELED)
		complain(paths[0], -err);
	return err;
}

int source_from_stream(trace_id_t trid, struct source **source)
{
	int err = new_source(1, source);

	if (err)
		return err;
	err = reader_of_stream(trid, &(*source)->batches, &(*source)->readers[0]);
	if (err)
		return fail(source, err);
	(*source)->count = 1;
	err = lives_new((*source)->readers, 1, NULL, &(*source)->lives);
	if (err)
		return fail(source, err);
	(*source)->live_names = live_names_new(trid);
	return (*source)->live_names ? 0 : fail(source, -ENOMEM);
}

bool source_was_copied(const struct source *source)
{
	return reader_was_copied(source->readers[0]);
}

bool source_was_cleared(const struct source *source)
{
	return reader_was_cleared(source->readers[0]);
}

int source_open_again(struct source *source)
{
	struct lives *lives;
	int err = lives_new(source->readers, source->count, source->hosts, &lives);

	if (err)
		return err;
	err = reader_open_again(source->readers[0]);
	if (err) {
		lives_free(lives);
		return err;
	}
	lives_free(source->lives);
	source->lives = lives;
	source->names = NAMES_UNKNOWN;
	return 0;
}

bool source_is_log(const struct source *source)
{
	return source->is_log;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	merge_free(source->merge);
	hosts_free(source->hosts);
	for (size_t i = 0; i < source->count; i++)
		reader_close(source->readers[i]);
	free(source->readers);
	lives_free(source->lives);
	live_names_free(source->live_names);
	free(source);
}

/* ------------------------------------------------------------------ */
/* Events								*/

void source_set_formats(struct source *source, const struct formats *formats)
{
	for (size_t i = 0; i < source->count; i++)
		reader_set_formats(source->readers[i], formats);
}

int source_identify(struct source *source, struct event *event)
{
	return lives_event(source->lives, event, source->is_log && source_has_names(source) ?
			   source->batches : 0);
}

static int next_event(struct source *source, struct event *event, int flags)
{
	int err, ret = source->merge ? merge_next(source->merge, event) :
				       reader_next(source->readers[0], event, flags);

	if (ret <= 0)
		return ret;
	event->source = source;
	event->number = ++source->number;
	err = source_identify(source, event);
	return err ? err : 1;
}

int source_next(struct source *source, struct event *event)
{
	return next_event(source, event, 0);
}

int source_try(struct source *source, struct event *event)
{
	return next_event(source, event, POSIXTRACE_NOWAIT);
}

/* Goes to the first event if @time is NULL, otherwise to @time. */
static int go_to(struct source *source, const uint64_t *time)
{
	struct lives *lives;
	int err = lives_new(source->readers, source->count, source->hosts, &lives);

	if (err)
		return err;
	for (size_t i = 0; !err && i < source->count; i++)
		err = time ? reader_seek(source->readers[i], *time) :
			     reader_rewind(source->readers[i]);
	if (source->merge)
		merge_moved(source->merge);
	if (err) {
		lives_free(lives);
		return err;
	}
	lives_free(source->lives);
	source->lives = lives;
	source->number = 0;
	return 0;
}

int source_rewind(struct source *source)
{
	return go_to(source, NULL);
}

int source_seek(struct source *source, uint64_t time)
{
	return go_to(source, &time);
}

/* ------------------------------------------------------------------ */
/* What the logs tell							*/

/* The logs that may tell about the process of an event: those of its host. */
struct search {
	size_t next;		/* number of logs so far */
	trace_id_t trid;
	pid_t pid;		/* the process in the log */
};

/*
 * Finds the next log, starting with the log of the event, which is most likely to have the data.
 * Returns false after the last one.
 */
static bool search_next(const struct source *source, const struct event *event,
			struct search *search)
{
	const unsigned int hosts = hosts_count(source->hosts);
	const unsigned int host = hosts_of_id(hosts, event->pid);
	size_t log;

	while (search->next < source->count) {
		log = (event->log + search->next++) % source->count;
		if (hosts > 1 && hosts_of(source->hosts, log) != host)
			continue;
		search->trid = reader_trid(source->readers[log]);
		search->pid = hosts_plain_id(hosts, event->pid);
		return true;
	}
	return false;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

unsigned int source_hosts(const struct source *source)
{
	return hosts_count(source->hosts);
}

unsigned int source_log_host(const struct source *source, size_t log)
{
	return hosts_of(source->hosts, log);
}

const char *source_host_name(const struct source *source, unsigned int host)
{
	return hosts_name(source->hosts, host);
}

unsigned int source_host_of(const struct source *source, pid_t id)
{
	return hosts_of_id(hosts_count(source->hosts), id);
}

pid_t source_shared_id(const struct source *source, pid_t like, pid_t id)
{
	return hosts_id(source_host_of(source, like), id);
}

pid_t source_plain_id(const struct source *source, pid_t id)
{
	/* A stream may have ended, and then has no source. */
	return source ? hosts_plain_id(hosts_count(source->hosts), id) : id;
}

unsigned int source_plain_cpu(const struct source *source, unsigned int cpu)
{
	return cpu == SOURCE_NO_CPU ? cpu : hosts_plain_cpu(hosts_count(source->hosts), cpu);
}

int source_get_host(const struct source *source, struct posixtrace_host_info *info)
{
	int err = ENOENT;

	for (size_t i = 0; err && i < source->count; i++)
		err = posixtrace_get_host(reader_trid(source->readers[i]), info);
	return -err;
}

int source_get_host_of(const struct source *source, const struct event *event,
		       struct posixtrace_host_info *info)
{
	struct search search = { };
	int err = ENOENT;

	while (err && search_next(source, event, &search))
		err = posixtrace_get_host(search.trid, info);
	return -err;
}

bool source_has_names(struct source *source)
{
	struct posixtrace_host_info info;

	/* The first block of a log shows if the log has names, so a single check is enough. */
	if (source->names == NAMES_UNKNOWN)
		source->names = !source->is_log || !source_get_host(source, &info) ? NAMES_YES :
										     NAMES_NO;
	return source->names == NAMES_YES;
}

bool source_name_at(const struct source *source, const struct event *event, pid_t tid,
		    uint64_t at, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	const pid_t plain = source_plain_id(source, tid);
	const struct timespec time = to_timespec(at);
	struct search search = { };

	while (search_next(source, event, &search)) {
		if (!posixtrace_get_thread_name(search.trid, search.pid, plain, &time, name))
			return true;
	}
	return false;
}

bool source_thread_name(struct source *source, const struct event *event,
			char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	const char *renamed = lives_name(source->lives, event);

	if (renamed) {
		strcpy(name, renamed);
		return true;
	}
	if (source->live_names)
		return live_names_get(source->live_names, event, source->batches, name);
	return source_name_at(source, event, event->tid, event->time, name);
}

uint64_t source_life_end(struct source *source, const struct event *event, bool process)
{
	/* An active stream has only the current names. */
	return source->is_log ? lives_end(source->lives, event, process) : event->time;
}

bool source_get_program(const struct source *source, const struct event *event, uint64_t at,
			char program[POSIXTRACE_PROGRAM_SIZE], size_t *size)
{
	const struct timespec time = to_timespec(at);
	struct search search = { };

	while (search_next(source, event, &search)) {
		if (!posixtrace_get_program(search.trid, search.pid, &time, program,
					    POSIXTRACE_PROGRAM_SIZE, size))
			return true;
	}
	return false;
}

bool source_get_mapping(const struct source *source, const struct event *event, uint64_t address,
			struct posixtrace_mapping_info *info)
{
	const struct timespec time = to_timespec(event->time);
	struct search search = { };

	while (search_next(source, event, &search)) {
		if (!posixtrace_get_mapping(search.trid, search.pid, &time,
					    (const void *)(uintptr_t)address, info))
			return true;
	}
	return false;
}

bool source_get_birth(const struct source *source, const struct event *event, uint64_t *born)
{
	const struct timespec time = to_timespec(event->time);
	struct search search = { };
	struct timespec at;

	while (search_next(source, event, &search)) {
		if (posixtrace_get_thread_life(search.trid, search.pid, search.pid, &time, &at,
					       NULL))
			continue;
		*born = (uint64_t)at.tv_sec * NSEC_PER_SEC + (uint64_t)at.tv_nsec;
		if (*born)
			return true;
	}
	return false;
}

int source_get_classes(const struct source *source, unsigned int *classes)
{
	unsigned int some;
	int err = 0;

	*classes = 0;
	for (size_t i = 0; !err && i < source->count; i++) {
		err = reader_classes(source->readers[i], &some);
		*classes |= some;
	}
	return err;
}

int source_log_classes(const struct source *source, size_t log, unsigned int *classes)
{
	return reader_classes(source->readers[log], classes);
}

int source_get_info(const struct source *source, struct posixtrace_log_info *info)
{
	struct posixtrace_log_info one;
	int err = 0;

	*info = (struct posixtrace_log_info){ .flags = POSIXTRACE_LOG_ENDED };
	for (size_t i = 0; !err && i < source->count; i++) {
		err = posixtrace_get_log_info(reader_trid(source->readers[i]), &one);
		if (err)
			break;
		info->size += one.size;
		info->read += one.read;
		info->lost += one.lost;
		info->overwritten += one.overwritten;
		info->flags |= one.flags & POSIXTRACE_LOG_DAMAGED;
		if (!(one.flags & POSIXTRACE_LOG_ENDED))
			info->flags &= ~(unsigned int)POSIXTRACE_LOG_ENDED;
	}
	return -err;
}

bool source_is_complete(const struct source *source)
{
	struct posixtrace_log_info info;

	return !source_get_info(source, &info) && info.flags & POSIXTRACE_LOG_ENDED;
}

uint64_t source_read_bytes(const struct source *source)
{
	struct posixtrace_log_info info;

	return source_get_info(source, &info) ? 0 : info.read;
}

uint64_t source_total_bytes(const struct source *source)
{
	struct posixtrace_log_info info;

	return source_get_info(source, &info) ? 0 : info.size;
}

trace_id_t source_trid(const struct source *source)
{
	return reader_trid(source->readers[0]);
}

size_t source_logs(const struct source *source)
{
	return source->count;
}

trace_id_t source_log_trid(const struct source *source, size_t log)
{
	return reader_trid(source->readers[log]);
}

const char *source_log_path(const struct source *source, size_t log)
{
	return reader_path(source->readers[log]);
}

void source_log_losses(const struct source *source, size_t log, uint64_t *damaged, uint64_t *lost)
{
	const struct merge_losses *losses = merge_losses(source->merge, log);

	*damaged = losses->damaged;
	*lost = losses->lost;
}
