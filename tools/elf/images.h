/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out which program each process of a log ran at which time, as far as events show it. Each
 * exec begins a new image of the process: the memory of the old program is gone.
 */
#ifndef POSIXTRACE_IMAGES_H
#define POSIXTRACE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

struct images;

/**
 * struct image - a program that a process ran
 * @begin: start of the image: the exec, the birth of the process, or the first event
 * @end: last event of the image: the program certainly ran until then
 * @next: time by which the program had ended: the next exec, the exit, or the first event of
 *	another process with the same id; UINT64_MAX: unknown
 */
struct image {
	uint64_t begin;
	uint64_t end;
	uint64_t next;
};

/* images_new() - begin without images; returns 0 or -ENOMEM */
int images_new(struct images **images);

/**
 * images_read() - process all events of a log
 * @images: from images_new(); their number is limited
 * @source: the log, at its first event before and after the call
 *
 * Return: 0 or a negative error number.
 */
int images_read(struct images *images, struct source *source);

/**
 * images_event() - process an event of a log that grows
 * @images: from images_new()
 * @event: the next event; may be one that images_read() has processed
 *
 * Return: 0 or -ENOMEM.
 */
int images_event(struct images *images, const struct event *event);

/* images_find() - find the image of the process of an event at that time; false: unknown */
bool images_find(struct images *images, const struct event *event, struct image *image);

/* images_free() - free the images; @images may be NULL */
void images_free(struct images *images);

#endif /* POSIXTRACE_IMAGES_H */
