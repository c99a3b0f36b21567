/* SPDX-License-Identifier: MIT */
/* The survey of a log: names of event types, status, and whether it is complete. */
#ifndef PXTU_LOGSURVEY_H
#define PXTU_LOGSURVEY_H

#include "log/logblock.h"

/* Was the stream shut down, so that the writer has finished? */
static inline bool pxtu_log_final(const struct pxtu_log_survey *survey)
{
	return survey->end_valid && survey->end.flags & POSIXTRACE_LOG_END_FINAL;
}

/**
 * pxtu_log_survey() - survey the blocks that were appended since the last survey
 * @log: the log
 *
 * Reads the headers of all blocks, and the payload of blocks without events.
 *
 * Return: 0; -ENOMEM, then the next call continues; -ESHUTDOWN if the program closed our
 * descriptor.
 */
int pxtu_log_survey(struct pxtu_log *log);

/**
 * pxtu_log_survey_block() - add the facts in a block
 * @log: the log
 * @step: from a walk
 * @block: the block, of type 0 if there is none
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_log_survey_block(struct pxtu_log *log, enum pxtu_log_step step,
			  const struct pxtu_log_block *block);

/* pxtu_log_read_end() - read the status of the log at an offset */
void pxtu_log_read_end(struct pxtu_log *log, __u64 offset);

/* pxtu_log_read_status() - read the status of a LOOP log */
void pxtu_log_read_status(struct pxtu_log *log);

/**
 * pxtu_log_survey_fixed() - survey the names and the metadata of a LOOP log
 * @log: the log
 *
 * Return: as pxtu_log_survey().
 */
int pxtu_log_survey_fixed(struct pxtu_log *log);

/**
 * pxtu_log_forget_brief() - prepare to read all headers, after a brief survey
 * @log: the log
 */
void pxtu_log_forget_brief(struct pxtu_log *log);

/**
 * pxtu_log_final_now() - check if the stream has been shut down by now
 * @log: a LOOP log
 *
 * Does not change the results of the last survey.
 *
 * Return: true if it has been shut down; false also if the status cannot be read.
 */
bool pxtu_log_final_now(struct pxtu_log *log);

/**
 * pxtu_log_status() - get the status of the log
 * @log: the log
 * @info: result
 */
void pxtu_log_status(const struct pxtu_log *log, struct posix_trace_status_info *info);

/**
 * pxtu_log_name() - get the name of an event type
 * @log: the log
 * @id: any number
 *
 * Return: the name, NULL if the log has no such type so far.
 */
const char *pxtu_log_name(const struct pxtu_log *log, __u32 id);

/**
 * pxtu_log_type() - get the event type at a place in the list of types
 * @log: the log
 * @place: from 0
 *
 * Return: the type, 0 at the end.
 */
__u32 pxtu_log_type(const struct pxtu_log *log, __u32 place);

#endif /* PXTU_LOGSURVEY_H */
