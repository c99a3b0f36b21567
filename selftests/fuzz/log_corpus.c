// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the initial inputs of log_fuzz: logs of all kinds, as files in the directory given
 * as argument.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "../include/log_writer.h"

static const char *dir;

/*
 * Saves the log once for each useful combination of the bits in the first byte of log_fuzz's input.
 */
static void save(const struct log_writer *log, const char *name)
{
	static const unsigned char how[] = { 0x00, 0x01, 0x03, 0x05, 0x0b };
	char path[4096];
	FILE *file;

	for (size_t i = 0; i < sizeof(how); i++) {
		snprintf(path, sizeof(path), "%s/%s-%d", dir, name, how[i]);
		file = fopen(path, "w");
		if (!file || fputc(how[i], file) == EOF ||
		    fwrite(log->data, log->len, 1, file) != 1 || fclose(file)) {
			perror(path);
			exit(1);
		}
	}
}

static void names(struct log_writer *log)
{
	struct posixtrace_log_mapping first = {
		.pid = 5, .since = LOG_TIME0, .address = 0x400000, .length = 0x1000,
		.offset = 0x1000, .build_id = "build id", .build_id_size = 8,
	};
	/* A second mapping of the process. */
	struct posixtrace_log_mapping second = {
		.pid = 4711, .since = LOG_TIME0, .address = 0x400000, .length = 0x100000,
	};

	/* The wall clock was set back by 10 ns. */
	static const struct posixtrace_log_clock clocks[] = {
		{ LOG_TIME0, LOG_TIME0, 1, 0, 0 },
		{ LOG_TIME0 + 20, LOG_TIME0 + 20, 1, 0, 0 },
		{ LOG_TIME0 + 20, LOG_TIME0 + 10, 1, 0, POSIXTRACE_LOG_CLOCK_STEPPED },
		{ LOG_TIME0, LOG_TIME0, 1000, POSIXTRACE_LOG_CLOCK_UTC, 0 },
	};

	log_host(log, "host");
	log_metadata(log, POSIXTRACE_LOG_CLOCKS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 4, clocks,
		     sizeof(clocks));
	log_task(log, 5, 6, 0, "thread");
	log_task(log, 5, 6, LOG_TIME0, "renamed");
	log_program(log, 5, LOG_TIME0, "program", 8);
	log_mapping(log, &first, "/bin/first");
	first.since = LOG_TIME0 + 10;
	log_mapping(log, &first, "/bin/again");
	log_mapping(log, &second, "");
}

/* @piece: bytes of records in a piece of a compressed block; 0: not compressed */
static void straight(int log_policy, int stream_policy, size_t piece, const char *name)
{
	struct log_writer log;

	log_begin(&log, log_policy, stream_policy, 3, 0);
	log.piece = piece;
	log.header.subbuf_size = POSIXTRACE_SUBBUF_SIZE_MIN;
	log_header(&log);
	log_name(&log, LOG_FIRST_NAMED, "first");
	log_description(&log, LOG_FIRST_NAMED, "{u32 id;text key;}", 19);
	names(&log);
	log_epochs(&log, 1, 2, 3);
	log_metadata(&log, 77, POSIXTRACE_LOG_BLOCK_OPTIONAL, 0, "to be skipped\0\0", 16);
	log_name(&log, LOG_FIRST_NAMED + 1, "second");
	log.gap_generation = 1;
	log.gap_first = LOG_TIME0 + 20;
	log.overwrite_watermark = LOG_TIME0 + 22;
	log_epochs(&log, 21, 1, 3);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 3);
	log_event_id(&log, POSIXTRACE_ID_STOP, 40, "\1\0\0\0", 4);
	log_event_id(&log, POSIXTRACE_ID_START, 41, "", 0);
	log_block_end(&log);
	save(&log, name);
	log_epochs(&log, 50, 4, 2);
	log_index(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	save(&log, piece ? "whole-packed" : "whole");
	log_free(&log);
}

static void cleared(void)
{
	struct log_writer log;

	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 2, 0);
	log_epochs(&log, 1, 2, 2);
	log_reset(&log);
	log_epochs(&log, 100, 2, 2);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	save(&log, "reset");
	log_free(&log);
}

/*
 * Writes a small ring log, whose names are closer together than any real writer would place them.
 */
static void ring(int blocks, size_t piece, const char *name)
{
	struct log_writer log;

	log_begin(&log, POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_LOOP, 2, 2048);
	log.piece = piece;
	log.header.data_offset = log.header.names_offset +
				 8 * sizeof(struct posixtrace_log_name);
	log.len = log.header.data_offset;
	log.pos = log.len;
	log.oldest = log.len;
	log.header.metadata_offset = log.header.data_offset + log.header.ring_size;
	log.metadata_pos = log.header.metadata_offset;
	log_header(&log);
	log_name(&log, LOG_FIRST_NAMED, "first");
	log_name(&log, LOG_FIRST_NAMED + 1, "second");
	for (int i = 0; i < blocks; i++)
		log_epochs(&log, 10 * i, 1, 1 + i % 3);
	log_description(&log, LOG_FIRST_NAMED, "{u32 id;text key;}", 19);
	log_description(&log, LOG_FIRST_NAMED + 1, "{f64 x;}", 9);
	names(&log);
	log_index(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	save(&log, name);
	log_free(&log);
}

/*
 * Writes a log of 3000 CPUs. The reader then keeps less of each block in memory than a block has
 * here.
 */
static void many_cpus(void)
{
	unsigned char data[250] = { 0 };
	struct log_writer log;

	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 3000, 0);
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 2999);
	for (int i = 0; i < 20; i++)
		log_event_id(&log, POSIXTRACE_ID_UNNAMED, i, data, sizeof(data) - i);
	log_block_end(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	save(&log, "many-cpus");
	log_free(&log);
}

/* Writes compressed kernel events, and blocks that unpack to many times their size. */
static void compressed(void)
{
	struct record record = { .event_id = POSIXTRACE_ID_PAGE_FAULT, .pid = 5, .tid = 6 };
	const unsigned char data[24] = { 6 };
	unsigned char zeros[200] = { 0 };
	struct log_writer log;

	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 2, 0);
	log.header.attr.classes = POSIXTRACE_CLASS_FAULT;
	log_header(&log);
	log.piece = 1024;
	record.data_len = sizeof(data);
	for (int cpu = 0; cpu < 2; cpu++) {
		log_block_begin(&log, POSIXTRACE_LOG_KERNEL, cpu);
		for (int i = 0; i < 50; i++) {
			record.timestamp = LOG_TIME0 + 10 * i;
			log_record(&log, &record, data);
		}
		log_block_end(&log);
	}
	log_block_begin(&log, POSIXTRACE_LOG_EVENTS, 0);
	for (int i = 0; i < 30; i++)
		log_event_id(&log, POSIXTRACE_ID_UNNAMED, 600 + i, zeros, sizeof(zeros));
	log_block_end(&log);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	save(&log, "kernel-packed");
	log_free(&log);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 1;
	}
	dir = argv[1];
	straight(POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 0, "append");
	straight(POSIXTRACE_POLICY_UNTIL_FULL, POSIXTRACE_POLICY_LOOP, 0, "until-full");
	straight(POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 64, "append-packed");
	straight(POSIXTRACE_POLICY_UNTIL_FULL, POSIXTRACE_POLICY_LOOP, 4096, "until-full-packed");
	compressed();
	cleared();
	many_cpus();
	ring(1, 0, "ring-begin");
	ring(3, 0, "ring-first");
	ring(9, 0, "ring-wrapped");
	ring(9, 4096, "ring-packed");
	return 0;
}
