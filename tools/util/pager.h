/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shows long output with a pager if standard output is a terminal.
 */
#ifndef POSIXTRACE_PAGER_H
#define POSIXTRACE_PAGER_H

#include <stdbool.h>

/**
 * pager_begin() - start the pager, before the first output
 *
 * The pager is POSIXTRACE_PAGER or PAGER from the environment, otherwise less or more. "" and "cat"
 * mean no pager. If standard error is a terminal, it also goes to the pager.
 */
void pager_begin(void);

/* pager_shows() - check if standard output is a terminal, or a pager shows it on one */
bool pager_shows(void);

/* pager_end() - wait until the user quits the pager; close standard output first */
void pager_end(void);

#endif /* POSIXTRACE_PAGER_H */
