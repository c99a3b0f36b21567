/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints events as lines of text for people, or as JSON for programs.
 */
#ifndef POSIXTRACE_PRINT_H
#define POSIXTRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/symbols.h"
#include "event/source.h"
#include "print/call_text.h"
#include "util/buffer.h"
#include "util/options.h"

/* What the first column shows: the option --clock. */
enum print_clock {
	PRINT_RELATIVE,		/* microseconds since the first event */
	PRINT_DELTA,		/* microseconds since the previously printed event */
	PRINT_SECONDS,		/* since the Epoch */
	PRINT_UTC,		/* date and time */
};

/* When to use colours: the option --color. */
enum print_color {
	PRINT_AUTO,		/* on a terminal */
	PRINT_ALWAYS,
	PRINT_NEVER,
};

#define PRINT_TEXTS	64	/* a power of two */

/**
 * struct print_name - how the name of an event type is printed
 * @type: the event type
 * @name: name of the type; any bytes
 * @text: the whole column, with colours
 * @len: bytes of @text; 0: free
 */
struct print_name {
	trace_event_id_t type;
	char name[64];
	char text[96];
	size_t len;
};

/**
 * struct print_thread - how the CPU, the process and the thread of events are printed
 * @cpu: the CPU
 * @pid: the process
 * @tid: the thread
 * @columns: the print.thread_width for which @text was made
 * @name: name of the thread; any bytes
 * @text: the text of the columns
 * @len: bytes of @text; 0: free
 */
struct print_thread {
	unsigned int cpu;
	pid_t pid;
	pid_t tid;
	size_t columns;
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	char text[128];
	size_t len;
};

/**
 * struct print - how to print events, and state from previous events
 * @clock: what the first column shows: enum print_clock
 * @color: when to use colours: enum print_color
 * @cpu: print a column for the CPU
 * @full: print all bytes of the data
 * @colour: use colours; set by print_begin()
 * @json: print JSON objects instead of lines of text
 * @symbols: NULL, or where to look up the location of each event, to print it
 * @signals: a signalfd, or -1. Once it is readable, print_write() waits at most a second for the
 *	reader of the output
 * @ending: a signal was read from @signals, so the wait for the reader is limited
 * @part: bytes that one write can take without waiting, after poll(); 0: use RWF_NOWAIT instead
 * @host_width: width of the column for the host; grows with the names
 * @thread_width: width of the column for the thread; grows with the names
 * @names: cached texts of event types, indexed by a hash of the type
 * @threads: cached texts of threads, indexed by a hash of the kernel thread id
 * @begun: an event has been seen
 * @first: time of the first event
 * @last: time of the last printed event
 * @lost: number of events lost before the last event
 * @newly_lost: part of @lost since the previous event
 * @call: what is known about system calls; the caller may set its descriptors
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
	size_t part;

	size_t host_width;
	size_t thread_width;
	struct print_name names[PRINT_TEXTS];
	struct print_thread threads[PRINT_TEXTS];
	bool begun;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t newly_lost;
	struct call_context call;
};

/* The options --clock, --color, --full and --json. Their targets are in struct print. */
extern const struct command_option print_options[];

/* print_begin() - decide whether to use colours, after the options */
void print_begin(struct print *print);

/**
 * print_see() - account an event; call it for each event, even if it is not printed
 * @print: how to print
 * @event: the event
 */
void print_see(struct print *print, const struct event *event);

/* print_see_first() - set the time of the first event, if that event was skipped */
void print_see_first(struct print *print, uint64_t time);

/* print_restart() - forget previous events, before the events of another log */
void print_restart(struct print *print);

/**
 * print_event() - append an event as a line, and write the buffer if it is large
 * @print: how to print, after print_see() of the event
 * @to: where to append; use print_write() after the last event
 * @event: the event
 *
 * The line is text or a JSON object, which is valid for any name and data.
 *
 * Return: 0 or a negative error number.
 */
int print_event(struct print *print, struct buffer *to, const struct event *event);

/**
 * print_write() - write a buffer to standard output and empty it
 * @print: how to print
 * @from: the buffer
 *
 * Return: 0 or a negative error number; -EINTR after a signal, if the output accepts no more bytes.
 */
int print_write(struct print *print, struct buffer *from);

#endif /* POSIXTRACE_PRINT_H */
