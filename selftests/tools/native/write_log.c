// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a log from a script on standard input, so that a test knows every event. The lines of the
 * script are:
 *
 *	ring BYTES			policy loop of the log, with a ring of this size
 *	cookie N			the cookie of the log
 *	series COOKIE PART PREVIOUS	the place of the log in a series: cookies of its first log,
 *					and of the log before
 *	cpus N				CPUs 0 to N - 1, system events on N; 4 without this line
 *	policy loop			policy of the stream; flush without this line
 *	name ID TEXT			name of event type ID; "\xNN" is a byte
 *	describe ID TEXT		description of event type ID; "\xNN" is a byte
 *	classes CLASS,... [bare]	classes of events of the kernel, or "all"; with the
 *					descriptions of their types, unless "bare"
 *	unknown FLAGS			a block of an unknown type
 *	boot DIGITS			boot id of the hosts below, up to 32 hexadecimal digits
 *	host NAME [MACHINE]		where the log was written; MACHINE as in "x86_64"
 *	born TIME			birth of the threads and processes below; default 0
 *	task PID TID TIME NAME		name of a thread from TIME on; "\xNN" is a byte
 *	program PID TIME TEXT		command line of a process from TIME on; "\xNN" is a byte
 *	mapping PID TIME ADDRESS LENGTH OFFSET BUILDID PATH
 *					a file that a process has mapped from TIME on; BUILDID is
 *					hexadecimal digits or "-"
 *	state NAME TIME SINCE STATE FLAGS CPU CALL ARG WORD OWNER KIND CALLNAME
 *					what the thread NAME did at TIME; STATE as a number,
 *					FLAGS as in struct posixtrace_state
 *	file THREAD TIME FD KIND FLAGS INODE [TEXT]
 *					a descriptor of the process, as in struct posixtrace_file
 *	clock CLOCK TIME VALUE ERROR [FLAGS]
 *					a pair of clocks: CLOCK as a number, 1024 for UTC; TIME and
 *					VALUE count from "since"; ERROR "-": unknown
 *	thread NAME PID TID THREAD	"@NAME" in the lines below stands for this thread
 *	since TIME			the times of the events below count from TIME
 *	block CPU			the following events come from this CPU
 *	event ID TIME [WORD]...		cpu=N pid=N tid=N thread=N @NAME address=N cut text=TEXT
 *					hex=DIGITS zeros=N; cpu=N is like "block N" before it;
 *					without tid=N, the kernel's thread id is unknown
 *	kernel TYPE TIME [WORD]...	event of the kernel, TYPE as "sched_wakeup": cpu=N pid=N
 *					tid=N thread=N @NAME cut hex=DIGITS FIELD=VALUE. Fields
 *					without a value are zero, except "tid": the thread's id.
 *					Numbers, labels, true; args=1,2,3; "\xNN" is a byte;
 *					waker_tid=@NAME and waker_pid=@NAME: ids of that thread
 *	lost N TIME			a gap before the next block: N events lost since TIME
 *	epoch				start of the next flush
 *	flushed				the status after a flush, for a log with a ring
 *	end [error=N] [lost=N] [continued]
 *					the end of the log; the first write error; the number of
 *					events that are not in the log; a next log continues it
 *
 * "ring" comes before all others, then "cookie", "cpus", "policy" and "classes". Processors may
 * come in any order. The events of each processor are in order of time, separately for events of
 * the kernel and other events.
 *
 * usage: write_log FILE
 */
#include <fcntl.h>
#include <linux/posixtrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_types.h"
#include "log_writer.h"

#define SUBBUF		(264U << 10)
#define BLOCK_SIZE	(4U << 10)	/* a larger block ends after its last event */
#define UNKNOWN		0x7777U
#define DATA_MAX	POSIXTRACE_DATA_SIZE_MAX
#define THREADS_MAX	256

struct log_thread {
	char name[32];
	int pid;
	int tid;
	__u64 id;
};

static struct log_writer log_file_writer;
static unsigned int line_number;
static int block_cpu = -1;
static bool in_block;
static __u64 time_base;
static __u64 born;
static struct log_thread threads[THREADS_MAX];
static unsigned int nr_threads;
static unsigned char event_data[DATA_MAX];

static void fail(const char *what)
{
	fprintf(stderr, "write_log: line %u: %s\n", line_number, what);
	exit(1);
}

static void end_block(void)
{
	if (in_block)
		log_block_end(&log_file_writer);
	in_block = false;
}

static int nibble(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	if (!at)
		fail("not a hexadecimal digit");
	return at - digits;
}

static size_t unescape(const char *from, unsigned char *to, size_t room)
{
	size_t len = 0;

	while (*from && len < room) {
		if (from[0] == '\\' && from[1] == 'x') {
			to[len++] = nibble(from[2]) << 4 | nibble(from[3]);
			from += 4;
		} else {
			to[len++] = *from++;
		}
	}
	return len;
}

static void add_name(char *rest)
{
	unsigned char name[64] = "";
	unsigned int id = strtoul(rest, &rest, 0);

	end_block();
	unescape(rest + 1, name, sizeof(name) - 1);
	log_name(&log_file_writer, id, (char *)name);
}

static void add_description(char *rest)
{
	unsigned char text[POSIXTRACE_DESCRIPTION_SIZE] = "";
	unsigned int id = strtoul(rest, &rest, 0);
	size_t len = unescape(rest + 1, text, sizeof(text) - 1);

	if (id < POSIXTRACE_ID_UNNAMED)
		log_kernel_type(&log_file_writer, id, (char *)text, len + 1);
	else
		log_description(&log_file_writer, id, (char *)text, len + 1);
}

static void set_boot(const char *digits)
{
	unsigned char *to = log_file_writer.boot_id;

	for (size_t i = 0; digits[2 * i]; i++) {
		if (i == sizeof(log_file_writer.boot_id))
			fail("more than 32 digits");
		to[i] = (unsigned char)(nibble(digits[2 * i]) << 4 | nibble(digits[2 * i + 1]));
	}
}

static void add_host(char *rest)
{
	const char *node = strtok(rest, " "), *machine = strtok(NULL, "");

	log_host_machine(&log_file_writer, node ? node : "", machine ? machine : "");
}

static void add_task(char *rest)
{
	int pid = strtol(rest, &rest, 0), tid = strtol(rest, &rest, 0);
	__u64 since = strtoull(rest, &rest, 0);
	unsigned char name[POSIXTRACE_LOG_TASK_NAME_SIZE] = "";

	unescape(rest + (*rest == ' '), name, sizeof(name) - 1);
	log_born_task(&log_file_writer, pid, tid, born, since, (char *)name);
}

static void add_program(char *rest)
{
	int pid = strtol(rest, &rest, 0);
	__u64 since = strtoull(rest, &rest, 0);
	unsigned char text[POSIXTRACE_LOG_PROGRAM_SIZE] = "";
	size_t len = unescape(rest + 1, text, sizeof(text) - 1);

	log_born_program(&log_file_writer, pid, born, since, (char *)text, len + 1);
}

static void add_mapping(char *rest)
{
	struct posixtrace_log_mapping mapping = { 0 };
	unsigned char path[POSIXTRACE_LOG_PATH_SIZE] = "";
	char *at;

	mapping.pid = strtol(rest, &rest, 0);
	mapping.start = born;
	mapping.since = strtoull(rest, &rest, 0);
	mapping.address = strtoull(rest, &rest, 0);
	mapping.length = strtoull(rest, &rest, 0);
	mapping.offset = strtoull(rest, &rest, 0);
	at = rest + 1;
	for (; *at && *at != ' ' && *at != '-'; at += 2) {
		if (mapping.build_id_size == sizeof(mapping.build_id))
			fail("a build id of more than 20 bytes");
		mapping.build_id[mapping.build_id_size++] = nibble(at[0]) << 4 | nibble(at[1]);
	}
	at += strcspn(at, " ");
	unescape(at + (*at == ' '), path, sizeof(path) - 1);
	log_mapping(&log_file_writer, &mapping, (char *)path);
}

static void add_classes(char *rest)
{
	struct log_writer *log = &log_file_writer;
	char *list = strtok(rest, " "), *bare = strtok(NULL, " ");
	const struct kernel_type *type;

	log->header.attr.classes = kernel_classes(list ? list : "");
	if (!log->header.attr.classes || (bare && strcmp(bare, "bare")))
		fail("unknown class");
	log_header(log);
	for (size_t i = 0; !bare && (type = kernel_type_at(i)); i++) {
		if (type->classes & log->header.attr.classes)
			log_kernel_type(log, type->id, type->description,
					strlen(type->description) + 1);
	}
}

static void add_thread(const char *rest)
{
	struct log_thread *thread = &threads[nr_threads];
	unsigned long long id;

	if (nr_threads == THREADS_MAX || sscanf(rest, "%31s %d %d %lli", thread->name, &thread->pid,
						&thread->tid, (long long *)&id) != 4)
		fail("not \"thread NAME PID TID THREAD\", or too many of them");
	thread->id = id;
	nr_threads++;
}

static const struct log_thread *find_thread(const char *name)
{
	for (unsigned int i = 0; i < nr_threads; i++) {
		if (!strcmp(threads[i].name, name))
			return &threads[i];
	}
	fail("\"@\" without the name of a thread");
	return NULL;
}

static void add_clock(const char *rest)
{
	struct posixtrace_log_clock clock = { .flags = 0 };
	unsigned long long time, value;
	char error[24];

	if (sscanf(rest, "%d %llu %llu %23s %u", &clock.clock, &time, &value, error,
		   &clock.flags) < 4)
		fail("wrong number of words after \"clock\"");
	clock.time = time_base + time;
	clock.value = time_base + value;
	clock.error = strcmp(error, "-") ? strtoull(error, NULL, 0) : ~0ULL;
	log_metadata(&log_file_writer, POSIXTRACE_LOG_CLOCKS, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1,
		     &clock, sizeof(clock));
}

static void add_file(const char *rest)
{
	struct posixtrace_file file = { .text = "" };
	unsigned long long time, inode;
	char name[32];

	if (sscanf(rest, "%31s %llu %d %u %u %llu %223[^\n]", name, &time, &file.fd, &file.kind,
		   &file.flags, &inode, file.text) < 6)
		fail("wrong number of words after \"file\"");
	file.time = time_base + time;
	file.inode = inode;
	file.pid = find_thread(name)->pid;
	log_metadata(&log_file_writer, POSIXTRACE_LOG_FILES, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1,
		     &file, sizeof(file));
}

static void add_state(const char *rest)
{
	struct posixtrace_state state = { .name = "" };
	unsigned long long time, since, arg;
	const struct log_thread *thread;
	char name[32];

	if (sscanf(rest, "%31s %llu %llu %u %u %u %u %lli %u %u %u %31s", name, &time, &since,
		   &state.state, &state.flags, &state.cpu, &state.call, (long long *)&arg,
		   &state.futex[0], &state.futex[2], &state.futex[4],
		   (char *)state.call_name) != 12)
		fail("wrong number of words after \"state\"");
	thread = find_thread(name);
	state.time = time_base + time;
	state.since = since ? time_base + since : 0;
	state.start = born;
	state.pid = thread->pid;
	state.tid = thread->tid;
	state.args[0] = arg;
	snprintf((char *)state.name, sizeof(state.name), "%.15s", name);
	log_metadata(&log_file_writer, POSIXTRACE_LOG_STATES, POSIXTRACE_LOG_BLOCK_OPTIONAL, 1,
		     &state, sizeof(state));
}

/* Handles a word that is valid for all events. */
static bool take_word(struct record *record, char *word)
{
	const struct log_thread *thread;

	if (word[0] == '@') {
		thread = find_thread(word + 1);
		record->pid = thread->pid;
		record->tid = thread->tid;
		record->thread_id = thread->id;
	} else if (!strncmp(word, "cpu=", 4)) {
		block_cpu = strtol(word + 4, NULL, 0);
	} else if (!strncmp(word, "pid=", 4)) {
		record->pid = strtol(word + 4, NULL, 0);
	} else if (!strncmp(word, "tid=", 4)) {
		record->tid = strtol(word + 4, NULL, 0);
	} else if (!strncmp(word, "thread=", 7)) {
		record->thread_id = strtoull(word + 7, NULL, 0);
	} else if (!strncmp(word, "hex=", 4)) {
		record->data_len = 0;
		for (word += 4; word[0]; word += 2)
			event_data[record->data_len++] = nibble(word[0]) << 4 | nibble(word[1]);
	} else if (!strcmp(word, "cut")) {
		record->flags = POSIXTRACE_RECORD_TRUNCATED;
	} else {
		return false;
	}
	return true;
}

static void put_event(__u32 type, const struct record *record)
{
	struct log_writer *log = &log_file_writer;

	if (block_cpu < 0)
		fail("an event before the first \"block\" or \"cpu=\"");
	if (in_block && (log->block.type != type || log->block.cpu != (__u32)block_cpu))
		end_block();
	if (!in_block)
		log_block_begin(log, type, block_cpu);
	in_block = true;
	log_record(log, record, event_data);
	if (log->block.size > BLOCK_SIZE)
		end_block();
}

static void add_end(char *rest)
{
	struct posixtrace_log_end *end = &log_file_writer.end;
	__u32 flags = POSIXTRACE_LOG_END_FINAL;
	char *word;

	for (word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
		if (!strncmp(word, "error=", 6))
			end->error = strtol(word + 6, NULL, 0);
		else if (!strncmp(word, "lost=", 5))
			end->lost = strtoull(word + 5, NULL, 0);
		else if (!strcmp(word, "continued"))
			flags |= POSIXTRACE_LOG_END_CONTINUED;
		else
			fail("unknown word of \"end\"");
	}
	log_end(&log_file_writer, flags);
}

static void add_event(char *rest)
{
	struct record record = { .pid = 4711 };
	char *word;

	record.event_id = strtoul(rest, &rest, 0);
	record.timestamp = time_base + strtoull(rest, &rest, 0);
	for (word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
		if (take_word(&record, word))
			continue;
		if (!strncmp(word, "address=", 8)) {
			record.prog_address = strtoull(word + 8, NULL, 0);
		} else if (!strncmp(word, "text=", 5)) {
			record.data_len = unescape(word + 5, event_data, sizeof(event_data));
		} else if (!strncmp(word, "zeros=", 6)) {
			record.data_len = strtoul(word + 6, NULL, 0);
			memset(event_data, 0, sizeof(event_data));
		} else {
			fail("unknown word of \"event\"");
		}
	}
	put_event(POSIXTRACE_LOG_EVENTS, &record);
}

static void set_field(const struct kernel_type *type, size_t *len, const char *name,
		      const char *value)
{
	unsigned char text[KERNEL_DATA_MAX + 1] = "";
	size_t text_len = unescape(value, text, KERNEL_DATA_MAX), end = strlen(name);
	const struct log_thread *thread;

	if (value[0] == '@') {
		thread = find_thread(value + 1);
		text_len = sprintf((char *)text, "%d",
				   end >= 3 && !strcmp(name + end - 3, "pid") ? thread->pid :
									       thread->tid);
	}
	if (!kernel_data_set(type, event_data, len, name, (char *)text, text_len))
		fail("the type has no such field or label");
}

static void add_kernel(char *rest)
{
	struct record record = { .pid = 4711, .tid = 4711 };
	const char *name = strtok(rest, " ");
	const struct kernel_type *type = name ? kernel_type_named(name) : NULL;
	char *word = strtok(NULL, " "), *value;
	size_t len;

	if (!type || !word)
		fail("unknown type of the kernel");
	record.event_id = type->id;
	record.timestamp = time_base + strtoull(word, NULL, 0);
	len = kernel_data_begin(type, event_data);
	while ((word = strtok(NULL, " "))) {
		if (take_word(&record, word))
			continue;
		value = strchr(word, '=');
		if (!value)
			fail("unknown word of \"kernel\"");
		*value++ = '\0';
		set_field(type, &len, word, value);
	}
	if (!record.data_len) {
		memcpy(event_data, &record.tid, sizeof(record.tid));
		record.data_len = len;
	}
	put_event(POSIXTRACE_LOG_KERNEL, &record);
}

static void set_series(char *rest)
{
	struct posixtrace_log_header *header = &log_file_writer.header;

	header->series = strtoull(rest, &rest, 0);
	header->part = strtoull(rest, &rest, 0);
	header->previous = strtoull(rest, &rest, 0);
	log_header(&log_file_writer);
}

static void begin(int log_policy, size_t ring)
{
	struct log_writer *log = &log_file_writer;

	log_begin(log, log_policy, POSIXTRACE_POLICY_FLUSH, 4, ring);
	log->header.subbuf_size = SUBBUF;
	log->header.attr.max_data_size = DATA_MAX;
	log_header(log);
}

static void run_line(char *line)
{
	struct log_writer *log = &log_file_writer;

	if (!strncmp(line, "event ", 6)) {
		add_event(line + 6);
		return;
	}
	if (!strncmp(line, "kernel ", 7)) {
		add_kernel(line + 7);
		return;
	}
	end_block();
	if (!strncmp(line, "ring ", 5)) {
		log_free(log);
		begin(POSIXTRACE_POLICY_LOOP, strtoul(line + 5, NULL, 0));
	} else if (!strncmp(line, "cookie ", 7)) {
		log->header.cookie = strtoull(line + 7, NULL, 0);
		log_header(log);
	} else if (!strncmp(line, "series ", 7)) {
		set_series(line + 7);
	} else if (!strncmp(line, "cpus ", 5)) {
		log->header.nr_cpus = strtoul(line + 5, NULL, 0);
		log_header(log);
	} else if (!strcmp(line, "policy loop")) {
		log->header.attr.stream_policy = POSIXTRACE_POLICY_LOOP;
		log_header(log);
	} else if (!strncmp(line, "name ", 5)) {
		add_name(line + 5);
	} else if (!strncmp(line, "describe ", 9)) {
		add_description(line + 9);
	} else if (!strncmp(line, "classes ", 8)) {
		add_classes(line + 8);
	} else if (!strncmp(line, "thread ", 7)) {
		add_thread(line + 7);
	} else if (!strncmp(line, "since ", 6)) {
		time_base = strtoull(line + 6, NULL, 0);
	} else if (!strncmp(line, "unknown ", 8)) {
		log_metadata(log, UNKNOWN, strtoul(line + 8, NULL, 0), 0, NULL, 0);
	} else if (!strncmp(line, "boot ", 5)) {
		set_boot(line + 5);
	} else if (!strncmp(line, "host ", 5)) {
		add_host(line + 5);
	} else if (!strncmp(line, "born ", 5)) {
		born = strtoull(line + 5, NULL, 0);
	} else if (!strncmp(line, "task ", 5)) {
		add_task(line + 5);
	} else if (!strncmp(line, "program ", 8)) {
		add_program(line + 8);
	} else if (!strncmp(line, "mapping ", 8)) {
		add_mapping(line + 8);
	} else if (!strncmp(line, "state ", 6)) {
		end_block();
		add_state(line + 6);
	} else if (!strncmp(line, "clock ", 6)) {
		end_block();
		add_clock(line + 6);
	} else if (!strncmp(line, "file ", 5)) {
		end_block();
		add_file(line + 5);
	} else if (!strncmp(line, "block ", 6)) {
		block_cpu = strtol(line + 6, NULL, 0);
	} else if (!strncmp(line, "lost ", 5)) {
		log->lost += strtoull(line + 5, &line, 0);
		log->gap_generation++;
		log->gap_first = strtoull(line, NULL, 0);
	} else if (!strcmp(line, "epoch")) {
		log->epoch++;
	} else if (!strcmp(line, "flushed")) {
		log_end(log, 0);
	} else if (!strncmp(line, "end", 3)) {
		add_end(line + 3);
	} else if (line[0]) {
		fail("unknown command");
	}
}

int main(int argc, char **argv)
{
	struct log_writer *log = &log_file_writer;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: write_log FILE\n");
		return 2;
	}
	begin(POSIXTRACE_POLICY_APPEND, 0);
	while ((len = getline(&line, &room, stdin)) > 0) {
		line_number++;
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		run_line(line);
	}
	end_block();
	free(line);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || log_write(log, fd, 0) || close(fd)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
