/* SPDX-License-Identifier: MIT */
/*
 * <posixtrace.h> - extensions of libposixtrace to the <trace.h> of the standard.
 */
#ifndef _POSIXTRACE_H
#define _POSIXTRACE_H	1

#include <stdint.h>
#include <posixtrace/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that a program is compiled against. */
#define POSIXTRACE_VERSION_MAJOR	1
#define POSIXTRACE_VERSION_MINOR	0

/* Version of the library that the program runs with, such as "1.0". */
const char *posixtrace_version(void);

/*
 * Returns a descriptor for poll(), select() and epoll: readable when there is an event to
 * report, hung up when all traced processes have ended. It belongs to the stream: a program
 * may poll it and copy it with dup(), but must not close it or use it otherwise.
 * posix_trace_shutdown() closes it, which removes it from epoll, and hangs up its copies.
 * Returns -1 with errno EINVAL if trid is no active trace stream of this process.
 */
int posixtrace_fd(trace_id_t __trid);

/*
 * When a stream wakes a reader that sleeps in posix_trace_getnext_event() and the like, poll(),
 * select() or epoll: when unread events, of users and of the kernel, fill so many bytes of the
 * stream, or when the oldest unread one is so many nanoseconds old, whatever comes first. 0 bytes:
 * at no number of bytes; 0 ns: at no age. With both 0, the default, each event wakes it at once.
 * Bytes count in whole sub-buffers that the processors have filled. Deadlines and all system
 * events wake at once, and so does the end of a traced process. Reading without waiting is not
 * affected. Returns 0, or EINVAL for more than 1 GiB or more than an hour.
 */
int posixtrace_attr_setwakeup(trace_attr_t *__attr, size_t __bytes, uint64_t __ns);
int posixtrace_attr_getwakeup(const trace_attr_t *__attr, size_t *__bytes, uint64_t *__ns);

/*
 * The order of the timestamps of several processors. Causal, the default: an
 * event that happened before another one has no later timestamp. Relaxed: recording takes half
 * the time, and an event that depends on one of another processor may have an earlier timestamp,
 * by as long as a load from memory takes. The events of each thread, and those of each
 * processor, are in order with both. Returns 0, or EINVAL.
 */
#define POSIXTRACE_ORDER_CAUSAL		0
#define POSIXTRACE_ORDER_RELAXED	1

int posixtrace_attr_setorder(trace_attr_t *__attr, int __order);
int posixtrace_attr_getorder(const trace_attr_t *__attr, int *__order);

/*
 * Events of the kernel about the threads of the traced processes, as system event types: see
 * posixtrace_attr_setkernel(3). None, the default. Returns 0, or EINVAL. If a class is not
 * available, posix_trace_create() returns ENOTSUP, or EPERM for system calls.
 */
#define POSIXTRACE_CLASS_SCHED		0x01	/* running, waiting, waking up */
#define POSIXTRACE_CLASS_FAULT		0x02	/* page faults */
#define POSIXTRACE_CLASS_SIGNAL		0x04	/* signals */
#define POSIXTRACE_CLASS_SYSCALL	0x08	/* system calls */
#define POSIXTRACE_CLASS_IRQ		0x10	/* interrupts */
#define POSIXTRACE_CLASS_PROCESS	0x20	/* births, programs, ends, names */
#define POSIXTRACE_CLASS_ALL		0x3f

int posixtrace_attr_setkernel(trace_attr_t *__attr, unsigned int __classes);
int posixtrace_attr_getkernel(const trace_attr_t *__attr, unsigned int *__classes);

/* System event types of the kernel, in streams with their class. */
#define POSIXTRACE_SWITCH_OUT	16U	/* sched_switch_out */
#define POSIXTRACE_SWITCH_IN	17U	/* sched_switch_in */
#define POSIXTRACE_WAKEUP	18U	/* sched_wakeup */
#define POSIXTRACE_MIGRATE	19U	/* sched_migrate_task */
#define POSIXTRACE_FORK		20U	/* sched_process_fork */
#define POSIXTRACE_EXEC		21U	/* sched_process_exec */
#define POSIXTRACE_EXIT		22U	/* sched_process_exit */
#define POSIXTRACE_RENAME	23U	/* task_rename */
#define POSIXTRACE_SIGNAL_GENERATE	24U	/* signal_generate */
#define POSIXTRACE_SIGNAL_DELIVER	25U	/* signal_deliver */
#define POSIXTRACE_PAGE_FAULT	26U	/* page_fault */
#define POSIXTRACE_SYSCALL_ENTRY	27U	/* syscall_entry */
#define POSIXTRACE_SYSCALL_EXIT	28U	/* syscall_exit */
#define POSIXTRACE_IRQ		29U	/* irq */

/* All event types of streams and logs are smaller; one program has TRACE_USER_EVENT_MAX at most. */
#define POSIXTRACE_EVENT_ID_MAX	4096U

/*
 * Report an event of an active stream only so many nanoseconds after its time, in the order of
 * time. 0, the default: at once; then an event that one processor records while another one is
 * delayed may be reported first, though it is younger. Until an event is due, functions that wait
 * do so, the others find no event, and the descriptor is not readable. When the stream stops, or
 * all traced processes have ended, all events are reported at once. Returns 0, or EINVAL for a
 * stream with log, a log, or more than 10 seconds.
 */
int posixtrace_setwindow(trace_id_t __trid, uint64_t __ns);

/* Bytes of a description, without the terminating NUL. */
#define POSIXTRACE_DESCRIPTION_MAX	4095

/*
 * Says what the data of a named user event type is, such as "struct { u32 id; text key; }", so
 * that readers show it as fields. posixtrace_eventid_describe() is for the calling process, the
 * other one for the process that a stream traces. Streams and logs have the description. Returns
 * 0, also if the type has it already; EEXIST if the type has another one, or another program used
 * it without one; EINVAL, ENOSPC; and the errors of posix_trace_eventid_open().
 */
int posixtrace_eventid_describe(trace_event_id_t __event, const char *__description);
int posixtrace_trid_eventid_describe(trace_id_t __trid, trace_event_id_t __event,
				     const char *__description);

/*
 * Opens the event type with a name and a description, or with none if that is NULL, as a trace
 * point does. Returns 0; EEXIST if this program has a type of the name with another description;
 * and the errors of posix_trace_eventid_open() and posixtrace_eventid_describe().
 */
int posixtrace_eventid_open(const char *__event_name, const char *__description,
			    trace_event_id_t *__event_id);

/*
 * Writes the description of an event type of a stream or log, and the bytes that it needs with
 * its NUL to *needed, which may be NULL. Returns 0; ENOENT if the type has none; ERANGE if it
 * needs more than size bytes; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_eventid_get_description(trace_id_t __trid, trace_event_id_t __event,
				       char *__description, size_t __size, size_t *__needed);

/* CPU of a system event: no processor recorded it. */
#define POSIXTRACE_NO_CPU	(~0U)

/*
 * Flag of an event: an event of a later time was reported before it. A processor was delayed
 * between reading the clock and recording this event.
 */
#define POSIXTRACE_EVENT_LATE	1

/* One event of posixtrace_getevents(). */
struct posixtrace_batch_event {
	struct posix_trace_event_info event;
	void *data;		/* in the buffer, aligned to 8 bytes */
	size_t data_len;
	unsigned long long lost;	/* known number of events lost before it */
	unsigned int cpu;		/* processor that recorded it, or POSIXTRACE_NO_CPU */
	unsigned int flags;		/* POSIXTRACE_EVENT_LATE, or 0 */
	pid_t tid;			/* kernel thread id of the thread, or 0 */
	unsigned int __reserved[3];	/* zero */
};

/* Argument "flags" of posixtrace_getevents(): do not wait for the first event. */
#define POSIXTRACE_NOWAIT	1

/*
 * Reports up to max_events events at once, oldest first, like posix_trace_getnext_event()
 * does with one; their data go to buffer one after the other. Waits until there is an event,
 * unless flags has POSIXTRACE_NOWAIT. An event whose data does not fit any more is left for
 * the next call; only the data of the first event can be truncated. At the end of a log it
 * does not wait: *count is 0. Returns 0 with the number of events in *count, or EINTR or
 * EINVAL; for a log, also ENOMEM.
 */
int posixtrace_getevents(trace_id_t __trid, struct posixtrace_batch_event *__events,
			 size_t __max_events, void *__buffer, size_t __size, size_t *__count,
			 int __flags);

/* Bytes of the name of a thread, with the terminating NUL. */
#define POSIXTRACE_THREAD_NAME_SIZE	16

/* Bytes of a command line: a longer one is cut. */
#define POSIXTRACE_PROGRAM_SIZE		4096

/*
 * The name of a thread of a traced process, as in /proc/PID/comm, at a time: for a log as it was
 * recorded, for an active stream as it is now. pid and tid are those of an event; name has room for
 * POSIXTRACE_THREAD_NAME_SIZE bytes. Returns 0;
 * ENOENT if it is not known; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_thread_name(trace_id_t __trid, pid_t __pid, pid_t __tid,
			       const struct timespec *__time,
			       char *__name);

/*
 * Which of the threads that had these ids one after the other recorded an event of a log: when it
 * was born, and when the next one was, which is the largest time if there is none. Both pointers
 * may be NULL. Returns 0; ENOENT if it is not known; or EINVAL or ENOMEM.
 */
int posixtrace_get_thread_life(trace_id_t __trid, pid_t __pid, pid_t __tid,
			       const struct timespec *__time, struct timespec *__born,
			       struct timespec *__next);

/*
 * The command line of a traced process at a time: the arguments, each with its NUL. Writes its
 * bytes to *needed, which may be NULL. Returns 0; ENOENT if it is not known; ERANGE if it is longer
 * than size bytes; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_program(trace_id_t __trid, pid_t __pid, const struct timespec *__time,
			   char *__program, size_t __size, size_t *__needed);

/* Bytes of the path of a mapping, with the NUL. */
#define POSIXTRACE_PATH_SIZE		1024

/* A file from which a traced process executes code. */
struct posixtrace_mapping_info {
	unsigned long long address;	/* of the first byte of the mapping */
	unsigned long long size;	/* bytes of the mapping */
	unsigned long long offset;	/* of its first byte in the file, bytes */
	unsigned char build_id[20];	/* of the file, then zeros */
	unsigned int build_id_size;	/* bytes of it, 0 if it is not known */
	char path[POSIXTRACE_PATH_SIZE];	/* as the process saw it, or "" */
	unsigned int __reserved[8];	/* zero */
};

/*
 * The file that a traced process had at an address, at a time: for a log as it was recorded, for an
 * active stream as /proc says now, without the build id. pid, time and address are those of an
 * event. Returns 0; ENOENT if it is not known; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_mapping(trace_id_t __trid, pid_t __pid, const struct timespec *__time,
			   const void *__address, struct posixtrace_mapping_info *__info);

/* Counters that traced processes read for their timestamps. */
#define POSIXTRACE_CLOCK_KERNEL		0	/* the clock of the C library */
#define POSIXTRACE_CLOCK_TSC		1	/* x86-64 */
#define POSIXTRACE_CLOCK_CNTVCT		2	/* arm64 */

/* Where the events come from. Offsets in nanoseconds, as of the creation of the stream. */
struct posixtrace_host_info {
	unsigned char boot_id[16];	/* all zero if it is not known */
	char node[72];			/* name of the host */
	char release[72];		/* of the kernel */
	char machine[72];		/* such as "x86_64" */
	long long realtime_offset;	/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	long long boottime_offset;	/* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	unsigned int counter;		/* POSIXTRACE_CLOCK_* */
	unsigned int resolution;	/* of the clock, ns */
	unsigned int __reserved[8];	/* zero */
};

/*
 * For an active stream: this host, with offsets as of now. Returns 0; ENOENT if the log does not
 * say; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_host(trace_id_t __trid, struct posixtrace_host_info *__info);

/*
 * Numbers of a stream since it was created or cleared. The sum of recorded and dropped is the
 * number of user events that were generated for it. Each recorded event is read, overwritten,
 * skipped, destroyed by a traced process, or still unread.
 */
struct posixtrace_stats_info {
	unsigned long long recorded;	/* user events recorded */
	unsigned long long read;	/* user events reported */
	unsigned long long dropped;	/* user events dropped while it was full */
	unsigned long long overwritten;	/* user events overwritten unread */
	unsigned long long skipped;	/* user events older than some overwritten ones */
	unsigned long long damaged;	/* places where a traced process destroyed records */
	unsigned long long system_lost;	/* system events overwritten or skipped */
	unsigned long long memory;	/* bytes in use for the stream in the kernel */
	unsigned long long processes;	/* traced processes that have not ended */
	unsigned long long untraced;	/* children not traced because memory was short */
	unsigned long long __reserved[6];
};

/* Returns 0, or EINVAL. */
int posixtrace_get_stats(trace_id_t __trid, struct posixtrace_stats_info *__stats);

/* Classes of struct posixtrace_kernel_info: class n is bit n of POSIXTRACE_CLASS_*. */
#define POSIXTRACE_CLASSES	8

/*
 * Numbers of the kernel's events of a stream since it was created or cleared. The sum of recorded
 * and dropped is the number that was generated for it.
 */
struct posixtrace_kernel_info {
	unsigned long long recorded[POSIXTRACE_CLASSES];
	unsigned long long dropped[POSIXTRACE_CLASSES];	/* while the stream was full */
	unsigned long long overwritten;	/* recorded, of all classes, and overwritten unread */
	unsigned long long __reserved[7];
};

/* Returns 0, or EINVAL. All are 0 if the stream has no events of the kernel. */
int posixtrace_get_kernel_info(trace_id_t __trid, struct posixtrace_kernel_info *__info);

/* Flags of struct posixtrace_log_info. */
#define POSIXTRACE_LOG_ENDED	1	/* the stream was shut down: the log is final */
#define POSIXTRACE_LOG_DAMAGED	2	/* damage was found in the log so far */

/* Contents of a log, and its losses. */
struct posixtrace_log_info {
	unsigned long long size;	/* bytes of the file */
	unsigned long long read;	/* bytes read since the log was rewound, about */
	unsigned long long lost;	/* events lost until now, also after the last one */
	unsigned long long overwritten;	/* user events that a LOOP log has overwritten */
	unsigned int flags;		/* POSIXTRACE_LOG_* */
	unsigned int __reserved[7];
};

/* For a log that is open for reading. Returns 0, or EINVAL or ENOMEM. */
int posixtrace_get_log_info(trace_id_t __trid, struct posixtrace_log_info *__info);

/* Names for posixtrace_sysconf(): how many streams can trace one process. */
#define POSIXTRACE_SC_STREAMS_PER_PROCESS_MAX	0x50585401
/* POSIXTRACE_CLASS_* that the loaded module can record on this kernel for this process. */
#define POSIXTRACE_SC_KERNEL_CLASSES		0x50585402

/*
 * Like sysconf(), which does not know this library: answers _SC_TRACE,
 * _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT, _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX,
 * _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX, _SC_TRACE_USER_EVENT_MAX and POSIXTRACE_SC_*, and
 * calls sysconf() for all other names. Returns -1 without an error for an option that this
 * release does not have yet.
 */
long posixtrace_sysconf(int __name);

#ifdef __cplusplus
}
#endif

#endif /* _POSIXTRACE_H */
