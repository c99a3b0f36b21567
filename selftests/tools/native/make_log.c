// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a large log with the given number of events, types and CPUs. Each CPU has one thread. A
 * quarter of the events are work_begin and work_end. Prints the number of events of each type as
 * "COUNT NAME". The same arguments give the same log.
 *
 * usage: make_log FILE EVENTS [CPUS [TYPES [SEED]]]
 */
#include <fcntl.h>
#include <linux/posixtrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log_writer.h"

#define SUBBUF		(64U << 10)
#define PER_EPOCH	256	/* events on all CPUs */
#define CPUS_MAX	64
#define TYPES_MAX	1000
#define WORK_BEGIN	LOG_FIRST_NAMED
#define WORK_END	(LOG_FIRST_NAMED + 1)
#define OTHERS		(LOG_FIRST_NAMED + 2)

struct planned {
	__u32 cpu;
	__u32 id;
	__u64 time;
	__u64 number;
	size_t len;
};

static struct log_writer writer;
static int fd;
static __u64 state;
static __u64 counts[POSIXTRACE_ID_MAX];

/* xorshift64: gives the same sequence everywhere. */
static __u64 next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Writes the data built so far to the file, and empties the buffer. */
static void write_out(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < writer.len) {
		n = write(fd, writer.data + done, writer.len - done);
		if (n <= 0) {
			perror("make_log");
			exit(1);
		}
		done += n;
	}
	writer.len = 0;
}

static void plan(struct planned *event, __u64 *time, __u64 number, unsigned int cpus,
		 unsigned int types)
{
	static bool working[CPUS_MAX];

	*time += next_random() % 2000 + 1;
	event->cpu = next_random() % cpus;
	event->time = *time;
	event->number = number;
	event->len = next_random() % (sizeof(number) + 1);
	if (next_random() % 4) {
		event->id = OTHERS + next_random() % types;
	} else {
		event->id = working[event->cpu] ? WORK_END : WORK_BEGIN;
		working[event->cpu] = !working[event->cpu];
	}
	counts[event->id]++;
}

static void write_epoch(const struct planned *event, unsigned int count, unsigned int cpus)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		bool begun = false;

		for (unsigned int i = 0; i < count; i++) {
			if (event[i].cpu != cpu)
				continue;
			if (!begun)
				log_block_begin(&writer, POSIXTRACE_LOG_EVENTS, cpu);
			begun = true;
			log_event_id(&writer, event[i].id, event[i].time, &event[i].number,
				     event[i].len);
		}
		if (begun)
			log_block_end(&writer);
	}
	writer.epoch++;
	write_out();
}

static unsigned long argument(char **argv, int argc, int i, unsigned long unless, unsigned long max)
{
	unsigned long value = i < argc ? strtoul(argv[i], NULL, 0) : unless;

	if (!value || value > max) {
		fprintf(stderr, "make_log: number %d: must be from 1 to %lu (got \"%s\")\n", i,
			max, i < argc ? argv[i] : "");
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	unsigned long events = argument(argv, argc, 2, 0, 1000000000);
	unsigned int cpus = argument(argv, argc, 3, 4, CPUS_MAX);
	unsigned int types = argument(argv, argc, 4, 10, TYPES_MAX);
	struct planned planned[PER_EPOCH];
	unsigned int count = 0;
	__u64 time = 0;
	char name[32];

	state = argument(argv, argc, 5, 1, ~0UL);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	log_begin(&writer, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_LOOP, cpus, 0);
	writer.header.subbuf_size = SUBBUF;
	log_header(&writer);
	log_name(&writer, WORK_BEGIN, "work_begin");
	log_name(&writer, WORK_END, "work_end");
	for (unsigned int i = 0; i < types; i++) {
		snprintf(name, sizeof(name), "event-%u", i);
		log_name(&writer, OTHERS + i, name);
	}
	write_out();
	for (unsigned long i = 0; i < events; i++) {
		plan(&planned[count++], &time, i, cpus, types);
		if (count == PER_EPOCH || i + 1 == events) {
			write_epoch(planned, count, cpus);
			count = 0;
		}
	}
	log_end(&writer, POSIXTRACE_LOG_END_FINAL);
	write_out();
	if (close(fd)) {
		perror(argv[1]);
		return 1;
	}
	printf("%llu work_begin\n%llu work_end\n", (unsigned long long)counts[WORK_BEGIN],
	       (unsigned long long)counts[WORK_END]);
	for (unsigned int i = 0; i < types; i++)
		printf("%llu event-%u\n", (unsigned long long)counts[OTHERS + i], i);
	return 0;
}
