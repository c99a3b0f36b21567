// SPDX-License-Identifier: MIT
/*
 * Names of threads, processes, their files and the host.
 */
#include <posixtrace.h>
#include <string.h>

#include "common/sys.h"
#include "common/trid.h"

static struct pxtu_task to_task(pid_t pid, pid_t tid, const struct timespec *time)
{
	return (struct pxtu_task){
		.pid = pid,
		.tid = tid,
		.time = (__u64)time->tv_sec * PXTU_NSEC_PER_SEC + (__u64)time->tv_nsec,
	};
}

/**
 * posixtrace_get_thread_name() - get the name of a thread that recorded events
 * @trid: trace id of a stream or log
 * @pid: process id, as in the event
 * @tid: kernel thread id, as in the event
 * @time: time of the event
 * @name: buffer for the name, POSIXTRACE_THREAD_NAME_SIZE bytes
 *
 * An extension. A log has the names that threads had while it was written. For an active
 * stream, this is the current name of a thread that is older than @time. The thread chooses its
 * name, so the name can be any string.
 *
 * Return: 0; ENOENT if the name is not known: it is not in the log, or the thread has ended;
 * EINVAL if @trid is not a trace stream or log of this process, or @time or @name is NULL; for a
 * log, also ENOMEM.
 */
PXTU_API int posixtrace_get_thread_name(trace_id_t trid, pid_t pid, pid_t tid,
					const struct timespec *time, char *name)
{
	struct pxtu_source *source;
	struct pxtu_task task;
	int err;

	if (!time || !name)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	task = to_task(pid, tid, time);
	err = source->ops->get_task(source, &task, name);
	pxtu_trid_put(source);
	return pxtu_error(err);
}

static void to_timespec(__u64 ns, struct timespec *time)
{
	time->tv_sec = (time_t)(ns / PXTU_NSEC_PER_SEC);
	time->tv_nsec = (long)(ns % PXTU_NSEC_PER_SEC);
}

/**
 * posixtrace_get_thread_life() - tell apart threads that had the same ids
 * @trid: trace id of a log
 * @pid: process id, as in the event
 * @tid: kernel thread id, as in the event; equal to @pid for the process
 * @time: time of the event
 * @born: if not NULL, result: when the thread was born
 * @next: if not NULL, result: when the next thread with these ids was born; the largest time if
 *	the log has no such thread
 *
 * An extension. The kernel reuses the ids of threads and processes. Two events belong to the
 * same thread if their ids and @born are the same.
 *
 * Return: 0; ENOENT if it is not known, always for an active stream; EINVAL if @trid is not a
 * trace stream or log of this process, or @time is NULL; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_thread_life(trace_id_t trid, pid_t pid, pid_t tid,
					const struct timespec *time, struct timespec *born,
					struct timespec *next)
{
	struct pxtu_source *source;
	struct pxtu_life life;
	struct pxtu_task task;
	int err;

	if (!time)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	task = to_task(pid, tid, time);
	err = source->ops->get_life(source, &task, &life);
	pxtu_trid_put(source);
	if (!err && born)
		to_timespec(life.born, born);
	if (!err && next)
		to_timespec(life.next, next);
	return pxtu_error(err);
}

/**
 * posixtrace_get_program() - get the command line of a process that recorded events
 * @trid: trace id of a stream or log
 * @pid: process id, as in the event
 * @time: time of the event
 * @program: buffer for the arguments, each with its NUL
 * @size: bytes there; POSIXTRACE_PROGRAM_SIZE are always enough
 * @needed: result, if not NULL: the bytes that the arguments need
 *
 * An extension. A log has the arguments of processes that recorded or attached; for an active
 * stream, these are the current arguments. The process can overwrite them with anything.
 *
 * Return: 0; ENOENT if they are not known; ERANGE if they need more than @size bytes, then
 * @program is unchanged; EINVAL if @trid is not a trace stream or log of this process,
 * @time is NULL, or @program is NULL and @size is not 0; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_program(trace_id_t trid, pid_t pid, const struct timespec *time,
				    char *program, size_t size, size_t *needed)
{
	struct pxtu_text text = { .to = program, .room = size };
	struct pxtu_source *source;
	struct pxtu_task task;
	int err;

	if (!time || (!program && size))
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	task = to_task(pid, pid, time);
	err = source->ops->get_program(source, &task, &text);
	pxtu_trid_put(source);
	if (!err && needed)
		*needed = text.needed;
	if (!err && text.needed > size)
		return ERANGE;
	return pxtu_error(err);
}

/**
 * posixtrace_get_mapping() - get the file from which a process executed code
 * @trid: trace id of a stream or log
 * @pid: process id, as in the event
 * @time: time of the event
 * @address: address in the event
 * @info: result
 *
 * An extension. A log has the mappings of a process from its first event on. The module scans them
 * again when the process opens or describes an event type, and at its first event after a stream on
 * it was created, started or stopped. For an active stream, this is the current mapping.
 *
 * Return: 0; ENOENT if it is not known; EINVAL if @trid is not a trace stream or log of this
 * process, or @time or @info is NULL; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_mapping(trace_id_t trid, pid_t pid, const struct timespec *time,
				    const void *address, struct posixtrace_mapping_info *info)
{
	struct pxtu_source *source;
	struct pxtu_task task;
	int err;

	if (!time || !info)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	task = to_task(pid, pid, time);
	err = source->ops->get_mapping(source, &task, (uintptr_t)address, info);
	pxtu_trid_put(source);
	return pxtu_error(err);
}

/**
 * posixtrace_get_mappings() - get all files from which the processes of a log executed code
 * @trid: trace id of a log
 * @infos: result
 * @max_infos: number of elements of @infos
 * @count: number of mappings stored; 0 after the last one
 * @next: 0 for the first call; set for the next one
 *
 * An extension. A file is reported for each process, and each time that its mappings were scanned.
 * While the log grows, calls may report a mapping twice, or leave it out.
 *
 * Return: 0; EINVAL if @trid is no trace stream or log of this process, a pointer is NULL or
 * @max_infos is 0; ENOTSUP for an active stream; ENOMEM.
 */
PXTU_API int posixtrace_get_mappings(trace_id_t trid, struct posixtrace_mapping_info *infos,
				     size_t max_infos, size_t *count, unsigned long long *next)
{
	struct pxtu_source *source;
	int err = -EOPNOTSUPP;
	__u64 at;

	if (!infos || !max_infos || !count || !next)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	at = *next;
	if (source->ops->get_mappings)
		err = source->ops->get_mappings(source, infos, &max_infos, &at);
	pxtu_trid_put(source);
	if (err)
		return pxtu_error(err);
	*count = max_infos;
	*next = at;
	return 0;
}

/**
 * posixtrace_get_host() - get the host on which events were recorded
 * @trid: trace id of a stream or log
 * @info: result
 *
 * An extension. For an active stream, this is the current state of this host.
 *
 * Return: 0; ENOENT if it is not in the log; EINVAL if @trid is not a trace stream or log of this
 * process, or @info is NULL; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_host(trace_id_t trid, struct posixtrace_host_info *info)
{
	struct pxtu_source *source;
	int err;

	if (!info)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	err = source->ops->get_host(source, info);
	pxtu_trid_put(source);
	return pxtu_error(err);
}
