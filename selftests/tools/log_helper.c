// SPDX-License-Identifier: GPL-2.0
/*
 * A program that records on command, optionally into a log. It reads commands of one byte from
 * standard input: 'e' records "work_begin", "round" and "work_end" ten times; 'f' flushes the
 * log; 'c' clears the stream; other bytes have no effect. It answers each command on standard
 * output. At the end of the input it completes the log and exits.
 *
 * usage: log_helper [LOG [full|loop]]    a small log that stops when full, or overwrites events
 */
#include <fcntl.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

/* The smallest log with this policy: two blocks, which are a sub-buffer and STOP. */
#define FULL_LOG_SIZE	(12 << 10 | 56)
#define LOOP_LOG_SIZE	(2 * (12 << 10 | 128))

static trace_event_id_t round_id, begin_id, end_id;

static int open_types(void)
{
	int err = posix_trace_eventid_open("round", &round_id);

	if (!err)
		err = posix_trace_eventid_open("work_begin", &begin_id);
	return err ? err : posix_trace_eventid_open("work_end", &end_id);
}

static int open_log(const char *path, int policy, trace_id_t *trid)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	trace_attr_t attr;
	int err = fd < 0 ? 1 : posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setlogfullpolicy(&attr, policy);
	if (!err && policy != POSIX_TRACE_APPEND)
		err = posix_trace_attr_setlogsize(&attr, policy == POSIX_TRACE_LOOP ?
						  LOOP_LOG_SIZE : FULL_LOG_SIZE);
	if (!err)
		err = posix_trace_create_withlog(0, &attr, fd, trid);
	return err ? err : posix_trace_start(*trid);
}

static void record_rounds(void)
{
	static int number;

	for (int i = 0; i < 10; i++) {
		posix_trace_event(begin_id, NULL, 0);
		posix_trace_event(round_id, &number, sizeof(number));
		posix_trace_event(end_id, NULL, 0);
		number++;
	}
}

int main(int argc, char **argv)
{
	int policy = POSIX_TRACE_APPEND;
	trace_id_t trid;
	char byte;

	if (argc > 2)
		policy = strcmp(argv[2], "full") ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL;
	if (open_types())
		return 101;
	if (argc > 1 && open_log(argv[1], policy, &trid))
		return 102;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == 'e')
			record_rounds();
		/* Ignore the result: a flush may already be in progress, or the log may be full. */
		if (byte == 'f' && argc > 1)
			posix_trace_flush(trid);
		if (byte == 'c' && argc > 1 && posix_trace_clear(trid))
			return 105;
		if (write(STDOUT_FILENO, &byte, 1) != 1)
			return 103;
	}
	return argc > 1 && posix_trace_shutdown(trid) ? 104 : 0;
}
