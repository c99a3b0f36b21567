/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Include this header instead of kselftest_harness.h. It adds these features, which the harness of
 * Linux 6.1 does not have:
 *
 * - if the module is not loaded, the whole program is skipped, with a message. A program that does
 *   not need the module defines PXT_NO_DEVICE before the include;
 * - "-t CASE" runs one case ("name" or "fixture.name") or one fixture ("fixture");
 * - PXT_TIMEOUT_SCALE in the environment multiplies the time limit of each case: system calls of a
 *   debug kernel take thirty times longer. The default is three times the limit of the harness,
 *   because an emulated machine may share its host with others;
 * - PXT_SKIP_IN_SETUP() for fixtures.
 */
#ifndef PXT_TEST_H
#define PXT_TEST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "scale.h"

#define PXT_DEVICE "/dev/posixtrace"

#ifndef PXT_NO_DEVICE
/* Runs before main(), so that fixtures need not check for the device. */
static void __attribute__((constructor)) pxt_require_device(void)
{
	if (access(PXT_DEVICE, F_OK) == 0)
		return;
	printf("TAP version 13\n1..0 # SKIP no " PXT_DEVICE
	       ": insert posixtrace.ko, or use \"make check\"\n");
	exit(KSFT_SKIP);
}
#endif

/*
 * gcc's AddressSanitizer fails at the end of a thread that was cancelled inside a system call: it
 * mistakes its own stack frames for the thread's.
 */
#ifdef __SANITIZE_ADDRESS__
#define PXT_CANCELS_A_THREAD	SKIP(return, "AddressSanitizer and cancelled threads")
#else
#define PXT_CANCELS_A_THREAD	do { } while (0)
#endif

/* ThreadSanitizer allocates memory at any time, and delays signals. */
#ifdef __SANITIZE_THREAD__
#define PXT_TSAN		1
#define PXT_NOT_WITH_TSAN(why)	SKIP(return, "ThreadSanitizer " why)
#else
#define PXT_TSAN		0
#define PXT_NOT_WITH_TSAN(why)	do { } while (0)
#endif

/* Both sanitizers need additional memory for each byte of the program. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PXT_NOT_WITH_SANITIZERS(why)	SKIP(return, "sanitizers " why)
#else
#define PXT_NOT_WITH_SANITIZERS(why)	do { } while (0)
#endif

/*
 * Skips a test in the setup of a fixture. With SKIP(return, ...) there, the harness would still run
 * the test. The teardown does not run.
 */
#define PXT_SKIP_IN_SETUP(...)	SKIP(longjmp(_metadata->env, 1), __VA_ARGS__)

static inline int pxt_is_selected(const struct __fixture_metadata *f,
				  const struct __test_metadata *t, const char *wanted)
{
	char name[256];

	snprintf(name, sizeof(name), "%s.%s", f->name, t->name);
	return !strcmp(wanted, name) || !strcmp(wanted, t->name) || !strcmp(wanted, f->name);
}

/* Removes all test cases but @wanted from the lists of the harness. */
static inline void pxt_prepare_cases(const char *wanted)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t, **link;
	int found = 0;

	for (f = __fixture_list; f; f = f->next) {
		link = &f->tests;
		for (t = f->tests; t; t = t->next) {
			t->timeout *= pxt_patience();
			if (wanted && !pxt_is_selected(f, t, wanted))
				continue;
			*link = t;
			link = &t->next;
			found++;
		}
		*link = NULL;
	}
	if (!found) {
		fprintf(stderr, "no test case called %s\n", wanted ? wanted : "anything");
		exit(KSFT_FAIL);
	}
}

static inline int pxt_harness_run(int argc, char **argv)
{
	const char *wanted = NULL;

	if (argc == 3 && !strcmp(argv[1], "-t")) {
		wanted = argv[2];
	} else if (argc != 1) {
		fprintf(stderr, "usage: %s [-t CASE]\n", argv[0]);
		return KSFT_FAIL;
	}
	pxt_prepare_cases(wanted);
	return test_harness_run(argc, argv);
}

/* TEST_HARNESS_MAIN calls test_harness_run(), so let it call our function. */
#define test_harness_run(argc, argv) pxt_harness_run(argc, argv)

#endif /* PXT_TEST_H */
