#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checks invariants of thread states in freshly recorded logs of programs.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/../tools/native/cases.sh"
# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

: "${traced:?run by selftests/programs/run}"

test_logs_have_threads_with_states()
{
	"$native/check_states" "$traced"/*.log | tee shown
	[ "$(wc -l <shown)" -eq 4 ]
	[ "$(sed -n 's/.*pipes.log: [0-9]* states of \([0-9]*\) threads/\1/p' shown)" -gt 50 ]
}

test_all_readers_show_the_same()
{
	compare_readers "$traced"/*.log
}

run_cases
