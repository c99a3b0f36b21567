/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports format file definitions that do not match the events.
 */
#ifndef POSIXTRACE_MISFITS_H
#define POSIXTRACE_MISFITS_H

#include "event/formats.h"
#include "event/source.h"

/**
 * misfits_warn() - warn about definitions that do not match the events
 * @formats: the contents of the file, or NULL
 * @source: the log or stream, after its events
 *
 * The output is still correct, but may not be what the user expects.
 */
void misfits_warn(const struct formats *formats, const struct source *source);

#endif /* POSIXTRACE_MISFITS_H */
