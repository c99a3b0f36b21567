/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes commands through the door of the gate. A command is a read with certain values in
 * registers: see linux/posixtrace_memory.h. Include this header in only one file of a program.
 */
#ifndef _SELFTESTS_KNOCK_H
#define _SELFTESTS_KNOCK_H

#include <linux/posixtrace.h>

/* Result of knock() if the read was an ordinary one, without a command. */
#define NO_DOOR		((long)POSIXTRACE_DOOR_MAGIC)

#if defined(__x86_64__)
/* Indices of registers for knock_with(). */
enum { REG_MAGIC, REG_NEXT = 3, REG_ARG, REG_COMMAND, REG_DOOR = 14, REGISTERS };

static inline long knock_at(const void *door, unsigned long cmd, const void *arg)
{
	long ret = NO_DOOR;

	__asm__ volatile ("leaq 1f(%%rip), %%rdx\n\t"
			  "testb $0, (%[door])\n"
			  "1:"
			  : "+a" (ret)
			  : "D" (cmd), "S" (arg), [door] "r" (door)
			  : "rdx", "cc", "memory");
	return ret;
}

/*
 * @regs has rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15. rdx becomes the address at which to
 *	continue.
 */
__asm__ (".pushsection .text\n"
	 ".type knock_with, @function\n"
	 "knock_with:\n\t"
	 "pushq %rbx\n\t"
	 "pushq %rbp\n\t"
	 "pushq %r12\n\t"
	 "pushq %r13\n\t"
	 "pushq %r14\n\t"
	 "pushq %r15\n\t"
	 "pushq %rdi\n\t"
	 "leaq 1f(%rip), %rdx\n\t"
	 "movq %rdx, 24(%rdi)\n\t"
	 "movq 0(%rdi), %rax\n\t"
	 "movq 8(%rdi), %rbx\n\t"
	 "movq 16(%rdi), %rcx\n\t"
	 "movq 32(%rdi), %rsi\n\t"
	 "movq 48(%rdi), %rbp\n\t"
	 "movq 56(%rdi), %r8\n\t"
	 "movq 64(%rdi), %r9\n\t"
	 "movq 72(%rdi), %r10\n\t"
	 "movq 80(%rdi), %r11\n\t"
	 "movq 88(%rdi), %r12\n\t"
	 "movq 96(%rdi), %r13\n\t"
	 "movq 104(%rdi), %r14\n\t"
	 "movq 112(%rdi), %r15\n\t"
	 "movq 40(%rdi), %rdi\n\t"
	 "testb $0, (%r15)\n\t"
	 /* Execution does not continue at the next instruction. */
	 "ud2\n"
	 "1:\n\t"
	 "xchgq %rdi, (%rsp)\n\t"
	 "movq %rax, 0(%rdi)\n\t"
	 "movq %rbx, 8(%rdi)\n\t"
	 "movq %rcx, 16(%rdi)\n\t"
	 "movq %rdx, 24(%rdi)\n\t"
	 "movq %rsi, 32(%rdi)\n\t"
	 "movq %rbp, 48(%rdi)\n\t"
	 "movq %r8, 56(%rdi)\n\t"
	 "movq %r9, 64(%rdi)\n\t"
	 "movq %r10, 72(%rdi)\n\t"
	 "movq %r11, 80(%rdi)\n\t"
	 "movq %r12, 88(%rdi)\n\t"
	 "movq %r13, 96(%rdi)\n\t"
	 "movq %r14, 104(%rdi)\n\t"
	 "movq %r15, 112(%rdi)\n\t"
	 "popq 40(%rdi)\n\t"
	 "popq %r15\n\t"
	 "popq %r14\n\t"
	 "popq %r13\n\t"
	 "popq %r12\n\t"
	 "popq %rbp\n\t"
	 "popq %rbx\n\t"
	 "ret\n\t"
	 ".size knock_with, . - knock_with\n"
	 ".popsection");
#elif defined(__aarch64__)
enum { REG_MAGIC, REG_COMMAND, REG_ARG, REG_NEXT, REG_DOOR = 5, REGISTERS = 31 };

static inline long knock_at(const void *door, unsigned long cmd, const void *arg)
{
	register long ret __asm__("x0") = NO_DOOR;
	register unsigned long x1 __asm__("x1") = cmd;
	register const void *x2 __asm__("x2") = arg;

	__asm__ volatile ("adr x3, 1f\n\t"
			  "ldrb w4, [%[door]]\n"
			  "1:"
			  : "+r" (ret)
			  : "r" (x1), "r" (x2), [door] "r" (door)
			  : "x3", "x4", "cc", "memory");
	return ret;
}

/* @regs has x0 to x30. x3 becomes the address at which to continue. */
__asm__ (".pushsection .text\n"
	 ".type knock_with, %function\n"
	 "knock_with:\n\t"
	 "sub sp, sp, #112\n\t"
	 "stp x19, x20, [sp]\n\t"
	 "stp x21, x22, [sp, #16]\n\t"
	 "stp x23, x24, [sp, #32]\n\t"
	 "stp x25, x26, [sp, #48]\n\t"
	 "stp x27, x28, [sp, #64]\n\t"
	 "stp x29, x30, [sp, #80]\n\t"
	 "str x0, [sp, #96]\n\t"
	 "adr x3, 1f\n\t"
	 "str x3, [x0, #24]\n\t"
	 "ldr x2, [x0, #16]\n\t"
	 "ldp x4, x5, [x0, #32]\n\t"
	 "ldp x6, x7, [x0, #48]\n\t"
	 "ldp x8, x9, [x0, #64]\n\t"
	 "ldp x10, x11, [x0, #80]\n\t"
	 "ldp x12, x13, [x0, #96]\n\t"
	 "ldp x14, x15, [x0, #112]\n\t"
	 "ldp x16, x17, [x0, #128]\n\t"
	 "ldp x18, x19, [x0, #144]\n\t"
	 "ldp x20, x21, [x0, #160]\n\t"
	 "ldp x22, x23, [x0, #176]\n\t"
	 "ldp x24, x25, [x0, #192]\n\t"
	 "ldp x26, x27, [x0, #208]\n\t"
	 "ldp x28, x29, [x0, #224]\n\t"
	 "ldr x30, [x0, #240]\n\t"
	 "ldp x0, x1, [x0]\n\t"
	 "ldrb w4, [x5]\n\t"
	 /* Execution does not continue at the next instruction. */
	 "brk #0\n"
	 "1:\n\t"
	 "str x0, [sp, #104]\n\t"
	 "ldr x0, [sp, #96]\n\t"
	 "str x1, [x0, #8]\n\t"
	 "stp x2, x3, [x0, #16]\n\t"
	 "stp x4, x5, [x0, #32]\n\t"
	 "stp x6, x7, [x0, #48]\n\t"
	 "stp x8, x9, [x0, #64]\n\t"
	 "stp x10, x11, [x0, #80]\n\t"
	 "stp x12, x13, [x0, #96]\n\t"
	 "stp x14, x15, [x0, #112]\n\t"
	 "stp x16, x17, [x0, #128]\n\t"
	 "stp x18, x19, [x0, #144]\n\t"
	 "stp x20, x21, [x0, #160]\n\t"
	 "stp x22, x23, [x0, #176]\n\t"
	 "stp x24, x25, [x0, #192]\n\t"
	 "stp x26, x27, [x0, #208]\n\t"
	 "stp x28, x29, [x0, #224]\n\t"
	 "str x30, [x0, #240]\n\t"
	 "ldr x1, [sp, #104]\n\t"
	 "str x1, [x0]\n\t"
	 "ldp x19, x20, [sp]\n\t"
	 "ldp x21, x22, [sp, #16]\n\t"
	 "ldp x23, x24, [sp, #32]\n\t"
	 "ldp x25, x26, [sp, #48]\n\t"
	 "ldp x27, x28, [sp, #64]\n\t"
	 "ldp x29, x30, [sp, #80]\n\t"
	 "add sp, sp, #112\n\t"
	 "ret\n\t"
	 ".size knock_with, . - knock_with\n"
	 ".popsection");
#endif

static inline long knock(const struct posixtrace_gate *gate, unsigned long cmd, const void *arg)
{
	return knock_at(gate->door, cmd, arg);
}

/*
 * Like knock(), with the values of @regs in all general purpose registers except the stack pointer.
 * First sets @regs[REG_NEXT]. Stores the registers in @regs afterwards.
 */
void knock_with(unsigned long *regs);

#endif /* _SELFTESTS_KNOCK_H */
