/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_KEVENT_H
#define PXT_KEVENT_H

#include <linux/math.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

struct pxt_stream;

/* POSIXTRACE_KVALUE_REASON: why a thread left its CPU */
#define PXT_SWITCH_PREEMPTED	0	/* still runnable */
#define PXT_SWITCH_BLOCKED	1	/* waiting */
#define PXT_SWITCH_IO		2	/* waiting for a block device */
#define PXT_SWITCH_ENDED	3	/* exited */

/* POSIXTRACE_KWAKER_BY: what woke a thread */
#define PXT_WAKER_ANOTHER	0	/* a thread hidden from the controller */
#define PXT_WAKER_THREAD	1	/* another thread, in a system call or a fault */
#define PXT_WAKER_INTERRUPT	2	/* an interrupt, or a softirq in a hidden thread */
#define PXT_WAKER_SOFTIRQ	3	/* a softirq, in the context of a thread */
#define PXT_WAKER_TIMER		4
#define PXT_WAKER_CHILD		5	/* a child of the process has ended */
#define PXT_WAKER_SIGNAL	6	/* sent by a thread, known to the controller or not */
#define PXT_WAKER_KERNEL	7	/* a thread of the kernel */

/*
 * The data of events that are written with POSIXTRACE_KFLAG_PLAIN, as described in
 * target/kerneltype.c. Each starts with room for the id of its thread.
 */

struct pxt_fork_data {
	s32 tid;
	s32 child_pid;
	s32 child_tid;
};

#define PXT_FILENAME_MAX	256

struct pxt_exec_data {
	s32 tid;
	char filename[PXT_FILENAME_MAX];
};

struct pxt_exit_data {
	s32 tid;
	s32 exit_code;
	u8 group_dead;
	u8 pad[3];
};

struct pxt_rename_data {
	s32 tid;
	char oldcomm[TASK_COMM_LEN];
	char newcomm[TASK_COMM_LEN];
};

struct pxt_signal_data {
	s32 tid;
	s32 sig;
	s32 code;
	u8 by;
	u8 group;
	u8 result;
	u8 pad;
	s32 sender_pid;
	s32 sender_tid;
};

/* pxt_signal_data.by */
#define PXT_SENDER_ANOTHER	0	/* a thread hidden from the controller */
#define PXT_SENDER_THREAD	1
#define PXT_SENDER_KERNEL	2

struct pxt_deliver_data {
	s32 tid;
	s32 sig;
	s32 code;
	u8 action;
	u8 pad[3];
	u64 flags;
};

/* pxt_deliver_data.action */
#define PXT_ACTION_DEFAULT	0
#define PXT_ACTION_IGNORED	1
#define PXT_ACTION_HANDLER	2

struct pxt_syscall_data {
	s32 tid;
	s32 nr;
	unsigned long args[POSIXTRACE_KARGS];
	u8 compat;
} __packed;

/*
 * When the library builds this event from a short record, it appends the name of the system call.
 */
struct pxt_result_data {
	s32 tid;
	s32 nr;
	s64 result;
	u8 compat;
	u8 pad;
	u16 error;
} __packed;

#define PXT_TEXT_SIZE		256

struct pxt_text_data {
	s32 tid;
	s32 nr;
	u64 address;
	u8 arg;
	u8 state;
	char value[PXT_TEXT_SIZE];
};

/* pxt_text_data.state */
#define PXT_TEXT_WHOLE		0
#define PXT_TEXT_CUT		1	/* longer, or the rest is not in memory */
#define PXT_TEXT_ABSENT		2	/* not in memory */

struct pxt_futex_data {
	s32 tid;
	u64 address;
	u64 ip;
	u32 lock;
	s32 owner;
	u32 kind;
	u8 operation;
	u8 known;
	u8 same_ids;
} __packed;

#define PXT_NAME_SIZE		32

struct pxt_irq_data {
	s32 tid;
	u32 number;
	u64 duration;
	u8 kind;
	u8 nested;
	char name[PXT_NAME_SIZE];
};

/* pxt_irq_data.kind */
#define PXT_IRQ_HARD		0	/* device interrupt */
#define PXT_IRQ_SOFT		1
#define PXT_IRQ_VECTOR		2	/* from this CPU or another one */

static_assert(sizeof(struct pxt_fork_data) == 12 && sizeof(struct pxt_exit_data) == 12 &&
	      sizeof(struct pxt_rename_data) == 36 && sizeof(struct pxt_signal_data) == 24 &&
	      sizeof(struct pxt_deliver_data) == 24 &&
	      sizeof(struct pxt_syscall_data) == 57 && sizeof(struct pxt_result_data) == 20 &&
	      offsetof(struct pxt_text_data, value) == 18 &&
	      sizeof(struct pxt_futex_data) == 35 &&
	      offsetof(struct pxt_irq_data, name) == 18);

/**
 * struct pxt_kevent - common properties of all events of a type
 * @id: event type
 * @class: number of its class
 * @words: largest number of words of its data
 * @fill: for plain data: fills in the ids of the other thread, or zeros if @other is NULL because
 *	the controller must not know it. NULL if not needed
 * @own: the event always concerns the current thread
 * @trusted: the controller may know the other thread
 * @current_other: the other thread is the current one: a controller that might trace its process
 *	may know it
 * @hidden: also record it for a process that may have gained privileges
 * @memory: contains addresses of the process
 */
struct pxt_kevent {
	u32 id;
	u32 class;
	u32 words;
	void (*fill)(void *data, const struct pxt_stream *stream, struct task_struct *other);
	bool own;
	bool trusted;
	bool current_other;
	bool hidden;
	bool memory;
};

/* Words of plain data: without its first member, the id of the thread. */
#define PXT_PLAIN_WORDS(type)	DIV_ROUND_UP(sizeof(type) - sizeof(s32), sizeof(u64))

void pxt_kevent_init(struct pxt_stream *stream);
void pxt_kevent_end(struct pxt_stream *stream);

#endif /* PXT_KEVENT_H */
