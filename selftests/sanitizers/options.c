// SPDX-License-Identifier: GPL-2.0
/*
 * Sets the options of the sanitizer in all programs of a run. The environment cannot do that,
 * because many programs run without an environment, or with privileges that make the sanitizer
 * ignore it. Reports are written to files, because tests read the output of programs and expect
 * some programs to die. The guest reads these files after each program (see
 * selftests/vm/guest-check). Signals are left to the tests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#define COMMON	"log_path=/run/sanitizer/report:abort_on_error=1:handle_segv=0:handle_sigbus=0:" \
		"handle_abort=0:handle_sigill=0:handle_sigfpe=0:allow_addr2line=0:"

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	/*
	 * When gcc 12's sanitizer removes the alternate signal stack of a cancelled thread, it
	 * reports a false error: it mistakes its own stack frame for one of the thread.
	 */
	return COMMON "detect_leaks=1:allocator_may_return_null=1:use_sigaltstack=0";
}

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	/*
	 * The leak search attaches to the process. That fails after a change of privileges. In a
	 * program whose system calls are traced, the calls of the search would fill the stream
	 * (tools/questions_test).
	 */
	return getauxval(AT_SECURE) || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1 ||
	       !strcmp(program_invocation_short_name, "service");
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return COMMON "print_stacktrace=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	/* Programs may exit while their threads run. */
	return COMMON "die_after_fork=0:report_thread_leaks=0";
}

const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	/*
	 * A reader copies data before it takes the record. If the writer was faster, the reader
	 * drops the copy.
	 */
	return "race:copy_data\n";
}
