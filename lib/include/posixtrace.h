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

/* Version of the library at compile time. */
#define POSIXTRACE_VERSION_MAJOR	1
#define POSIXTRACE_VERSION_MINOR	0

/* Version of the library at run time, such as "1.0". */
const char *posixtrace_version(void);

/*
 * Returns a descriptor for poll(), select() and epoll: readable when there is an event to
 * report, hung up when all traced processes have ended. It belongs to the stream: a program
 * may poll it and duplicate it with dup(), but must not close it or use it in other ways.
 * posix_trace_shutdown() closes it and hangs up its duplicates. As after any close(), epoll
 * forgets it only when there is no duplicate left, in this process or in a child.
 * Returns -1 with errno EINVAL if trid is not an active trace stream of this process.
 */
int posixtrace_fd(trace_id_t __trid);

/*
 * Set when a stream wakes a reader that sleeps in posix_trace_getnext_event() or another function
 * that waits, in poll(), select() or epoll: once unread user and kernel events fill this many
 * bytes of the stream, or once the oldest unread event is this many nanoseconds old, whichever
 * comes first. 0 bytes: no byte limit; 0 ns: no age limit. If both are 0, the default, each event
 * wakes the reader immediately. Only sub-buffers that CPUs have filled count towards the bytes.
 * Deadlines, all system events and the exit of a traced process wake the reader immediately.
 * Reading without waiting is not affected. Returns 0, or EINVAL for more than 1 GiB or more than an
 * hour.
 */
int posixtrace_attr_setwakeup(trace_attr_t *__attr, size_t __bytes, uint64_t __ns);
int posixtrace_attr_getwakeup(const trace_attr_t *__attr, size_t *__bytes, uint64_t *__ns);

/*
 * The order of timestamps across CPUs. Causal, the default: an event that happened before another
 * one has no later timestamp. Relaxed: recording takes half the time, and an event that depends on
 * an event of another CPU may have an earlier timestamp, by up to the duration of a load from
 * memory. In either case, the events of each thread and of each CPU are in order. Returns 0, or
 * EINVAL.
 */
#define POSIXTRACE_ORDER_CAUSAL		0
#define POSIXTRACE_ORDER_RELAXED	1

int posixtrace_attr_setorder(trace_attr_t *__attr, int __order);
int posixtrace_attr_getorder(const trace_attr_t *__attr, int *__order);

/*
 * Compression of the events in a log; the default is none. If the kernel has no compressor, the log
 * is not compressed, and posix_trace_get_attr() reports that. A version of the library that reads
 * the uncompressed logs of a module also reads its compressed ones. Returns 0, or EINVAL.
 */
#define POSIXTRACE_COMPRESS_NONE	0
#define POSIXTRACE_COMPRESS_LZ4		1

int posixtrace_attr_setcompression(trace_attr_t *__attr, int __compression);
int posixtrace_attr_getcompression(const trace_attr_t *__attr, int *__compression);

/*
 * Choose kernel events about the threads of the traced processes. They have system event types: see
 * posixtrace_attr_setkernel(3). The default is 0. Returns 0, or EINVAL. If a class is not
 * available, posix_trace_create() returns ENOTSUP, or EPERM for system calls.
 */
#define POSIXTRACE_CLASS_SCHED		0x01	/* running, waiting, waking up */
#define POSIXTRACE_CLASS_FAULT		0x02	/* page faults */
#define POSIXTRACE_CLASS_SIGNAL		0x04	/* signals */
#define POSIXTRACE_CLASS_SYSCALL	0x08	/* system calls */
#define POSIXTRACE_CLASS_IRQ		0x10	/* interrupts */
#define POSIXTRACE_CLASS_PROCESS	0x20	/* fork, exec, exit, rename */
#define POSIXTRACE_CLASS_ALL		0x3f	/* all of the above */
#define POSIXTRACE_CLASS_STRINGS	0x40	/* texts to which arguments of system calls point */

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
#define POSIXTRACE_SYSCALL_TEXT	30U	/* syscall_text */
#define POSIXTRACE_FUTEX_WAIT	31U	/* futex_wait */

/* Ids of event types are smaller. A program has at most TRACE_USER_EVENT_MAX user event types. */
#define POSIXTRACE_EVENT_ID_MAX	4096U

/*
 * Delay the events of an active stream: report each event only this many nanoseconds after its
 * time, in the order of time. With 0, the default, events are reported immediately, and an event of
 * one CPU may be reported before an older event of another CPU that is delayed. Until an event is
 * due, functions that wait keep waiting, other functions find no event, and the descriptor is not
 * readable. When the stream stops, or all traced processes have ended, all events are reported
 * immediately. Returns 0, or EINVAL for a stream with log, a log, or more than 10 seconds.
 */
int posixtrace_setwindow(trace_id_t __trid, uint64_t __ns);

/* Bytes of a description, without the terminating NUL. */
#define POSIXTRACE_DESCRIPTION_MAX	4095

/*
 * Describe the data of a named user event type, such as "struct { u32 id; text key; }", so that
 * readers show it as fields. posixtrace_eventid_describe() is for the calling process,
 * posixtrace_trid_eventid_describe() for the process that a stream traces. Streams and logs contain
 * the description. Returns 0, also if the type already has the same description; EEXIST if the type
 * has another description, or another program used the type without description; EINVAL, ENOSPC;
 * and the errors of posix_trace_eventid_open().
 */
int posixtrace_eventid_describe(trace_event_id_t __event, const char *__description);
int posixtrace_trid_eventid_describe(trace_id_t __trid, trace_event_id_t __event,
				     const char *__description);

/*
 * Open the event type with a name and a description, or without description if that is NULL, as a
 * trace point does. Returns 0; EEXIST if this program has a type of the name with another
 * description; and the errors of posix_trace_eventid_open() and posixtrace_eventid_describe().
 */
int posixtrace_eventid_open(const char *__event_name, const char *__description,
			    trace_event_id_t *__event_id);

/*
 * Get the description of an event type of a stream or log. *needed receives its size with the NUL;
 * needed may be NULL. Returns 0; ENOENT if the type has no description; ERANGE if it is longer than
 * size bytes; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_eventid_get_description(trace_id_t __trid, trace_event_id_t __event,
				       char *__description, size_t __size, size_t *__needed);

/* posixtrace_batch_event.cpu of a system event, which has no CPU. */
#define POSIXTRACE_NO_CPU	(~0U)

/*
 * Flag of an event: an event with a later time was reported before it. A CPU was delayed
 * between reading the clock and recording this event.
 */
#define POSIXTRACE_EVENT_LATE	1

/* One event of posixtrace_getevents(). */
struct posixtrace_batch_event {
	struct posix_trace_event_info event;
	void *data;		/* in the buffer, aligned to 8 bytes */
	size_t data_len;
	unsigned long long lost;	/* known number of events lost before it */
	unsigned int cpu;		/* CPU that recorded it, or POSIXTRACE_NO_CPU */
	unsigned int flags;		/* POSIXTRACE_EVENT_LATE, or 0 */
	pid_t tid;			/* kernel thread id of the thread, or 0 */
	unsigned int __reserved[3];	/* zero */
};

/* Argument "flags" of posixtrace_getevents(): do not wait for the first event. */
#define POSIXTRACE_NOWAIT	1

/*
 * Report up to max_events events in one call, oldest first, as posix_trace_getnext_event() does
 * with a single event; their data is consecutive in buffer. Waits until there is an event, unless
 * flags has POSIXTRACE_NOWAIT. If the data of an event does not fit, the event is left for the next
 * call; only the data of the first event can be truncated. At the end of a log, this does not wait,
 * and *count is 0. Returns 0 with the number of events in *count, or EINTR or EINVAL; for a log,
 * also ENOMEM.
 */
int posixtrace_getevents(trace_id_t __trid, struct posixtrace_batch_event *__events,
			 size_t __max_events, void *__buffer, size_t __size, size_t *__count,
			 int __flags);

/* Bytes of the name of a thread, with the terminating NUL. */
#define POSIXTRACE_THREAD_NAME_SIZE	16

/* Bytes of a command line; a longer one is truncated. */
#define POSIXTRACE_PROGRAM_SIZE		4096

/*
 * Get the name of a thread of a traced process, as in /proc/PID/comm, at a time: for a log the
 * recorded name, for an active stream the current one. pid, tid and time are from an event; name
 * has room for POSIXTRACE_THREAD_NAME_SIZE bytes. Returns 0; ENOENT if it is not known; or EINVAL;
 * for a log, also ENOMEM.
 */
int posixtrace_get_thread_name(trace_id_t __trid, pid_t __pid, pid_t __tid,
			       const struct timespec *__time,
			       char *__name);

/*
 * Tell apart the threads that had the same ids in a log: get when the thread that recorded an event
 * was born, and when the next thread with these ids was born, or the largest time if there is no
 * next thread. Both pointers may be NULL. Returns 0; ENOENT if the thread is not known; or EINVAL
 * or ENOMEM.
 */
int posixtrace_get_thread_life(trace_id_t __trid, pid_t __pid, pid_t __tid,
			       const struct timespec *__time, struct timespec *__born,
			       struct timespec *__next);

/*
 * Get the command line of a traced process at a time: the arguments, each with its NUL. *needed
 * receives their size in bytes; needed may be NULL. Returns 0; ENOENT if it is not known; ERANGE if
 * it is longer than size bytes; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_program(trace_id_t __trid, pid_t __pid, const struct timespec *__time,
			   char *__program, size_t __size, size_t *__needed);

/* Bytes of the path of a mapping, with the NUL. */
#define POSIXTRACE_PATH_SIZE		1024

/* A file from which a traced process executes code. */
struct posixtrace_mapping_info {
	unsigned long long address;	/* address of the first byte */
	unsigned long long size;	/* in bytes */
	unsigned long long offset;	/* where it starts in the file, in bytes */
	unsigned char build_id[20];	/* build id of the file, then zeros */
	unsigned int build_id_size;	/* in bytes; 0 if it is not known */
	char path[POSIXTRACE_PATH_SIZE];	/* as the process saw it, or "" */
	unsigned int __reserved[8];	/* zero */
};

/*
 * Get the file that a traced process had mapped at an address, at a time: for a log as recorded,
 * for an active stream from /proc, as of now, without the build id. pid, time and address are from
 * an event. Returns 0; ENOENT if it is not known; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_mapping(trace_id_t __trid, pid_t __pid, const struct timespec *__time,
			   const void *__address, struct posixtrace_mapping_info *__info);

/*
 * Get the files that the processes of a log had mapped: up to max_infos mappings with each call, in
 * *count their number, 0 after the last one. *next is 0 for the first call, and is set for the next
 * one. Returns 0; ENOTSUP for an active stream; or EINVAL or ENOMEM.
 */
int posixtrace_get_mappings(trace_id_t __trid, struct posixtrace_mapping_info *__infos,
			    size_t __max_infos, size_t *__count, unsigned long long *__next);

/* Counters that traced processes read for their timestamps. */
#define POSIXTRACE_CLOCK_KERNEL		0	/* the clock of the C library */
#define POSIXTRACE_CLOCK_TSC		1	/* x86-64 */
#define POSIXTRACE_CLOCK_CNTVCT		2	/* arm64 */

/* The host that the events come from. The offsets are in ns, from when the stream was created. */
struct posixtrace_host_info {
	unsigned char boot_id[16];	/* all zero if it is not known */
	char node[72];			/* name of the host */
	char release[72];		/* release of the kernel */
	char machine[72];		/* such as "x86_64" */
	long long realtime_offset;	/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	long long boottime_offset;	/* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	unsigned int counter;		/* POSIXTRACE_CLOCK_* */
	unsigned int resolution;	/* resolution of the clock, ns */
	unsigned int __reserved[8];	/* zero */
};

/*
 * Get the host of a log, or for an active stream this host, with current offsets. Returns 0; ENOENT
 * if it is not in the log; or EINVAL; for a log, also ENOMEM.
 */
int posixtrace_get_host(trace_id_t __trid, struct posixtrace_host_info *__info);

/*
 * Statistics of a stream since it was created or cleared. The sum of recorded and dropped is the
 * number of user events that were generated for it. Each recorded event is read, overwritten,
 * skipped, destroyed by a traced process, or still unread.
 */
struct posixtrace_stats_info {
	unsigned long long recorded;	/* user events recorded */
	unsigned long long read;	/* user events reported */
	unsigned long long dropped;	/* user events dropped while it was full */
	unsigned long long overwritten;	/* user events overwritten before they were read */
	unsigned long long skipped;	/* user events skipped, older than overwritten ones */
	unsigned long long damaged;	/* places where a traced process destroyed records */
	unsigned long long system_lost;	/* system events overwritten or skipped */
	unsigned long long memory;	/* bytes that the stream uses in the kernel */
	unsigned long long processes;	/* traced processes that have not ended */
	unsigned long long untraced;	/* children not traced for lack of memory */
	unsigned long long __reserved[6];
};

/* Returns 0, or EINVAL. */
int posixtrace_get_stats(trace_id_t __trid, struct posixtrace_stats_info *__stats);

/*
 * Trace another process into an active stream. An event name has the same type in all processes of
 * the stream. Returns 0, EINVAL, ESRCH, EPERM, EXDEV (it has separate event types, or other
 * credentials than the first process), EALREADY, EBUSY, ENOTCONN, EINTR or ENOMEM.
 */
int posixtrace_add_process(trace_id_t __trid, pid_t __pid);

/*
 * Continue the log of an active stream in another file of the same kind: the old log becomes
 * complete, and the new one begins with the events recorded from then on. *end_error, which may be
 * NULL, becomes the error number with which the old log ended, or 0; events that could not be
 * written to it go to the new one. Returns 0; EINVAL, EBADF, EXDEV (another kind of file), EBUSY,
 * ENOMEM; or the error of writing to fd, after which the old log continues.
 */
int posixtrace_rotate(trace_id_t __trid, int __fd, int *__end_error);

/*
 * A condition on the events of the traced processes. With a threshold of 0, a process recorded an
 * event of this type. Otherwise, a thread recorded NAME:end more than this many nanoseconds after
 * NAME:begin, or NAME_end after NAME_begin. The types may be opened later. A stream may have 8
 * conditions without a threshold, or 4 with a threshold: one of these counts as two others.
 */
struct posixtrace_event_trigger {
	const char *name;
	uint64_t threshold;
};

/*
 * Choose the conditions of an active stream. A thread was blocked, or was runnable without running,
 * for longer than this many nanoseconds; 0 for no such condition. These two need the class sched,
 * and the kernel checks them. The traced processes check the conditions on events. From the time
 * that a condition is met until posixtrace_get_triggered() reports it, the descriptor of
 * posixtrace_fd() has POLLPRI. Returns 0, EINVAL, ENOMEM, or ENOTSUP without the class sched.
 */
int posixtrace_settrigger(trace_id_t __trid, uint64_t __blocked, uint64_t __runnable,
			  const struct posixtrace_event_trigger *__events, size_t __count);

/* posixtrace_trigger_info.kind */
#define POSIXTRACE_TRIGGER_BLOCKED	1
#define POSIXTRACE_TRIGGER_RUNNABLE	2
#define POSIXTRACE_TRIGGER_EVENT	3	/* an event without a threshold */
#define POSIXTRACE_TRIGGER_SCOPE	4

/* What met a condition first since the last call. All members are 0 if no condition was met. */
struct posixtrace_trigger_info {
	unsigned long long count;	/* how often one was met; for events, at least */
	struct timespec time;		/* when it was met */
	unsigned long long duration;	/* of being blocked or runnable, or of the scope, ns */
	unsigned int kind;		/* POSIXTRACE_TRIGGER_* */
	pid_t pid;
	pid_t tid;
	unsigned int index;		/* for _EVENT and _SCOPE: of the condition, from 0 */
	unsigned int __reserved[8];	/* zero */
};

/* Gets what was met, and resets it. Returns 0 or EINVAL. */
int posixtrace_get_triggered(trace_id_t __trid, struct posixtrace_trigger_info *__info);

/*
 * Get the trace id of the flight recorder of this process, which the library started because of the
 * environment variable POSIXTRACE_RECORD. Returns 0; EINVAL if there is no recorder, or if it was
 * shut down; EAGAIN or ENOMEM.
 */
int posixtrace_get_recorder(trace_id_t *__trid);

/*
 * Write the events that the flight recorder of this process has in memory to its current log,
 * complete that log, and continue with the next one. path, which may be NULL, receives the path of
 * the completed log; it is empty if that log is a file from posixtrace_rotate(). Returns 0; EINVAL
 * if there is no recorder, or if it was shut down; ERANGE if the path needs more than size bytes;
 * EBUSY during another call; EAGAIN, ENOMEM; an error of creating the next log, or of writing the
 * log.
 */
int posixtrace_snapshot(char *__path, size_t __size);

/* Classes of struct posixtrace_kernel_info: class n is bit n of POSIXTRACE_CLASS_*. */
#define POSIXTRACE_CLASSES	8

/*
 * Statistics of the kernel events of a stream since it was created or cleared. The sum of recorded
 * and dropped is the number of events that were generated for it.
 */
struct posixtrace_kernel_info {
	unsigned long long recorded[POSIXTRACE_CLASSES];
	unsigned long long dropped[POSIXTRACE_CLASSES];	/* while the stream was full */
	unsigned long long overwritten;	/* unread events of all classes */
	unsigned long long __reserved[7];
};

/* Returns 0, or EINVAL. All counters are 0 if the stream has no kernel events. */
int posixtrace_get_kernel_info(trace_id_t __trid, struct posixtrace_kernel_info *__info);

/* Flags of struct posixtrace_thread_state. */

/* The thread had a CPU. */
#define POSIXTRACE_STATE_RUNNING	(1U << 0)
/* "since" is exact. Otherwise the thread got into this state at that time or later. */
#define POSIXTRACE_STATE_SINCE		(1U << 1)
/* The thread waited for a block device. */
#define POSIXTRACE_STATE_IO		(1U << 2)
/* ip is valid. Without POSIXTRACE_STATE_CALL, the thread was not in a system call. */
#define POSIXTRACE_STATE_USER		(1U << 3)
/* call and args are valid: the thread was in this system call. */
#define POSIXTRACE_STATE_CALL		(1U << 4)
/* call is a call of the 32-bit interface. */
#define POSIXTRACE_STATE_COMPAT		(1U << 5)
/* futex is valid. */
#define POSIXTRACE_STATE_FUTEX		(1U << 6)
/* The thread is in the pid namespace of the controller, so both use the same ids. */
#define POSIXTRACE_STATE_SAME_IDS	(1U << 7)

/* posixtrace_thread_state.state: the thread kept changing its state. */
#define POSIXTRACE_STATE_UNKNOWN	(~0U)

/* Number of words at the address of a futex. In a mutex of glibc, they include owner and kind. */
#define POSIXTRACE_STATE_WORDS		5

/* The state that a thread of a traced process had at some time. */
struct posixtrace_thread_state {
	struct timespec time;		/* when this was read */
	struct timespec since;		/* when it got into this state; 0 if it is not known */
	struct timespec start;		/* when the thread was created */
	pid_t pid;
	pid_t tid;
	pid_t ppid;			/* 0: not known */
	unsigned int state;		/* as in sched_switch_out; 0: running or runnable */
	unsigned int cpu;		/* where it ran, or ran last */
	unsigned int flags;		/* POSIXTRACE_STATE_* */
	unsigned int call;		/* number of the system call */
	char call_name[32];		/* its name, or "" */
	unsigned int futex[POSIXTRACE_STATE_WORDS];	/* memory at its first argument */
	unsigned long long args[6];	/* arguments of the system call */
	unsigned long long ip;		/* next instruction in user mode */
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	unsigned int __reserved[8];	/* zero */
};

/*
 * Get the states of the threads of the traced processes: the current states for an active stream
 * with kernel events, or for a log, the states at each start of recording. Reports up to max_states
 * threads from *next on. *next must be 0 at first, and is set for the next call. After the last
 * thread, *count is 0. Returns 0; ENOTSUP if the stream has no kernel events; or EINVAL or ENOMEM.
 */
int posixtrace_get_states(trace_id_t __trid, struct posixtrace_thread_state *__states,
			  size_t __max_states, size_t *__count, unsigned long long *__next);

/* Kinds of struct posixtrace_open_file. */

/* The first row of each process; fd is -1. */
#define POSIXTRACE_FILE_TABLE	0
/* text is the path, or "" if it is too long. */
#define POSIXTRACE_FILE_PATH	1
/* text is the protocol with the addresses: "tcp:127.0.0.1:80->127.0.0.1:50000" */
#define POSIXTRACE_FILE_SOCKET	2
/* An end of a pipe; inode is the number of the pipe. */
#define POSIXTRACE_FILE_PIPE	3
/* A file without a path: text is as in /proc/PID/fd, such as "anon_inode:[eventfd]". */
#define POSIXTRACE_FILE_OTHER	4
/*
 * The number of further descriptors, which have no row, is in inode; fd is -1. If pid is 0, further
 * processes have no rows.
 */
#define POSIXTRACE_FILE_MORE	5

/* Flags of struct posixtrace_open_file. */

/* The descriptor is open for reading. */
#define POSIXTRACE_FILE_READS	(1U << 0)
/* The descriptor is open for writing. */
#define POSIXTRACE_FILE_WRITES	(1U << 1)
/* The table may change without a system call of the process: another process may share it. */
#define POSIXTRACE_FILE_UNSURE	(1U << 2)
/* The descriptor is closed when the process calls execve(). */
#define POSIXTRACE_FILE_CLOEXEC	(1U << 3)

/* Minimum number of rows to make room for. */
#define POSIXTRACE_FILES_MIN	16

/* What a descriptor of a traced process referred to at some time. */
struct posixtrace_open_file {
	struct timespec time;		/* when this was read */
	unsigned long long inode;	/* inode of the file; see also POSIXTRACE_FILE_MORE */
	pid_t pid;
	int fd;
	unsigned int kind;		/* POSIXTRACE_FILE_TABLE to POSIXTRACE_FILE_MORE */
	unsigned int flags;		/* READS, WRITES, UNSURE, CLOEXEC */
	char text[224];			/* depends on kind; NUL-terminated */
	unsigned int __reserved[8];	/* zero */
};

/*
 * Get the open descriptors of the traced processes, like posixtrace_get_states(): of a stream with
 * the class strings, or of its log. max_files is at least POSIXTRACE_FILES_MIN. Returns 0; ENOTSUP
 * if the stream does not have that class; or EINVAL or ENOMEM.
 */
int posixtrace_get_files(trace_id_t __trid, struct posixtrace_open_file *__files,
			 size_t __max_files, size_t *__count, unsigned long long *__next);

/*
 * posixtrace_clock_pair.clock and the argument clock of posixtrace_convert_times(): UTC, of which
 * CLOCK_REALTIME is an estimate. Other values are clocks of <time.h> on Linux.
 */
#define POSIXTRACE_CLOCKID_UTC		1024

/* An error that is not known. */
#define POSIXTRACE_CLOCK_UNKNOWN	(~0ULL)

/* posixtrace_clock_pair.flags: one of the clocks was set since the previous pair of this clock. */
#define POSIXTRACE_CLOCK_STEPPED	1

/* Readings of the clock of the events and of another clock at one moment. */
struct posixtrace_clock_pair {
	uint64_t time;			/* clock of the events, ns since the Epoch */
	int64_t value;			/* the other clock, ns */
	uint64_t error;			/* of value, ns; POSIXTRACE_CLOCK_UNKNOWN */
	int clock;			/* the other clock */
	unsigned int flags;		/* POSIXTRACE_CLOCK_STEPPED, or 0 */
	unsigned int __reserved[8];	/* zero */
};

/*
 * Get the pairs of clocks in a log, in the order of clocks, and the pairs of a clock in the order
 * of time: up to max_pairs from *next on. *next must be 0 at first, and is set for the next call.
 * After the last pair, *count is 0. Returns 0; ENOTSUP for an active stream; or EINVAL or ENOMEM.
 */
int posixtrace_get_clock_pairs(trace_id_t __trid, struct posixtrace_clock_pair *__pairs,
			       size_t __max_pairs, size_t *__count, unsigned long long *__next);

/* A time of another clock. */
struct posixtrace_clock_time {
	int64_t value;			/* ns */
	uint64_t error;			/* maximum error, ns, or POSIXTRACE_CLOCK_UNKNOWN */
};

/*
 * Convert times of a log, ns since the Epoch, to another clock: CLOCK_REALTIME, CLOCK_TAI,
 * CLOCK_MONOTONIC, CLOCK_BOOTTIME or POSIXTRACE_CLOCKID_UTC. The other clock had a time from
 * value - error to value + error, see posixtrace_get_clock_pairs(3). Returns 0; ENOENT if the log
 * has no pairs of this clock; ENOTSUP for an active stream; or EINVAL or ENOMEM.
 */
int posixtrace_convert_times(trace_id_t __trid, int __clock, const uint64_t *__times,
			     size_t __count, struct posixtrace_clock_time *__results);

/*
 * Note for the log of a stream that CLOCK_REALTIME is now at most this many nanoseconds away from
 * UTC, as adjtimex() says, or POSIXTRACE_CLOCK_UNKNOWN. Call this again every few seconds. Returns
 * 0, or EINVAL.
 */
int posixtrace_setclockerror(trace_id_t __trid, uint64_t __ns);

/* Flags of struct posixtrace_log_info. */
#define POSIXTRACE_LOG_ENDED	1	/* the stream was shut down: the log is final */
#define POSIXTRACE_LOG_DAMAGED	2	/* damage was found in the log so far */
#define POSIXTRACE_LOG_CONTINUED	4	/* the next log of its series continues it */

/* Contents and losses of a log. */
struct posixtrace_log_info {
	unsigned long long size;	/* bytes of the file */
	unsigned long long read;	/* bytes read since the log was rewound, approximately */
	unsigned long long lost;	/* events lost so far, including after the last one */
	unsigned long long overwritten;	/* user events that a LOOP log has overwritten */
	unsigned int flags;		/* POSIXTRACE_LOG_* */
	unsigned int part;		/* number in a series of logs, from 1; 0: the only log */
	unsigned long long series;	/* the same in all logs of a series; 0: the only log */
	unsigned int __reserved[4];
};

/* Get information about a log that is open for reading. Returns 0, or EINVAL or ENOMEM. */
int posixtrace_get_log_info(trace_id_t __trid, struct posixtrace_log_info *__info);

/*
 * Go to a time in a log that is open for reading: the next event is the first one at or after that
 * time, or an earlier one. Skips as much of the log as possible without reading it. Returns 0,
 * or EINVAL or ENOMEM.
 */
int posixtrace_seek(trace_id_t __trid, const struct timespec *__time);

/* Names for posixtrace_sysconf(). */

/* How many streams can trace one process. */
#define POSIXTRACE_SC_STREAMS_PER_PROCESS_MAX	0x50585401
/* POSIXTRACE_CLASS_* that the loaded module can record on this kernel for this process. */
#define POSIXTRACE_SC_KERNEL_CLASSES		0x50585402

/*
 * Like sysconf(), which does not know this library: handles _SC_TRACE,
 * _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT, _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX,
 * _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX, _SC_TRACE_USER_EVENT_MAX and POSIXTRACE_SC_*, and
 * calls sysconf() for all other names. Returns -1 without an error for an option that this
 * release does not have.
 */
long posixtrace_sysconf(int __name);

#ifdef __cplusplus
}
#endif

#endif /* _POSIXTRACE_H */
