// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a log: how long a flush takes compared with a plain write() of the same
 * number of bytes, how much a log slows down a recording program, and what compression costs and
 * saves. Rounds with and without the log (or compression) alternate. The result is the median of
 * their ratios.
 */
#include <errno.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#define ROUNDS		11
#define STREAM_SIZE	(8UL << 20)
#define LOG_SIZE	(256UL << 20)	/* large enough never to overwrite */
#define DATA_SIZE	104
#define PIECE		4096	/* bytes of one plain write() */
#define FLUSHED		40000	/* events in one flush: most of the stream */
#define MEASURED	40000	/* events recorded while measuring time */

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

static double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
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

/*
 * Returns the bytes of a file without holes, because a LOOP log has its full length from the start.
 */
static off_t bytes_in(int fd)
{
	struct stat stat;

	check_errno(fstat(fd, &stat), "fstat");
	return stat.st_blocks * 512;
}

static trace_id_t new_stream(int fd, int policy, int compression)
{
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamsize(&attr, STREAM_SIZE), "setstreamsize");
	check(posix_trace_attr_setmaxdatasize(&attr, 256), "setmaxdatasize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setstreampolicy");
	check(posix_trace_attr_setlogfullpolicy(&attr, policy), "setlogpolicy");
	check(posix_trace_attr_setlogsize(&attr, LOG_SIZE), "setlogsize");
	check(posixtrace_attr_setcompression(&attr, compression), "setcompression");
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

/* Flushes, and polls every 50 us if the flush is done. Busy polling would slow down the flush. */
static void flush(trace_id_t trid)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	struct posix_trace_status_info status;

	check(posix_trace_flush(trid), "flush");
	do {
		nanosleep(&pause, NULL);
		check(posix_trace_get_status(trid, &status), "get_status");
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	check(status.posix_stream_flush_error, "flushing");
}

/* Returns the seconds to write @len bytes in pieces. */
static double write_plainly(int fd, off_t len)
{
	char *bytes = malloc(len);
	double begin, end;
	ssize_t n;

	check(!bytes ? ENOMEM : 0, "malloc");
	memset(bytes, 1, len);
	begin = seconds();
	for (off_t done = 0; done < len; done += n) {
		n = write(fd, bytes + done, len - done < PIECE ? (size_t)(len - done) : PIECE);
		check_errno(n <= 0, "write");
	}
	end = seconds();
	free(bytes);
	return end - begin;
}

/*
 * In a virtual machine, the first use of memory costs more than a write to it. Touch as much memory
 * as all rounds need, so that their files get memory that was used before.
 */
static void use_memory(void)
{
	static const char page[4096];
	int fd = open_file();

	for (int i = 0; i < 3 * ROUNDS * FLUSHED / 25; i++)
		check_errno(write(fd, page, sizeof(page)) < 0, "write");
	close(fd);
}

static void bench_writing(int policy, const char *ratio_name, const char *rate_name)
{
	double ratio[ROUNDS], rate[ROUNDS], flushed, plain, begin;
	int log = open_file(), file = open_file();
	trace_id_t trid = new_stream(log, policy, POSIXTRACE_COMPRESS_NONE);
	off_t before, len;

	for (int i = 0; i < ROUNDS; i++) {
		record(FLUSHED);
		before = bytes_in(log);
		begin = seconds();
		flush(trid);
		flushed = seconds() - begin;
		len = bytes_in(log) - before;
		check(len <= 0 ? ENODATA : 0, "flush");
		plain = write_plainly(file, len);
		ratio[i] = flushed / plain;
		rate[i] = (double)len / flushed / 1e6;
	}
	check(posix_trace_shutdown(trid), "shutdown");
	close(file);
	close(log);
	tell(ratio_name, ratio, "times");
	tell(rate_name, rate, "MB/s");
}

static int ended;

static void *flush_until_end(void *arg)
{
	trace_id_t *trid = arg;

	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		flush(*trid);
	return NULL;
}

/* Returns the processor time of this thread, which does not include the flush. */
static double time_recording(void)
{
	double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);

	record(MEASURED);
	return seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void bench_recording(void)
{
	double ratio[ROUNDS], alone;
	trace_id_t trid;
	pthread_t thread;
	int log;

	for (int i = 0; i < ROUNDS; i++) {
		log = open_file();
		trid = new_stream(log, POSIX_TRACE_APPEND, POSIXTRACE_COMPRESS_NONE);
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

/* ------------------------------------------------------------------ */
/* Compression								*/

/*
 * Largest number of loop iterations between two events: 1 us in a guest that counts instructions.
 */
#define PAUSE		512

static unsigned int next_random(void)
{
	static unsigned long long state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

/* Records events like those of a program: alternately a counter with a size, and a small number. */
static void record_varied(int count)
{
	static unsigned long long number;
	unsigned long long pair[2];
	int small;

	while (count--) {
		if (number++ % 2) {
			small = next_random() % 256;
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &small, sizeof(small));
		} else {
			pair[0] = number;
			pair[1] = next_random() % 4096;
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, pair, sizeof(pair));
		}
		for (int i = next_random() % PAUSE; i > 0; i--)
			__asm__ volatile("");
	}
}

static off_t size_of(int fd)
{
	struct stat stat;

	check_errno(fstat(fd, &stat), "fstat");
	return stat.st_size;
}

/* Checks if the log is compressed. It is not if the kernel has no compressor. */
static int is_compressed(trace_id_t trid)
{
	trace_attr_t attr;
	int compression;

	check(posix_trace_get_attr(trid, &attr), "get_attr");
	check(posixtrace_attr_getcompression(&attr, &compression), "getcompression");
	return compression == POSIXTRACE_COMPRESS_LZ4;
}

struct packing {
	int fd;
	trace_id_t trid;
	double bytes[ROUNDS];
	double ns[ROUNDS];
};

static void open_packing(struct packing *packing, int compression)
{
	packing->fd = open_file();
	packing->trid = new_stream(packing->fd, POSIX_TRACE_APPEND, compression);
	flush(packing->trid);
}

static void flush_packing(struct packing *packing, int round)
{
	off_t before = size_of(packing->fd);
	double begin = seconds();

	flush(packing->trid);
	packing->ns[round] = (seconds() - begin) * 1e9 / FLUSHED;
	packing->bytes[round] = (double)(size_of(packing->fd) - before) / FLUSHED;
}

static void close_packing(struct packing *packing)
{
	check(posix_trace_shutdown(packing->trid), "shutdown");
	close(packing->fd);
}

/* Records the same events into a stream with and one without compression. */
static void bench_packing(void)
{
	static struct packing plain, packed;
	double more[ROUNDS];
	int has_packed;

	open_packing(&plain, POSIXTRACE_COMPRESS_NONE);
	open_packing(&packed, POSIXTRACE_COMPRESS_LZ4);
	has_packed = is_compressed(packed.trid);
	for (int i = 0; has_packed && i < ROUNDS; i++) {
		record_varied(FLUSHED);
		flush_packing(&plain, i);
		flush_packing(&packed, i);
		more[i] = packed.ns[i] - plain.ns[i];
	}
	close_packing(&plain);
	close_packing(&packed);
	if (!has_packed) {
		puts("log_bench: this kernel cannot compress logs");
		return;
	}
	tell("log_plain_bytes", plain.bytes, "bytes");
	tell("log_packed_bytes", packed.bytes, "bytes");
	tell("log_plain_flush", plain.ns, "ns");
	tell("log_packed_flush", packed.ns, "ns");
	tell("log_packing", more, "ns");
}

int main(void)
{
	use_memory();
	bench_writing(POSIX_TRACE_APPEND, "log_write_ratio", "log_write_rate");
	bench_writing(POSIX_TRACE_LOOP, "log_loop_write_ratio", "log_loop_write_rate");
	bench_recording();
	bench_packing();
	return 0;
}
