/* SPDX-License-Identifier: MIT */
/* The survey of a complete log by its index, without the headers of all blocks. */
#ifndef PXTU_LOGBRIEF_H
#define PXTU_LOGBRIEF_H

#include "log/log.h"

/**
 * pxtu_log_survey_briefly() - survey a complete log by its index
 * @log: with its header read, not surveyed yet
 *
 * Sets pxtu_log_survey.brief if this was possible. If not, pxtu_log_survey() reads all headers.
 *
 * Return: 0; negative errno as pxtu_log_survey().
 */
int pxtu_log_survey_briefly(struct pxtu_log *log);

#endif /* PXTU_LOGBRIEF_H */
