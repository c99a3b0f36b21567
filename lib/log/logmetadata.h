/* SPDX-License-Identifier: MIT */
/* Metadata: the blocks of a log that contain no events. */
#ifndef PXTU_LOGMETADATA_H
#define PXTU_LOGMETADATA_H

#include "log/logblock.h"

/**
 * pxtu_log_begin_metadata() - go back to the first block if the writer has restarted the metadata
 * @log: a LOOP log
 */
void pxtu_log_begin_metadata(struct pxtu_log *log);

/**
 * pxtu_log_forget_places() - forget where the texts of the metadata are
 * @survey: the survey
 */
void pxtu_log_forget_places(struct pxtu_log_survey *survey);

/**
 * pxtu_log_renew_metadata() - restore the search budget of the walk over the metadata
 * @log: a LOOP log; its writer has completed a flush
 */
void pxtu_log_renew_metadata(struct pxtu_log *log);

/**
 * pxtu_log_walk_metadata() - go to the next metadata block of a LOOP log
 * @log: the log
 * @walk: position of the caller
 * @block: as for pxtu_log_walk()
 */
enum pxtu_log_step pxtu_log_walk_metadata(struct pxtu_log *log, struct pxtu_log_walk *walk,
					  struct pxtu_log_block *block);

/**
 * pxtu_log_add_descriptions() - add the locations of the descriptions in a block
 * @log: the log
 * @block: a block of descriptions, with a good payload
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_add_descriptions(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_description() - get the description of an event type
 * @log: the log
 * @id: any number
 * @text: buffer
 *
 * Return: 0, also if it does not fit; -ENOENT if it is not in the log so far; -ENOMEM.
 */
int pxtu_log_description(struct pxtu_log *log, __u32 id, struct pxtu_text *text);

#endif /* PXTU_LOGMETADATA_H */
