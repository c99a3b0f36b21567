/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * posixtrace - what the kernel tells about the traced threads (STATES) and their descriptors
 * (FILES). Logs have the same rows.
 *
 * Fixed-width types, no holes; reserved members are zero. linux/posixtrace.h has the commands, and
 * includes this file.
 */
#ifndef _UAPI_LINUX_POSIXTRACE_STATES_H
#define _UAPI_LINUX_POSIXTRACE_STATES_H

#include <linux/types.h>

/* posixtrace_state.flags */

/* The thread had a processor. */
#define POSIXTRACE_STATE_RUNNING	(1U << 0)
/* @since is exact. Otherwise the thread got into this state at that time or later. */
#define POSIXTRACE_STATE_SINCE		(1U << 1)
/* The thread waited for a block device. */
#define POSIXTRACE_STATE_IO		(1U << 2)
/* @ip is valid. Without POSIXTRACE_STATE_CALL, the thread was not in a system call. */
#define POSIXTRACE_STATE_USER		(1U << 3)
/* @call and @args are valid: the thread was in this system call. */
#define POSIXTRACE_STATE_CALL		(1U << 4)
/* @call is a call of the 32-bit interface. */
#define POSIXTRACE_STATE_COMPAT		(1U << 5)
/* @futex is valid: the 20 bytes at the address in the first argument of the call. */
#define POSIXTRACE_STATE_FUTEX		(1U << 6)
/* The thread is in the pid namespace of the controller: both see the same ids. */
#define POSIXTRACE_STATE_SAME_IDS	(1U << 7)

/* posixtrace_state.state: the thread kept changing its state. */
#define POSIXTRACE_STATE_UNKNOWN	(~0U)

/*
 * Number of words from the address of a futex. In a mutex of glibc, they include its owner and its
 * kind.
 */
#define POSIXTRACE_STATE_WORDS		5

/**
 * struct posixtrace_state - the state of a traced thread at @time
 * @time: when the state was read, ns since the Epoch
 * @since: when it got into this state, ns since the Epoch; 0 if unknown
 * @start: when the thread was created, ns since the Epoch
 * @pid: process id; all ids are in the pid namespace of the controller
 * @tid: thread id
 * @ppid: process id of the parent; 0 if it has none in that namespace
 * @state: as the field state of the event sched_switch_out; 0 if the thread was running or
 *	runnable; or POSIXTRACE_STATE_UNKNOWN
 * @cpu: where it ran, or ran last
 * @flags: POSIXTRACE_STATE_*
 * @call: number of the system call
 * @futex: words from the address of the futex
 * @reserved: zero
 * @args: arguments of the system call
 * @ip: next instruction in user mode
 * @name: name of the thread, terminated
 * @call_name: name of the system call, terminated; "" if unknown
 *
 * POSIXTRACE_STATE_IO, _USER, _CALL, _COMPAT and _FUTEX, and the members that they validate, are
 * only given for threads that were blocked.
 */
struct posixtrace_state {
	__u64 time;
	__u64 since;
	__u64 start;
	__s32 pid;
	__s32 tid;
	__s32 ppid;
	__u32 state;
	__u32 cpu;
	__u32 flags;
	__u32 call;
	__u32 futex[POSIXTRACE_STATE_WORDS];
	__u64 reserved;
	__u64 args[6];
	__u64 ip;
	__u8 name[16];
	__u8 call_name[32];
};

/**
 * struct posixtrace_states - argument of STATES
 * @states: Input: address of an array of struct posixtrace_state
 * @count: Input: room in the array; Output: number of threads; may be 0 even if @next is not -1
 * @next: Input: the threads with this and larger ids, 0 for all; Output: where to continue, or
 *	-1 after the last one
 */
struct posixtrace_states {
	__u64 states;
	__u32 count;
	__s32 next;
};

/* posixtrace_file.kind */

/* The first row of each process. @fd is -1. */
#define POSIXTRACE_FILE_TABLE		0
/* @text is the path; "" if it is too long. */
#define POSIXTRACE_FILE_PATH		1
/* @text is the protocol with the addresses: "tcp:127.0.0.1:80->127.0.0.1:50000" */
#define POSIXTRACE_FILE_SOCKET		2
/* An end of a pipe; @inode is the number of the pipe. */
#define POSIXTRACE_FILE_PIPE		3
/* A file without a path: @text is what /proc/PID/fd shows, such as "anon_inode:[eventfd]". */
#define POSIXTRACE_FILE_OTHER		4
/* @inode is the number of further descriptors of the process, which have no row. @fd is -1. */
#define POSIXTRACE_FILE_MORE		5

/* posixtrace_file.flags */

/* The descriptor is open for reading. */
#define POSIXTRACE_FILE_READS		(1U << 0)
/* The descriptor is open for writing. */
#define POSIXTRACE_FILE_WRITES		(1U << 1)
/*
 * The table of descriptors may change without a system call of the process: it is shared with
 * another process, threads of the process have separate tables, or io_uring threads use it.
 */
#define POSIXTRACE_FILE_UNSURE		(1U << 2)
/* The descriptor is closed when the process calls execve(). */
#define POSIXTRACE_FILE_CLOEXEC		(1U << 3)

#define POSIXTRACE_FILE_TEXT_SIZE	224

/**
 * struct posixtrace_file - what a descriptor of a traced process referred to at @time
 * @time: when the descriptor was read, ns since the Epoch
 * @inode: number of its inode; for POSIXTRACE_FILE_MORE, a number of descriptors
 * @pid: the process, in the pid namespace of the controller
 * @fd: the descriptor
 * @kind: POSIXTRACE_FILE_*
 * @flags: POSIXTRACE_FILE_*
 * @text: depends on @kind; NUL-terminated
 */
struct posixtrace_file {
	__u64 time;
	__u64 inode;
	__s32 pid;
	__s32 fd;
	__u32 kind;
	__u32 flags;
	char text[POSIXTRACE_FILE_TEXT_SIZE];
};

/* Minimum of posixtrace_files.count. */
#define POSIXTRACE_FILES_MIN		16

/**
 * struct posixtrace_files - argument of FILES
 * @files: Input: address of an array of struct posixtrace_file
 * @count: Input: room in the array, at least POSIXTRACE_FILES_MIN; Output: number of rows; may be 0
 *	even if @pid is not -1
 * @pid: Input: the processes with this and larger ids, 0 for all; Output: where to continue, or -1
 *	after the last one
 * @fd: Input: first descriptor of that process, 0 for all; Output: where to continue
 * @reserved: zero
 */
struct posixtrace_files {
	__u64 files;
	__u32 count;
	__s32 pid;
	__u32 fd;
	__u32 reserved;
};

#endif /* _UAPI_LINUX_POSIXTRACE_STATES_H */
