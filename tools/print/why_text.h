/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes parts of a period in words.
 */
#ifndef POSIXTRACE_WHY_TEXT_H
#define POSIXTRACE_WHY_TEXT_H

#include <stdint.h>

#include "analyze/parts.h"
#include "analyze/tracks.h"
#include "util/buffer.h"

/* why_text() - append what a part is, such as "blocked in read, fd 3, woken by git-284" */
void why_text(struct buffer *to, const struct tracks *tracks, const struct part *part);

/* why_text_label() - append the name and id of a thread */
void why_text_label(struct buffer *to, const struct tracks *tracks, uint32_t thread);

#endif /* POSIXTRACE_WHY_TEXT_H */
