// SPDX-License-Identifier: GPL-2.0
/*
 * Conditions that make the latest events a log: see when.h.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/posixtrace.h>
#include <posixtrace.h>

#include "print/cells.h"
#include "session/when.h"
#include "util/duration.h"
#include "util/message.h"

#define NSEC		1000000000ULL
#define MSEC		1000000ULL
#define MINUTE		(60 * NSEC)
#define BATCH		64

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* ------------------------------------------------------------------ */
/* Options								*/

/* Skips blanks, and then @word. Returns where the text continues; NULL if it has another word. */
static const char *skip(const char *text, const char *word)
{
	size_t len = strlen(word);

	while (text && isspace((unsigned char)*text))
		text++;
	return text && !strncmp(text, word, len) ? text + len : NULL;
}

static bool is_end(const char *text)
{
	return text && !text[strspn(text, " \t")];
}

static int parse_time(uint64_t *ns, const struct command_option *option, const char *text)
{
	if (duration_parse(text, 0, ns) && *ns)
		return 0;
	tell("--%s: must be a time with a unit, such as 20ms (got \"%s\")", option->name, text);
	return -EINVAL;
}

/* Parses a threshold after "blocked" or "runnable". */
static int parse_threshold(uint64_t *ns, const struct command_option *option, const char *what,
			   const char *text)
{
	const char *value = skip(text, ">");

	while (value && isspace((unsigned char)*value))
		value++;
	if (!value) {
		tell("--%s: %s: compare with >, such as '%s > 20ms'", option->name, what, what);
		return -EINVAL;
	}
	if (*ns) {
		tell("--%s: %s: given twice", option->name, what);
		return -EINVAL;
	}
	if (duration_parse(value, 0, ns) && *ns)
		return 0;
	tell("--%s: %s: must be a time with a unit, such as 20ms (got \"%s\")", option->name, what,
	     value);
	return -EINVAL;
}

#define TYPE_NAME(id, name)			name,
#define KERNEL_TYPE_NAME(id, class, name)	name,

/* Is it the name of an event that the kernel or a controller records? */
static bool is_system_event(const char *name)
{
	static const char * const names[] = {
		POSIXTRACE_SYSTEM_TYPES(TYPE_NAME) POSIXTRACE_KERNEL_TYPES(KERNEL_TYPE_NAME)
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

/* Reports what is wrong with the name of an event or scope, and returns false. */
static bool check_name(const struct command_option *option, const char *name, bool scope)
{
	size_t room = POSIXTRACE_EVENT_NAME_SIZE - 1 - (scope ? strlen(":begin") : 0);

	if (!*name)
		tell("--%s: needs the name of an event, or of a scope before >", option->name);
	else if (strlen(name) > room)
		tell("--%s: %s: a name has at most %zu bytes", option->name, name, room);
	else if (!scope && is_system_event(name))
		tell("--%s: %s: is not recorded by the program, so it cannot be a condition",
		     option->name, name);
	else
		return true;
	return false;
}

/* Parses "NAME" or "NAME > TIME". */
static int parse_event(struct when *when, const struct command_option *option, const char *text)
{
	struct posixtrace_event_trigger *event = &when->event[when->nr_events];
	const char *value = strrchr(text, '>');
	size_t len;
	char *name;

	while (isspace((unsigned char)*text))
		text++;
	len = value ? (size_t)(value - text) : strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (when->nr_events == WHEN_EVENTS_MAX) {
		tell("--%s: more than %d events", option->name, WHEN_EVENTS_MAX);
		return -EINVAL;
	}
	name = strndup(text, len);
	if (!name)
		return -ENOMEM;
	event->name = name;
	event->threshold = 0;
	if (check_name(option, name, value) &&
	    (!value || !parse_threshold(&event->threshold, option, name, value))) {
		when->nr_events++;
		return 0;
	}
	free(name);
	return -EINVAL;
}

/* Returns where the text continues after a state of threads; NULL if it has another word. */
static const char *skip_state(const char *text, const char *state)
{
	const char *rest = skip(text, state);

	return rest && (!*rest || strchr(" \t<=>", *rest)) ? rest : NULL;
}

static int call_when(void *target, const struct command_option *option, const char *text)
{
	struct when *when = target;
	const char *rest;

	when->given = true;
	rest = skip_state(text, "blocked");
	if (rest)
		return parse_threshold(&when->blocked, option, "blocked", rest);
	rest = skip_state(text, "runnable");
	if (rest)
		return parse_threshold(&when->runnable, option, "runnable", rest);
	if (is_end(skip(skip(skip(skip(text, "exit"), "status"), "!="), "0"))) {
		when->exit_status = true;
		return 0;
	}
	if (is_end(skip(text, "SIGUSR1")))
		return 0;
	if (text[strcspn(text, "<=!")]) {
		tell("--%s: unknown condition \"%s\"", option->name, text);
		tell("for events, there are EVENT and 'SCOPE > 5ms'");
		tell("others are 'blocked > 20ms', 'runnable > 1ms', 'exit status != 0', SIGUSR1");
		return -EINVAL;
	}
	return parse_event(when, option, text);
}

static int call_after(void *target, const struct command_option *option, const char *text)
{
	struct when *when = target;

	return parse_time(&when->after, option, text);
}

static int call_keep_time(void *target, const struct command_option *option, const char *text)
{
	struct when *when = target;

	return parse_time(&when->keep_time, option, text);
}

const struct command_option when_options[] = {
	{ OPTION_CALL, 'w', "when", "CONDITION",
	  "write the latest events to a log when this is true: EVENT, 'SCOPE > 5ms', 'blocked > 20ms', 'runnable > 1ms', 'exit status != 0', SIGUSR1",
	  .call = call_when },
	{ OPTION_CALL, 0, "after", "TIME",
	  "with --when: also write the events of this time after it", .call = call_after },
	{ OPTION_CALL, 0, "keep-time", "TIME",
	  "with --when: say if a log has less than this time before it", .call = call_keep_time },
	{ OPTION_NUMBER, 0, "most", "N", "with --when: begin at most N logs in a minute (6)",
	  OPTION_NUMBER_AT(struct when, most), .min = 1, .max = WHEN_MOST_MAX },
	{ }
};

static bool needs_sched(const struct when *when)
{
	return when->blocked || when->runnable;
}

/* Does the stream have conditions? */
static bool watches(const struct when *when)
{
	return needs_sched(when) || when->nr_events;
}

/* Returns false after reporting an option that has no effect without conditions. */
static bool check_without(const struct when *when)
{
	const char *option = when->most ? "most" : when->after ? "after" :
			     when->keep_time ? "keep-time" : NULL;

	if (option)
		tell("--%s: needs a condition: --when", option);
	return !option;
}

bool when_check(const struct when *when, const struct session *session, int policy,
		int log_policy)
{
	if (!when->given)
		return check_without(when);
	if (policy >= 0 && policy != POSIX_TRACE_LOOP)
		tell("--when: needs --policy=loop, which is the default with it");
	else if (log_policy != POSIX_TRACE_APPEND)
		tell("--when: needs --log-policy=append");
	else if (needs_sched(when) && session->with_kernel &&
		 !(session->kernel & POSIXTRACE_CLASS_SCHED))
		tell("--when: blocked and runnable need the class sched: add it to --kernel");
	else
		return true;
	return false;
}

void when_choose_kernel(const struct when *when, struct session *session)
{
	unsigned int can;

	if (!needs_sched(when) || session->with_kernel)
		return;
	can = (unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	session->kernel |= POSIXTRACE_CLASS_SCHED | (POSIXTRACE_CLASS_PROCESS & can);
}

/* ------------------------------------------------------------------ */
/* Conditions								*/

int when_start(const struct when *when, trace_id_t trid)
{
	int err;

	if (!watches(when))
		return 0;
	err = posixtrace_settrigger(trid, when->blocked, when->runnable, when->event,
				    when->nr_events);
	if (err == EINVAL)
		tell("--when: at most 8 events, of which a scope counts twice");
	return err;
}

static unsigned long most(const struct when *when)
{
	return when->most ? when->most : WHEN_MOST;
}

/* Returns the time until another log may begin: 0 if one may. */
static uint64_t rest_of_minute(const struct when *when)
{
	uint64_t passed;

	if (when->tries < most(when))
		return 0;
	passed = clock_ns(CLOCK_MONOTONIC) - when->begun[when->tries % most(when)];
	return passed < MINUTE ? MINUTE - passed : 0;
}

short when_events(const struct when *when)
{
	return when->met || rest_of_minute(when) ? 0 : POLLPRI;
}

int when_wait(const struct when *when, int ms)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left;

	if (!when->met)
		return ms;
	left = when->due > now ? (when->due - now + MSEC - 1) / MSEC : 0;
	return left < (uint64_t)ms ? (int)left : ms;
}

/*
 * Notes that conditions were met, and frees @reason later; only the reason of the first one is
 * kept. If @now, the next log begins now instead of after the time of --after.
 */
static void note(struct when *when, char *reason, uint64_t time, unsigned long long count,
		 bool now)
{
	if (when->met) {
		free(reason);
		when->more += count;
	} else {
		free(when->reason);
		when->reason = reason;
		when->met = true;
		when->time = time;
		when->more = count - 1;
		when->due = clock_ns(CLOCK_MONOTONIC) + when->after;
	}
	if (now)
		when->due = 0;
}

/* Reads the name of a thread, which may have ended. */
static void read_name(char name[POSIXTRACE_THREAD_NAME_SIZE], pid_t pid, pid_t tid)
{
	char path[64];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, name, POSIXTRACE_THREAD_NAME_SIZE - 1);
		close(fd);
	}
	name[len > 0 ? len : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* Describes what the kernel or a program found. Returns NULL if out of memory. */
static char *describe(const struct when *when, const struct posixtrace_trigger_info *info)
{
	const char *event = info->index < when->nr_events ? when->event[info->index].name : "?";
	char name[POSIXTRACE_THREAD_NAME_SIZE], time[CELLS_SIZE], thread[128], *text;
	int ret;

	read_name(name, info->pid, info->tid);
	snprintf(thread, sizeof(thread), "thread %d%s%s%s of process %d", (int)info->tid,
		 *name ? " (" : "", name, *name ? ")" : "", (int)info->pid);
	cells_time(time, info->duration);
	if (info->kind == POSIXTRACE_TRIGGER_EVENT)
		ret = asprintf(&text, "%s recorded %s", thread, event);
	else if (info->kind == POSIXTRACE_TRIGGER_SCOPE)
		ret = asprintf(&text, "%s took %s in %s", event, time, thread);
	else
		ret = asprintf(&text, "%s was %s for %s", thread,
			       info->kind == POSIXTRACE_TRIGGER_BLOCKED ? "blocked" : "runnable",
			       time);
	return ret < 0 ? NULL : text;
}

int when_look(struct when *when, trace_id_t trid)
{
	struct posixtrace_trigger_info info;
	int err;

	if (!watches(when))
		return 0;
	err = posixtrace_get_triggered(trid, &info);
	if (err || !info.count)
		return err;
	if (!when->met && rest_of_minute(when))
		when->skipped += info.count;
	else
		note(when, describe(when, &info), info.time.tv_sec * NSEC + info.time.tv_nsec,
		     info.count, false);
	return 0;
}

void when_ask(struct when *when)
{
	note(when, strdup("SIGUSR1"), clock_ns(CLOCK_REALTIME), 1, true);
}

void when_failed(struct when *when, int status)
{
	char *reason;

	if (!when->exit_status || !status)
		return;
	if (asprintf(&reason, "the program ended with exit status %d", status) < 0)
		reason = NULL;
	note(when, reason, clock_ns(CLOCK_REALTIME), 1, true);
}

bool when_is_due(const struct when *when)
{
	return when->met && clock_ns(CLOCK_MONOTONIC) >= when->due;
}

/* ------------------------------------------------------------------ */
/* Logs									*/

/*
 * Finds the first event of the log that is not a system event. Returns its time, or 0 if there is
 * none, or no event was lost before it.
 */
static uint64_t begin_of(trace_id_t trid)
{
	struct posixtrace_batch_event events[BATCH];
	size_t count, i;

	while (!posixtrace_getevents(trid, events, BATCH, NULL, 0, &count, 0) && count) {
		for (i = 0; i < count; i++) {
			const struct timespec *time = &events[i].event.posix_timestamp;

			if (events[i].cpu == POSIXTRACE_NO_CPU)
				continue;
			return events[i].lost ? time->tv_sec * NSEC + time->tv_nsec : 0;
		}
	}
	return 0;
}

/* Says if the log has less than the time that was wanted. */
static void check_begin(const struct when *when, const char *path)
{
	const uint64_t from = when->time - when->keep_time;
	char has[CELLS_SIZE], wanted[CELLS_SIZE];
	uint64_t begin = 0;
	trace_id_t log;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !posix_trace_open(fd, &log)) {
		begin = begin_of(log);
		posix_trace_close(log);
	}
	if (fd >= 0)
		close(fd);
	if (begin <= from)
		return;
	if (begin > when->time)
		tell("%s: begins %s after the condition: use a larger --size", path,
		     cells_time(has, begin - when->time));
	else
		tell("%s: begins %s before the condition, not %s: use a larger --size", path,
		     cells_time(has, when->time - begin), cells_time(wanted, when->keep_time));
}

/* Notes that the next log has begun, or that it could not begin. */
static void begun(struct when *when)
{
	when->begun[when->tries++ % most(when)] = clock_ns(CLOCK_MONOTONIC);
	when->met = false;
}

void when_logged(struct when *when, const char *path, bool quiet)
{
	const char *reason = when->reason ? when->reason : "a condition was met";

	/* Out of memory. */
	if (!path)
		path = "the log";
	if (!quiet && when->more)
		tell("%s: %s; %llu more", path, reason, when->more);
	else if (!quiet)
		tell("%s: %s", path, reason);
	if (!quiet && when->keep_time)
		check_begin(when, path);
	when->logs++;
	begun(when);
}

void when_dropped(struct when *when)
{
	when->failed += when->more + 1;
	begun(when);
}

void when_summary(const struct when *when)
{
	tell("%u log%s", when->logs, when->logs == 1 ? "" : "s");
	if (when->skipped)
		tell("%llu conditions have no log: at most %lu a minute, see --most", when->skipped,
		     most(when));
	if (when->failed)
		tell("%llu conditions have no log: it could not be created", when->failed);
}

void when_free(struct when *when)
{
	free(when->reason);
	while (when->nr_events)
		free((char *)when->event[--when->nr_events].name);
}
