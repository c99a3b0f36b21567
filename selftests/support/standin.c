// SPDX-License-Identifier: GPL-2.0
/* Answers the command INFO in place of the module. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "standin.h"

const struct refusal standin_filter = {
	.commands = { POSIXTRACE_IOC_INFO },
	.notify = true,
};

/* Answers one INFO. Returns 0 or negative errno. */
static int standin_answer(int listener, __u32 abi_version)
{
	const struct posixtrace_info info = {
		.abi_version = abi_version,
		.page_size = 4096,
		.features = POSIXTRACE_FEATURE_EVENT,
		.streams_max = 1,
		.slots_max = 1,
		.ids_max = 4096,
		.clock_resolution = 1,
	};
	const struct iovec from = { (void *)&info, sizeof(info) };
	struct seccomp_notif_resp answer = { .id = 0 };
	struct seccomp_notif question = { .id = 0 };
	struct iovec to = { .iov_len = sizeof(info) };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
		return -errno;
	answer.id = question.id;
	to.iov_base = (void *)(uintptr_t)question.data.args[2];
	if (process_vm_writev(question.pid, &from, 1, &to, 1, 0) != sizeof(info))
		answer.error = -EFAULT;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) ? -errno : 0;
}

void standin_run(int listener, __u32 abi_version)
{
	struct pollfd poller = { .fd = listener, .events = POLLIN };

	while (poll(&poller, 1, -1) >= 0 && !(poller.revents & POLLHUP)) {
		if (poller.revents & POLLIN)
			standin_answer(listener, abi_version);
	}
}
