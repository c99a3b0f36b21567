// SPDX-License-Identifier: GPL-2.0
/*
 * Class signal: signals sent to and taken by a thread.
 *
 * signal_generate is called with the lock of the signal handlers. Since Linux 7.0, the tracepoint
 * handlers may be preempted, so they use no per-CPU data.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>

#include "kevent/probe.h"
#include "kevent/record.h"
#include "kevent/waker.h"

static bool is_from_user(const struct kernel_siginfo *info)
{
	return info == SEND_SIG_NOINFO || (info != SEND_SIG_PRIV && SI_FROMUSER(info));
}

static int code_of(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	return info == SEND_SIG_PRIV ? SI_KERNEL : info->si_code;
}

/*
 * The thread that sends the signal. NULL in interrupts and threads of the kernel, and if the kernel
 * sends the signal because of the thread's own actions. When a child exits, the child is the
 * sender.
 */
static struct task_struct *sender_of(const struct kernel_siginfo *info, struct task_struct *task)
{
	if (in_hardirq() || in_serving_softirq() || current->flags & PF_KTHREAD)
		return NULL;
	return is_from_user(info) || !same_thread_group(current, task) ? current : NULL;
}

/* A signal that is sent to a thread (struct sent), or taken by it (struct taken). */
struct sent {
	int sig;
	int code;
	int group;
	int result;
	bool by_kernel;
};

struct taken {
	int sig;
	int code;
	u8 action;
	u64 flags;
};

static void fill_sender(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_signal_data *signal = data;

	if (signal->by == PXT_SENDER_KERNEL)
		return;
	/* A sender outside of the controller's pid namespace has no id there. */
	signal->sender_pid = other ? pxt_memo_pid(stream, other) : 0;
	signal->sender_tid = signal->sender_pid ? pxt_memo_tid(stream, other) : 0;
	signal->by = signal->sender_pid ? PXT_SENDER_THREAD : PXT_SENDER_ANOTHER;
}

static const struct pxt_kevent signal_generate_event = {
	.id = POSIXTRACE_ID_SIGNAL_GENERATE,
	.class = PXT_CLASS(SIGNAL),
	.words = PXT_PLAIN_WORDS(struct pxt_signal_data),
	.fill = fill_sender,
	.current_other = true,
};

/* The kernel itself tells the parent the process id of an ended child, so it is not secret. */
static const struct pxt_kevent signal_child_event = {
	.id = POSIXTRACE_ID_SIGNAL_GENERATE,
	.class = PXT_CLASS(SIGNAL),
	.words = PXT_PLAIN_WORDS(struct pxt_signal_data),
	.trusted = true,
};

static __always_inline void put_generate(struct pxt_kdata *to, const struct sent *sent, u32 by,
					 u64 pid, u64 tid)
{
	to->value = POSIXTRACE_KVALUE_SIGNAL(sent->sig, by, !!sent->group);
	*to->end++ = pid | tid << 24 | (u64)sent->result << POSIXTRACE_KSENT_RESULT_SHIFT |
		     (u64)sent->code << POSIXTRACE_KSENT_CODE_SHIFT;
}

static __always_inline void write_generate(struct pxt_kdata *to, const void *data,
					   const struct pxt_stream *stream,
					   struct task_struct *other)
{
	const struct sent *sent = data;
	u32 by = sent->by_kernel ? PXT_SENDER_KERNEL : PXT_SENDER_ANOTHER;
	u64 pid = 0, tid = 0;

	if (other)
		pid = pxt_memo_pid(stream, other);
	if (pid) {
		by = PXT_SENDER_THREAD;
		tid = pxt_memo_tid(stream, other);
	}
	put_generate(to, sent, by, pid, tid);
}

/* Store the process id twice: a parent must not learn which thread of its child was the last. */
static void write_child_generate(struct pxt_kdata *to, const void *data,
				 const struct pxt_stream *stream, struct task_struct *other)
{
	u64 pid = pxt_memo_pid(stream, other);

	put_generate(to, data, pid ? PXT_SENDER_THREAD : PXT_SENDER_ANOTHER, pid, pid);
}

static noinline __cold void record_child_generate(struct task_struct *task, struct sent sent)
{
	const struct pxt_memo *memo;
	unsigned long flags;

	local_irq_save(flags);
	memo = pxt_kevent_record(&signal_child_event, task, current, &sent, write_child_generate);
	if (memo->more)
		pxt_kevent_others(memo, &signal_child_event, task, current, &sent,
				  write_child_generate);
	local_irq_restore(flags);
}

PXT_KEVENT_OTHERS(record_other_generates, struct sent, &signal_generate_event, write_generate)

/* Does the code fit into a short record? The sender may choose any negative code. */
static bool is_short(int code)
{
	const int limit = 1 << (63 - POSIXTRACE_KSENT_CODE_SHIFT);

	return code >= -limit && code < limit;
}

static noinline __cold void record_long_generate(struct task_struct *task,
						 struct task_struct *sender, struct sent sent)
{
	struct pxt_signal_data data = {
		.sig = sent.sig,
		.code = sent.code,
		.by = sent.by_kernel ? PXT_SENDER_KERNEL : PXT_SENDER_ANOTHER,
		.group = !!sent.group,
		.result = sent.result,
	};

	pxt_kevent_record_plain(&signal_generate_event, task, sender, &data, sizeof(data));
}

/* Has the arguments of signal_generate(), so that they stay in their registers. */
static noinline __noclone void record_generate(void *unused, int sig, struct kernel_siginfo *info,
					       struct task_struct *task, int group, int result)
{
	struct task_struct *sender = sender_of(info, task);
	const struct sent sent = {
		.sig = sig,
		.code = code_of(info),
		.group = group,
		.result = result,
		.by_kernel = !sender,
	};
	const struct pxt_memo *memo;
	unsigned long flags;

	if (unlikely(!is_short(sent.code))) {
		record_long_generate(task, sender, sent);
		return;
	}
	if (unlikely(current->exit_state) && sender && pxt_waker_ended_child(task)) {
		record_child_generate(task, sent);
		return;
	}
	local_irq_save(flags);
	memo = pxt_kevent_record(&signal_generate_event, task, sender, &sent, write_generate);
	if (unlikely(memo->more))
		record_other_generates(memo, task, sender, sent);
	local_irq_restore(flags);
}

static void signal_generate(void *unused, int sig, struct kernel_siginfo *info,
			    struct task_struct *task, int group, int result)
{
	if (unlikely(pxt_interest_in(task)))
		record_generate(unused, sig, info, task, group, result);
}

static u8 action_of(const struct k_sigaction *ka)
{
	if (ka->sa.sa_handler == SIG_DFL)
		return PXT_ACTION_DEFAULT;
	return ka->sa.sa_handler == SIG_IGN ? PXT_ACTION_IGNORED : PXT_ACTION_HANDLER;
}

static const struct pxt_kevent signal_deliver_event = {
	.id = POSIXTRACE_ID_SIGNAL_DELIVER,
	.class = PXT_CLASS(SIGNAL),
	.words = PXT_PLAIN_WORDS(struct pxt_deliver_data),
	.own = true,
};

static __always_inline void write_deliver(struct pxt_kdata *to, const void *data,
					  const struct pxt_stream *stream,
					  struct task_struct *other)
{
	const struct taken *taken = data;

	to->value = POSIXTRACE_KVALUE_SIGNAL(taken->sig, taken->action, 0);
	*to->end++ = taken->flags | (u64)taken->code << 32;
}

PXT_KEVENT_OTHERS(record_other_delivers, struct taken, &signal_deliver_event, write_deliver)

static noinline __cold void record_long_deliver(struct taken taken)
{
	struct pxt_deliver_data data = {
		.sig = taken.sig,
		.code = taken.code,
		.action = taken.action,
		.flags = taken.flags,
	};

	pxt_kevent_record_plain(&signal_deliver_event, current, NULL, &data, sizeof(data));
}

/* Has the arguments of signal_deliver(), so that they stay in their registers. */
static noinline __noclone void record_deliver(void *unused, int sig, struct kernel_siginfo *info,
					      struct k_sigaction *ka)
{
	const struct taken taken = {
		.sig = sig,
		.code = code_of(info),
		.action = action_of(ka),
		.flags = ka->sa.sa_flags,
	};
	const struct pxt_memo *memo;
	unsigned long flags;

	if (unlikely(upper_32_bits(taken.flags))) {
		record_long_deliver(taken);
		return;
	}
	local_irq_save(flags);
	memo = pxt_kevent_record(&signal_deliver_event, current, NULL, &taken, write_deliver);
	if (unlikely(memo->more))
		record_other_delivers(memo, current, NULL, taken);
	local_irq_restore(flags);
}

static void signal_deliver(void *unused, int sig, struct kernel_siginfo *info,
			   struct k_sigaction *ka)
{
	if (unlikely(pxt_interest_in(current)))
		record_deliver(unused, sig, info, ka);
}

static struct pxt_probe probes[] = {
	{ "signal_generate", signal_generate },
	{ "signal_deliver", signal_deliver },
};

const struct pxt_probes pxt_probes_signal = {
	.class = POSIXTRACE_CLASS_SIGNAL,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};
