// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is its own flight recorder if the environment asks for it. The first argument
 * selects one of the functions below. The exit status is 0 if everything was as expected.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <posixtrace.h>

#include "flight.h"
#include "withlog.h"

/* Records the events of a run: more than fit into a small stream. */
static void record_all(void)
{
	withlog_record(0, FLIGHT_EVENTS);
}

static int do_nothing(void)
{
	record_all();
	return 0;
}

static int do_segv(void)
{
	char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Remove the handler that a sanitizer may have installed. */
	signal(SIGSEGV, SIG_DFL);
	record_all();
	*page = 1;
	return 1;
}

static int do_abort(void)
{
	record_all();
	abort();
}

static int do_kill(void)
{
	record_all();
	raise(SIGKILL);
	return 1;
}

/* A child that has recorded exits: this does not end the recording of its parent. */
static int do_fork(void)
{
	trace_id_t trid;
	pid_t pid;
	int status;

	withlog_record(0, 1);
	pid = fork();
	if (!pid) {
		withlog_record(1, 1);
		exit(posixtrace_get_recorder(&trid) == EINVAL ? 0 : 2);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	withlog_record(2, 1);
	return WEXITSTATUS(status);
}

/* Acts as a daemon: the child continues after its parent has ended, and then crashes. */
static int do_daemon(void)
{
	pid_t pid;
	int status;

	withlog_record(0, 1);
	pid = fork();
	if (!pid) {
		withlog_record(1, 1);
		raise(SIGKILL);
	}
	printf("%d\n", (int)pid);
	return waitpid(pid, &status, 0) == pid ? 0 : 1;
}

static int do_exec(void)
{
	withlog_record(0, 1);
	execl(FLIGHT_HELPER, FLIGHT_HELPER, "second", (char *)NULL);
	return 1;
}

static int do_second(void)
{
	withlog_record(1, 1);
	return 0;
}

/* Closes all descriptors, like a daemon that does not know them. */
static int do_close(void)
{
	trace_id_t trid;
	int fd;

	withlog_record(0, 1);
	for (fd = 3; fd < 256; fd++)
		close(fd);
	withlog_record(1, 1);
	for (; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
	withlog_record(2, 1);
	/* Check that the log is complete and that the recorder is gone. */
	return posixtrace_get_recorder(&trid) == EINVAL &&
	       posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 2;
}

/* The same with a recorder that has a trace id. */
static int do_close_shared(void)
{
	trace_id_t trid;
	int fd;

	withlog_record(0, 2);
	if (posixtrace_get_recorder(&trid))
		return 1;
	for (fd = 3; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
	return posixtrace_get_recorder(&trid) == EINVAL &&
	       posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 2;
}

/* The log is in a directory that the program no longer sees. */
static int do_chroot(void)
{
	if (chroot("/proc"))
		return 1;
	record_all();
	if (posixtrace_snapshot(NULL, 0) != ENOENT)
		return 2;
	raise(SIGKILL);
	return 3;
}

/* Changes the directory. A relative path of the log refers to the directory at the start. */
static int do_chdir(void)
{
	if (chdir("/proc"))
		return 1;
	withlog_record(0, 1);
	return posixtrace_snapshot(NULL, 0);
}

static int do_snapshots(void)
{
	char path[PATH_MAX], small[2];

	withlog_record(0, 10);
	if (posixtrace_snapshot(small, sizeof(small)) != ERANGE)
		return 1;
	if (posixtrace_snapshot(path, sizeof(path)))
		return 2;
	puts(path);
	withlog_record(10, 10);
	if (posixtrace_snapshot(NULL, 0))
		return 3;
	withlog_record(20, 10);
	fflush(stdout);
	raise(SIGKILL);
	return 4;
}

/* A log in a file of the program has no path that the library knows; the next one has. */
static int do_rotate(void)
{
	struct log_content content;
	char path[PATH_MAX] = "x";
	int fd = log_tmpfile();
	trace_id_t trid;

	withlog_record(0, 10);
	if (posixtrace_get_recorder(&trid) || posixtrace_rotate(trid, fd, NULL))
		return 1;
	withlog_record(10, 10);
	if (posixtrace_snapshot(path, 0) != ERANGE || posixtrace_snapshot(path, 1) || *path)
		return 2;
	log_content_fd(fd, &content);
	if (content.err || content.first != 10 || content.numbers != 10)
		return 3;
	withlog_record(20, 10);
	if (posixtrace_snapshot(path, sizeof(path)))
		return 4;
	puts(path);
	withlog_record(30, 10);
	return 0;
}

/* The recorder has a trace id if the program asks for it, and obeys its commands. */
static int do_control(void)
{
	struct posixtrace_stats_info stats;
	trace_id_t trid, again;

	withlog_record(0, 10);
	if (posixtrace_get_recorder(NULL) != EINVAL || posixtrace_get_recorder(&trid) ||
	    posixtrace_get_recorder(&again) || trid != again)
		return 1;
	if (posixtrace_get_stats(trid, &stats) || stats.recorded != 10)
		return 2;
	if (posix_trace_shutdown(trid))
		return 3;
	withlog_record(10, 10);
	return posixtrace_get_recorder(&trid) == EINVAL &&
	       posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 4;
}

/* Streams of the program itself behave as without a recorder: their ids, descriptors and events. */
static int do_streams(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), status;
	struct event event;
	trace_id_t trid;

	/* Without a recorder, the first descriptor of this program is 3. */
	if (fd != 3)
		return 1;
	for (trid = 0; trid < 10000; trid++) {
		if (posix_trace_stop(trid) != EINVAL)
			return 2;
	}
	if (start_new_stream(POSIX_TRACE_LOOP, &trid))
		return 3;
	withlog_record(0, 1);
	status = take_user(trid, &event);
	if (status != 1 || event_number(&event) || take_user(trid, &event))
		return 4;
	return posix_trace_shutdown(trid);
}

/* A set-user-ID program that becomes root entirely, and executes another one. */
static int do_become_root(void)
{
	if (setresuid(0, 0, 0))
		return 1;
	if (getenv("POSIXTRACE_RECORD") || getenv("POSIXTRACE_RECORD_OPTIONS"))
		return 2;
	execl(FLIGHT_HELPER, FLIGHT_HELPER, "none", (char *)NULL);
	return 3;
}

/* Runs without the variable, or with a variable that the library ignores. */
static int do_none(void)
{
	trace_id_t trid;

	record_all();
	return posixtrace_get_recorder(&trid) == EINVAL &&
	       posixtrace_snapshot(NULL, 0) == EINVAL ? 0 : 1;
}

static const struct {
	const char *name;
	int (*run)(void);
} actions[] = {
	{ "nothing", do_nothing },
	{ "segv", do_segv },
	{ "abort", do_abort },
	{ "kill", do_kill },
	{ "fork", do_fork },
	{ "daemon", do_daemon },
	{ "exec", do_exec },
	{ "second", do_second },
	{ "close", do_close },
	{ "close_shared", do_close_shared },
	{ "chroot", do_chroot },
	{ "chdir", do_chdir },
	{ "snapshots", do_snapshots },
	{ "rotate", do_rotate },
	{ "control", do_control },
	{ "streams", do_streams },
	{ "become_root", do_become_root },
	{ "none", do_none },
};

int main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; argc == 2 && i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (!strcmp(argv[1], actions[i].name))
			return actions[i].run();
	}
	return 100;
}
