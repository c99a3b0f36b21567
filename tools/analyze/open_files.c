// SPDX-License-Identifier: GPL-2.0
/*
 * What descriptors refer to at a given time: see open_files.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/descriptors.h"
#include "analyze/open_files.h"
#include "event/hosts.h"

#define BATCH		64
#define ROWS_MAX	65536U

/**
 * struct open_files - the rows of a source
 * @source: the log or stream that has the rows
 * @rows: in the order of their times
 * @pipes: the rows of pipes, sorted by inode
 * @sorted: all rows, sorted by process, descriptor and time
 */
struct open_files {
	struct source *source;
	struct posixtrace_open_file *rows;
	size_t count;
	size_t room;
	size_t next;
	const struct posixtrace_open_file **pipes;
	size_t nr_pipes;
	const struct posixtrace_open_file **sorted;
};

uint64_t open_files_ns(const struct posixtrace_open_file *row)
{
	return (uint64_t)row->time.tv_sec * NSEC_PER_SEC + (uint64_t)row->time.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = open_files_ns(a), y = open_files_ns(b);

	return x < y ? -1 : x > y;
}

static int by_inode(const void *a, const void *b)
{
	const struct posixtrace_open_file *const *p = a, *const *q = b;
	const unsigned long long x = (*p)->inode, y = (*q)->inode;

	return x < y ? -1 : x > y;
}

static int compare_descriptors(const struct posixtrace_open_file *row, pid_t pid, int fd,
			       uint64_t time)
{
	if (row->pid != pid)
		return row->pid < pid ? -1 : 1;
	if (row->fd != fd)
		return row->fd < fd ? -1 : 1;
	if (open_files_ns(row) != time)
		return open_files_ns(row) < time ? -1 : 1;
	return 0;
}

static int by_descriptor(const void *a, const void *b)
{
	const struct posixtrace_open_file *const *p = a, *const *q = b;

	return compare_descriptors(*p, (*q)->pid, (*q)->fd, open_files_ns(*q));
}

static int make_room(struct open_files *files)
{
	const size_t more = files->room ? 2 * files->room : 4 * BATCH;
	struct posixtrace_open_file *rows;

	if (files->room - files->count >= BATCH)
		return 0;
	rows = reallocarray(files->rows, more, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	files->rows = rows;
	files->room = more;
	return 0;
}

static int read_rows(struct open_files *files, size_t log)
{
	const trace_id_t trid = source_log_trid(files->source, log);
	const unsigned int host = source_log_host(files->source, log);
	unsigned long long next = 0;
	size_t count;
	int err;

	do {
		err = make_room(files);
		if (err)
			return err;
		err = posixtrace_get_files(trid, files->rows + files->count, BATCH, &count, &next);
		if (err)
			return err == ENOTSUP ? 0 : -err;
		for (size_t i = 0; i < count; i++, files->count++)
			files->rows[files->count].pid = hosts_id(host,
								 files->rows[files->count].pid);
	} while (count && files->count < ROWS_MAX);
	return 0;
}

static int read_all(struct open_files *files)
{
	int err = 0;

	for (size_t i = 0; !err && i < source_logs(files->source); i++)
		err = read_rows(files, i);
	return err;
}

static int sort_rows(struct open_files *files)
{
	if (!files->count)
		return 0;
	qsort(files->rows, files->count, sizeof(*files->rows), by_time);
	files->pipes = calloc(files->count, sizeof(*files->pipes));
	if (!files->pipes)
		return -ENOMEM;
	for (size_t i = 0; i < files->count; i++) {
		if (files->rows[i].kind == POSIXTRACE_FILE_PIPE)
			files->pipes[files->nr_pipes++] = &files->rows[i];
	}
	if (files->nr_pipes)
		qsort(files->pipes, files->nr_pipes, sizeof(*files->pipes), by_inode);
	files->sorted = calloc(files->count, sizeof(*files->sorted));
	if (!files->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < files->count; i++)
		files->sorted[i] = &files->rows[i];
	qsort(files->sorted, files->count, sizeof(*files->sorted), by_descriptor);
	return 0;
}

static bool has_classes(const struct source *source)
{
	unsigned int classes;

	if (source_get_classes(source, &classes))
		return false;
	return !(DESCRIPTORS_CLASSES & ~classes);
}

static int read_if(struct source *source, bool wanted, struct open_files **files)
{
	struct open_files *new = calloc(1, sizeof(*new));
	int err = 0;

	*files = NULL;
	if (!new)
		return -ENOMEM;
	new->source = source;
	if (wanted)
		err = read_all(new);
	if (!err)
		err = sort_rows(new);
	if (err)
		open_files_free(new);
	else
		*files = new;
	return err;
}

int open_files_read(struct source *source, struct open_files **files)
{
	return read_if(source, has_classes(source), files);
}

int open_files_read_all(struct source *source, struct open_files **files)
{
	return read_if(source, true, files);
}

/* Finds the first row of a descriptor at or after a time. */
static size_t find_row(const struct open_files *files, pid_t pid, int fd, uint64_t from)
{
	size_t first = 0, end = files->count, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (compare_descriptors(files->sorted[middle], pid, fd, from) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

const struct posixtrace_open_file *open_files_find(const struct open_files *files, pid_t pid,
						   int fd, uint64_t from)
{
	const size_t at = find_row(files, pid, fd, from);
	const struct posixtrace_open_file *row = at < files->count ? files->sorted[at] : NULL;

	if (fd < 0 || !row || row->pid != pid || row->fd != fd ||
	    row->flags & POSIXTRACE_FILE_UNSURE)
		return NULL;
	return row;
}

const struct posixtrace_open_file *open_files_next(struct open_files *files, uint64_t until)
{
	const struct posixtrace_open_file *row;

	if (files->next == files->count)
		return NULL;
	row = &files->rows[files->next];
	if (open_files_ns(row) >= until)
		return NULL;
	files->next++;
	return row;
}

/* ------------------------------------------------------------------ */
/* Names								*/

/* Finds the process at the other end of a pipe; NULL if there is not exactly one. */
static const struct posixtrace_open_file *other_end(const struct open_files *files,
						    const struct posixtrace_open_file *row)
{
	const unsigned int wanted = row->flags & POSIXTRACE_FILE_WRITES ? POSIXTRACE_FILE_READS :
									   POSIXTRACE_FILE_WRITES;
	const struct posixtrace_open_file *const *first, *found = NULL, *other;
	size_t i;

	first = bsearch(&row, files->pipes, files->nr_pipes, sizeof(*files->pipes), by_inode);
	if (!first)
		return NULL;
	for (i = (size_t)(first - files->pipes); i && files->pipes[i - 1]->inode == row->inode; i--)
		;
	for (; i < files->nr_pipes && files->pipes[i]->inode == row->inode; i++) {
		other = files->pipes[i];
		if (other->pid == row->pid || !(other->flags & wanted) ||
		    source_host_of(files->source, other->pid) !=
		    source_host_of(files->source, row->pid))
			continue;
		if (found && found->pid != other->pid)
			return NULL;
		found = other;
	}
	return found;
}

static void put_process(struct open_files *files, const struct posixtrace_open_file *row,
			struct buffer *to)
{
	struct event event = {
		.time = open_files_ns(row), .name = "", .pid = row->pid, .tid = row->pid,
		.user = true, .source = files->source,
	};
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	buffer_integer(to, (uint64_t)source_plain_id(files->source, row->pid), 10, "", 0);
	if (!source_identify(files->source, &event) &&
	    source_thread_name(files->source, &event, name)) {
		buffer_byte(to, '/');
		buffer_text(to, name);
	}
}

static void put_pipe(struct open_files *files, const struct posixtrace_open_file *row,
		     struct buffer *to)
{
	const unsigned int both = POSIXTRACE_FILE_READS | POSIXTRACE_FILE_WRITES;
	const struct posixtrace_open_file *other = NULL;

	if ((row->flags & both) != both)
		other = other_end(files, row);
	if (!other) {
		buffer_text(to, "pipe:[");
		buffer_integer(to, row->inode, 10, "", 0);
		buffer_byte(to, ']');
		return;
	}
	buffer_text(to, row->flags & POSIXTRACE_FILE_WRITES ? "pipe to " : "pipe from ");
	put_process(files, other, to);
}

/* Appends the name of a POSIXTRACE_FILE_OTHER file: "eventfd" for "anon_inode:[eventfd]". */
static void put_other(const char *text, struct buffer *to)
{
	static const char prefix[] = "anon_inode:";
	size_t len;

	if (!strncmp(text, prefix, strlen(prefix)))
		text += strlen(prefix);
	len = strlen(text);
	if (len > 2 && text[0] == '[' && text[len - 1] == ']')
		buffer_put(to, text + 1, len - 2);
	else
		buffer_text(to, text);
}

void open_files_name(struct open_files *files, const struct posixtrace_open_file *row,
		     struct buffer *to)
{
	if (row->kind == POSIXTRACE_FILE_PIPE)
		put_pipe(files, row, to);
	else if (row->kind == POSIXTRACE_FILE_OTHER)
		put_other(row->text, to);
	else if (row->kind == POSIXTRACE_FILE_PATH || row->kind == POSIXTRACE_FILE_SOCKET)
		buffer_text(to, row->text);
}

void open_files_free(struct open_files *files)
{
	if (!files)
		return;
	free(files->rows);
	free(files->pipes);
	free(files->sorted);
	free(files);
}
