/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A system call without the C library, for programs that replace its function syscall().
 */
#ifndef _SELFTESTS_CALL_KERNEL_H
#define _SELFTESTS_CALL_KERNEL_H

/* Returns the result, or minus an error number. */
static inline long call_kernel(long number, const long arg[6])
{
	long ret;

#if defined(__x86_64__)
	{
		register long r10 __asm__("r10") = arg[3];
		register long r8 __asm__("r8") = arg[4];
		register long r9 __asm__("r9") = arg[5];

		__asm__ volatile ("syscall"
				  : "=a" (ret)
				  : "a" (number), "D" (arg[0]), "S" (arg[1]), "d" (arg[2]),
				    "r" (r10), "r" (r8), "r" (r9)
				  : "rcx", "r11", "memory");
	}
#elif defined(__aarch64__)
	{
		register long x8 __asm__("x8") = number;
		register long x0 __asm__("x0") = arg[0];
		register long x1 __asm__("x1") = arg[1];
		register long x2 __asm__("x2") = arg[2];
		register long x3 __asm__("x3") = arg[3];
		register long x4 __asm__("x4") = arg[4];
		register long x5 __asm__("x5") = arg[5];

		__asm__ volatile ("svc #0"
				  : "+r" (x0)
				  : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5)
				  : "memory");
		ret = x0;
	}
#else
#error "how are system calls made here?"
#endif
	return ret;
}

#endif /* _SELFTESTS_CALL_KERNEL_H */
