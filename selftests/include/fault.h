/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the n-th allocation or copy from or to user space that the calling thread makes
 * fails. Needs a kernel with this feature, such as that of "make check-debug".
 */
#ifndef _SELFTESTS_FAULT_H
#define _SELFTESTS_FAULT_H

#include <stdbool.h>
#include <unistd.h>

/*
 * No operation has this many places where it can fail. If a later one still fails, the kernel does
 * not count the failures of this operation.
 */
#define FAULT_MAX	2000

/*
 * Descriptor of the fault counter of a thread. Open it early: ordinary users cannot open it.
 */
struct fault {
	int fd;
};

/*
 * The reason for skipping a test. If the kernel has the feature but it does not work, the test must
 * fail, not skip: a broken debug kernel must not hide these tests.
 */
#define FAULT_SKIP	"kernel without fault injection"

static inline bool fault_possible(void)
{
	return access("/proc/self/fail-nth", F_OK) == 0;
}

int fault_set_knob(const char *dir, const char *knob, const char *value);

/* Returns the failure to try after failure @n. */
int fault_after(int n);

/* Prepares fault injection. Call it once, as root. Returns 0 or negative errno. */
int fault_setup(void);

/* Opens the fault counter of the calling thread. Returns 0 or negative errno. */
int fault_open(struct fault *fault);

/* Makes only the @n-th allocation or copy from now on fail. */
void fault_arm(const struct fault *fault, int n);

/* Ends the injection. Returns true if a failure was injected. Preserves errno. */
bool fault_disarm(const struct fault *fault);

#endif /* _SELFTESTS_FAULT_H */
