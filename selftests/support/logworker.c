// SPDX-License-Identifier: GPL-2.0
/* Threads in WRITE_LOG, and what the logs contain that they write. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logworker.h"
#include "process.h"

static void *serve(void *arg)
{
	struct worker *worker = arg;

	__atomic_store_n(&worker->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	worker->ret = command(worker->fd, POSIXTRACE_IOC_WRITE_LOG, NULL);
	__atomic_store_n(&worker->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

bool worker_start(struct worker *worker, int fd)
{
	*worker = (struct worker){ .fd = fd };
	return !pthread_create(&worker->thread, NULL, serve, worker) &&
	       falls_asleep(&worker->tid, &worker->done);
}

int worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
	return worker->ret;
}

void *copy_all(void *arg)
{
	char page[4096];
	struct copy *copy = arg;
	ssize_t n;

	while ((n = read(copy->from, page, sizeof(page))) > 0) {
		if (write(copy->to, page, n) != n)
			break;
	}
	return NULL;
}

long count_events(int fd, unsigned int end_flags)
{
	struct posixtrace_log_end end = { 0 };
	const struct posixtrace_log_block *block;
	unsigned long long seq = 1;
	struct logfile log;
	long events = 0;
	size_t pos;

	if (logfile_read(&log, fd))
		return -1;
	pos = log.header.data_offset;
	while ((block = logfile_block(&log, pos, seq++))) {
		if (block->type == POSIXTRACE_LOG_EVENTS && block->cpu < log.header.nr_cpus)
			events += block->count;
		if (block->type == POSIXTRACE_LOG_END)
			memcpy(&end, block + 1, sizeof(end));
		pos = logfile_next(block, pos);
	}
	if (pos != log.size || end.flags != end_flags || end.error)
		events = -1;
	logfile_free(&log);
	return events < 0 ? events : events + (long)end.lost;
}
