/* SPDX-License-Identifier: MIT */
#ifndef PXTU_LOGSTATES_H
#define PXTU_LOGSTATES_H

#include <stddef.h>

#include <linux/posixtrace.h>

struct pxtu_log;
struct pxtu_log_block;
struct pxtu_log_survey;

/**
 * struct pxtu_log_rows - where rows of one kind are in a log
 * @place: the blocks, in their order
 * @nr_places: number of elements of @place
 * @places_room: room in @place
 */
struct pxtu_log_rows {
	struct pxtu_log_row_place *place;
	size_t nr_places;
	size_t places_room;
};

/* pxtu_log_add_rows() - note the place of a block of STATES or FILES; returns 0 or -ENOMEM */
int pxtu_log_add_rows(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_states() - read states
 * @log: the log
 * @to: where to store them
 * @count: room at @to; becomes the number of states
 * @next: number of the first one; becomes the number of the next one
 *
 * Return: 0, with @count 0 after the last state; or a negative error number.
 */
int pxtu_log_states(struct pxtu_log *log, struct posixtrace_state *to, size_t *count, __u64 *next);

/* pxtu_log_files() - read open files, like pxtu_log_states() */
int pxtu_log_files(struct pxtu_log *log, struct posixtrace_file *to, size_t *count, __u64 *next);

void pxtu_log_forget_rows(struct pxtu_log_survey *survey);
void pxtu_log_free_rows(struct pxtu_log *log);

#endif /* PXTU_LOGSTATES_H */
