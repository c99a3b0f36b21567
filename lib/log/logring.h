/* SPDX-License-Identifier: MIT */
/* The ring of a LOOP log. */
#ifndef PXTU_LOGRING_H
#define PXTU_LOGRING_H

#include "log/logblock.h"

/**
 * pxtu_ring_start() - find the oldest and the newest block
 * @log: a LOOP log
 * @walk: set to the oldest block
 */
void pxtu_ring_start(struct pxtu_log *log, struct pxtu_log_walk *walk);

/**
 * pxtu_ring_walk() - pxtu_log_walk() in a ring
 * @log: a LOOP log
 * @walk: from pxtu_ring_start()
 * @block: as for pxtu_log_walk()
 */
enum pxtu_log_step pxtu_ring_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				  struct pxtu_log_block *block);

#endif /* PXTU_LOGRING_H */
