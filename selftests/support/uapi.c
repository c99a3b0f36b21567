// SPDX-License-Identifier: GPL-2.0
/* Streams and targets, through commands of the device: see uapi.h. */
#define _GNU_SOURCE
#include "uapi.h"

__u64 device_classes(void)
{
	struct posixtrace_info info = { .classes = 0 };
	int fd = device_open();

	if (fd >= 0) {
		command(fd, POSIXTRACE_IOC_INFO, &info);
		close(fd);
	}
	return info.classes;
}

void create_init(struct posixtrace_create *arg, pid_t pid)
{
	memset(arg, 0, sizeof(*arg));
	arg->pid = pid;
	arg->log_fd = -1;
	arg->attr.stream_policy = POSIXTRACE_POLICY_LOOP;
	arg->attr.log_policy = POSIXTRACE_POLICY_LOOP;
	arg->attr.stream_size = 64 << 10;
	arg->attr.max_data_size = 256;
	arg->attr.log_size = 16 << 20;
	strcpy(arg->attr.name, "selftest");
}

void stream_unmap(struct stream *stream)
{
	if (stream->reader)
		munmap(stream->reader, stream->arg.reader.size);
	if (stream->ctrl)
		munmap((void *)stream->ctrl, stream->arg.ctrl.size);
	if (stream->heads)
		munmap((void *)stream->heads, stream->arg.heads.size);
	if (stream->pool)
		munmap((void *)stream->pool, stream->arg.pool.size);
	stream->reader = NULL;
	stream->ctrl = NULL;
	stream->heads = NULL;
	stream->pool = NULL;
}

void stream_close(struct stream *stream)
{
	stream_unmap(stream);
	close(stream->fd);
}

int stream_map(struct stream *stream)
{
	void *reader = map_range(stream->fd, &stream->arg.reader, PROT_READ | PROT_WRITE);
	void *ctrl = map_range(stream->fd, &stream->arg.ctrl, PROT_READ);
	void *heads = map_range(stream->fd, &stream->arg.heads, PROT_READ);
	void *pool = map_range(stream->fd, &stream->arg.pool, PROT_READ);

	stream->reader = reader == MAP_FAILED ? NULL : reader;
	stream->ctrl = ctrl == MAP_FAILED ? NULL : ctrl;
	stream->heads = heads == MAP_FAILED ? NULL : heads;
	stream->pool = pool == MAP_FAILED ? NULL : pool;
	return reader == MAP_FAILED || ctrl == MAP_FAILED || heads == MAP_FAILED ||
	       pool == MAP_FAILED ? -ENOMEM : 0;
}

int stream_open(struct stream *stream)
{
	int ret;

	stream->reader = NULL;
	stream->ctrl = NULL;
	stream->heads = NULL;
	stream->pool = NULL;
	stream->fd = device_open();
	if (stream->fd < 0)
		return stream->fd;
	ret = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	if (!ret)
		ret = stream_map(stream);
	if (ret)
		stream_close(stream);
	return ret;
}

int stream_create(struct stream *stream, pid_t pid)
{
	create_init(&stream->arg, pid);
	return stream_open(stream);
}

int eventid_open(int fd, const char *name)
{
	struct posixtrace_eventid arg = { .id = 0 };
	int ret;

	if (strlen(name) >= sizeof(arg.name))
		return -ENAMETOOLONG;
	strcpy(arg.name, name);
	ret = command(fd, POSIXTRACE_IOC_EVENTID_OPEN, &arg);
	return ret < 0 ? ret : (int)arg.id;
}

int type_describe_bytes(int fd, unsigned int id, const char *text, size_t size)
{
	struct posixtrace_description arg = {
		.text = (uintptr_t)text,
		.id = id,
		.size = size,
	};

	return command(fd, POSIXTRACE_IOC_DESCRIBE, &arg);
}

int type_describe(int fd, unsigned int id, const char *text)
{
	return type_describe_bytes(fd, id, text, strlen(text) + 1);
}

int type_description(int fd, unsigned int id, char *text, size_t room)
{
	struct posixtrace_description arg = {
		.text = (uintptr_t)text,
		.id = id,
		.size = room,
	};
	int ret = command(fd, POSIXTRACE_IOC_DESCRIPTION, &arg);

	return ret < 0 ? ret : (int)arg.size;
}

unsigned int stream_used(struct stream *stream, unsigned int cpu, unsigned int i)
{
	const struct posixtrace_subbuf *subbuf = stream_subbuf(stream, i);
	const struct posixtrace_cpu_head *head;

	if (LOAD(subbuf->state) == POSIXTRACE_SUBBUF_CLOSED)
		return LOAD(subbuf->used);
	head = cpu == stream->ctrl->nr_cpus ? &stream->ctrl->system : &stream->heads[cpu];
	return POSIXTRACE_HEAD_POS(LOAD(head->head)) - i * stream->ctrl->subbuf_size;
}

/*
 * Returns true if a CPU has an unread record. It is the next record of the CPU's oldest sub-buffer.
 * Releases sub-buffers that were read to their end.
 */
static bool stream_peek(struct stream *stream, unsigned int cpu, unsigned int *subbuf)
{
	unsigned int i, pos;

	for (;;) {
		i = stream_oldest(stream, cpu);
		if (i == POSIXTRACE_NONE)
			return false;
		pos = POSIXTRACE_CONSUMED_POS(LOAD(stream->reader->consumed[i].position));
		if (pos < stream_used(stream, cpu, i))
			break;
		if (LOAD(stream_subbuf(stream, i)->state) != POSIXTRACE_SUBBUF_CLOSED ||
		    stream_release(stream, i))
			return false;
	}
	*subbuf = i;
	return true;
}

const void *stream_next(struct stream *stream, unsigned int subbuf, struct record *record)
{
	const char *mem = stream->pool + (size_t)subbuf * stream->ctrl->subbuf_size;
	uint64_t pos = POSIXTRACE_CONSUMED_POS(LOAD(stream->reader->consumed[subbuf].position)), at;
	const void *data;

	/* Parse the consumed records again, because the next record may use their writer. */
	memset(record, 0, sizeof(*record));
	for (at = 0; at <= pos; at += record->size) {
		data = record_parse(record, mem + at);
		if (!data || at == pos)
			return data;
	}
	return NULL;
}

int stream_take(struct stream *stream, struct record *record, void *data, size_t room)
{
	const void *candidate, *oldest = NULL;
	unsigned int subbuf, from = 0;
	struct record other, best = { .size = 0 };
	__u64 consumed, next;

	for (unsigned int cpu = 0; cpu <= stream->ctrl->nr_cpus; cpu++) {
		if (!stream_peek(stream, cpu, &subbuf))
			continue;
		candidate = stream_next(stream, subbuf, &other);
		if (!candidate)
			return -EPROTO;
		if (!oldest || other.timestamp < best.timestamp) {
			oldest = candidate;
			best = other;
			from = subbuf;
		}
	}
	if (!oldest)
		return 0;
	*record = best;
	if (data)
		memcpy(data, oldest, record->data_len < room ? record->data_len : room);
	consumed = LOAD(stream->reader->consumed[from].position);
	next = POSIXTRACE_CONSUMED(POSIXTRACE_CONSUMED_SEQ(consumed),
				   POSIXTRACE_CONSUMED_COUNT(consumed) + 1,
				   POSIXTRACE_CONSUMED_POS(consumed) + record->size);
	__atomic_store_n(&stream->reader->consumed[from].time, record->timestamp, __ATOMIC_RELAXED);
	/* If the position has changed, the sub-buffer was recycled, so retry. */
	if (!__atomic_compare_exchange_n(&stream->reader->consumed[from].position, &consumed, next,
					 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return stream_take(stream, record, data, room);
	return 1;
}

void target_close(struct target *target)
{
	if (target->gate)
		munmap((void *)target->gate, target->arg.gate.size);
	close(target->fd);
}

int target_open(struct target *target)
{
	void *gate;
	int ret;

	memset(target, 0, sizeof(*target));
	target->fd = device_open();
	if (target->fd < 0)
		return target->fd;
	ret = command(target->fd, POSIXTRACE_IOC_ATTACH, &target->arg);
	if (!ret) {
		gate = map_range(target->fd, &target->arg.gate, PROT_READ);
		if (gate == MAP_FAILED)
			ret = -errno;
		else
			target->gate = gate;
	}
	if (ret)
		target_close(target);
	return ret;
}

int target_map(struct target *target)
{
	const __u64 offset = POSIXTRACE_ATTACH_OFFSET(POSIXTRACE_ABI_VERSION);
	int err;

	memset(target, 0, sizeof(*target));
	target->arg.gate.size = sizeof(struct posixtrace_gate);
	target->fd = device_open();
	if (target->fd < 0)
		return target->fd;
	target->gate = mmap(NULL, target->arg.gate.size, PROT_READ, MAP_SHARED, target->fd, offset);
	if (target->gate != MAP_FAILED)
		return 0;
	err = -errno;
	target->gate = NULL;
	target_close(target);
	return err;
}

int target_sync(struct target *target)
{
	struct posixtrace_sync sync = { .slots = (uintptr_t)target->slots };
	int ret = command(target->fd, POSIXTRACE_IOC_SYNC, &sync);

	target->generation = sync.generation;
	return ret;
}

int target_streams(struct target *target)
{
	int count = 0;

	if (target_sync(target))
		return -1;
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		count += !!target->slots[i].heads.size;
	return count;
}

int target_event(struct target *target, unsigned int id, const void *data, size_t len)
{
	struct posixtrace_event event = {
		.event_id = id,
		.data = (uintptr_t)data,
		.data_len = len,
		.prog_address = 0xabcd,
		.thread_id = 0xdcba,
	};

	return command(target->fd, POSIXTRACE_IOC_EVENT, &event);
}
