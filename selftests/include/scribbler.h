/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A traced process that scribbles over the memory of all its streams, with noise and with almost
 * valid values, and calls commands of a target in between.
 */
#ifndef _SELFTESTS_SCRIBBLER_H
#define _SELFTESTS_SCRIBBLER_H

#include <stdint.h>

#include "process.h"
#include "uapi.h"

uint64_t scribbler_random(uint64_t *state);

/*
 * The function of the child: attaches, reports that, and scribbles until *@stop is set. Returns 0,
 * or the failed step.
 */
int scribbler_run(const struct talk *talk, const int *stop);

#endif /* _SELFTESTS_SCRIBBLER_H */
