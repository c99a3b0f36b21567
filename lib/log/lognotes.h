/* SPDX-License-Identifier: MIT */
/* Notes: blocks of a log that are no events. */
#ifndef PXTU_LOGNOTES_H
#define PXTU_LOGNOTES_H

#include "log/logblock.h"

/**
 * pxtu_log_begin_notes() - go back to the first note if the writer has restarted them
 * @log: a LOOP log
 */
void pxtu_log_begin_notes(struct pxtu_log *log);

/**
 * pxtu_log_renew_notes() - let the walk search again as much as at the beginning
 * @log: a LOOP log, whose writer has completed a flush
 */
void pxtu_log_renew_notes(struct pxtu_log *log);

/**
 * pxtu_log_walk_notes() - go to the next note of a LOOP log
 * @log: the log
 * @walk: position of the caller
 * @block: as for pxtu_log_walk()
 */
enum pxtu_log_step pxtu_log_walk_notes(struct pxtu_log *log, struct pxtu_log_walk *walk,
				       struct pxtu_log_block *block);

/**
 * pxtu_log_add_descriptions() - add the places of the descriptions in a block
 * @log: the log
 * @block: a block of descriptions, with a good payload
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_add_descriptions(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_description() - description of an event type
 * @log: the log
 * @id: any number
 * @text: where to write it
 *
 * Return: 0, also if there is no room for it; -ENOENT if the log has none so far; -ENOMEM.
 */
int pxtu_log_description(struct pxtu_log *log, __u32 id, struct pxtu_text *text);

#endif /* PXTU_LOGNOTES_H */
