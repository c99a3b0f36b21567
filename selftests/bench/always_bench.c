// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost for programs that are traced all the time, by a POSIX_TRACE_LOOP stream without
 * a reader. The stream records trace points, the class sched, or both. The script "always" runs
 * this program in a guest in which time is counted in instructions (selftests/vm/run --icount).
 *
 *   always_bench [ROUNDS [SIZE]]    SIZE: bytes of the stream
 *
 * Prints a line for each program, number of concurrent requests, and way to trace. All numbers are
 * per request: instructions of the whole guest, and of the program, without a stream; recorded
 * trace points and kernel events; how often a thread of the program began to run; additional
 * instructions of the guest with the stream: median, minimum and maximum of all rounds, and the
 * median as a percentage of the instructions of the program.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#define REQUESTS	500	/* requests per measurement */
#define ROUNDS_MAX	31
#define CLIENTS		50

static const int at_a_time[] = { 1, CLIENTS };

#define DEPTHS		(sizeof(at_a_time) / sizeof(at_a_time[0]))

/* The checkpoint interval is fixed, so that each measurement has the same number of checkpoints. */
#define TABLE	".output /dev/null\nPRAGMA wal_autocheckpoint=100;\n.output stdout\n" \
	"PRAGMA journal_mode=WAL; " \
	"CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, n INT); " \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) " \
	"INSERT INTO item SELECT i, 'item number ' || i, i FROM n;"

static const struct program {
	const char *name;
	const char *prepare;	/* sent before the measurement; the answer is one line */
	const char *request;
	int lines;		/* lines of an answer */
	int port;		/* TCP port; 0: answers on standard output */
	const char *point;	/* the trace point that "one point" records */
	char *command[14];
} programs[] = {
	{ "redis GET", "SET user:1 alice", "GET user:1", 2, 6379, "reply",
	  { "env", "LD_PRELOAD=/usr/lib/always_points.so", "redis-server", "--save", "",
	    "--appendonly", "no", "--hz", "1", "--bind", "127.0.0.1" } },
	{ "memcached get", "set user:1 0 0 5\r\nalice", "get user:1", 3, 11211, "cache_get",
	  { "memcached", "-u", "root", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-m", "8" } },
	{ "SQLite SELECT", TABLE, "SELECT name FROM item WHERE id = 500;", 1, 0,
	  "sqlite_prepare:begin", { "sqlite3", "/tmp/select.db" } },
	{ "SQLite UPDATE", TABLE, "UPDATE item SET n = n + 1 WHERE id = 500 RETURNING name;", 1, 0,
	  "sqlite_prepare:begin", { "sqlite3", "/tmp/update.db" } },
};

static const struct way {
	const char *name;
	unsigned int classes;
	bool one, points;
} ways[] = {
	{ "untraced", 0, false, false },
	{ "one point", 0, true, false },
	{ "points", 0, false, true },
	{ "sched", POSIXTRACE_CLASS_SCHED, false, false },
	{ "both", POSIXTRACE_CLASS_SCHED, false, true },
};

#define WAYS		(sizeof(ways) / sizeof(ways[0]))
#define NO_STREAM	((trace_id_t)-1)

struct server {
	const struct program *program;
	pid_t pid;
	int in[CLIENTS], out[CLIENTS];
};

struct counts {
	double guest, ran, runs, points, kernel;
};

static struct counts got[ROUNDS_MAX][WAYS][DEPTHS];

static size_t stream_size = 128 << 10;

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "always_bench: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void check_errno(int failed, const char *what)
{
	check(failed ? errno : 0, what);
}

/* ------------------------------------------------------------------ */
/* Asking								*/

static void send_text(int fd, const char *text)
{
	check(write(fd, text, strlen(text)) != (ssize_t)strlen(text) ? EIO : 0, "write");
}

static void receive_lines(int fd, int lines)
{
	char answer[4096];
	ssize_t len;

	while (lines > 0) {
		len = read(fd, answer, sizeof(answer));
		check(len <= 0 ? EIO : 0, "read");
		for (ssize_t i = 0; i < len; i++)
			lines -= answer[i] == '\n';
	}
	check(lines ? EPROTO : 0, "answer");
}

/*
 * Sends requests. A server gets them from several clients, SQLite gets several statements in one
 * write.
 */
static void ask(const struct server *server, int at_once, int count)
{
	const struct program *program = server->program;
	int clients = program->port ? at_once : 1, each = at_once / clients;
	char text[CLIENTS * 64] = "";

	for (int i = 0; i < each; i++)
		strcat(strcat(text, program->request), "\r\n");
	for (int done = 0; done < count; done += at_once) {
		for (int i = 0; i < clients; i++)
			send_text(server->in[i], text);
		for (int i = 0; i < clients; i++)
			receive_lines(server->out[i], each * program->lines);
	}
}

/* ------------------------------------------------------------------ */
/* Starting a program							*/

/* Retry, because the server may not listen yet. */
static int connect_to(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int tries = 0; tries < 1000; tries++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		check_errno(fd < 0, "socket");
		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			return fd;
		check_errno(errno != ECONNREFUSED, "connect");
		close(fd);
		usleep(10000);
	}
	check(ETIMEDOUT, "connect");
	return -1;
}

static void start(struct server *server, const struct program *program)
{
	int in[2], out[2];

	server->program = program;
	check_errno(pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC), "pipe");
	server->pid = fork();
	check_errno(server->pid < 0, "fork");
	if (!server->pid) {
		dup2(in[0], 0);
		dup2(program->port ? open("/dev/null", O_WRONLY) : out[1], 1);
		execvp(program->command[0], program->command);
		check_errno(1, program->command[0]);
	}
	close(in[0]);
	close(out[1]);
	server->in[0] = in[1];
	server->out[0] = out[0];
	for (int i = 0; program->port && i < CLIENTS; i++) {
		server->in[i] = connect_to(program->port);
		server->out[i] = server->in[i];
	}
	send_text(server->in[0], program->prepare);
	send_text(server->in[0], "\r\n");
	receive_lines(server->out[0], 1);
}

static void stop(const struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	for (int i = 0; server->program->port && i < CLIENTS; i++)
		close(server->in[i]);
}

/* ------------------------------------------------------------------ */
/* Tracing								*/

static trace_id_t new_stream(const struct server *server, const struct way *way)
{
	trace_event_set_t filter;
	trace_event_id_t point;
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamsize(&attr, stream_size), "setstreamsize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setpolicy");
	check(posixtrace_attr_setkernel(&attr, way->classes), "setkernel");
	check(posix_trace_create(server->pid, &attr, &trid), "create");
	check(posix_trace_trid_eventid_open(trid, server->program->point, &point), "open");
	if (!way->points) {
		posix_trace_eventset_fill(&filter, POSIX_TRACE_ALL_EVENTS);
		for (trace_event_id_t id = POSIXTRACE_SWITCH_OUT; id <= POSIXTRACE_FUTEX_WAIT; id++)
			posix_trace_eventset_del(id, &filter);
		if (way->one)
			posix_trace_eventset_del(point, &filter);
		check(posix_trace_set_filter(trid, &filter, POSIX_TRACE_SET_EVENTSET), "filter");
	}
	check(posix_trace_start(trid), "start");
	return trid;
}

/* Reads how many instructions the threads of a process have executed, and how often they ran. */
static void read_threads(pid_t pid, struct counts *counts)
{
	unsigned long long ran, waited, runs;
	struct dirent *entry;
	char path[512];
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	check_errno(!dir, path);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, entry->d_name);
		file = fopen(path, "r");
		check_errno(!file, path);
		check(fscanf(file, "%llu %llu %llu", &ran, &waited, &runs) != 3 ? EIO : 0, path);
		fclose(file);
		counts->ran += (double)ran;
		counts->runs += (double)runs;
	}
	closedir(dir);
}

static void read_events(trace_id_t trid, struct counts *counts)
{
	struct posixtrace_kernel_info kernel;
	struct posixtrace_stats_info stats;

	if (trid == NO_STREAM)
		return;
	check(posixtrace_get_kernel_info(trid, &kernel), "get_kernel_info");
	check(posixtrace_get_stats(trid, &stats), "get_stats");
	counts->points = (double)stats.recorded;
	for (int i = 0; i < POSIXTRACE_CLASSES; i++)
		counts->kernel += (double)kernel.recorded[i];
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/*
 * Records until the first events are overwritten, because the pages of a new stream are not mapped
 * yet.
 */
static void fill(const struct server *server, trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	do {
		ask(server, CLIENTS, 2 * CLIENTS);
		check(posixtrace_get_stats(trid, &stats), "get_stats");
	} while (!stats.overwritten);
}

/* Measures the cost per request, after some requests that warm up the caches. */
static struct counts measure(const struct server *server, int at_once, trace_id_t trid)
{
	struct counts before = { 0 }, after = { 0 };

	ask(server, at_once, 2 * CLIENTS);
	read_events(trid, &before);
	read_threads(server->pid, &before);
	before.guest = now();
	ask(server, at_once, REQUESTS);
	after.guest = now();
	read_threads(server->pid, &after);
	read_events(trid, &after);
	return (struct counts){
		.guest = (after.guest - before.guest) / REQUESTS,
		.ran = (after.ran - before.ran) / REQUESTS,
		.runs = (after.runs - before.runs) / REQUESTS,
		.points = (after.points - before.points) / REQUESTS,
		.kernel = (after.kernel - before.kernel) / REQUESTS,
	};
}

static void measure_way(const struct server *server, const struct way *way,
			struct counts *costs)
{
	bool traced = way->classes || way->one || way->points;
	trace_id_t trid = traced ? new_stream(server, way) : NO_STREAM;

	if (way->one || way->points)
		fill(server, trid);
	for (size_t i = 0; i < DEPTHS; i++)
		costs[i] = measure(server, at_a_time[i], trid);
	if (traced)
		check(posix_trace_shutdown(trid), "shutdown");
}

/* ------------------------------------------------------------------ */
/* Comparing								*/

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Prints how much more a way to trace costs than no stream, for one number of concurrent requests.
 */
static void print_way(const struct server *server, size_t way, size_t depth, int rounds)
{
	double more[ROUNDS_MAX], ran[ROUNDS_MAX], guest[ROUNDS_MAX];
	const struct counts *last = &got[rounds - 1][way][depth];

	for (int i = 0; i < rounds; i++) {
		guest[i] = got[i][way][depth].guest;
		more[i] = guest[i] - got[way ? i : 0][0][depth].guest;
		ran[i] = got[i][0][depth].ran;
	}
	qsort(guest, (size_t)rounds, sizeof(guest[0]), compare);
	qsort(more, (size_t)rounds, sizeof(more[0]), compare);
	qsort(ran, (size_t)rounds, sizeof(ran[0]), compare);
	printf("%-14s %2d %-9s %6.0f %6.0f %5.2f %5.2f %5.2f %5.0f %5.0f %5.0f %6.2f\n",
	       server->program->name, at_a_time[depth], ways[way].name, guest[rounds / 2],
	       ran[rounds / 2], last->points, last->kernel, last->runs, more[rounds / 2], more[0],
	       more[rounds - 1], 100 * more[rounds / 2] / ran[rounds / 2]);
}

/*
 * Compares the ways to trace. Those without handlers in the kernel come first, because the handlers
 * remain for a minute.
 */
static void compare_ways(const struct server *server, int rounds)
{
	for (int round = 0; round < rounds; round++) {
		sleep(65);
		for (size_t way = 0; way < WAYS; way++)
			measure_way(server, &ways[way], got[round][way]);
	}
	for (size_t depth = 0; depth < DEPTHS; depth++)
		for (size_t way = 0; way < WAYS; way++)
			print_way(server, way, depth, rounds);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct sched_param param = { 0 };
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct server server;

	if (argc > 2)
		stream_size = strtoul(argv[2], NULL, 10);
	if (rounds < 1 || rounds > ROUNDS_MAX || argc > 3) {
		fprintf(stderr, "usage: always_bench [ROUNDS [SIZE]]\n");
		return 2;
	}
	/*
	 * With SCHED_BATCH, a woken thread does not preempt another, so the number of switches is
	 * the same.
	 */
	check_errno(sched_setscheduler(0, SCHED_BATCH, &param), "sched_setscheduler");
	puts("request         n traced     guest program point kernl  runs  more least most    %");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		start(&server, &programs[i]);
		compare_ways(&server, rounds);
		stop(&server);
	}
	return 0;
}
