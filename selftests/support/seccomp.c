// SPDX-License-Identifier: GPL-2.0
/* Makes commands of the module, or all system calls, fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp.h"

static __u32 action_of(const struct refusal *refusal)
{
	if (refusal->notify)
		return SECCOMP_RET_USER_NOTIF;
	if (refusal->trap)
		return SECCOMP_RET_TRAP;
	return refusal->kill ? SECCOMP_RET_KILL_THREAD : SECCOMP_RET_ERRNO | refusal->err;
}

int refuse_commands(const struct refusal *refusal)
{
	const __u32 action = action_of(refusal);
	/* ~0U is not the number of any system call. */
	const __u32 stat = refusal->stat ? SYS_newfstatat : ~0U;
	const __u32 fstat = refusal->stat ? SYS_fstat : ~0U;
	struct sock_filter code[9 + 2 * SECCOMP_COMMANDS_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, stat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fstat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		/* Load the command: the lower 32 bits of the argument. The upper 32 bits are 0. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	};
	struct sock_fprog program = { .filter = code, .len = 7 };
	int i, ret;

	for (i = 0; i < SECCOMP_COMMANDS_MAX && refusal->commands[i]; i++) {
		code[program.len++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (__u32)refusal->commands[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	code[program.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, i ? SECCOMP_RET_ALLOW : action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		      refusal->notify ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);
	return ret < 0 ? -errno : ret;
}

int permit_pipes_only(__u32 action, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .filter = code, .len = sizeof(code) / sizeof(*code) };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) ? -errno : 0;
}
