/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded table of measures: counts and times of the events, scopes, system calls and states of a
 * trace. Each name has one measure for the whole, and one for each value by which it is divided.
 */
#ifndef POSIXTRACE_MEASURE_H
#define POSIXTRACE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/field_value.h"
#include "analyze/histogram.h"

#define MEASURE_NAMES	4096		/* names of all kinds together */
#define MEASURE_VALUES	4096		/* values of a kind, for all its names together */
#define MEASURE_BYTES	(4U << 20)	/* total size of the values of a kind */

enum measure_kind {
	MEASURE_EVENT,
	MEASURE_SCOPE,
	MEASURE_CALL,
	MEASURE_STATE,
	MEASURE_KINDS
};

/* Which of the events, scopes or calls with the same name a measure counts. */
enum measure_part {
	MEASURE_WHOLE,		/* all of them */
	MEASURE_VALUE,		/* those with a certain value */
	MEASURE_NONE,		/* those without any value */
	MEASURE_OTHERS,		/* those whose value did not fit into the table */
};

/**
 * struct measure - counts and times
 * @next: next measure in the bucket
 * @hash: hash of the members from @kind to @key
 * @kind: what is measured
 * @part: which events, scopes or calls with this name are counted
 * @name: event type, scope, system call or state; NULL: all names that did not fit into the table
 * @key: MEASURE_VALUE: identifies the value
 * @key_len: bytes of @key
 * @value: MEASURE_VALUE: the value, @value_len bytes and a null byte
 * @value_len: bytes of @value
 * @value_kind: how to read @value
 * @unit: unit of the value, or NULL
 * @seen: MEASURE_WHOLE of a scope: roles seen (bits PAIRS_BEGIN, PAIRS_END)
 * @known: MEASURE_WHOLE: at least one event has the field by which measures are divided
 * @count: number of events, or of measured times
 * @errors: number of system calls that failed
 * @unmatched: number of begins and ends of scopes, and of system calls, without a known length
 * @last: events: time of the last event
 * @stretch: events: stretch of the trace (see struct measures) that has the last event
 * @times: events: times between two successive events; other kinds: lengths
 */
struct measure {
	struct measure *next;
	uint64_t hash;
	enum measure_kind kind;
	enum measure_part part;
	char *name;
	void *key;
	size_t key_len;

	char *value;
	size_t value_len;
	enum field_kind value_kind;
	const char *unit;

	unsigned int seen;
	bool known;
	uint64_t count;
	uint64_t errors;
	uint64_t unmatched;
	uint64_t last;
	uint64_t stretch;
	struct histogram times;
};

struct measure_table;

/* measure_table_new() - create an empty table; returns 0 or -ENOMEM */
int measure_table_new(struct measure_table **table);

/**
 * measure_whole() - find or create the measure of a name
 * @table: the table
 * @kind: kind of the name
 * @name: the name
 *
 * Return: the measure; if the table is full, the measure of all other names; NULL if out of memory.
 */
struct measure *measure_whole(struct measure_table *table, enum measure_kind kind,
			      const char *name);

/**
 * measure_part() - find or create the measure of a name and a value
 * @table: the table
 * @whole: from measure_whole()
 * @part: MEASURE_VALUE or MEASURE_NONE
 * @key: identifies the value
 * @key_len: bytes of @key
 *
 * A new measure has no @value: the caller sets it with measure_set_value().
 *
 * Return: the measure; if the table is full, the measure of all other values of @whole; NULL if out
 * of memory.
 */
struct measure *measure_part(struct measure_table *table, const struct measure *whole,
			     enum measure_part part, const void *key, size_t key_len);

/* measure_set_value() - set the value of a measure that has none; returns 0 or -ENOMEM */
int measure_set_value(struct measure *measure, enum field_kind kind, const void *value,
		      size_t len, const char *unit);

/* measure_total() - get the key for sorting: the total time; for events, their number */
uint64_t measure_total(const struct measure *measure);

/**
 * measure_list() - get measures of a kind
 * @table: the table
 * @kind: the kind
 * @divided: true: get the measures of single values; false: get the undivided measures
 * @count: where to store their number
 *
 * The order is by measure_total(), then by name and value. MEASURE_OTHERS come last.
 *
 * Return: an array to free, or NULL if out of memory.
 */
const struct measure **measure_list(const struct measure_table *table, enum measure_kind kind,
				    bool divided, size_t *count);

/* measure_find() - find the measure with the same kind, part, name and key, or NULL */
const struct measure *measure_find(const struct measure_table *table,
				   const struct measure *measure);

void measure_table_free(struct measure_table *table);

#endif /* POSIXTRACE_MEASURE_H */
