// SPDX-License-Identifier: GPL-2.0
/*
 * What a log costs: how long a flush takes, against a plain write() of the same bytes,
 * and what a program that records notices of it. Rounds of both take turns; what is
 * told is the median of their ratios.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#define ROUNDS		9
#define STREAM_SIZE	(8UL << 20)
#define DATA_SIZE	104
#define FLUSHED		40000	/* events in one flush: most of the stream */
#define MEASURED	40000	/* events that are timed */

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "log_bench: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void check_errno(int failed, const char *what)
{
	check(failed ? errno : 0, what);
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(const char *metric, double *values, const char *unit)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	printf("%-24s %8.2f %s (of %d rounds: %.2f to %.2f)\n", metric, values[ROUNDS / 2],
	       unit, ROUNDS, values[0], values[ROUNDS - 1]);
	printf("bench: %s %.3f %s\n", metric, values[ROUNDS / 2], unit);
}

static int open_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	check_errno(fd < 0, "open /tmp");
	return fd;
}

static off_t size_of(int fd)
{
	struct stat stat;

	check_errno(fstat(fd, &stat), "fstat");
	return stat.st_size;
}

static trace_id_t new_stream(int fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamsize(&attr, STREAM_SIZE), "setstreamsize");
	check(posix_trace_attr_setmaxdatasize(&attr, 256), "setmaxdatasize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setstreampolicy");
	check(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogpolicy");
	check(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	check(posix_trace_start(trid), "start");
	return trid;
}

static void record(int count)
{
	static const char data[DATA_SIZE];

	while (count--)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
}

static void flush(trace_id_t trid)
{
	struct posix_trace_status_info status;

	check(posix_trace_flush(trid), "flush");
	do {
		check(posix_trace_get_status(trid, &status), "get_status");
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	check(status.posix_stream_flush_error, "flushing");
}

/* Seconds for so many bytes, in pieces of the size of a sub-buffer. */
static double write_plainly(int fd, off_t bytes)
{
	static char piece[4096];
	double begin = seconds();
	ssize_t n;

	for (; bytes > 0; bytes -= n) {
		n = write(fd, piece, bytes < (off_t)sizeof(piece) ? (size_t)bytes : sizeof(piece));
		check_errno(n <= 0, "write");
	}
	return seconds() - begin;
}

static void bench_writing(void)
{
	double ratio[ROUNDS], rate[ROUNDS], plain, begin, flushed;
	int log = open_file(), file = open_file();
	trace_id_t trid = new_stream(log);
	off_t before, bytes;

	for (int i = 0; i < ROUNDS; i++) {
		record(FLUSHED);
		before = size_of(log);
		begin = seconds();
		flush(trid);
		flushed = seconds() - begin;
		bytes = size_of(log) - before;
		/* Pages that are new, as those of the log are. */
		check_errno(ftruncate(file, 0), "ftruncate");
		check_errno(lseek(file, 0, SEEK_SET) < 0, "lseek");
		plain = write_plainly(file, bytes);
		ratio[i] = flushed / plain;
		rate[i] = (double)bytes / flushed / 1e6;
	}
	check(posix_trace_shutdown(trid), "shutdown");
	close(file);
	close(log);
	tell("log_write_ratio", ratio, "times");
	tell("log_write_rate", rate, "MB/s");
}

static int ended;

static void *flush_until_end(void *arg)
{
	trace_id_t *trid = arg;

	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		flush(*trid);
	return NULL;
}

static double time_recording(void)
{
	double begin = seconds();

	record(MEASURED);
	return seconds() - begin;
}

static void bench_recording(void)
{
	double ratio[ROUNDS], alone;
	trace_id_t trid;
	pthread_t thread;
	int log;

	for (int i = 0; i < ROUNDS; i++) {
		log = open_file();
		trid = new_stream(log);
		record(1000);
		alone = time_recording();
		ended = 0;
		check(pthread_create(&thread, NULL, flush_until_end, &trid), "pthread_create");
		ratio[i] = time_recording() / alone;
		__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		check(posix_trace_shutdown(trid), "shutdown");
		close(log);
	}
	tell("log_record_ratio", ratio, "times");
}

int main(void)
{
	bench_writing();
	bench_recording();
	return 0;
}
