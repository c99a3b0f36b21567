/* SPDX-License-Identifier: MIT */
/*
 * A source of events: each trace id of this process belongs to one. There are two kinds: an
 * active trace stream (stream/streamops.c) and a log (log/logops.c). A function of
 * <trace.h> that takes both kinds only uses the operations below.
 */
#ifndef PXTU_SOURCE_H
#define PXTU_SOURCE_H

#include <pthread.h>

#include "common/record.h"

struct pxtu_source;

/**
 * struct pxtu_text - buffer for a text
 * @to: the buffer; written only if all of the text fits
 * @room: bytes at @to
 * @needed: result: bytes of the text, with the NUL
 */
struct pxtu_text {
	char *to;
	size_t room;
	size_t needed;
};

/**
 * struct pxtu_task - the ids of a thread, and a time when it had them
 * @pid: process id
 * @tid: kernel thread id
 * @time: nanoseconds since the Epoch
 */
struct pxtu_task {
	__s32 pid;
	__s32 tid;
	__u64 time;
};

/**
 * struct pxtu_life - one of several threads that had the same ids at different times
 * @born: when it was born, in nanoseconds since the Epoch
 * @next: when the next one was born; ~0 if there is no next one
 */
struct pxtu_life {
	__u64 born;
	__u64 next;
};

/**
 * struct pxtu_source_ops - operations of a kind of source
 *
 * All but @next_run, @next_ahead, @settle, @unread and @alive return 0 or negative errno. Only
 * @next, @next_run, @next_ahead, @unread and @settle are called with the lock of the source.
 */
struct pxtu_source_ops {
	/**
	 * @next: takes the next event. Its data goes to @place if all of it fits and no other
	 * event has to be reported first. @event is valid until the next call, and NULL if there
	 * is no event now
	 */
	int (*next)(struct pxtu_source *source, const struct pxtu_place *place,
		    const struct posixtrace_batch_event **event);
	/**
	 * @next_run: takes several events that @next would return, and advances @place past their
	 * data. Returns their number; 0: call @next. The pointer is NULL if the source cannot take
	 * several events
	 */
	size_t (*next_run)(struct pxtu_source *source, struct posixtrace_batch_event *events,
			   size_t max_events, struct pxtu_place *place);
	/**
	 * @next_ahead: takes the next event, which is valid until the next call, and possibly
	 * others that later calls return. Returns NULL if the caller has to call @next. The pointer
	 * is NULL if the source cannot read ahead
	 */
	const struct posixtrace_batch_event *(*next_ahead)(struct pxtu_source *source);
	/**
	 * @unread: puts the last event of @next back, for the next call. Allowed only if its data
	 * is not in the place that @next received
	 */
	void (*unread)(struct pxtu_source *source);
	/** @settle: called after a series of @next, when the events were reported */
	void (*settle)(struct pxtu_source *source);
	/**
	 * @wait: sleeps until there may be an event; a cancellation point. A cancelled thread puts
	 * the source. NULL if the source never waits
	 */
	int (*wait)(struct pxtu_source *source, struct posixtrace_wait *wait);
	/** @alive: returns 0, or -ESHUTDOWN if the source was shut down */
	int (*alive)(const struct pxtu_source *source);
	/** @get_attr: gets the attributes */
	int (*get_attr)(struct pxtu_source *source, trace_attr_t *attr);
	/** @get_status: gets the status */
	int (*get_status)(struct pxtu_source *source, struct posix_trace_status_info *info);
	/** @get_name: gets the name of an event type, at most TRACE_EVENT_NAME_MAX + 1 bytes */
	int (*get_name)(struct pxtu_source *source, trace_event_id_t id, char *name);
	/** @get_description: gets the description of an event type; -ENOENT without description */
	int (*get_description)(struct pxtu_source *source, trace_event_id_t id,
			       struct pxtu_text *text);
	/** @get_task: gets the name of a thread at a time; -ENOENT if it is not known */
	int (*get_task)(struct pxtu_source *source, const struct pxtu_task *task, char *name);
	/** @get_life: gets the life of the thread that had the ids at a time; or -ENOENT */
	int (*get_life)(struct pxtu_source *source, const struct pxtu_task *task,
			struct pxtu_life *life);
	/** @get_program: gets the command line of the process at a time; or -ENOENT */
	int (*get_program)(struct pxtu_source *source, const struct pxtu_task *task,
			   struct pxtu_text *text);
	/**
	 * @get_mapping: gets the file that the process had mapped at an address, at a time; or
	 * -ENOENT
	 */
	int (*get_mapping)(struct pxtu_source *source, const struct pxtu_task *task, __u64 address,
			   struct posixtrace_mapping_info *info);
	/** @get_mappings: gets mappings as @get_states gets states; NULL: use @get_mapping */
	int (*get_mappings)(struct pxtu_source *source, struct posixtrace_mapping_info *infos,
			    size_t *count, __u64 *next);
	/** @get_host: gets the host that the events come from; or -ENOENT */
	int (*get_host)(struct pxtu_source *source, struct posixtrace_host_info *info);
	/**
	 * @get_states: gets states of threads: at most @count, starting with number @next. Sets
	 * @count to their number, 0 at the end, and @next to the number after them
	 */
	int (*get_states)(struct pxtu_source *source, struct posixtrace_state *states,
			  size_t *count, __u64 *next);
	/** @get_files: the same for open files of processes; needs room for POSIXTRACE_FILES_MIN */
	int (*get_files)(struct pxtu_source *source, struct posixtrace_file *files,
			 size_t *count, __u64 *next);
	/** @get_clock_pairs: gets pairs of clocks as @get_states gets states; NULL: none */
	int (*get_clock_pairs)(struct pxtu_source *source, struct posixtrace_clock_pair *pairs,
			       size_t *count, __u64 *next);
	/** @convert_times: converts times to another clock; or -ENOENT; NULL: cannot */
	int (*convert_times)(struct pxtu_source *source, int clock, const uint64_t *times,
			     size_t count, struct posixtrace_clock_time *results);
	/** @next_type: gets the next event type of the list, or 0 at its end */
	int (*next_type)(struct pxtu_source *source, trace_event_id_t *id);
	/** @rewind_types: goes back to the first event type */
	int (*rewind_types)(struct pxtu_source *source);
};

/**
 * struct pxtu_source - the common part of both kinds of sources
 * @ops: operations; identify the kind of the source
 * @readable: its events can be read. The events of a stream with log are read from the log
 * @users: calls that use it; guarded by the lock of the trace ids. A futex, woken when it becomes 0
 *	after the trace id was removed
 * @removed: the trace id is gone; guarded by the lock of the trace ids
 * @lock: guards the fields that each kind lists; never held while waiting for an event. It is in
 *	the slot of the trace id
 */
struct pxtu_source {
	const struct pxtu_source_ops *ops;
	bool readable;
	int users;
	bool removed;
	pthread_mutex_t *lock;
};

static inline void pxtu_source_init(struct pxtu_source *source,
				    const struct pxtu_source_ops *ops, bool readable)
{
	source->ops = ops;
	source->readable = readable;
}

#endif /* PXTU_SOURCE_H */
