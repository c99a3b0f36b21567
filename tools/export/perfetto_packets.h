/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets of a Perfetto trace, as small as the format allows: times are relative, and a name is
 * written once in each sequence and then named by a number: see perfetto_sequences.h.
 */
#ifndef POSIXTRACE_PERFETTO_PACKETS_H
#define POSIXTRACE_PERFETTO_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/perfetto_sequences.h"
#include "util/buffer.h"

/* Kinds of interned text: fields of InternedData. */
enum packets_kind {
	PACKETS_EVENT_NAME = 2,
	PACKETS_ARG_NAME = 3,
	PACKETS_SYMBOL = 26,
	PACKETS_ARG_TEXT = 29,
};

/* Categories of events, which are defined in each sequence. */
enum packets_category {
	PACKETS_USER = 1,
	PACKETS_SYSTEM,
	PACKETS_LOST,
	PACKETS_KERNEL,
	PACKETS_WHY,
};

struct fields;
struct packets;

/* An event that is being written. */
struct packets_event {
	size_t packet;
	size_t message;
};

/**
 * packets_new() - create an empty trace of a machine
 * @fields: extensions for arguments, which all machines of a trace share; must remain valid
 * @shift: what is to be added to all times, ns
 * @packets: result; to be freed even after an error
 *
 * The caller must write the packets of fields_write() before those of packets_bytes().
 *
 * Return: 0 or -ENOMEM.
 */
int packets_new(struct fields *fields, int64_t shift, struct packets **packets);
void packets_free(struct packets *packets);

/**
 * packets_begin() - write the packets that Perfetto needs before the first event
 * @packets: from packets_new()
 * @time: time of the first event
 */
void packets_begin(struct packets *packets, uint64_t time);

/* packets_time() - get the time that the trace shows for a time of the log: CLOCK_REALTIME */
uint64_t packets_time(const struct packets *packets, uint64_t time);

/* packets_bytes() - get the buffer with the packets, which contains whole ones */
struct buffer *packets_bytes(struct packets *packets);

/**
 * packets_to() - get the buffer to which packets are currently written
 * @packets: from packets_new()
 *
 * Append only whole packets, except after packets_event() or packets_packet() has begun one.
 *
 * Return: the buffer: of packets_bytes(), or from packets_hold().
 */
struct buffer *packets_to(struct packets *packets);

/**
 * packets_hold() - write packets to another buffer, which is copied into the trace later
 * @packets: from packets_new()
 * @hold: the buffer, or NULL for the buffer of packets_bytes()
 *
 * Packets in such a buffer have absolute times. The names that they use are defined in
 * packets_bytes().
 */
void packets_hold(struct packets *packets, struct buffer *hold);

/* packets_packet() - begin a packet of a fixed sequence; returns the argument of proto_end() */
size_t packets_packet(struct packets *packets, unsigned int sequence);

/**
 * packets_event() - begin an event
 * @packets: from packets_new()
 * @time: its time
 * @type: TYPE_* of a TrackEvent
 * @track: its track
 *
 * Return: the argument for packets_end().
 */
struct packets_event packets_event(struct packets *packets, uint64_t time, unsigned int type,
				   uint64_t track);

/* packets_category() - set the category of the current event */
void packets_category(struct packets *packets, enum packets_category category);

/* packets_name() - set the name of the current event; any bytes */
void packets_name(struct packets *packets, const char *name, size_t len);

/* packets_end() - end an event */
void packets_end(struct packets *packets, struct packets_event event);

/**
 * packets_intern() - get the number of a text in the sequence of the current event
 * @packets: from packets_new()
 * @kind: what the text is
 * @prefix: the first part of the text
 * @text: the rest; any bytes, which are escaped
 * @len: number of bytes of @text
 *
 * Return: the number, or 0 if the caller must write the text itself: at the first use of a
 * PACKETS_ARG_TEXT, if there are too many texts, or if the text is too long.
 */
uint32_t packets_intern(struct packets *packets, enum packets_kind kind, const char *prefix,
			const void *text, size_t len);

/**
 * packets_field() - find the extension of TrackEvent for an argument, between packets_event() and
 * packets_end()
 * @packets: from packets_new()
 * @prefix: first part of the name
 * @name: the rest of the name
 * @type: FIELDS_* of perfetto_fields.h
 *
 * Return: the field number, or 0 if the argument must be a debug annotation.
 */
unsigned int packets_field(struct packets *packets, const char *prefix, const char *name,
			   unsigned int type);

/**
 * packets_symbol() - get the number of a function of the kernel in SEQUENCES_NOW, between events
 * @packets: from packets_new()
 * @name: its name; any bytes, which are escaped
 *
 * Return: the number, or 0 if there are too many names.
 */
uint32_t packets_symbol(struct packets *packets, const char *name);

#endif /* POSIXTRACE_PERFETTO_PACKETS_H */
