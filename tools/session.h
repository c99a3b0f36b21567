/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "live" and "record" have in common: a stream on a process, and the options
 * that say on which one, and what it records.
 */
#ifndef POSIXTRACE_SESSION_H
#define POSIXTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

#include "process.h"

/* Names of event types, as argz_add_sep() makes them of the arguments. */
struct names {
	char *argz;
	size_t len;
};

struct session {
	struct process process;
	size_t stream_size;	/* 0: as it comes */
	size_t data_size;	/* bytes of an event; SESSION_DEFAULT: as it comes */
	bool inherit;
	struct names filter;	/* if any: only these are recorded */
	struct names exclude;	/* these are not */
	trace_id_t trid;
};

#define SESSION_DEFAULT	((size_t)-1)

#define SESSION_SHORT_OPTIONS	"d:F:ip:s:x:"

/* Help for these options. */
#define SESSION_HELP \
	"  -d, --data-size=BYTES    bytes that are kept of an event's data (1K)\n" \
	"  -F, --filter=NAME,...    record only events of these types\n" \
	"  -i, --inherit            trace the children, too\n" \
	"  -p, --pid=PID            process to trace\n" \
	"  -s, --size=BYTES         size of the trace stream (256K)\n" \
	"  -x, --exclude=NAME,...   record no events of these types\n"

/* session_option() - is the option one of these? Exits with 2 if its value is none. */
bool session_option(struct session *session, int opt, const char *value);

/*
 * session_process() - what is behind the options: a process id, or a program behind
 * "--" or not. Returns false if it goes not with the options, or is lacking.
 */
bool session_process(struct session *session, int argc, char **argv);

/*
 * session_attr() - the attributes that the options say, and a name. Returns 0 or an
 * error number; else posix_trace_attr_destroy() comes after it.
 */
int session_attr(const struct session *session, const char *name, trace_attr_t *attr);

/*
 * session_create() - the stream: with log if log_fd is not -1. It is filtered, but
 * suspended. Returns 0, or an error number when it has complained about it.
 */
int session_create(struct session *session, const trace_attr_t *attr, int log_fd);

/* session_create_plain() - the same, without log and with no more than the options say */
int session_create_plain(struct session *session, const char *name);

/* session_free() - the names */
void session_free(struct session *session);

/* parse_number(), parse_size() - exit with 2 if the text is none; sizes may end in K, M, G */
unsigned long parse_number(const char *text, unsigned long max);
size_t parse_size(const char *text, size_t max);

#endif /* POSIXTRACE_SESSION_H */
