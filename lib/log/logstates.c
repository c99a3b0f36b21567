// SPDX-License-Identifier: MIT
/*
 * The states of threads and the open files of processes when recording started, from a log. The
 * survey has the places of the blocks; the file is read again when the caller asks for rows.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/loghead.h"
#include "log/logstates.h"
#include "log/logtasks.h"

/**
 * struct pxtu_log_row_place - a block of rows
 * @offset: offset of the first row in the file
 * @first: number of that row, from 0
 * @count: number of rows
 * @seq: number of the block
 */
struct pxtu_log_row_place {
	__u64 offset;
	__u64 first;
	__u32 count;
	__u64 seq;
};

/**
 * struct kind - a kind of rows
 * @type: type of the blocks: POSIXTRACE_LOG_*
 * @size: bytes of a row
 * @valid: checks a row
 */
struct kind {
	__u32 type;
	size_t size;
	bool (*valid)(const void *row);
};

static bool is_valid_state(const void *row)
{
	const struct posixtrace_state *state = row;

	return state->pid > 0 && state->tid > 0 && state->ppid >= 0 &&
	       memchr(state->name, '\0', sizeof(state->name)) &&
	       memchr(state->call_name, '\0', sizeof(state->call_name));
}

static bool is_valid_file(const void *row)
{
	const struct posixtrace_file *file = row;

	return file->pid >= 0 && file->fd >= -1 && memchr(file->text, '\0', sizeof(file->text));
}

static const struct kind states = {
	POSIXTRACE_LOG_STATES, sizeof(struct posixtrace_state), is_valid_state,
};

static const struct kind files = {
	POSIXTRACE_LOG_FILES, sizeof(struct posixtrace_file), is_valid_file,
};

static int add(struct pxtu_log *log, struct pxtu_log_rows *rows, const struct kind *kind,
	       const struct pxtu_log_block *block)
{
	const struct pxtu_log_row_place *last;
	__u64 first = 0;
	int err;

	if (!block->head.count || block->head.count > block->head.size / kind->size) {
		log->survey.damaged = true;
		return 0;
	}
	last = rows->nr_places ? &rows->place[rows->nr_places - 1] : NULL;
	if (last)
		first = last->first + last->count;
	err = pxtu_log_make_room(&rows->place, sizeof(*rows->place), rows->nr_places,
				 &rows->places_room);
	if (err)
		return err == -ENOSPC ? 0 : err;
	rows->place[rows->nr_places++] = (struct pxtu_log_row_place){
		.offset = block->offset + log->head.block_size,
		.first = first,
		.count = block->head.count,
		.seq = block->head.seq,
	};
	return 0;
}

int pxtu_log_add_rows(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	return block->head.type == POSIXTRACE_LOG_STATES ?
	       add(log, &log->survey.states, &states, block) :
	       add(log, &log->survey.files, &files, block);
}

/* Finds the block with row @number, or else the first block after it; NULL if there is none. */
static const struct pxtu_log_row_place *find(const struct pxtu_log_rows *rows, __u64 number)
{
	size_t low = 0, high = rows->nr_places, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (rows->place[middle].first + rows->place[middle].count <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rows->nr_places ? &rows->place[low] : NULL;
}

/* The writer may have restarted the metadata and written a different block at this place. */
static bool still_there(struct pxtu_log *log, const struct kind *kind,
			const struct pxtu_log_row_place *place)
{
	struct posixtrace_log_block head;
	const __u64 offset = place->offset - log->head.block_size;

	return pxtu_log_read(log, &head, sizeof(head), offset) == sizeof(head) &&
	       head.cookie == log->head.cookie && head.seq == place->seq &&
	       head.type == kind->type;
}

/* Moves the valid rows to the front. Returns their number. */
static size_t keep_valid(const struct kind *kind, char *rows, size_t count)
{
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		if (!kind->valid(rows + i * kind->size))
			continue;
		if (kept != i)
			memcpy(rows + kept * kind->size, rows + i * kind->size, kind->size);
		kept++;
	}
	return kept;
}

static int read_rows(struct pxtu_log *log, const struct pxtu_log_rows *rows,
		     const struct kind *kind, void *to, size_t *count, __u64 *next)
{
	const struct pxtu_log_row_place *place = find(rows, *next);
	const size_t room = *count;
	ssize_t size;
	__u64 left;
	size_t n;

	*count = 0;
	while (place && !*count) {
		left = place->first + place->count - *next;
		n = left < room ? (size_t)left : room;
		size = (ssize_t)(n * kind->size);
		if (!still_there(log, kind, place) ||
		    pxtu_log_read(log, to, (size_t)size,
				  place->offset + (*next - place->first) * kind->size) != size) {
			if (log->error)
				return pxtu_log_failed(log);
			/* Continue after the rows that were overwritten. */
			*next = place->first + place->count;
		} else {
			*next += n;
			*count = keep_valid(kind, to, n);
		}
		place = find(rows, *next);
	}
	return 0;
}

int pxtu_log_states(struct pxtu_log *log, struct posixtrace_state *to, size_t *count, __u64 *next)
{
	return read_rows(log, &log->survey.states, &states, to, count, next);
}

int pxtu_log_files(struct pxtu_log *log, struct posixtrace_file *to, size_t *count, __u64 *next)
{
	return read_rows(log, &log->survey.files, &files, to, count, next);
}

void pxtu_log_forget_rows(struct pxtu_log_survey *survey)
{
	survey->states.nr_places = 0;
	survey->files.nr_places = 0;
}

void pxtu_log_free_rows(struct pxtu_log *log)
{
	free(log->survey.states.place);
	free(log->survey.files.place);
}
