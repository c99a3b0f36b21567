// SPDX-License-Identifier: GPL-2.0
/*
 * Creates a stream on a process from the options. live.c and record.c handle its events.
 */
#include <argz.h>
#include <ctype.h>
#include <errno.h>
#include <linux/posixtrace.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/policy.h"
#include "session/session.h"
#include "util/message.h"

#define PID_MAX		(1 << 22)

/* Read events in batches: a wake-up for each one slows the traced process down. */
#define WAKEUP_BYTES	(64U << 10)
#define WAKEUP_NS	1000000U

/* ------------------------------------------------------------------ */
/* Options								*/

unsigned long parse_number(const char *option, const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*text) || !value || value > max) {
		tell("%s: must be a number from 1 to %lu (got \"%s\")", option, max, text);
		exit(2);
	}
	return value;
}

size_t parse_size(const char *option, const char *text, size_t max)
{
	static const char units[] = "KMG";
	unsigned long value;
	const char *unit;
	int shift = 0;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		end++;
	}
	if (errno || *end || !isdigit((unsigned char)*text) || value > max >> shift) {
		tell("%s: must be at most %zu bytes, such as 4096 or 4K (got \"%s\")", option, max,
		     text);
		exit(2);
	}
	return value << shift;
}

size_t parse_positive_size(const char *option, const char *text, size_t max)
{
	size_t size = parse_size(option, text, max);

	if (size)
		return size;
	tell("%s: must be at least 1 (got \"%s\")", option, text);
	exit(2);
}

/* In the order of their bits. */
static const char *const classes[] = {
	"sched", "fault", "signal", "syscall", "irq", "process",
};

#define NR_CLASSES	(sizeof(classes) / sizeof(classes[0]))

/* All that the module can record for the caller. Says what it refuses to the caller. */
static unsigned int all_classes(void)
{
	unsigned int value = (unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);

	for (size_t i = 0; i < NR_CLASSES; i++) {
		if (!(value & 1U << i) && policy_needs_perfmon(classes[i]))
			tell("--kernel=all: without %s, which needs CAP_PERFMON: see posixtrace(4)",
			     classes[i]);
	}
	return value;
}

static unsigned int parse_class(const char *name, const char *list)
{
	if (!strcmp(name, "all"))
		return all_classes();
	for (size_t i = 0; i < NR_CLASSES; i++) {
		if (!strcmp(name, classes[i]))
			return 1U << i;
	}
	tell("--kernel: must be all, sched, fault, signal, syscall, irq or process (got \"%s\")",
	     list);
	exit(2);
}

unsigned int session_classes(const char *list)
{
	struct names names = { NULL, 0 };
	unsigned int value = 0;
	const char *name = "";

	if (argz_add_sep(&names.argz, &names.len, list, ',')) {
		complain("names", ENOMEM);
		exit(1);
	}
	if (!names.len)
		parse_class(name, list);
	for (name = NULL; (name = argz_next(names.argz, names.len, name)); )
		value |= parse_class(name, list);
	free(names.argz);
	return value;
}

bool session_option(struct session *session, int opt, const char *value)
{
	switch (opt) {
	case 'd':
		session->data_size = parse_size("--data-size", value, POSIXTRACE_DATA_SIZE_MAX);
		return true;
	case 'F':
		session_filter_add(&session->filter, value);
		return true;
	case 'i':
		session->inherit = true;
		return true;
	case 'k':
		session->kernel |= session_classes(value);
		return true;
	case 'p':
		session->process.pid = parse_number("--pid", value, PID_MAX);
		return true;
	case 's':
		session->stream_size = parse_positive_size("--size", value,
							   POSIXTRACE_STREAM_SIZE_MAX);
		return true;
	case 'x':
		session_filter_exclude(&session->filter, value);
		return true;
	default:
		return false;
	}
}

bool session_process(struct session *session, const char *command, int argc, char **argv)
{
	struct process *process = &session->process;
	bool program = argc && !strcmp(argv[-1], "--");

	if (argc == 1 && !program && !process->pid &&
	    argv[0][strspn(argv[0], "0123456789")] == '\0')
		process->pid = parse_number("PID", argv[0], PID_MAX);
	else if (argc)
		process->argv = argv;
	if (process->pid && process->argv)
		usage_error(command,
			    "%s: traces process %d (--pid) or the program \"%s\", not both",
			    command, (int)process->pid, argv[0]);
	else if (!process->pid && !process->argv)
		usage_error(command, "%s: needs a PID, or a PROGRAM to start", command);
	else
		return true;
	return false;
}

void session_free(struct session *session)
{
	session_filter_free(&session->filter);
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
	if (!err && session->inherit)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posixtrace_attr_setkernel(attr, session->kernel);
	if (!err)
		err = posix_trace_attr_setname(attr, name);
	return err;
}

/* Classes that the loaded module cannot record. Returns false if there are none. */
static bool complain_of_classes(const struct session *session)
{
	unsigned int missing = session->kernel &
			       ~(unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);

	for (size_t i = 0; i < NR_CLASSES; i++) {
		if (missing & 1U << i)
			tell("--kernel: the module cannot record %s on this kernel", classes[i]);
	}
	return missing;
}

/* Classes that the module refuses to the user. Returns false if there are none. */
static bool complain_of_refused(const struct session *session)
{
	unsigned int missing = session->kernel &
			       ~(unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	bool told = false;

	for (size_t i = 0; i < NR_CLASSES; i++) {
		if (!(missing & 1U << i) || !policy_needs_perfmon(classes[i]))
			continue;
		tell("--kernel: kernel_classes=%s:perfmon of the module demands CAP_PERFMON for %s",
		     classes[i], classes[i]);
		told = true;
	}
	return told;
}

static void complain_of_create(const struct session *session, bool log, int err)
{
	int pid = session->process.pid;

	switch (err) {
	case EAGAIN:
		tell("process %d: too many streams on the process, of the user or on the system",
		     pid);
		tell("see \"posixtrace list\"");
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
		if (!policy_complain_of_kind(pid))
			tell("process %d: no such process", pid);
		break;
	default:
		complain(log ? "trace stream with log" : "trace stream", err);
	}
}

/* A process in another mount namespace may see another /dev, without the device. */
static bool lacks_device(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/dev", (int)pid);
	if (access(path, X_OK))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/dev/posixtrace", (int)pid);
	return access(path, F_OK) && errno == ENOENT;
}

int session_create(struct session *session, const trace_attr_t *attr, int log_fd)
{
	pid_t pid = session->process.pid;
	int err;

	err = log_fd < 0 ? posix_trace_create(pid, attr, &session->trid)
			 : posix_trace_create_withlog(pid, attr, log_fd, &session->trid);
	if (err) {
		complain_of_create(session, log_fd >= 0, err);
		return err;
	}
	session->no_device = lacks_device(pid);
	err = session_filter_set(&session->filter, session->trid);
	if (err)
		posix_trace_shutdown(session->trid);
	return err;
}

/* A small stream must not be full before its reader wakes up. */
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
	err = posixtrace_attr_setwakeup(&attr, wakeup_bytes(session), WAKEUP_NS);
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
		tell("no events: process %d has no /dev/posixtrace; give that to its container",
		     (int)session->process.pid);
		return;
	}
	tell("no events: the program has no trace points, or did not come to one%s.%s%s",
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
