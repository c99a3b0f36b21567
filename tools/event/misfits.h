/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Definitions in a format file that do not fit the events.
 */
#ifndef POSIXTRACE_MISFITS_H
#define POSIXTRACE_MISFITS_H

#include "event/formats.h"
#include "event/source.h"

/**
 * misfits_warn() - print on standard error which definitions do not fit the events
 * @formats: the contents of the file, or NULL
 * @source: the log or stream, after its events
 *
 * The output is still correct, but perhaps not what the user expects.
 */
void misfits_warn(const struct formats *formats, const struct source *source);

#endif /* POSIXTRACE_MISFITS_H */
