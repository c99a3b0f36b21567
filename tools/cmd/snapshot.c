// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace snapshot": asks "posixtrace record" by a signal for its next log, and waits until the
 * current one is complete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <posixtrace.h>

#include "cmd/commands.h"
#include "session/scan.h"
#include "session/session.h"
#include "session/whom.h"
#include "util/escape.h"
#include "util/message.h"

/* A recorder reacts to signals within milliseconds, but writing a large window takes longer. */
#define WAIT_MS		30000
#define PATH_OF_FD	64

/* What to snapshot: a process, or all processes with a name. */
struct operand {
	const char *text;
	pid_t pid;		/* 0: @text is a name */
};

/* The recorder, and the log that it writes now. */
struct recorder {
	pid_t pid;
	int pidfd;
	int log;		/* O_PATH descriptor */
	char link[PATH_OF_FD];	/* path of @log in /proc */
	char path[PATH_MAX];	/* of the log */
	int watch;		/* inotify descriptor; readable after the log was closed */
};

/* ------------------------------------------------------------------ */
/* The recorder								*/

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Does the operand name the controller of the stream, or a process that it traces? */
static bool is_meant(const struct scan_stream *stream, const struct operand *operand, int proc)
{
	const char *text = stream->processes;
	char *end;
	long pid;

	if (operand->pid)
		return stream->controller == operand->pid || scan_traces(stream, operand->pid);
	for (; (pid = strtol(text, &end, 10)) > 0; text = end) {
		if (whom_has_name(proc, (pid_t)pid, operand->text))
			return true;
	}
	return false;
}

/*
 * Checks that the process ignores SIGUSR1, as the recorder does, which reads the signal from a
 * descriptor. Any process can give its stream the name of a recorder, and the signal must not kill
 * it.
 */
static bool takes_signal(pid_t pid)
{
	char path[PATH_OF_FD], *line = NULL;
	unsigned long long mask = 0;
	size_t size = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	while (status && getline(&line, &size, status) > 0 &&
	       sscanf(line, "SigIgn: %llx", &mask) != 1)
		;
	free(line);
	if (status)
		fclose(status);
	return mask & 1ULL << (SIGUSR1 - 1);
}

/* Returns the id of the only recorder that is meant; 0 after printing an error. */
static pid_t choose(const struct scan *found, const struct operand *operand, int proc)
{
	bool has_other = false;
	pid_t pid = 0;

	for (size_t i = 0; i < found->nr_streams; i++) {
		const struct scan_stream *stream = &found->streams[i];

		if (!is_meant(stream, operand, proc))
			continue;
		if (!stream->log || strcmp(stream->name, "posixtrace record") ||
		    !takes_signal(stream->controller)) {
			has_other = true;
			continue;
		}
		if (pid && pid != stream->controller) {
			tell("%s: several recordings: give the id of one, such as %d or %d",
			     operand->text, (int)pid, (int)stream->controller);
			return 0;
		}
		pid = stream->controller;
	}
	if (!pid && has_other)
		tell("%s: its streams belong to programs, %s", operand->text,
		     "which can take snapshots themselves: see posixtrace_snapshot(3)");
	else if (!pid)
		tell("%s: no \"posixtrace record\" traces it: see \"posixtrace list\"",
		     operand->text);
	if (!pid && !has_other && found->incomplete)
		tell("recordings of other users are not seen; run as root to ask them");
	return pid;
}

/* Returns the id of the recorder; 0 after printing an error. */
static pid_t find_recorder(const struct operand *operand)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct scan found;
	pid_t pid = 0;

	if (proc < 0) {
		complain("/proc", errno);
		return 0;
	}
	err = scan(&found);
	if (err)
		complain("/proc", err);
	else
		pid = choose(&found, operand, proc);
	scan_free(&found);
	close(proc);
	return pid;
}

/* ------------------------------------------------------------------ */
/* Its log								*/

/* Is the file a log that is not complete? Opens neither devices nor FIFOs. */
static bool is_growing_log(const char *link)
{
	struct posixtrace_log_info info = { .flags = POSIXTRACE_LOG_ENDED };
	struct stat st;
	trace_id_t log;
	int fd;

	if (stat(link, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!posix_trace_open(fd, &log)) {
		posixtrace_get_log_info(log, &info);
		posix_trace_close(log);
	}
	close(fd);
	return !(info.flags & POSIXTRACE_LOG_ENDED);
}

/* Keeps a file of the recorder open if it is the log. */
static bool take_log(struct recorder *recorder, int fds, const char *fd)
{
	/* The recorder may replace its descriptor, but not the file of this one. */
	recorder->log = openat(fds, fd, O_PATH | O_CLOEXEC);
	if (recorder->log < 0)
		return false;
	snprintf(recorder->link, sizeof(recorder->link), "/proc/self/fd/%d", recorder->log);
	if (is_growing_log(recorder->link))
		return true;
	close(recorder->log);
	recorder->log = -1;
	return false;
}

/*
 * Reads the path of the log. It leads elsewhere if the log was removed, or if the recorder has
 * another root or mount namespace.
 */
static bool find_path(struct recorder *recorder)
{
	ssize_t len = readlink(recorder->link, recorder->path, sizeof(recorder->path) - 1);
	struct stat log, named;

	if (len < 0)
		return false;
	recorder->path[len] = '\0';
	return !stat(recorder->link, &log) && !stat(recorder->path, &named) &&
	       log.st_dev == named.st_dev && log.st_ino == named.st_ino;
}

/* Returns false after printing an error. */
static bool find_log(struct recorder *recorder)
{
	char path[PATH_OF_FD];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)recorder->pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		found = is_number(entry->d_name) &&
			take_log(recorder, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	if (!found) {
		tell("process %d: its log is not a regular file, or cannot be read",
		     (int)recorder->pid);
		return false;
	}
	found = find_path(recorder);
	if (!found)
		tell("process %d: its log was removed, or is in another mount namespace",
		     (int)recorder->pid);
	return found;
}

/* ------------------------------------------------------------------ */
/* From start to end							*/

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void take_events(int watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(watch, events, sizeof(events)) > 0)
		;
}

/*
 * Waits until the log is complete. If the recorder is killed, the kernel completes it later.
 * Returns false after printing an error.
 */
static bool wait_for_log(const struct recorder *recorder)
{
	struct pollfd fds[] = {
		{ .fd = recorder->watch, .events = POLLIN },
		{ .fd = recorder->pidfd, .events = POLLIN },
	};
	const long long end = now_ms() + WAIT_MS;
	long long left;

	while (is_growing_log(recorder->link)) {
		left = end - now_ms();
		if (left <= 0) {
			tell("%s: process %d did not complete it within %d seconds",
			     recorder->path, (int)recorder->pid, WAIT_MS / 1000);
			return false;
		}
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR) {
			complain("waiting for the log", errno);
			return false;
		}
		take_events(recorder->watch);
		if (fds[1].revents)
			fds[1].fd = -1;
	}
	return true;
}

static bool ask(struct recorder *recorder)
{
	recorder->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (recorder->watch < 0 ||
	    inotify_add_watch(recorder->watch, recorder->link, IN_CLOSE_WRITE) < 0) {
		complain(recorder->path, errno);
		return false;
	}
	/* Another snapshot may have completed it before it was watched. */
	if (!is_growing_log(recorder->link))
		return true;
	/* A recorder that ends completes its log as well. */
	if (pidfd_send_signal(recorder->pidfd, SIGUSR1, NULL, 0) && errno != ESRCH) {
		tell("process %d: %s", (int)recorder->pid, strerror(errno));
		return false;
	}
	return wait_for_log(recorder);
}

/* Prints the path unchanged for scripts, but escaped on a terminal. Returns the exit status. */
static int print_path(const char *path)
{
	struct buffer text = { };

	if (isatty(STDOUT_FILENO)) {
		escape_message(&text, path, strlen(path));
		printf("%.*s\n", (int)text.len, (const char *)text.data);
		buffer_free(&text);
	} else {
		printf("%s\n", path);
	}
	return end_output() ? 1 : 0;
}

/* Returns the exit status. */
static int run_snapshot(const struct operand *operand)
{
	struct recorder recorder = { .pid = find_recorder(operand), .log = -1, .watch = -1 };
	int status = 1;

	if (!recorder.pid)
		return 1;
	recorder.pidfd = pidfd_open(recorder.pid, 0);
	/* Another process may have got the id since the scan. */
	if (recorder.pidfd < 0 || !takes_signal(recorder.pid))
		tell("process %d: has ended, and completed its log", (int)recorder.pid);
	else if (find_log(&recorder) && ask(&recorder))
		status = print_path(recorder.path);
	if (recorder.watch >= 0)
		close(recorder.watch);
	if (recorder.log >= 0)
		close(recorder.log);
	if (recorder.pidfd >= 0)
		close(recorder.pidfd);
	return status;
}

static const struct command_option options[] = {
	{ }
};

static int cmd_snapshot(int argc, char **argv)
{
	int status = options_parse(&command_snapshot, argc, argv, NULL);
	struct operand operand = { };
	unsigned long pid;

	if (status != OPTIONS_OK)
		return status;
	if (argc - optind != 1)
		return usage_error("snapshot", "snapshot: takes one PID or NAME, not %d",
				   argc - optind);
	operand.text = argv[optind];
	if (is_number(operand.text)) {
		if (option_number("snapshot: PID", operand.text, 1, SESSION_PID_MAX, &pid))
			return 2;
		operand.pid = (pid_t)pid;
	}
	return run_snapshot(&operand);
}

static const char *const snapshot_usage[] = {
	"[OPTION]... PID|NAME",
	NULL,
};

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "let a recording write what it has in memory to a log",
	.usage = snapshot_usage,
	.about = "Let \"posixtrace record\" complete its log and continue in the next one, as\n"
		 "SIGUSR1 does, and print the path of the log. With --policy=loop, the log has\n"
		 "the latest events.",
	.notes = "PID or NAME is a traced process, or PID is \"posixtrace record\" itself.\n"
		 "Exit status: 0; 1 after a failure; 2 after a usage error.",
	.operands = OPERAND_PID,
	.options = options,
	.run = cmd_snapshot,
};
