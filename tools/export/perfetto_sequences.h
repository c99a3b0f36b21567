/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequences of packets in a Perfetto trace, and their clocks.
 *
 * Numbers, times and the default track are relative to the sequence of a packet. There are these
 * sequences:
 *
 * - SEQUENCES_NOW: events that are not older than the previous one, with the time since then; also
 *   tracks and scheduler events
 * - SEQUENCES_THREADS: descriptions of threads
 * - one sequence for each of the tracks that currently have many events: events that are not older
 *   than the previous one of the sequence, with the time since then. They do not name their track.
 *   If a track becomes idle, another track gets its sequence, with the names defined in it.
 * - further sequences: older events, such as those that begin a long duration. Their times are
 *   relative to a clock that the sequence declares. Each clock is used for half a minute, and a
 *   sequence can declare 64 clocks.
 */
#ifndef POSIXTRACE_PERFETTO_SEQUENCES_H
#define POSIXTRACE_PERFETTO_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Sequences with fixed numbers. */
#define SEQUENCES_NOW		1
#define SEQUENCES_THREADS	2

/* A clock of SEQUENCES_NOW with short times, which perfetto_ftrace.c declares. */
#define SEQUENCES_FTRACE_CLOCK	64

/* Places of sequences, less than 64: a bit in a word for each. */
#define SEQUENCES_PLACE_NOW	0
#define SEQUENCES_PLACE_OLDER	1

/**
 * struct sequences_packet - how to write the packet of an event
 * @sequence: its sequence
 * @place: place of the sequence
 * @replaces: the sequence begins, and may take the place of another: no text is defined there
 * @is_absolute: @time is CLOCK_REALTIME; otherwise it is a time of the default clock
 * @names_track: the event must name its track
 * @time: its timestamp
 */
struct sequences_packet {
	unsigned int sequence;
	unsigned int place;
	bool replaces;
	bool is_absolute;
	bool names_track;
	uint64_t time;
};

struct sequences;

/**
 * sequences_new() - create sequences without packets
 * @interned: fields of InternedData that each sequence starts with, copied
 * @sequences: result; to be freed even after an error
 *
 * Return: 0 or -ENOMEM.
 */
int sequences_new(const struct buffer *interned, struct sequences **sequences);
void sequences_free(struct sequences *sequences);

/**
 * sequences_begin() - declare the clocks and the first sequence
 * @sequences: from sequences_new()
 * @time: time of the first event, CLOCK_REALTIME
 * @to: where to append packets
 */
void sequences_begin(struct sequences *sequences, uint64_t time, struct buffer *to);

/* sequences_packet() - begin a packet of a sequence; returns the argument of proto_end() */
size_t sequences_packet(unsigned int sequence, struct buffer *to);

/**
 * sequences_event() - find the sequence in which an event takes the fewest bytes
 * @sequences: from sequences_new()
 * @time: its time
 * @track: its track
 * @to: where to append packets that declare a sequence or a clock, and then the event
 * @packet: result
 */
void sequences_event(struct sequences *sequences, uint64_t time, uint64_t track, struct buffer *to,
		     struct sequences_packet *packet);

#endif /* POSIXTRACE_PERFETTO_SEQUENCES_H */
