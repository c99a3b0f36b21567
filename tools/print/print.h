/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints events as lines of text, for people and for programs.
 */
#ifndef POSIXTRACE_PRINT_H
#define POSIXTRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/symbols.h"
#include "event/source.h"
#include "util/buffer.h"
#include "util/options.h"

/* What the first column shows. */
enum print_clock {
	PRINT_RELATIVE,		/* microseconds since the first event */
	PRINT_DELTA,		/* microseconds since the previous event printed */
	PRINT_SECONDS,		/* since the Epoch */
	PRINT_UTC,		/* date and time */
};

/* When to use colours. */
enum print_color {
	PRINT_AUTO,		/* on a terminal */
	PRINT_ALWAYS,
	PRINT_NEVER,
};

/**
 * struct print - how to print events, and what was seen of previous events
 * @clock: what the first column shows: enum print_clock
 * @color: when to use colours: enum print_color
 * @cpu: print a column for the processor
 * @full: print all bytes of the data
 * @colour: use colours; set by print_begin()
 * @json: print JSON objects instead of lines of text
 * @symbols: print where each event was recorded, if that is known; or NULL
 * @signals: a signalfd, or -1. When it is readable, print_write() waits for the reader of the
 *	output no longer than a second
 * @ending: a signal was read from it, so print_write() does not wait longer, either
 * @thread_width: columns for the thread; grows with the names
 * @begun: an event was seen
 * @first: time of the first event
 * @last: time of the last event printed
 * @lost: number of events lost before the last event
 * @newly_lost: part of @lost since the previous event
 */
struct print {
	int clock;
	int color;
	bool cpu;
	bool full;
	bool colour;
	bool json;
	struct symbols *symbols;
	int signals;
	bool ending;

	size_t thread_width;
	bool begun;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t newly_lost;
};

/* The options --clock, --color, --full and --json; their targets are in a struct print. */
extern const struct command_option print_options[];

/* print_begin() - decide, after the options, whether to use colours */
void print_begin(struct print *print);

/**
 * print_see() - note an event; call it for each event, also if it is not printed
 * @print: how to print
 * @event: the event
 */
void print_see(struct print *print, const struct event *event);

/* print_restart() - forget the previous events: events of another log follow */
void print_restart(struct print *print);

/**
 * print_event() - append an event as a line, and write the lines when there are many
 * @print: how to print, after print_see() of the event
 * @to: where to append; print_write() writes the last lines
 * @event: the event
 *
 * A line is text or a JSON object, which is valid for any name and data.
 *
 * Return: 0 or a negative error number.
 */
int print_event(struct print *print, struct buffer *to, const struct event *event);

/**
 * print_write() - write a buffer to standard output, and empty it
 * @print: how to print
 * @from: the buffer
 *
 * Return: 0 or a negative error number; -EINTR if a signal came, and the reader takes nothing.
 */
int print_write(const struct print *print, struct buffer *from);

#endif /* POSIXTRACE_PRINT_H */
