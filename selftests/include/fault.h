/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the n-th allocation, or copy from or to the process, of the calling
 * thread fails. For kernels with that feature, such as that of "make check-debug".
 */
#ifndef _SELFTESTS_FAULT_H
#define _SELFTESTS_FAULT_H

#include <stdbool.h>
#include <unistd.h>

/*
 * No operation here has so many failures: a higher count means that the kernel counts
 * something else.
 */
#define FAULT_MAX	2000

/*
 * Descriptor of the counter of one thread; opened while the caller still may, since others
 * close it and users cannot open it.
 */
struct fault {
	int fd;
};

/*
 * A kernel that has the feature must use it: otherwise a broken debug kernel would skip
 * these tests.
 */
#define FAULT_SKIP	"kernel without fault injection"

static inline bool fault_possible(void)
{
	return access("/proc/self/fail-nth", F_OK) == 0;
}

int fault_set_knob(const char *dir, const char *knob, const char *value);

/* Called once, as root. Returns 0 or negative errno. */
int fault_setup(void);

/* For the calling thread, the only one that may use it. Returns 0 or negative errno. */
int fault_open(struct fault *fault);

/* The @n-th from now on fails, and no other. */
void fault_arm(const struct fault *fault, int n);

/* Ends the injection. Returns whether a failure was injected. Keeps errno. */
bool fault_disarm(const struct fault *fault);

#endif /* _SELFTESTS_FAULT_H */
