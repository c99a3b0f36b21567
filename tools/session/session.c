// SPDX-License-Identifier: GPL-2.0
/*
 * Creates a stream on the processes that the options select. live.c, record.c and top.c process its
 * events.
 */
#include <errno.h>
#include <limits.h>
#include <linux/posixtrace.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/traceable.h"
#include "session/awaited.h"
#include "session/clock_error.h"
#include "session/policy.h"
#include "session/session.h"
#include "util/message.h"

/* Read events in batches, because a wake-up per event would slow the traced process down. */
#define WAKEUP_BYTES	(64U << 10)
#define WAKEUP_NS	1000000U

/* ------------------------------------------------------------------ */
/* Options								*/

#define ALL		(-1)
#define NONE		(-2)

/* Classes that the module can record. option_choice.value is the bit number. */
const struct option_choice session_classes[] = {
	{ "all", ALL },
	{ "none", NONE },
	{ "sched", 0 },
	{ "fault", 1 },
	{ "signal", 2 },
	{ "syscall", 3 },
	{ "irq", 4 },
	{ "process", 5 },
	{ "strings", 6 },
	{ }
};

static bool is_class(const struct option_choice *choice)
{
	return choice->value >= 0;
}

/* Returns all classes that the module can record for the caller. Reports those it refuses. */
static unsigned int all_classes(void)
{
	unsigned int classes = (unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES) &
			       POSIXTRACE_CLASS_ALL;

	for (const struct option_choice *class = session_classes; class->name; class++) {
		if (is_class(class) && 1U << class->value & POSIXTRACE_CLASS_ALL & ~classes &&
		    policy_needs_perfmon(class->name))
			tell("--kernel=all: without %s, which needs CAP_PERFMON: see posixtrace(4)",
			     class->name);
	}
	return classes;
}

int session_add_classes(const struct command_option *option, const char *list,
			unsigned int *classes)
{
	const struct option_choice *class;
	bool any = false, none = false;

	for (const char *at = list; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");

		if (!len)
			continue;
		class = option_choose(option, at, len);
		if (!class)
			return option_refuse(option, list);
		if (class->value == NONE)
			none = true;
		else
			*classes |= class->value == ALL ? all_classes() : 1U << class->value;
		any = true;
		at += len;
	}
	if (none && *classes) {
		tell("--%s: none excludes all other classes (got \"%s\")", option->name, list);
		return -EINVAL;
	}
	return any ? 0 : option_refuse(option, list);
}

static int call_filter(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	(void)option;
	return session_filter_add(&session->filter, value);
}

static int call_exclude(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	(void)option;
	return session_filter_exclude(&session->filter, value);
}

static int call_kernel(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	session->with_kernel = true;
	return session_add_classes(option, value, &session->kernel);
}

static int call_pid(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	(void)option;
	return whom_add_pids(&session->whom, "--pid", value);
}

static int call_user(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	(void)option;
	return whom_add_user(&session->whom, "--user", value);
}

static int call_cgroup(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	(void)option;
	return whom_add_cgroup(&session->whom, "--cgroup", value);
}

static int call_wait(void *target, const struct command_option *option, const char *value)
{
	struct session *session = target;

	if (!awaited_name_is_valid(value)) {
		tell("--%s: must be the name of a program, without directories (got \"%s\")",
		     option->name, value);
		return -EINVAL;
	}
	session->wait = value;
	return 0;
}

const struct command_option session_options[] = {
	{ OPTION_CALL, 'G', "cgroup", "PATH|PID",
	  "trace the processes of this control group, or of the group of a process",
	  .value = OPTION_FILE, .call = call_cgroup },
	{ OPTION_FLAG, 0, "children", NULL,
	  "also trace children that exist already; with --inherit",
	  OPTION_BOOL_AT(struct session, whom.children) },
	{ OPTION_SIZE, 0, "data-size", "BYTES", "record at most BYTES of an event's data (1K)",
	  OPTION_SIZE_AT(struct session, data_size), .max = POSIXTRACE_DATA_SIZE_MAX },
	{ OPTION_NUMBER, 'n', "events", "N", "stop after N events",
	  OPTION_NUMBER_AT(struct session, max_events), .min = 1, .max = ULONG_MAX },
	{ OPTION_CALL, 'f', "filter", "FILTER",
	  "record only events of these types; * and ? are wildcards", .call = call_filter },
	{ OPTION_FLAG, 'i', "inherit", NULL, "also trace the children of the process",
	  OPTION_BOOL_AT(struct session, inherit) },
	{ OPTION_CALL, 'k', "kernel", "CLASS,...",
	  "also record kernel events: all, none, sched, fault, signal, syscall, irq, process, strings",
	  .choices = session_classes, .list = true, .call = call_kernel },
	{ OPTION_CALL, 'p', "pid", "PID|NAME,...",
	  "trace these processes, and all that run programs of these names", .value = OPTION_PID,
	  .call = call_pid },
	{ OPTION_NUMBER, 'd', "seconds", "N", "stop after N seconds",
	  OPTION_NUMBER_AT(struct session, process.seconds), .min = 1,
	  .max = SESSION_SECONDS_MAX },
	{ OPTION_SIZE, 's', "size", "BYTES", "size of the trace stream (256K)",
	  OPTION_SIZE_AT(struct session, stream_size), .min = 1,
	  .max = POSIXTRACE_STREAM_SIZE_MAX },
	{ OPTION_CALL, 'u', "user", "USER", "trace the processes of this user", .call = call_user },
	{ OPTION_CALL, 0, "wait", "NAME",
	  "wait until a program with this name starts, and trace it", .call = call_wait },
	{ OPTION_CALL, 'x', "exclude", "NAME,...",
	  "record no events of these types; * and ? are wildcards", .call = call_exclude },
	{ }
};

/* What selects processes, other than --wait. */
static const char *selection_of(const struct session *session)
{
	static const char *const options[] = {
		[WHOM_PID] = "--pid or a PID", [WHOM_NAME] = "--pid", [WHOM_USER] = "--user",
		[WHOM_CGROUP] = "--cgroup",
	};

	if (session->whom.nr_rules)
		return options[session->whom.rules[0].kind];
	return session->process.argv ? "a PID or PROGRAM" : "--children";
}

bool session_process(struct session *session, const char *command, int argc, char **argv)
{
	struct process *process = &session->process;
	struct whom *whom = &session->whom;
	bool program = argc && !strcmp(argv[-1], "--");

	if (argc == 1 && !program && !whom->nr_rules &&
	    argv[0][strspn(argv[0], "0123456789")] == '\0') {
		if (whom_add_pids(whom, "PID", argv[0]))
			return false;
	} else if (argc) {
		process->argv = argv;
	}
	if (session->wait && (whom->nr_rules || process->argv || whom->children))
		usage_error(command,
			    "%s: --wait: traces one program that starts later: not with %s",
			    command, selection_of(session));
	else if (whom->nr_rules && process->argv)
		usage_error(command,
			    "%s: traces running processes or the program \"%s\", not both",
			    command, argv[0]);
	else if (!whom->nr_rules && !process->argv && !session->wait)
		usage_error(command, "%s: needs a PID, or a PROGRAM to start", command);
	else if (whom->children && process->argv)
		usage_error(command, "%s: --children: a new program has no children: see --inherit",
			    command);
	else
		return true;
	return false;
}

void session_choose_kernel(struct session *session)
{
	const unsigned int useful = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS;
	char **argv = session->process.argv;

	if (session->with_kernel || !argv || traceable_program(argv[0]))
		return;
	session->kernel = useful & (unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	session->chosen = session->kernel;
}

void session_free(struct session *session)
{
	session_filter_free(&session->filter);
	whom_free(&session->whom);
}

/* ------------------------------------------------------------------ */
/* The stream								*/

int session_attr(const struct session *session, const char *name, trace_attr_t *attr)
{
	int err = posix_trace_attr_init(attr);

	if (!err && session->stream_size)
		err = posix_trace_attr_setstreamsize(attr, session->stream_size);
	if (!err && session->data_size != SESSION_DEFAULT)
		err = posix_trace_attr_setmaxdatasize(attr, session->data_size);
	if (!err && (session->inherit || session->whom.children))
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posixtrace_attr_setorder(attr, session->order);
	if (!err)
		err = posixtrace_attr_setkernel(attr, session->kernel);
	if (!err)
		err = posix_trace_attr_setname(attr, name);
	return err;
}

/* Reports classes that the loaded module cannot record. Returns false if it can record all. */
static bool complain_of_classes(const struct session *session)
{
	unsigned int missing = session->kernel &
			       ~(unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);

	for (const struct option_choice *class = session_classes; class->name; class++) {
		if (is_class(class) && missing & 1U << class->value)
			tell("--kernel: the module cannot record %s on this kernel", class->name);
	}
	return missing;
}

/* Reports classes that the module refuses to the user. Returns false if it allows all. */
static bool complain_of_refused(const struct session *session)
{
	unsigned int missing = session->kernel &
			       ~(unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	bool told = false;

	for (const struct option_choice *class = session_classes; class->name; class++) {
		if (!is_class(class) || !(missing & 1U << class->value) ||
		    !policy_needs_perfmon(class->name))
			continue;
		tell("--kernel: module parameter kernel_classes=%s:perfmon requires CAP_PERFMON",
		     class->name);
		told = true;
	}
	return told;
}

/* Numbers of processes that are not traced although the options select them. */
struct refused {
	size_t rights;	/* not traced because of missing rights */
	size_t scope;	/* of these, refused by the module parameter trace_scope */
	size_t table;	/* not traced because they cannot share the stream's event types */
	size_t full;	/* not traced because they have too many streams with kernel events */
};

static void note_refused(struct refused *refused, pid_t pid)
{
	refused->rights++;
	refused->scope += policy_scope_refuses(pid);
}

static void complain_of_create(const struct session *session, bool log, int err)
{
	int pid = session->process.pid;

	switch (err) {
	case EAGAIN:
		tell("process %d: too many streams: on the process, of the user, or on the system",
		     pid);
		tell("without CAP_SYS_RESOURCE, only %d streams on a process have kernel events",
		     POSIXTRACE_KERNEL_SLOTS_MAX);
		tell("see \"posixtrace list\"");
		if (log)
			tell("or earlier logs of the user took much processor time: try later");
		break;
	case EINVAL:
		tell("cannot create the stream: %sa size is too large",
		     log ? "the file cannot be a log, or " : "");
		tell("see posix_trace_create(3)");
		break;
	case ENOMEM:
		tell("process %d: not enough memory: use a smaller --size", pid);
		tell("or raise the limit of locked memory: see \"ulimit -l\"");
		break;
	case ENOTSUP:
		if (complain_of_classes(session))
			break;
		tell("the library does not support this module: see \"posixtrace status\"");
		break;
	case EPERM:
		if (!policy_complain_of_kind(pid) && !complain_of_refused(session))
			policy_complain(pid, session->process.argv);
		break;
	case ESRCH:
		policy_complain_of_missing(pid);
		break;
	default:
		complain(log ? "trace stream with log" : "trace stream", err);
	}
}

/* Does the process lack the device? Its mount namespace may have a different /dev. */
static bool lacks_device(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/dev", (int)pid);
	if (!policy_knows_processes() || access(path, X_OK))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/dev/posixtrace", (int)pid);
	return access(path, F_OK) && errno == ENOENT;
}

static int create_on(struct session *session, const trace_attr_t *attr, int log_fd)
{
	pid_t pid = session->process.pid;

	return log_fd < 0 ? posix_trace_create(pid, attr, &session->trid)
			  : posix_trace_create_withlog(pid, attr, log_fd, &session->trid);
}

/* Creates the stream on the first process that can be traced. */
static int create_on_any(struct session *session, const trace_attr_t *attr, int log_fd,
			 struct refused *refused)
{
	const struct whom_process *process;
	int err = ESRCH;

	while ((process = whom_next(&session->whom))) {
		session->process.pid = process->pid;
		err = create_on(session, attr, log_fd);
		if (process->named || (err != EPERM && err != ESRCH))
			return err;
		if (err == EPERM)
			note_refused(refused, process->pid);
	}
	return err;
}

/*
 * Reports, once for each reason, that a process with the awaited name cannot be traced. The wait
 * continues, because any user may start a program with this name.
 */
static void pass_over(const struct session *session, bool has_ended, bool *told)
{
	if (*told)
		return;
	if (has_ended)
		tell("process %d: ended before it could be traced", (int)session->process.pid);
	else
		complain_of_create(session, false, EPERM);
	tell("still waiting for a program with the name \"%s\"", session->wait);
	*told = true;
}

/*
 * Waits for a process that runs the program and can be traced, and creates the stream on it.
 * Returns 0, or an error number after printing an error.
 */
static int create_on_next(struct session *session, const trace_attr_t *attr, int log_fd,
			  struct awaited *awaited)
{
	bool told_of_end = false, told_of_rights = false;
	pid_t pid;
	int err;

	for (;;) {
		pid = awaited_next(awaited);
		if (pid < 0)
			break;
		session->process.pid = pid;
		err = create_on(session, attr, log_fd);
		if (!err && awaited_was_replaced(awaited)) {
			posix_trace_shutdown(session->trid);
			err = ESRCH;
		}
		if (err == ESRCH)
			pass_over(session, true, &told_of_end);
		else if (err == EPERM)
			pass_over(session, false, &told_of_rights);
		else
			break;
	}
	if (pid > 0) {
		if (err)
			complain_of_create(session, log_fd >= 0, err);
		return err;
	}
	if (pid == -EINTR)
		tell("no program with the name \"%s\" was traced", session->wait);
	else
		complain("--wait", -pid);
	return -pid;
}

/*
 * Creates a stream on this process, because wrong options should fail before the wait. Returns 0,
 * or an error number after printing an error.
 */
static int try_on_self(struct session *session)
{
	trace_attr_t attr;
	int err = session_attr(session, "posixtrace --wait", &attr);

	if (err) {
		complain("attributes", err);
		return err;
	}
	session->process.pid = getpid();
	err = create_on(session, &attr, -1);
	if (err)
		complain_of_create(session, false, err);
	else
		posix_trace_shutdown(session->trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

/* Returns 0, or an error number after printing an error. */
static int create_on_awaited(struct session *session, const trace_attr_t *attr, int log_fd)
{
	struct awaited awaited;
	int err = try_on_self(session);

	if (err)
		return err;
	err = -awaited_begin(&awaited, session->wait, &session->process);
	if (err) {
		complain("--wait", err);
	} else {
		tell("waiting for a program with the name \"%s\"; press Ctrl-C to stop",
		     session->wait);
		if (awaited.events < 0)
			tell("the kernel does not announce programs here: looking every %d ms",
			     AWAITED_LOOK_MS);
		err = create_on_next(session, attr, log_fd, &awaited);
		/* A request for the next log has no effect before the recording begins. */
		session->process.requested = false;
	}
	awaited_end(&awaited);
	return err;
}

/* Reports why a process cannot be added. Returns false if the recording may continue without it. */
static bool complain_of_add(const struct whom_process *process, int err, struct refused *refused)
{
	const int pid = process->pid;

	if (err == EALREADY)
		return false;
	if (!process->named && (err == EPERM || err == EXDEV || err == EBUSY || err == ESRCH ||
				err == EAGAIN)) {
		if (err == EPERM)
			note_refused(refused, pid);
		refused->table += err == EXDEV || err == EBUSY;
		refused->full += err == EAGAIN;
		return false;
	}
	switch (err) {
	case EXDEV:
	case EBUSY:
		tell("process %d: has its own trace points or credentials: record it separately",
		     pid);
		break;
	case EAGAIN:
		tell("process %d: has %d streams with kernel events: see \"posixtrace list\"", pid,
		     POSIXTRACE_KERNEL_SLOTS_MAX);
		break;
	case EPERM:
		if (!policy_complain_of_kind(pid))
			policy_complain(pid, false);
		break;
	case ESRCH:
		policy_complain_of_missing(pid);
		break;
	case ENOTCONN:
		tell("process %d: the processes before it have ended: record it separately",
		     pid);
		break;
	default:
		complain("adding a process", err);
	}
	return true;
}

static int add_others(struct session *session, struct refused *refused)
{
	const struct whom_process *process;
	int err;

	while ((process = whom_next(&session->whom))) {
		do {
			err = posixtrace_add_process(session->trid, process->pid);
		} while (err == EINTR);
		session->traced += !err;
		if (err && complain_of_add(process, err, refused))
			return err;
	}
	return 0;
}

static void tell_of_refused(const struct refused *refused)
{
	const size_t others = refused->rights - refused->scope;
	const bool many = refused->table > 1;
	char scope[16];

	if (refused->scope)
		tell("not traced: %zu process%s that module parameter trace_scope=%s refuses",
		     refused->scope, refused->scope > 1 ? "es" : "",
		     policy_parameter("trace_scope", scope, sizeof(scope)));
	if (others)
		tell("not traced: %zu process%s that you may not trace: see posixtrace(4)", others,
		     others > 1 ? "es" : "");
	if (refused->table)
		tell("not traced: %zu process%s with %s own trace points or credentials",
		     refused->table, many ? "es" : "", many ? "their" : "its");
	if (refused->full)
		tell("not traced: %zu process%s with %d streams with kernel events", refused->full,
		     refused->full > 1 ? "es" : "", POSIXTRACE_KERNEL_SLOTS_MAX);
}

/* Returns 0, or an error number after printing an error. */
static int create_first(struct session *session, const trace_attr_t *attr, int log_fd,
			struct refused *refused)
{
	int err;

	if (session->wait)
		return create_on_awaited(session, attr, log_fd);
	if (session->whom.nr_rules) {
		err = -whom_find(&session->whom);
		if (err && err != ESRCH)
			complain("looking for processes", err);
		if (err)
			return err;
		err = create_on_any(session, attr, log_fd, refused);
	} else {
		err = create_on(session, attr, log_fd);
	}
	if (err)
		complain_of_create(session, log_fd >= 0, err);
	return err;
}

int session_create(struct session *session, const trace_attr_t *attr, int log_fd)
{
	struct refused refused = { };
	int err = create_first(session, attr, log_fd, &refused);

	if (err)
		return err;
	session->traced = 1;
	session->no_device = lacks_device(session->process.pid);
	err = session_filter_set(&session->filter, session->trid);
	if (!err)
		err = add_others(session, &refused);
	if (err)
		posix_trace_shutdown(session->trid);
	else
		tell_of_refused(&refused);
	if (!err && log_fd >= 0)
		clock_error_note(session->trid, &session->clock_due);
	return err;
}

int session_create_beside(struct session *session, const trace_attr_t *attr, int log_fd,
			  trace_id_t *trid)
{
	const struct whom *whom = &session->whom;
	int err = posix_trace_create_withlog(session->process.pid, attr, log_fd, trid);

	if (err) {
		complain_of_create(session, true, err);
		return err;
	}
	err = session_filter_set(&session->filter, *trid);
	/*
	 * Ignore errors: session_create() has reported these processes, and others may have ended.
	 */
	for (size_t i = 0; !err && i < whom->nr_processes; i++)
		posixtrace_add_process(*trid, whom->processes[i].pid);
	if (err)
		posix_trace_shutdown(*trid);
	return err;
}

/* Returns after how many bytes to wake the reader, so that a small stream does not become full. */
static size_t wakeup_bytes(const struct session *session)
{
	size_t quarter = session->stream_size / 4;

	return session->stream_size && quarter < WAKEUP_BYTES ? quarter : WAKEUP_BYTES;
}

int session_create_plain(struct session *session, const char *name)
{
	trace_attr_t attr;
	int err = session_attr(session, name, &attr);

	if (err) {
		complain("attributes", err);
		return err;
	}
	err = posixtrace_attr_setwakeup(&attr, wakeup_bytes(session),
					session->wakeup_ns ? session->wakeup_ns : WAKEUP_NS);
	if (err)
		complain("attributes", err);
	else
		err = session_create(session, &attr, -1);
	posix_trace_attr_destroy(&attr);
	return err;
}

void session_hint(const struct session *session, const struct posixtrace_stats_info *stats)
{
	const char *inherit = session->inherit ? "" : " --inherit also traces its children.";
	const char *kernel = session->kernel ? "" :
			     " --kernel=all records what the kernel sees of any program.";

	if (stats->recorded || stats->dropped || stats->overwritten)
		return;
	if (session->no_device) {
		tell("no events: process %d has no /dev/posixtrace; add it to its container",
		     (int)session->process.pid);
		return;
	}
	tell("no events: the program has no trace points, or did not reach one%s.%s%s",
	     session->filter.nr_filters || session->filter.exclude.len ?
	     " that the filter lets pass" : "", inherit, kernel);
}

int session_stats(const struct session *session, struct posixtrace_stats_info *stats)
{
	struct posixtrace_kernel_info info;
	int err = posixtrace_get_stats(session->trid, stats);

	if (!err && session->kernel)
		err = posixtrace_get_kernel_info(session->trid, &info);
	if (err || !session->kernel)
		return err;
	for (size_t i = 0; i < POSIXTRACE_CLASSES; i++) {
		stats->recorded += info.recorded[i];
		stats->dropped += info.dropped[i];
	}
	stats->overwritten += info.overwritten;
	return 0;
}
