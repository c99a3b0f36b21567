// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace list": lists programs with trace points and streams, the event types of a process,
 * the trace points in a program file, or the attributes and event types of a log. The event types
 * of a process come from a stream that is never started.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "elf/points.h"
#include "event/source.h"
#include "print/cells.h"
#include "print/text_fields.h"
#include "session/scan.h"
#include "session/session.h"
#include "util/escape.h"
#include "util/message.h"

#define NAME_WIDTH	24

/* Escapes a string that may contain any bytes. The result is valid until the next call. */
static const char *escaped(const char *text)
{
	static struct buffer buffer;

	buffer_reset(&buffer);
	escape_plain(&buffer, text, strlen(text));
	buffer_byte(&buffer, '\0');
	return buffer.failed ? "?" : (const char *)buffer.data;
}

static int fail(const char *what, int err)
{
	complain(what, err);
	return 1;
}

/* ------------------------------------------------------------------ */
/* Event types								*/

static int print_types(trace_id_t trid, bool all)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int err, none, count = 0;
	struct buffer fields = { };

	printf("event types:\n");
	for (;;) {
		err = posix_trace_eventtypelist_getnext_id(trid, &type, &none);
		if (err)
			return fail("event types", err);
		if (none)
			break;
		if (!all && type <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		err = posix_trace_eventid_get_name(trid, type, name);
		if (err)
			return fail("event types", err);
		text_description(&fields, trid, type);
		printf("  %4u  %s%s%.*s\n", type, escaped(name), fields.len ? "  " : "",
		       (int)fields.len, (const char *)fields.data);
		buffer_reset(&fields);
		count++;
	}
	buffer_free(&fields);
	if (!count)
		printf("  none\n");
	return 0;
}

/* ------------------------------------------------------------------ */
/* Processes and streams						*/

/* Returns the program name of a process, which the process can change. */
static const char *program_name(pid_t pid)
{
	char path[32], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(line, sizeof(line), file))
			*line = '\0';
		fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	return escaped(line);
}

/* Prints the streams that trace process @pid, or all streams if @pid is 0. */
static void print_streams(const struct scan *scan, pid_t pid)
{
	size_t width = NAME_WIDTH;
	bool head = false;

	for (size_t i = 0; i < scan->nr_streams; i++) {
		if (!pid || scan_traces(&scan->streams[i], pid))
			cells_widen(&width, scan->streams[i].name);
	}
	for (size_t i = 0; i < scan->nr_streams; i++) {
		const struct scan_stream *stream = &scan->streams[i];

		if (pid && !scan_traces(stream, pid))
			continue;
		if (!head)
			printf("streams:\n  %6s  %-9s  %-3s  %10s  %-*s  %s\n", "NUMBER", "STATE",
			       "LOG", "CONTROLLER", (int)width, "NAME", "PROCESSES");
		head = true;
		printf("  %6llu  %-9s  %-3s  %10d  %-*s  %s\n", stream->number, stream->state,
		       stream->log ? "yes" : "no", (int)stream->controller, (int)width,
		       stream->name, stream->processes);
	}
	if (!head)
		printf("streams: none\n");
}

static unsigned int count_streams(const struct scan *scan, pid_t pid)
{
	unsigned int count = 0;

	for (size_t i = 0; i < scan->nr_streams; i++)
		count += scan_traces(&scan->streams[i], pid);
	return count;
}

static void print_programs(const struct scan *scan)
{
	if (!scan->nr_programs) {
		printf("programs with trace points: none\n");
		return;
	}
	printf("programs with trace points:\n  %7s  %5s  %7s  %s\n", "PID", "TYPES", "STREAMS",
	       "PROGRAM");
	for (size_t i = 0; i < scan->nr_programs; i++) {
		const struct scan_program *program = &scan->programs[i];
		char types[16] = "-";

		if (program->types >= 0)
			snprintf(types, sizeof(types), "%d", program->types);
		printf("  %7d  %5s  %7u  %s\n", (int)program->pid, types,
		       count_streams(scan, program->pid), program_name(program->pid));
	}
}

/* Prints the streams of process @pid, or all programs and streams if @pid is 0. */
static int list_scan(pid_t pid)
{
	struct scan found;
	int err = scan(&found);

	if (err) {
		complain("/proc", err);
	} else {
		if (!pid)
			print_programs(&found);
		print_streams(&found, pid);
		if (found.incomplete)
			tell("processes of other users are not shown; run as root to list them");
	}
	scan_free(&found);
	return err ? 1 : 0;
}

static int list_all(void)
{
	int fd = open("/dev/posixtrace", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return fail("list", errno == ENOENT || errno == ENXIO ? ENODEV : errno);
	close(fd);
	return list_scan(0);
}

/* Creates a stream of minimal size just to read the event types; never starts it. */
static int list_types(pid_t pid, bool all)
{
	struct session session = { .process.pid = pid, .data_size = 0, .stream_size = 1 };
	int status;

	if (session_create_plain(&session, "posixtrace list"))
		return 1;
	printf("process %d (%s)\n", (int)pid, program_name(pid));
	status = print_types(session.trid, all);
	posix_trace_shutdown(session.trid);
	return status;
}

/* ------------------------------------------------------------------ */
/* Logs									*/

static const char *policy_name(int policy)
{
	switch (policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until-full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_APPEND:
		return "append";
	default:
		return "unknown";
	}
}

static void print_time(const struct timespec *time)
{
	char text[64] = "?";
	struct tm tm;

	if (localtime_r(&time->tv_sec, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("created       %s.%09ld\n", text, time->tv_nsec);
}

/* Prints the host. An old or forged log may not have it. */
static void print_host(trace_id_t log)
{
	struct posixtrace_host_info host;

	if (posixtrace_get_host(log, &host))
		return;
	printf("host          %s", escaped(host.node));
	printf(", Linux %s", escaped(host.release));
	printf(", %s\n", escaped(host.machine));
	printf("boot          ");
	for (int i = 0; i < 16; i++)
		printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		       host.boot_id[i]);
	putchar('\n');
}

static int print_attr(trace_id_t log)
{
	char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1];
	int policy, log_policy, inherited;
	size_t size, data_size, log_size;
	struct timespec time;
	trace_attr_t attr;
	int err = posix_trace_get_attr(log, &attr);

	if (err)
		return fail("attributes", err);
	if (posix_trace_attr_getname(&attr, name) ||
	    posix_trace_attr_getgenversion(&attr, version) ||
	    posix_trace_attr_getcreatetime(&attr, &time) ||
	    posix_trace_attr_getinherited(&attr, &inherited) ||
	    posix_trace_attr_getstreamfullpolicy(&attr, &policy) ||
	    posix_trace_attr_getlogfullpolicy(&attr, &log_policy) ||
	    posix_trace_attr_getstreamsize(&attr, &size) ||
	    posix_trace_attr_getmaxdatasize(&attr, &data_size) ||
	    posix_trace_attr_getlogsize(&attr, &log_size)) {
		posix_trace_attr_destroy(&attr);
		return fail("attributes", EINVAL);
	}
	posix_trace_attr_destroy(&attr);
	printf("name          %s\n", escaped(name));
	printf("module        version %s\n", escaped(version));
	print_time(&time);
	print_host(log);
	printf("stream        %s, %zu bytes\n", policy_name(policy), size);
	if (log_policy == POSIX_TRACE_APPEND)
		printf("log           append\n");
	else
		printf("log           %s, %zu bytes\n", policy_name(log_policy), log_size);
	printf("data          %zu bytes of an event\n", data_size);
	printf("children      %s\n", inherited == POSIX_TRACE_INHERITED ? "traced" : "not traced");
	return 0;
}

static int print_log_status(trace_id_t log)
{
	struct posix_trace_status_info status;
	struct posixtrace_log_info info;
	int err = posix_trace_get_status(log, &status);

	if (err)
		return fail("status", err);
	printf("status        %s%s%s\n",
	       status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN
		       ? "complete" : "not complete: cut, damaged, overwritten or being written",
	       status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN
		       ? "; events were lost before they could be written" : "",
	       status.posix_log_full_status == POSIX_TRACE_FULL ? "; full" : "");
	err = posixtrace_get_log_info(log, &info);
	if (err)
		return fail("status", err);
	if (info.part)
		printf("series        %016llx, part %u%s\n", info.series, info.part,
		       info.flags & POSIXTRACE_LOG_CONTINUED ? "; continues in the next part" : "");
	return 0;
}

static int list_log(const char *path, bool all)
{
	struct source *source;
	int err = source_open_log(path, &source), status;

	if (err) {
		source_complain(path, err);
		return 1;
	}
	status = print_attr(source_trid(source));
	if (!status)
		status = print_log_status(source_trid(source));
	if (!status)
		status = print_types(source_trid(source), all);
	source_close(source);
	return status;
}

/* ------------------------------------------------------------------ */

struct list {
	bool all;
};

static const struct command_option options[] = {
	{ OPTION_FLAG, 'a', "all", NULL,
	  "also print the event types that every process has",
	  OPTION_BOOL_AT(struct list, all) },
	{ }
};

static int list_process(const char *what, bool all)
{
	unsigned long pid;
	int status;

	if (option_number("PID", what, 1, SESSION_PID_MAX, &pid))
		return 2;
	status = list_types((pid_t)pid, all);
	return status ? status : list_scan((pid_t)pid);
}

static int cmd_list(int argc, char **argv)
{
	struct list list = { };
	bool number, program;
	const char *what;
	int status = options_parse(&command_list, argc, argv, &list);

	if (status != OPTIONS_OK)
		return status;
	if (argc - optind > 1)
		return usage_error("list", "list: takes one PID, PROGRAM or LOG, not %d",
				   argc - optind);
	what = argv[optind];
	number = what && *what && what[strspn(what, "0123456789")] == '\0';
	program = what && !number && points_are_in(what);
	if (list.all && (!what || program)) {
		tell("--all: needs a PID or a LOG");
		return 2;
	}
	if (!what)
		return list_all();
	if (program)
		return points_list(what);
	return number ? list_process(what, list.all) : list_log(source_path(what), list.all);
}

static const char *const list_usage[] = {
	"", "[--all] PID", "PROGRAM", "[--all] LOG", NULL,
};

const struct command command_list = {
	.name = "list",
	.summary = "list programs with trace points, streams and event types",
	.usage = list_usage,
	.about = "Print all programs with trace points and all streams; or the event types and\n"
		 "streams of process PID; or the trace points of the macros of\n"
		 "<posixtrace/points.h> in PROGRAM, an executable or a shared library; or the\n"
		 "attributes, status and event types of LOG. Event types are printed with their\n"
		 "descriptions.",
	.notes = "Processes that you may not inspect are left out: see ptrace(2).\n"
		 "Exit status: 0; 1 after a failure; 2 after a usage error.",
	.operands = OPERAND_PID | OPERAND_FILE,
	.options = options,
	.run = cmd_list,
};
