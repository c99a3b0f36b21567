// SPDX-License-Identifier: MIT
/*
 * Lists the states of the traced threads.
 */
#include <posixtrace.h>
#include <string.h>

#include "common/sys.h"
#include "common/trid.h"

/* Number of states that are converted at a time. */
#define BATCH	64

static struct timespec to_timespec(__u64 ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / PXTU_NSEC_PER_SEC),
		.tv_nsec = (long)(ns % PXTU_NSEC_PER_SEC),
	};
}

static void convert(const struct posixtrace_state *from, struct posixtrace_thread_state *to)
{
	_Static_assert(sizeof(to->futex) == sizeof(from->futex), "one number of words");
	_Static_assert(sizeof(to->args) == sizeof(from->args), "one number of arguments");
	_Static_assert(sizeof(to->name) == sizeof(from->name), "one size of names");
	_Static_assert(sizeof(to->call_name) == sizeof(from->call_name), "one size of names");
	*to = (struct posixtrace_thread_state){
		.time = to_timespec(from->time),
		.since = to_timespec(from->since),
		.start = to_timespec(from->start),
		.pid = from->pid,
		.tid = from->tid,
		.ppid = from->ppid,
		.state = from->state,
		.cpu = from->cpu,
		.flags = from->flags,
		.call = from->call,
		.ip = from->ip,
	};
	memcpy(to->futex, from->futex, sizeof(to->futex));
	memcpy(to->args, from->args, sizeof(to->args));
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->call_name, from->call_name, sizeof(to->call_name));
}

/**
 * posixtrace_get_states() - get the states of the threads of the traced processes
 * @trid: trace id of a stream or log
 * @states: result
 * @max_states: number of elements of @states
 * @count: number of states stored; 0 after the last one
 * @next: 0 for the first call; set for the next one
 *
 * An extension. For an active stream: the current states. Each state is correct for the time in it;
 * together they are not a snapshot of all threads. For a log: the states each time that recording
 * started. The system call and the instruction are only known for threads that were blocked.
 *
 * Return: 0; EINVAL if @trid is not a trace stream or log of this process, a pointer is NULL or
 * @max_states is 0; ENOTSUP for a stream without kernel events; for a log, also ENOMEM.
 */
PXTU_API int posixtrace_get_states(trace_id_t trid, struct posixtrace_thread_state *states,
				   size_t max_states, size_t *count, unsigned long long *next)
{
	struct posixtrace_state batch[BATCH];
	size_t got = max_states < BATCH ? max_states : BATCH, i;
	struct pxtu_source *source;
	__u64 at;
	int err;

	if (!states || !max_states || !count || !next)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	at = *next;
	err = source->ops->get_states(source, batch, &got, &at);
	pxtu_trid_put(source);
	if (err)
		return pxtu_error(err);
	for (i = 0; i < got; i++)
		convert(&batch[i], &states[i]);
	*count = got;
	*next = at;
	return 0;
}
