// SPDX-License-Identifier: GPL-2.0
/* A simple writer to the mapped sub-buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "writer.h"

int writer_open(struct writer *writer, struct target *target, unsigned int slot, unsigned int n)
{
	const struct posixtrace_slot *where = &target->slots[slot];
	void *heads, *pool, *wakeup;

	heads = map_range(target->fd, &where->heads, PROT_READ | PROT_WRITE);
	if (heads == MAP_FAILED)
		return -errno;
	pool = map_range(target->fd, &where->pool, PROT_READ | PROT_WRITE);
	if (pool == MAP_FAILED) {
		munmap(heads, where->heads.size);
		return -errno;
	}
	wakeup = map_range(target->fd, &where->wakeup, PROT_READ);
	if (wakeup == MAP_FAILED) {
		munmap(heads, where->heads.size);
		munmap(pool, where->pool.size);
		return -errno;
	}
	*writer = (struct writer){ .target = target, .slot = slot };
	writer->heads = heads;
	writer->pool = pool;
	writer->wakeup = wakeup;
	writer->cpu = run_on(n);
	if (writer->cpu < 0)
		return writer->cpu;
	writer->head = &writer->heads[writer->cpu];
	return 0;
}

void writer_close(struct writer *writer)
{
	const struct posixtrace_slot *where = &writer->target->slots[writer->slot];

	munmap(writer->heads, where->heads.size);
	munmap(writer->pool, where->pool.size);
	munmap((void *)writer->wakeup, where->wakeup.size);
}

int writer_next(struct writer *writer, unsigned int size)
{
	struct posixtrace_next next = {
		.slot = writer->slot,
		.size = size,
		.stream = writer->target->slots[writer->slot].stream,
	};

	return command(writer->target->fd, POSIXTRACE_IOC_NEXT, &next);
}

int writer_event(struct writer *writer, unsigned int id, const void *data, unsigned int len)
{
	return writer_event_at(writer, 0, id, data, len);
}

int writer_event_at(struct writer *writer, unsigned long long time, unsigned int id,
		    const void *data, unsigned int len)
{
	struct record record = {
		.data_len = len,
		.event_id = id,
		.prog_address = 0xabcd,
		.address_high = LOAD(writer->target->gate->address_high),
		.thread_id = 0xdcba,
		.pid = writer->target->slots[writer->slot].pid,
		.tid = syscall(SYS_gettid),
	};
	unsigned int size = POSIXTRACE_RECORD_SIZE(len);
	struct record before;
	uint64_t head, next;
	size_t header;
	char *to;
	int ret;

	/* Request space for the maximum record size. */
	head = LOAD(writer->head->head);
	if (POSIXTRACE_HEAD_POS(head) + size > LOAD(writer->head->limit)) {
		if (LOAD(writer->head->limit) == POSIXTRACE_LIMIT_FULL) {
			writer->head->lost++;
			return -ENOSPC;
		}
		ret = writer_next(writer, size);
		if (ret)
			return ret;
		head = LOAD(writer->head->head);
	}
	before = (struct record){
		.pid = writer->head->pid,
		.tid = writer->head->tid,
		.thread_id = writer->head->thread_id,
		.address_high = writer->head->address_high,
		.named = writer->head->time_end - POSIXTRACE_WRITER_SPAN,
	};
	record.timestamp = time ? time : now();
	to = writer->pool + POSIXTRACE_HEAD_POS(head);
	header = record_format(&record, writer->head->writer_head == head ? &before : NULL, to);
	if (len)
		memcpy(to + header, data, len);
	next = POSIXTRACE_HEAD(POSIXTRACE_HEAD_POS(head) + POSIXTRACE_RECORD_ALIGNED(header + len),
			       POSIXTRACE_HEAD_COUNT(head) + 1);
	writer->head->pid = record.pid;
	writer->head->tid = record.tid;
	writer->head->thread_id = record.thread_id;
	writer->head->address_high = record.address_high;
	writer->head->time_end = record.named + POSIXTRACE_WRITER_SPAN;
	writer->head->writer_head = next;
	/* Pairs with the load of the head in stream_used(). */
	__atomic_store_n(&writer->head->head, next, __ATOMIC_RELEASE);
	return 0;
}
