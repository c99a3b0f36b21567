/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events as lines of text, for people and for programs.
 */
#ifndef POSIXTRACE_PRINT_H
#define POSIXTRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"
#include "source.h"

/* What the first column tells. */
enum print_clock {
	PRINT_RELATIVE,		/* microseconds since the first event */
	PRINT_DELTA,		/* microseconds since the event printed before */
	PRINT_SECONDS,		/* since the Epoch */
	PRINT_UTC,		/* date and time */
};

/**
 * struct print - how events are printed, and what is known of those before
 * @clock: what the first column tells
 * @cpu: there is a column for the processor
 * @full: all bytes of the data
 * @colour: for a terminal
 * @begun: there was an event
 * @first: time of the first
 * @last: time of the last that was printed
 * @lost: events lost before the last one
 * @newly_lost: of these, those since the one before
 */
struct print {
	enum print_clock clock;
	bool cpu;
	bool full;
	bool colour;

	bool begun;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t newly_lost;
};

/**
 * print_colour() - should there be colours?
 * @when: "auto", "always", "never", or NULL for the first
 * @to: where they would go
 * @colour: where to write the answer
 *
 * Automatic: on a terminal that can, unless NO_COLOR is in the environment.
 *
 * Return: 0, or -EINVAL if @when is something else.
 */
int print_colour(const char *when, FILE *to, bool *colour);

/**
 * print_see() - an event comes by
 * @print: how to print
 * @event: the event: each, also if it is not printed then
 */
void print_see(struct print *print, const struct event *event);

/**
 * print_event() - as a line of text
 * @print: how to print; it has seen the event
 * @to: where to put it
 * @event: the event
 */
void print_event(struct print *print, struct buffer *to, const struct event *event);

/**
 * print_json() - as an object on a line of its own
 * @print: it has seen the event
 * @to: where to put it
 * @event: the event
 *
 * Valid JSON, whatever the event's name and data are.
 */
void print_json(struct print *print, struct buffer *to, const struct event *event);

/**
 * print_write() - to the standard output, and empty the buffer
 * @from: what print_event() has put there
 *
 * Return: 0 or negative errno.
 */
int print_write(struct buffer *from);

#endif /* POSIXTRACE_PRINT_H */
