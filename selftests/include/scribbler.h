/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A traced process that overwrites the memory of all its streams with random and with almost valid
 * values. In between, it calls commands of a target.
 */
#ifndef _SELFTESTS_SCRIBBLER_H
#define _SELFTESTS_SCRIBBLER_H

#include <stdint.h>

#include "process.h"
#include "uapi.h"

uint64_t scribbler_random(uint64_t *state);

/*
 * The main function of the process: attaches, reports that, and overwrites memory until *@stop is
 * set. Returns 0, or the number of the step that failed.
 */
int scribbler_run(const struct talk *talk, const int *stop);

#endif /* _SELFTESTS_SCRIBBLER_H */
