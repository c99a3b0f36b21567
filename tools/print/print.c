// SPDX-License-Identifier: GPL-2.0
/*
 * Prints events as lines of text: see print.h. Does not use printf(), which would take most of the
 * time for a large log.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "event/event_names.h"
#include "print/json_fields.h"
#include "print/print.h"
#include "print/text_fields.h"
#include "util/digits.h"
#include "util/escape.h"
#include "util/message.h"
#include "util/pager.h"

#define DATA_SHOWN	48	/* bytes of data, without --full */
#define NAME_WIDTH	24
#define THREAD_WIDTH	18
#define PID_WIDE	10000000	/* larger ids are wider than their column */
#define WRITE_AT	(64U << 10)	/* write the text when it has this many bytes */
#define GRACE_MS	1000

#define RED	"\033[31m"
#define YELLOW	"\033[33m"
#define CYAN	"\033[36m"
#define DIM	"\033[2m"
#define PLAIN	"\033[0m"

static const struct option_choice clocks[] = {
	{ "relative", PRINT_RELATIVE },
	{ "delta", PRINT_DELTA },
	{ "seconds", PRINT_SECONDS },
	{ "utc", PRINT_UTC },
	{ }
};

static const struct option_choice colours[] = {
	{ "auto", PRINT_AUTO },
	{ "always", PRINT_ALWAYS },
	{ "never", PRINT_NEVER },
	{ }
};

const struct command_option print_options[] = {
	{ OPTION_CHOICE, 'c', "clock", "FORM",
	  "print times as relative (us since the first event), delta, seconds or utc",
	  OPTION_CHOICE_AT(struct print, clock), .choices = clocks },
	{ OPTION_CHOICE, 0, "color", "WHEN", "use colors: auto (default), always, never",
	  OPTION_CHOICE_AT(struct print, color), .choices = colours },
	{ OPTION_FLAG, 0, "full", NULL, "print all bytes of the data, and all fields",
	  OPTION_BOOL_AT(struct print, full) },
	{ OPTION_FLAG, 'j', "json", NULL, "print a JSON object for each event",
	  OPTION_BOOL_AT(struct print, json) },
	{ }
};

/* Checks if standard output is a terminal with colours, and NO_COLOR is not set. */
static bool shows_colours(void)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

	return pager_shows() && term && strcmp(term, "dumb") != 0 && (!none || !*none);
}

void print_begin(struct print *print)
{
	struct stat stat;

	/* Writes to a regular file never block, so one write may have any number of bytes. */
	print->part = !fstat(STDOUT_FILENO, &stat) && S_ISREG(stat.st_mode) ? SIZE_MAX : 0;
	print->thread_width = THREAD_WIDTH;
	print->colour = print->color == PRINT_AUTO ? shows_colours() :
			print->color == PRINT_ALWAYS;
}

void print_see_first(struct print *print, uint64_t time)
{
	if (!print->begun) {
		print->begun = true;
		print->first = time;
		print->last = time;
	}
}

void print_see(struct print *print, const struct event *event)
{
	print_see_first(print, event->time);
	print->newly_lost = event->lost - print->lost;
	print->lost = event->lost;
}

void print_restart(struct print *print)
{
	print->begun = false;
	print->lost = 0;
	print->call.source = NULL;
}

/* ------------------------------------------------------------------ */
/* Pieces								*/

/* Appends a fraction with @len digits. */
static void put_fraction(struct buffer *to, uint64_t value, size_t len)
{
	if (!buffer_has_room(to, len))
		return;
	digits_decimal((char *)to->data + to->len, value, len);
	to->len += len;
}

static void put_micros(struct buffer *to, uint64_t time, uint64_t since)
{
	/* @time may be before @since: a log need not be in order of time. */
	bool before = time < since;
	uint64_t ns = before ? since - time : time - since;

	if (before)
		buffer_integer(to, ns / 1000, 10, "-", 10);
	else
		buffer_decimal(to, ns / 1000, 10);
	buffer_byte(to, '.');
	put_fraction(to, ns % 1000, 3);
}

static void put_seconds(struct buffer *to, uint64_t time)
{
	buffer_integer(to, time / NSEC_PER_SEC, 10, "", 0);
	buffer_byte(to, '.');
	put_fraction(to, time % NSEC_PER_SEC, 9);
}

static void put_utc(struct buffer *to, uint64_t time)
{
	time_t seconds = (time_t)(time / NSEC_PER_SEC);
	char text[40];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	buffer_put(to, text, strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.", &tm));
	put_fraction(to, time % NSEC_PER_SEC, 9);
	buffer_byte(to, 'Z');
}

static void put_time(const struct print *print, struct buffer *to, uint64_t time)
{
	switch (print->clock) {
	case PRINT_RELATIVE:
		put_micros(to, time, print->first);
		break;
	case PRINT_DELTA:
		put_micros(to, time, print->last);
		break;
	case PRINT_SECONDS:
		put_seconds(to, time);
		break;
	case PRINT_UTC:
		put_utc(to, time);
		break;
	}
}

static void put_colour(const struct print *print, struct buffer *to, const char *colour)
{
	if (print->colour)
		buffer_text(to, colour);
}

static const char *colour_of(const struct event *event)
{
	switch (event->type) {
	case POSIX_TRACE_ERROR:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
		return RED;
	default:
		return event->user ? CYAN : YELLOW;
	}
}

/* Returns the number of characters in escaped UTF-8 text: continuation bytes do not count. */
static size_t width_of(const unsigned char *text, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* Appends the name, left-aligned in its column, and always a space. */
static void make_name(struct print *print, struct buffer *to, const struct event *event)
{
	size_t before, width;

	put_colour(print, to, colour_of(event));
	before = to->len;
	escape_plain(to, event->name, strlen(event->name));
	width = to->failed ? 0 : width_of(to->data + before, to->len - before);
	if (width < NAME_WIDTH)
		buffer_spaces(to, NAME_WIDTH - width);
	put_colour(print, to, PLAIN);
	buffer_byte(to, ' ');
}

/*
 * Most lines have one of a few event types, so the formatted names are cached. The slot of a type
 * is free, or has the text of the last type with the same hash.
 */
static void put_name(struct print *print, struct buffer *to, const struct event *event)
{
	struct print_name *known = &print->names[event->type % PRINT_TEXTS];
	size_t before = to->len, len, name_len;

	if (known->len && known->type == event->type && !strcmp(known->name, event->name)) {
		buffer_put(to, known->text, known->len);
		return;
	}
	make_name(print, to, event);
	len = to->len - before;
	name_len = strlen(event->name);
	known->len = 0;
	if (to->failed || len > sizeof(known->text) || name_len >= sizeof(known->name))
		return;
	known->type = event->type;
	memcpy(known->name, event->name, name_len + 1);
	memcpy(known->text, to->data + before, len);
	known->len = len;
}

/* Returns the length of the data if they are text, without a final null byte; otherwise 0. */
static size_t text_length(const struct event *event)
{
	size_t len = event->len;

	if (len && !event->data[len - 1])
		len--;
	return escape_is_text(event->data, len) ? len : 0;
}

static void put_data(const struct print *print, struct buffer *to, const struct event *event)
{
	size_t text = text_length(event), all = text ? text : event->len;
	size_t shown = print->full || all < DATA_SHOWN ? all : DATA_SHOWN;

	if (text) {
		escape_quoted(to, event->data, shown);
	} else {
		for (size_t i = 0; i < shown; i += 4) {
			if (i)
				buffer_byte(to, ' ');
			escape_hex(to, event->data + i, shown - i < 4 ? shown - i : 4);
		}
	}
	if (shown < all) {
		buffer_text(to, "... (");
		buffer_integer(to, event->len, 10, "", 0);
		buffer_text(to, " bytes)");
	}
}

/* Appends those data of a system event that are useful to people. */
static void put_system_data(const struct print *print, struct buffer *to,
			    const struct event *event)
{
	int automatic = 0;

	switch (event->type) {
	case POSIX_TRACE_ERROR:
		buffer_text(to, "(the log is damaged here)");
		break;
	case POSIX_TRACE_RESUME:
		buffer_byte(to, '(');
		buffer_integer(to, print->newly_lost, 10, "", 0);
		buffer_text(to, print->newly_lost == 1 ? " event lost)" : " events lost)");
		break;
	case POSIX_TRACE_STOP:
		if (event->len == sizeof(automatic))
			memcpy(&automatic, event->data, sizeof(automatic));
		if (automatic)
			buffer_text(to, "(automatic: full)");
		break;
	}
}

/* ------------------------------------------------------------------ */
/* Lines								*/

/*
 * Appends the location of an event. It is the last column, because the data before it have any
 * length.
 */
static void put_location(const struct print *print, struct buffer *to, const struct event *event)
{
	struct location location;

	if (!print->symbols || !symbols_find(print->symbols, event, &location))
		return;
	buffer_text(to, "  at ");
	put_colour(print, to, DIM);
	symbols_text(to, &location);
	put_colour(print, to, PLAIN);
}

/* Appends the process id, with two spaces before and after it to separate the columns. */
static void put_pid(struct buffer *to, pid_t pid)
{
	const char *sign = pid < 0 ? "-" : "";

	if (pid >= 0 && pid < PID_WIDE) {
		buffer_decimal(to, (uint64_t)pid, 9);
	} else {
		buffer_text(to, "  ");
		buffer_integer(to, pid < 0 ? -(uint64_t)pid : (uint64_t)pid, 10, sign, 7);
	}
	buffer_text(to, "  ");
}

/*
 * Appends the name and kernel id of the thread, or pthread_self() if the id is unknown, and two
 * spaces.
 */
static void put_thread(struct print *print, struct buffer *to, const struct event *event,
		       const char *name)
{
	size_t before = to->len, width;

	if (!source_has_names(event->source)) {
		buffer_integer(to, event->thread, 16, event->thread ? "0x" : "", 14);
		buffer_text(to, "  ");
		return;
	}
	if (name) {
		escape_plain(to, name, strlen(name));
		buffer_integer(to, (uint64_t)source_plain_id(event->source, event->tid), 10, "-",
			       0);
		width = to->failed ? 0 : width_of(to->data + before, to->len - before);
	} else {
		buffer_integer(to, event->thread, 16, event->thread ? "0x" : "", 0);
		width = to->len - before;
	}
	/* Widen the column for this and all following lines, to keep the next columns aligned. */
	if (width > print->thread_width)
		print->thread_width = width;
	buffer_spaces(to, print->thread_width - width + 2);
}

/* Appends the host and, if the order of the event is unknown, a mark. */
static void put_host(struct print *print, struct buffer *to, const struct event *event)
{
	size_t before, width;
	const char *name;

	if (!event->host)
		return;
	buffer_text(to, event->unordered ? " ? " : "   ");
	before = to->len;
	name = source_host_name(event->source, event->host);
	escape_plain(to, name, strlen(name));
	width = to->failed ? 0 : width_of(to->data + before, to->len - before);
	if (width > print->host_width)
		print->host_width = width;
	buffer_spaces(to, print->host_width - width);
}

static void make_ids(struct print *print, struct buffer *to, const struct event *event,
		     const char *name)
{
	if (print->cpu && event->cpu == SOURCE_NO_CPU)
		buffer_text(to, "     -");
	else if (print->cpu)
		buffer_decimal(to, source_plain_cpu(event->source, event->cpu), 6);
	put_pid(to, source_plain_id(event->source, event->pid));
	put_thread(print, to, event, name);
}

/*
 * Appends the CPU, the process and the thread. Many lines have the same ones, so the formatted text
 * is cached. The slot of a thread is free, or has the text of the last thread with the same hash.
 */
static void put_ids(struct print *print, struct buffer *to, const struct event *event)
{
	struct print_thread *known = &print->threads[(unsigned int)event->tid % PRINT_TEXTS];
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	size_t before = to->len, len;

	if (!event_thread_name(event, name)) {
		make_ids(print, to, event, NULL);
		return;
	}
	if (known->len && known->tid == event->tid && known->pid == event->pid &&
	    known->cpu == event->cpu && known->columns == print->thread_width &&
	    !strcmp(known->name, name)) {
		buffer_put(to, known->text, known->len);
		return;
	}
	make_ids(print, to, event, name);
	len = to->len - before;
	known->len = 0;
	if (to->failed || len > sizeof(known->text))
		return;
	known->cpu = event->cpu;
	known->pid = event->pid;
	known->tid = event->tid;
	known->columns = print->thread_width;
	strcpy(known->name, name);
	memcpy(known->text, to->data + before, len);
	known->len = len;
}

static void put_line(struct print *print, struct buffer *to, const struct event *event)
{
	put_colour(print, to, DIM);
	put_time(print, to, event->time);
	put_colour(print, to, PLAIN);
	put_host(print, to, event);
	put_ids(print, to, event);
	put_name(print, to, event);
	if (!print->full && call_text(to, &print->call, event))
		;
	else if (event_has_fields(event, event->len))
		text_fields(to, event, print->full);
	else if (event->has_data)
		put_data(print, to, event);
	else
		put_system_data(print, to, event);
	while (to->len && to->data[to->len - 1] == ' ')
		to->len--;
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		buffer_text(to, " (truncated)");
	if (event->late)
		buffer_text(to, " (late)");
	put_location(print, to, event);
	buffer_byte(to, '\n');
	print->last = event->time;
}

/* Appends a syscall_entry as text, in addition to its fields. */
static void put_json_call(struct print *print, struct buffer *to, const struct event *event)
{
	size_t before = to->len;

	if (event->type != POSIXTRACE_SYSCALL_ENTRY)
		return;
	/*
	 * Without paths, the text has only names from our tables and numbers, so it needs no
	 * escaping.
	 */
	print->call.descriptors = NULL;
	buffer_text(to, ",\"call\":\"");
	if (call_text(to, &print->call, event))
		buffer_byte(to, '"');
	else if (!to->failed)
		to->len = before;
}

/* Appends the log that has the event if there are several, and what depends on its host. */
static void put_log(struct buffer *to, const struct event *event)
{
	const char *path;

	if (source_logs(event->source) < 2)
		return;
	path = source_log_path(event->source, event->log);
	buffer_text(to, ",\"log\":");
	escape_string(to, path, strlen(path), false);
	if (!event->host)
		return;
	path = source_host_name(event->source, event->host);
	buffer_text(to, ",\"host\":");
	escape_string(to, path, strlen(path), false);
	buffer_text(to, ",\"error_ns\":");
	if (event->error == EVENT_ERROR_UNKNOWN)
		buffer_text(to, "null");
	else
		json_number(to, event->error, false);
	buffer_text(to, event->unordered ? ",\"unordered\":true" : ",\"unordered\":false");
}

/*
 * Appends an event as a JSON object. Integers that a double cannot represent are strings, because
 * JSON readers would round them.
 */
static void put_json(struct print *print, struct buffer *to, const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	bool before = event->time < print->first;
	struct location location;

	buffer_text(to, "{\"time\":\"");
	put_seconds(to, event->time);
	buffer_text(to, "\",\"ns\":");
	json_number(to, before ? print->first - event->time : event->time - print->first, before);
	buffer_text(to, ",\"event\":");
	escape_string(to, event->name, strlen(event->name), false);
	buffer_text(to, ",\"type\":");
	buffer_integer(to, event->type, 10, "", 0);
	buffer_text(to, event->user ? ",\"user\":true,\"pid\":" : ",\"user\":false,\"pid\":");
	buffer_signed(to, source_plain_id(event->source, event->pid));
	if (event_thread_name(event, name)) {
		buffer_text(to, ",\"tid\":");
		buffer_integer(to, (uint64_t)source_plain_id(event->source, event->tid), 10, "", 0);
		buffer_text(to, ",\"comm\":");
		escape_string(to, name, strlen(name), false);
	}
	buffer_text(to, ",\"thread\":\"");
	buffer_integer(to, event->thread, 16, "0x", 0);
	buffer_text(to, "\",\"address\":\"");
	buffer_integer(to, event->address, 16, "0x", 0);
	buffer_text(to, "\",\"cpu\":");
	if (event->cpu == SOURCE_NO_CPU)
		buffer_text(to, "null");
	else
		buffer_integer(to, source_plain_cpu(event->source, event->cpu), 10, "", 0);
	put_log(to, event);
	buffer_text(to, ",\"lost\":");
	json_number(to, event->lost, false);
	buffer_text(to, event->truncated == POSIX_TRACE_NOT_TRUNCATED ?
		    ",\"truncated\":false,\"data\":\"" : ",\"truncated\":true,\"data\":\"");
	escape_hex(to, event->data, event->len);
	buffer_byte(to, '"');
	if (event->has_data && text_length(event)) {
		buffer_text(to, ",\"text\":");
		escape_string(to, event->data, text_length(event), false);
	}
	if (event_has_fields(event, event->len)) {
		buffer_byte(to, ',');
		/* Without fields, remove the comma that was appended for them. */
		to->len -= !json_fields(to, event, false) && !to->failed;
	}
	put_json_call(print, to, event);
	if (event->late)
		buffer_text(to, ",\"late\":true");
	if (print->symbols && symbols_find(print->symbols, event, &location))
		symbols_json(to, &location);
	buffer_text(to, "}\n");
	print->last = event->time;
}

/* Waits until the output accepts PIPE_BUF bytes. After a signal, waits at most GRACE_MS. */
static int wait_for_reader(const struct print *print)
{
	struct pollfd fds[] = {
		{ .fd = STDOUT_FILENO, .events = POLLOUT },
		{ .fd = print->signals, .events = POLLIN },
	};
	int ready = 0;

	while (!print->ending && (ready = poll(fds, 2, -1)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (ready && fds[0].revents)
		return 0;
	while ((ready = poll(fds, 1, GRACE_MS)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return ready ? 0 : -EINTR;
}

/*
 * Writes as much as the output accepts without waiting, or at most @print->part bytes after
 * wait_for_reader(). Returns the result of the write.
 */
static ssize_t write_some(struct print *print, const unsigned char *data, size_t len)
{
	const struct iovec all = { .iov_base = (void *)data, .iov_len = len };
	ssize_t n;

	if (print->part)
		return write(STDOUT_FILENO, data, len < print->part ? len : print->part);
	n = pwritev2(STDOUT_FILENO, &all, 1, -1, RWF_NOWAIT);
	/* Not every file and kernel supports RWF_NOWAIT, and seccomp may reject the call. */
	if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE) {
		print->part = PIPE_BUF;
		errno = EAGAIN;
	}
	return n;
}

/*
 * Writes data in parts. Waits for the reader in poll(), not in write(): signals are blocked, so
 * they could not interrupt a write to a full pipe.
 */
static int write_in_parts(struct print *print, const unsigned char *data, size_t len)
{
	bool wait = print->part;
	ssize_t n;
	int err;

	for (size_t done = 0; done < len; done += n > 0 ? (size_t)n : 0) {
		err = wait ? wait_for_reader(print) : 0;
		if (err)
			return err;
		n = write_some(print, data + done, len - done);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		wait = print->part || n < 0;
	}
	return 0;
}

static int write_at_once(const unsigned char *data, size_t len)
{
	errno = 0;
	if (len && fwrite(data, 1, len, stdout) != len)
		return errno ? -errno : -EIO;
	return fflush(stdout) ? -errno : 0;
}

int print_write(struct print *print, struct buffer *from)
{
	int err;

	if (from->failed)
		return -ENOMEM;
	if (print->signals < 0)
		err = write_at_once(from->data, from->len);
	else
		err = write_in_parts(print, from->data, from->len);
	buffer_reset(from);
	return err;
}

int print_event(struct print *print, struct buffer *to, const struct event *event)
{
	if (print->json)
		put_json(print, to, event);
	else
		put_line(print, to, event);
	return to->len >= WRITE_AT || to->failed ? print_write(print, to) : 0;
}
