// SPDX-License-Identifier: GPL-2.0
/* Simulates writers and readers in shared memory: correct ones, and ones that corrupt it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "uapi_fuzz.h"

static uint64_t now(void)
{
	struct timespec ts;

	sys(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Returns the current CPU without a system call, so that writers are fast. */
static unsigned int this_cpu(void)
{
	unsigned int aux;

	__builtin_ia32_rdtscp(&aux);
	return aux & 0xfff;
}

static struct posixtrace_cpu_head *head_of(const struct mapping *ring, unsigned int cpu)
{
	return (struct posixtrace_cpu_head *)ring->addr + cpu;
}

static void head_write(struct posixtrace_cpu_head *head, uint64_t word, uint64_t time,
		       unsigned int thread)
{
	poke(&head->writer_head, word);
	poke(&head->pid, thread);
	poke(&head->thread_id, thread);
	poke(&head->time_end, time + POSIXTRACE_WRITER_SPAN);
	poke(&head->last, time);
	/*
	 * A single store, as in a restartable sequence. But if the thread has migrated, it
	 * overwrites the head of another CPU.
	 */
	poke(&head->head, word);
}

/* Writes a record at the head, if there is space for it. */
static bool write_record(struct actor *a, const struct mapping *ring, unsigned int data_len)
{
	struct {
		struct posixtrace_writer writer;
		struct posixtrace_record record;
	} entry = {
		.writer.tid = a->thread,
		.writer.thread_id = a->thread,
		.record.data_len = data_len,
		.record.type = POSIXTRACE_ID_UNNAMED,
	};
	struct posixtrace_cpu_head *head = head_of(ring, this_cpu());
	uint64_t word, limit, last, pos, count;

	if (peek(&head->head, &word) || peek(&head->limit, &limit) || peek(&head->last, &last))
		return false;
	pos = POSIXTRACE_HEAD_POS(word);
	count = POSIXTRACE_HEAD_COUNT(word);
	limit = (uint32_t)limit;
	if (!limit || pos + POSIXTRACE_RECORD_SIZE(data_len) > limit)
		return false;
	entry.writer.time = last + 100;
	entry.record.time = (uint32_t)(last + 100);
	if (copy((void *)(ring->addr + ring->heads_size + pos), &entry, sizeof(entry)))
		return false;
	head_write(head, POSIXTRACE_HEAD(pos + POSIXTRACE_RECORD_SIZE(data_len), count + 1),
		   last + 100, a->thread);
	return true;
}

/* Writes some records as the library does. Calls NEXT if there is no space. */
long op_write_ring(struct actor *a)
{
	struct mapping *ring = pick_mapping(a, PART_RING);
	struct posixtrace_next *next = argument(a);
	unsigned int data_len, left;
	struct file file = {};
	long ret;

	if (!ring)
		return -ENOENT;
	data_len = ring->max_data < 64 ? ring->max_data : below(a, ring->max_data / 4 + 1);
	for (left = 1 + below(a, 64); left; left--)
		if (!write_record(a, ring, data_len))
			break;
	if (!left)
		return 0;
	next->slot = ring->slot;
	next->size = POSIXTRACE_RECORD_SIZE(data_len);
	next->stream = ring->stream;
	file.fd = ring->fd;
	file.role = ROLE_TARGET;
	ret = ioctl_with(a, &file, POSIXTRACE_IOC_NEXT, next, sizeof(*next));
	if ((ret == -ESTALE || ret == -EINVAL || ret == -EBADF || ret == -ENOTTY) && one_in(a, 3))
		drop_mapping(ring);
	return ret;
}

/* Reads a whole sub-buffer. Only this process trusts the consumed position in this memory. */
static void take_all(uintptr_t consumed_at, const struct posixtrace_subbuf *desc, uint64_t wrong)
{
	uint64_t consumed, used_count, seq;

	if (peek((void *)consumed_at, &consumed) || peek(&desc->used, &used_count) ||
	    peek(&desc->seq, &seq))
		return;
	cas((void *)consumed_at, consumed,
	    POSIXTRACE_CONSUMED(seq, used_count >> 32, (uint32_t)used_count) ^ wrong);
}

/* Simulates the reader of a stream: reads the oldest sub-buffer of some CPU, and releases it. */
long op_read_ring(struct actor *a)
{
	struct mapping *reader = pick_mapping(a, PART_READER), *view;
	struct posixtrace_release *release = argument(a);
	uint64_t word, offsets, oldest;
	struct file file = {};
	unsigned int i;
	long ret;

	view = reader ? view_of(a, reader) : NULL;
	if (!view)
		return -ENOENT;
	poke((void *)(reader->addr + offsetof(struct posixtrace_reader, held)), below(a, 2));
	if (peek((void *)(view->addr + offsetof(struct posixtrace_ctrl, gap_generation)), &word))
		return -EFAULT;
	poke((void *)reader->addr, word);
	if (peek((void *)(view->addr + offsetof(struct posixtrace_ctrl, size)), &word) ||
	    peek((void *)(view->addr + offsetof(struct posixtrace_ctrl, oldest_offset)), &offsets))
		return -EFAULT;
	/* @word is the size and nr_cpus, @offsets is oldest_offset and subbuf_offset. */
	i = below(a, (uint32_t)(word >> 32) + 1ULL);
	if (peek((void *)(view->addr + (uint32_t)offsets + 4ULL * i), &oldest))
		return -EFAULT;
	release->subbuf = oldest;
	/*
	 * Check the number, because another mapping with any contents may have replaced the view.
	 */
	if (release->subbuf < reader->len / sizeof(struct posixtrace_consumed))
		take_all(reader->addr + offsetof(struct posixtrace_reader, consumed) +
			 sizeof(struct posixtrace_consumed) * release->subbuf,
			 (void *)(view->addr + (uint32_t)(offsets >> 32) +
				  sizeof(struct posixtrace_subbuf) * release->subbuf),
			 one_in(a, 8) ? 1ULL << below(a, 64) : 0);
	file.fd = reader->fd;
	file.role = ROLE_STREAM;
	file.create.stream = reader->stream;
	ret = ioctl_with(a, &file, POSIXTRACE_IOC_RELEASE, release, sizeof(*release));
	if ((ret == -ESHUTDOWN || ret == -EBADF || ret == -EINVAL || ret == -ENOTTY) &&
	    one_in(a, 3)) {
		drop_mapping(reader);
		drop_mapping(view);
	}
	return ret;
}

/* Returns a bad value. A nearly plausible value reaches more code than noise. */
static uint64_t evil(struct actor *a, const struct mapping *map)
{
	switch (below(a, 8)) {
	case 0:
		return 0;
	case 1:
		return ~0ULL;
	case 2:		/* a position in the pool, as in a head */
		return POSIXTRACE_HEAD(below(a, map->len + 64) & ~7ULL, below(a, 1000));
	case 3:		/* size and length of a record, nearly right */
		return below(a, 512) | below(a, 4096) << 32;
	case 4:
		return below(a, 64) * 8;
	case 5:		/* a consumer position */
		return POSIXTRACE_CONSUMED(below(a, 64), below(a, 100), below(a, 65536));
	case 6:
		return one_in(a, 8) ? 0 : now() + below(a, 3) * 1000000000 - 1000000000;
	default:
		return rnd(a);
	}
}

/*
 * Corrupts shared memory. Mostly at the beginning, because heads and consumer positions are there.
 */
long op_scribble(struct actor *a)
{
	struct mapping *map = pick_mapping(a, one_in(a, 4) ? PARTS :
					      one_in(a, 3) ? PART_READER : PART_RING);
	unsigned int i, n = 1 + below(a, 16);
	uint64_t word, at;
	long ret = 0;

	if (!map)
		return -ENOENT;
	for (i = 0; i < n; i++) {
		at = below(a, one_in(a, 2) && map->len > 1024 ? 1024 : map->len) & ~7ULL;
		if (one_in(a, 4))
			ret = peek((void *)(map->addr + at), &word);
		else if (one_in(a, 4))
			ret = poke4((void *)(map->addr + at + 4), evil(a, map));
		else if (one_in(a, 4) && !peek((void *)(map->addr + at), &word))
			ret = poke((void *)(map->addr + at), word ^ 1ULL << below(a, 64));
		else
			ret = poke((void *)(map->addr + at), evil(a, map));
	}
	return ret;
}

/* Corrupts arguments while another thread makes calls with them. */
long op_spoil_args(struct actor *a)
{
	char *arena = shared->arenas[a->worker - shared->workers][below(a, ARENAS)];
	unsigned int i, n = 1 + below(a, 64);

	if (shared->options.alone)
		return 0;
	for (i = 0; i < n; i++)
		poke(arena + (below(a, ARG_MAX) & ~7ULL), one_in(a, 2) ? rnd(a) : below(a, 256));
	return 0;
}
