/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder: a stream of this process on itself, which keeps the latest events in memory.
 * When the process ends, the kernel writes them to a log. Environment variables ask for it, see
 * posixtrace(7).
 *
 * flight.c starts it, flightoptions.c parses the options, flightfile.c has the names of the logs,
 * flightmessage.c prints errors.
 */
#ifndef PXTU_FLIGHT_H
#define PXTU_FLIGHT_H

#include "common/state.h"

/* The environment variables. */
#define PXTU_FLIGHT_FILE	"POSIXTRACE_RECORD"
#define PXTU_FLIGHT_OPTIONS	"POSIXTRACE_RECORD_OPTIONS"

/**
 * struct pxtu_flight_plan - what PXTU_FLIGHT_OPTIONS asks for
 * @attr: attributes of the stream
 * @all_classes: record all classes of kernel events that the user may record
 * @children: children record themselves
 */
struct pxtu_flight_plan {
	trace_attr_t attr;
	bool all_classes;
	bool children;
};

/**
 * pxtu_flight_start() - start the flight recorder, if the environment asks for it
 *
 * Called by the constructor of the library. An error is one line on standard error.
 */
void pxtu_flight_start(void);

/**
 * pxtu_flight_refuse() - print why a variable has no effect
 * @variable: its name
 * @why: what is wrong
 * @value: the wrong part of its value
 * @len: bytes of @value
 *
 * Return: -EINVAL.
 */
int pxtu_flight_refuse(const char *variable, const char *why, const char *value, size_t len);

/**
 * pxtu_flight_complain() - print why there is no flight recorder
 * @log: name of the log
 * @err: negative errno
 */
void pxtu_flight_complain(const char *log, int err);

/**
 * pxtu_flight_parse() - parse the options
 * @text: value of PXTU_FLIGHT_OPTIONS; NULL for the defaults
 * @plan: result
 *
 * Return: 0; -EINVAL after printing an error.
 */
int pxtu_flight_parse(const char *text, struct pxtu_flight_plan *plan);

/**
 * pxtu_flight_check() - check a pattern of names
 * @text: value of PXTU_FLIGHT_FILE
 *
 * Return: 0; -EINVAL after printing an error.
 */
int pxtu_flight_check(const char *text);

/**
 * pxtu_flight_pattern() - set the pattern of the names of logs
 * @text: value of PXTU_FLIGHT_FILE, checked
 *
 * Keeps a copy of it, made absolute: the program may change its directory and its environment.
 *
 * Return: 0 or negative errno.
 */
int pxtu_flight_pattern(const char *text);

/**
 * pxtu_flight_expand() - make the name of the first log of this process from the pattern
 *
 * Async-signal-safe. Do not call it while other threads use the name.
 *
 * Return: 0; -ENAMETOOLONG.
 */
int pxtu_flight_expand(void);

/**
 * pxtu_flight_name() - get the name of a log of this process
 * @number: 0 for the first one
 * @to: buffer
 * @size: bytes there
 *
 * Async-signal-safe.
 *
 * Return: 0; -ERANGE if the name does not fit.
 */
int pxtu_flight_name(unsigned int number, char *to, size_t size);

/**
 * pxtu_flight_open() - create a log
 * @number: the smallest number it may have; receives its number
 *
 * Takes the first name that does not exist. Async-signal-safe.
 *
 * Return: a descriptor; -EEXIST if all names exist; other negative errno.
 */
int pxtu_flight_open(unsigned int *number);

/**
 * pxtu_flight_remove() - remove a log that was not begun
 * @number: its number, from pxtu_flight_open()
 *
 * Async-signal-safe.
 */
void pxtu_flight_remove(unsigned int number);

#endif /* PXTU_FLIGHT_H */
