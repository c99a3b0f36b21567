/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When each process of a log ran which program, as far as events show it. An exec begins a new
 * image of the process: its memory has nothing of the earlier one.
 */
#ifndef POSIXTRACE_IMAGES_H
#define POSIXTRACE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

struct images;

/**
 * struct image - a program that a process ran
 * @begin: time from which on it ran: its exec, the birth of the process, or its first event
 * @end: time until which it ran for certain: its last event
 * @next: time of the next exec, of the exit, or from which on another process had the id;
 *	UINT64_MAX: unknown
 */
struct image {
	uint64_t begin;
	uint64_t end;
	uint64_t next;
};

/**
 * images_read() - read all events of a log
 * @source: the log, at its first event; it is there again afterwards
 * @images: where to store the images; their number is limited
 *
 * Return: 0 or a negative error number.
 */
int images_read(struct source *source, struct images **images);

/* images_find() - find the image of the process of an event at that time; false: unknown */
bool images_find(struct images *images, const struct event *event, struct image *image);

/* images_free() - free the images, or NULL */
void images_free(struct images *images);

#endif /* POSIXTRACE_IMAGES_H */
