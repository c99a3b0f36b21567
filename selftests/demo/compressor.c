// SPDX-License-Identifier: GPL-2.0
/*
 * A parallel gzip: worker threads compress blocks of files. The output is one gzip file of many
 * members, which any gunzip reads.
 *
 * It is an ordinary program with trace points. It works the same with and without a tracer, and
 * without the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>
#include <zlib.h>

#include "events.h"

#define GZIP_WINDOW_BITS	(15 + 16)	/* zlib: with gzip header and trailer */

/* The event types of the trace points. */
static struct {
	trace_event_id_t thread, read, compress, packed, write, done;
} event;

struct job {
	char **files;
	int nr_files;
	int out_fd;
	int level;
	unsigned int workers;
	size_t block_size;

	pthread_mutex_t lock;	/* guards all members below */
	pthread_cond_t turn;	/* next_write or failed has changed */
	int file;		/* index of the current input file */
	int in_fd;		/* descriptor of the current input file; -1: not open */
	__u64 offset;		/* offset of the next block in the current input file */
	__u64 next_read;	/* number of the next block to read */
	__u64 next_write;	/* number of the next block to write */
	__u64 size_in;
	__u64 size_out;
	bool failed;
};

struct worker {
	pthread_t thread;
	struct job *job;
	__u32 number;
	unsigned char *in;
	unsigned char *out;
	size_t out_room;
};

static void define_event(const char *name, trace_event_id_t *id)
{
	*id = POSIX_TRACE_UNNAMED_USER_EVENT;
	posix_trace_eventid_open(name, id);	/* on failure, id stays the unnamed type */
}

static void define_events(void)
{
	define_event(EVENT_THREAD, &event.thread);
	define_event(EVENT_READ, &event.read);
	define_event(EVENT_COMPRESS, &event.compress);
	define_event(EVENT_PACKED, &event.packed);
	define_event(EVENT_WRITE, &event.write);
	define_event(EVENT_DONE, &event.done);
}

static void fail(struct job *job, const char *what)
{
	fprintf(stderr, "compressor: %s: %s\n", what, strerror(errno));
	pthread_mutex_lock(&job->lock);
	job->failed = true;
	pthread_cond_broadcast(&job->turn);
	pthread_mutex_unlock(&job->lock);
}

static ssize_t read_full(int fd, unsigned char *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

static int write_full(int fd, const unsigned char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		buf += n;
		len -= n;
	}
	return 0;
}

/*
 * Reads the next block of the input. Returns 1; 0 at the end; -1 with errno and block->file after
 * an error. Only one thread reads at a time, so that pipes work as input.
 */
static int read_block(struct worker *worker, struct block_data *block)
{
	struct job *job = worker->job;
	ssize_t len;
	int ret = 0;

	pthread_mutex_lock(&job->lock);
	while (!job->failed && job->file < job->nr_files) {
		if (job->in_fd < 0) {
			job->in_fd = open(job->files[job->file], O_RDONLY | O_CLOEXEC);
			job->offset = 0;
		}
		len = job->in_fd < 0 ? -1 : read_full(job->in_fd, worker->in, job->block_size);
		if (len < 0) {
			block->file = job->file;
			ret = -1;
			break;
		}
		if (len > 0) {
			*block = (struct block_data) {
				.number = job->next_read++,
				.offset = job->offset,
				.file = job->file,
				.size_in = len,
			};
			job->offset += len;
			job->size_in += len;
			ret = 1;
			break;
		}
		close(job->in_fd);
		job->in_fd = -1;
		job->file++;
	}
	if (!job->failed && !ret && !job->next_read) {
		/* Empty input also becomes a gzip file with one member. */
		*block = (struct block_data) { .number = job->next_read++ };
		ret = 1;
	}
	pthread_mutex_unlock(&job->lock);
	return ret;
}

static int compress_block(struct worker *worker, z_stream *stream, struct block_data *block)
{
	stream->next_in = worker->in;
	stream->avail_in = block->size_in;
	stream->next_out = worker->out;
	stream->avail_out = worker->out_room;
	if (deflate(stream, Z_FINISH) != Z_STREAM_END) {
		errno = EIO;
		return -1;
	}
	block->size_out = worker->out_room - stream->avail_out;
	deflateReset(stream);
	return 0;
}

/* Waits for the turn of the block: blocks are written in the order in which they were read. */
static int write_block(struct worker *worker, struct block_data *block)
{
	struct job *job = worker->job;
	int ret = 0;

	pthread_mutex_lock(&job->lock);
	while (!job->failed && job->next_write != block->number)
		pthread_cond_wait(&job->turn, &job->lock);
	if (!job->failed) {
		block->offset = job->size_out;
		ret = write_full(job->out_fd, worker->out, block->size_out);
		if (!ret) {
			posix_trace_event(event.write, block, sizeof(*block));
			job->size_out += block->size_out;
			job->next_write++;
			pthread_cond_broadcast(&job->turn);
		}
	}
	pthread_mutex_unlock(&job->lock);
	return ret;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct job *job = worker->job;
	struct thread_data hello = { worker->number, job->workers };
	struct block_data block;
	z_stream stream = { 0 };
	int ret;

	posix_trace_event(event.thread, &hello, sizeof(hello));

	if (deflateInit2(&stream, job->level, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		errno = ENOMEM;
		fail(job, "zlib");
		return NULL;
	}
	worker->out_room = deflateBound(&stream, job->block_size);
	worker->in = malloc(job->block_size);
	worker->out = malloc(worker->out_room);
	if (!worker->in || !worker->out) {
		fail(job, "memory");
		goto out_free;
	}

	while ((ret = read_block(worker, &block)) > 0) {
		posix_trace_event(event.read, &block, sizeof(block));
		posix_trace_event(event.compress, &block, sizeof(block));
		if (compress_block(worker, &stream, &block)) {
			fail(job, "zlib");
			goto out_free;
		}
		posix_trace_event(event.packed, &block, sizeof(block));
		if (write_block(worker, &block)) {
			fail(job, "output");
			goto out_free;
		}
	}
	if (ret < 0)
		fail(job, job->files[block.file]);

out_free:
	free(worker->out);
	free(worker->in);
	deflateEnd(&stream);
	return NULL;
}

static int run(struct job *job)
{
	struct worker *workers = calloc(job->workers, sizeof(*workers));
	unsigned int started;
	struct done_data done;

	if (!workers) {
		perror("compressor");
		return -1;
	}
	for (started = 0; started < job->workers; started++) {
		workers[started].job = job;
		workers[started].number = started + 1;
		errno = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
		if (errno) {
			fail(job, "thread");
			break;
		}
	}
	while (started--)
		pthread_join(workers[started].thread, NULL);
	free(workers);
	if (job->failed)
		return -1;

	done = (struct done_data) { job->next_write, job->size_in, job->size_out };
	posix_trace_event(event.done, &done, sizeof(done));
	return 0;
}

/* Waits for a byte from the controller, which sends it when its stream runs. */
static int wait_for_go(int fd)
{
	unsigned char go;

	if (read_full(fd, &go, 1) != 1) {
		fprintf(stderr, "compressor: --wait-fd: closed before it had a byte\n");
		return -1;
	}
	close(fd);
	return 0;
}

static unsigned long parse_number(const char *option, const char *arg, unsigned long min,
				  unsigned long max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(arg, &end, 10);
	if (errno || *end || end == arg || value < min || value > max) {
		fprintf(stderr, "compressor: %s: must be a number from %lu to %lu (got \"%s\")\n",
			option, min, max, arg);
		exit(2);
	}
	return value;
}

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: compressor [OPTION]... -o OUTPUT FILE...\n"
		"Compress the FILEs into one gzip file.\n\n"
		"  -b, --block=KIB     block size (128)\n"
		"  -h, --help          print this help\n"
		"  -j, --jobs=N        number of worker threads (one per CPU)\n"
		"  -l, --level=1..9    compression level (6)\n"
		"  -o, --output=FILE   write this file\n"
		"  -w, --wait-fd=FD    wait for a byte from this descriptor before work begins\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "block", required_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "level", required_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ "wait-fd", required_argument, NULL, 'w' },
		{ }
	};
	struct job job = {
		.level = 6,
		.block_size = 128 << 10,
		.in_fd = -1,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turn = PTHREAD_COND_INITIALIZER,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const char *output = NULL;
	int wait_fd = -1;
	int opt;

	job.workers = cpus > 0 ? cpus : 1;
	while ((opt = getopt_long(argc, argv, "b:hj:l:o:w:", options, NULL)) != -1) {
		switch (opt) {
		case 'b':
			job.block_size = parse_number("--block", optarg, 1, 65536) << 10;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'j':
			job.workers = parse_number("--jobs", optarg, 1, 256);
			break;
		case 'l':
			job.level = parse_number("--level", optarg, 1, 9);
			break;
		case 'o':
			output = optarg;
			break;
		case 'w':
			wait_fd = parse_number("--wait-fd", optarg, 0, 1 << 20);
			break;
		default:
			usage(stderr);
			return 2;
		}
	}
	job.files = argv + optind;
	job.nr_files = argc - optind;
	if (!output || !job.nr_files) {
		usage(stderr);
		return 2;
	}

	define_events();
	if (wait_fd >= 0 && wait_for_go(wait_fd))
		return 1;

	job.out_fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (job.out_fd < 0) {
		fprintf(stderr, "compressor: %s: %s\n", output, strerror(errno));
		return 1;
	}
	if (run(&job))
		return 1;
	if (close(job.out_fd)) {
		fprintf(stderr, "compressor: %s: %s\n", output, strerror(errno));
		return 1;
	}
	return 0;
}
