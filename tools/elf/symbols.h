/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the function and source line that recorded an event. The log contains which file the
 * process had mapped at the address. libdw reads the symbols and debug information of that file.
 * Functions that a process compiled at run time are named in its perf map.
 */
#ifndef POSIXTRACE_SYMBOLS_H
#define POSIXTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"
#include "util/buffer.h"

struct symbols;

/**
 * struct location - where an event was recorded
 * @module: path of the program or library as seen by the process, or of the perf map; "" if unknown
 * @is_map: @module is a perf map
 * @module_offset: offset of the address in that file, unless it is a perf map
 * @function: name of the function as in the symbol table, or NULL
 * @function_offset: offset of the address in the function
 * @file: source file, or NULL
 * @line: line of the call in @file
 *
 * The strings may contain any bytes and are valid until the next symbols_find().
 */
struct location {
	const char *module;
	bool is_map;
	uint64_t module_offset;
	const char *function;
	uint64_t function_offset;
	const char *file;
	int line;
};

/**
 * symbols_new() - create a cache of files and locations
 * @root: directory with the files of the traced machine; NULL: use the files of this machine
 * @symbols: where to store it; its size is limited
 *
 * Return: 0 or a negative error number.
 */
int symbols_new(const char *root, struct symbols **symbols);

/**
 * symbols_add_log() - also use the copies of programs and libraries beside a log
 * @symbols: the cache
 * @path: path of the log
 */
void symbols_add_log(struct symbols *symbols, const char *path);

/**
 * symbols_learn() - find out from the whole log when its processes ran, to use their perf maps
 * @symbols: the cache
 * @source: a log, at its first event before and after the call
 * @complete: the log does not grow; otherwise, call symbols_event() for each event
 *
 * Without this, no perf maps are used. Forgets what is known from an earlier log.
 *
 * Return: 0 or a negative error number.
 */
int symbols_learn(struct symbols *symbols, struct source *source, bool complete);

/* symbols_event() - learn from an event of a log that grows; returns 0 or -ENOMEM */
int symbols_event(struct symbols *symbols, const struct event *event);

/**
 * symbols_find() - find where an event was recorded
 * @symbols: the cache
 * @event: the event
 * @location: where to store the known parts of the location
 *
 * Reports, once for each file, why the functions of the file are unknown.
 *
 * Return: true if any part of the location is known.
 */
bool symbols_find(struct symbols *symbols, const struct event *event, struct location *location);

/**
 * symbols_text() - append a location as text
 * @to: where to append
 * @location: the location
 *
 * The text is "function+0x1c (dir/file.c:123)", without unknown parts, or "library.so+0x1234".
 */
void symbols_text(struct buffer *to, const struct location *location);

/* symbols_json() - append a location as members of a JSON object, each after a comma */
void symbols_json(struct buffer *to, const struct location *location);

/* symbols_free() - free the cache; @symbols may be NULL */
void symbols_free(struct symbols *symbols);

#endif /* POSIXTRACE_SYMBOLS_H */
