// SPDX-License-Identifier: MIT
/*
 * The door is the page after the gate and the clock. A load from it, with certain registers set,
 * sends a command.
 */
#include "record/door.h"
#include "record/gate.h"

/* How often a command is sent again after a signal. */
#define INTERRUPTS_MAX	100

#if defined(__x86_64__) && defined(__LP64__)
static long knock(unsigned long cmd, void *arg)
{
	long ret = (long)POSIXTRACE_DOOR_MAGIC;

	__asm__ __volatile__("leaq 1f(%%rip), %%rdx\n\t"
			     "testb $0, (%[door])\n"
			     "1:"
			     : "+a" (ret)
			     : "D" (cmd), "S" (arg), [door] "r" (pxtu_gate()->door)
			     : "rdx", "cc", "memory");
	return ret;
}
#elif defined(__aarch64__) && defined(__LP64__)
static long knock(unsigned long cmd, void *arg)
{
	register long ret __asm__("x0") = (long)POSIXTRACE_DOOR_MAGIC;
	register unsigned long x1 __asm__("x1") = cmd;
	register void *x2 __asm__("x2") = arg;

	__asm__ __volatile__("adr x3, 1f\n\t"
			     "ldrb w4, [%[door]]\n"
			     "1:"
			     : "+r" (ret)
			     : "r" (x1), "r" (x2), [door] "r" (pxtu_gate()->door)
			     : "x3", "x4", "cc", "memory");
	return ret;
}
#else
static long knock(unsigned long cmd, void *arg)
{
	(void)cmd;
	(void)arg;
	return (long)POSIXTRACE_DOOR_MAGIC;
}
#endif

bool pxtu_door(unsigned long cmd, void *arg, int *ret)
{
	int tries = 0;
	long answer;

	do {
		answer = knock(cmd, arg);
	} while (answer == -EINTR && ++tries < INTERRUPTS_MAX);
	/*
	 * Our commands have no invalid arguments, so EINVAL means that the gate belongs to another
	 * process with this memory.
	 */
	if (answer == (long)POSIXTRACE_DOOR_MAGIC || answer == -EINVAL)
		return false;
	*ret = answer == -EINTR ? -EIO : (int)answer;
	return true;
}

bool pxtu_door_keeps(void)
{
	__u32 no_slot = 0;
	int ret;

	return pxtu_door(POSIXTRACE_IOC_WAKE, &no_slot, &ret) && !ret;
}

bool pxtu_sandboxed(void)
{
	static __thread bool sandboxed __attribute__((__tls_model__("initial-exec")));
	long mode;

	if (sandboxed)
		return true;
	mode = knock(POSIXTRACE_DOOR_ASK, NULL);
	if (mode <= 0 || mode == (long)POSIXTRACE_DOOR_MAGIC)
		return false;
	sandboxed = true;
	return true;
}
