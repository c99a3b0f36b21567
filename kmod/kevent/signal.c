// SPDX-License-Identifier: GPL-2.0
/*
 * Class signal: signals sent to and taken by a thread.
 *
 * signal_generate is called with the lock of the signal handlers. Since Linux 7.0, the tracepoint
 * handlers may be preempted: they use no per-CPU data.
 */
#include <linux/preempt.h>
#include <linux/sched/signal.h>

#include "kevent/probe.h"
#include "kevent/record.h"

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
 * The thread that sends the signal. NULL in interrupts, and if the kernel informs a thread about
 * its own actions. When a child exits, the child is the sender.
 */
static struct task_struct *sender_of(const struct kernel_siginfo *info, struct task_struct *task)
{
	if (in_hardirq() || in_serving_softirq())
		return NULL;
	return is_from_user(info) || !same_thread_group(current, task) ? current : NULL;
}

static void fill_sender(void *data, const struct pxt_stream *stream, struct task_struct *other)
{
	struct pxt_signal_data *signal = data;

	if (signal->by == PXT_SENDER_KERNEL)
		return;
	signal->by = other ? PXT_SENDER_THREAD : PXT_SENDER_ANOTHER;
	signal->sender_pid = other ? task_tgid_nr_ns(other, stream->ns) : 0;
	signal->sender_tid = other ? task_pid_nr_ns(other, stream->ns) : 0;
}

static const struct pxt_kevent signal_generate_event = {
	.id = POSIXTRACE_ID_SIGNAL_GENERATE,
	.class = PXT_CLASS(SIGNAL),
	.words = PXT_PLAIN_WORDS(struct pxt_signal_data),
	.fill = fill_sender,
};

static void signal_generate(void *unused, int sig, struct kernel_siginfo *info,
			    struct task_struct *task, int group, int result)
{
	struct task_struct *sender;
	struct pxt_signal_data data = {
		.sig = sig,
		.group = group,
		.result = result,
	};

	if (!pxt_interest_in(task))
		return;
	sender = sender_of(info, task);
	data.code = code_of(info);
	data.by = sender ? PXT_SENDER_ANOTHER : PXT_SENDER_KERNEL;
	pxt_kevent_record_plain(&signal_generate_event, task, sender, &data, sizeof(data));
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
};

static void signal_deliver(void *unused, int sig, struct kernel_siginfo *info,
			   struct k_sigaction *ka)
{
	struct pxt_deliver_data data = {
		.sig = sig,
		.action = action_of(ka),
		.flags = ka->sa.sa_flags,
	};

	if (!pxt_interest_in(current))
		return;
	data.code = code_of(info);
	pxt_kevent_record_plain(&signal_deliver_event, current, NULL, &data, sizeof(data));
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
