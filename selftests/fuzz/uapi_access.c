// SPDX-License-Identifier: GPL-2.0
/*
 * System calls without the C library, because its errno may belong to another process when memory
 * is shared. Also accesses to memory that may be unmapped at any time: such an access returns
 * -EFAULT if it causes a signal. For this purpose, the code of the accesses lies between two labels
 * and uses no stack.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "uapi_fuzz.h"

long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Calls ioctl() as a 32-bit program does. Any program can do this if the kernel supports it. */
long sys_ioctl32(int fd, unsigned int cmd, uint32_t arg)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a" (ret)
			 : "a" (54L), "b" ((long)fd), "c" ((long)cmd), "d" ((long)arg)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

__asm__(".text\n"
	".globl access_begin, access_failed, peek, poke, poke4, cas, copy\n"
	".type peek, @function\n"
	".type poke, @function\n"
	".type poke4, @function\n"
	".type cas, @function\n"
	".type copy, @function\n"
	"access_begin:\n"
	"peek:\n"
	"	mov (%rdi), %rax\n"
	"	mov %rax, (%rsi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"poke:\n"
	"	mov %rsi, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"poke4:\n"
	"	mov %esi, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"cas:\n"
	"	mov %rsi, %rax\n"
	"	lock cmpxchg %rdx, (%rdi)\n"
	"	mov $0, %eax\n"
	"	setne %al\n"
	"	ret\n"
	"copy:\n"
	"	mov %rdx, %rcx\n"
	"	rep movsb\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"access_failed:\n"
	"	mov $-14, %rax\n"
	"	ret\n");

static void fault(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t ip = regs[REG_RIP];
	struct sigaction action = { .sa_handler = SIG_DFL };

	(void)info;
	if (ip >= (uintptr_t)access_begin && ip < (uintptr_t)access_failed)
		regs[REG_RIP] = (uintptr_t)access_failed;
	else	/* the signal repeats until the supervisor kills the worker */
		sigaction(signal, &action, NULL);
}

void access_init(void)
{
	struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
