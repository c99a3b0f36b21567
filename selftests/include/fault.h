/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the n-th allocation, or copy from or to user space, of the calling thread
 * fails. Needs a kernel with that feature, such as the kernel of "make check-debug".
 */
#ifndef _SELFTESTS_FAULT_H
#define _SELFTESTS_FAULT_H

#include <stdbool.h>
#include <unistd.h>

/*
 * No operation can fail in this many places. If one still fails, the kernel counts something else.
 */
#define FAULT_MAX	2000

/*
 * Descriptor of the fault counter of a thread. Open it early: ordinary users cannot open it.
 */
struct fault {
	int fd;
};

/*
 * Reason to skip a test. If the kernel has the feature but it does not work, the test must fail
 * instead: a broken debug kernel must not skip these tests.
 */
#define FAULT_SKIP	"kernel without fault injection"

static inline bool fault_possible(void)
{
	return access("/proc/self/fail-nth", F_OK) == 0;
}

int fault_set_knob(const char *dir, const char *knob, const char *value);

/* Returns the failure to try after failure @n: by pxt_stride() further. */
int fault_after(int n);

/* Called once, as root. Returns 0 or negative errno. */
int fault_setup(void);

/* For use by the calling thread only. Returns 0 or negative errno. */
int fault_open(struct fault *fault);

/* Makes only the @n-th allocation or copy from now on fail. */
void fault_arm(const struct fault *fault, int n);

/* Ends the injection. Returns true if a failure was injected. Preserves errno. */
bool fault_disarm(const struct fault *fault);

#endif /* _SELFTESTS_FAULT_H */
