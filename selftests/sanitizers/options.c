// SPDX-License-Identifier: GPL-2.0
/*
 * What a sanitizer shall do, in all programs of such a run: many of them are started without
 * an environment, or with rights that make it count for nothing. What is found goes into
 * files, for tests expect that some processes end badly, and read what others say; the guest
 * looks at them after each program (selftests/vm/guest-check). Signals are left to the tests.
 */
#define COMMON	"log_path=/run/sanitizer/report:abort_on_error=1:handle_segv=0:handle_sigbus=0:" \
		"handle_abort=0:handle_sigill=0:handle_sigfpe=0:allow_addr2line=0:"

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	/*
	 * Leaks are valgrind's: here they would be looked for with ptrace(), at each exit.
	 * gcc 12 finds an error of its own when a cancelled thread ends and it takes the
	 * alternate signal stack away: its frame lies where those of the thread were.
	 */
	return COMMON "detect_leaks=0:allocator_may_return_null=1:use_sigaltstack=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return COMMON "print_stacktrace=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	/* Programs may end while threads of theirs run. */
	return COMMON "die_after_fork=0:report_thread_leaks=0";
}
