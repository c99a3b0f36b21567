#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that the posixtrace command refuses options that would have no effect.
# shellcheck source=selftests/tools/native/tap.sh
. "$(dirname "$0")/tap.sh"

# refuses MESSAGE ARGUMENT...: posixtrace says only this, and fails with a usage error
refuses()
{
	local message=$1
	shift
	run 2 posixtrace "$@"
	complains "posixtrace: $message"
	[ ! -s out ]
}

test_export_limits_the_events_of_a_page_only()
{
	local format
	printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1700000000000000000' end | write_log log
	for format in ctf chrome perfetto; do
		refuses '--max-events: needs --format=html' export -m 5 -f "$format" -o new log
		[ ! -e new ]
	done
	run 0 posixtrace export -f html -m 5 -o new log
}

# accepts ARGUMENT...: there is no such process, but the arguments are right
accepts()
{
	run 1 posixtrace "$@" --pid=4194303
}

test_exclude_of_system_events_of_the_standard()
{
	local name command
	for name in posix_trace_start posix_trace_filter 'posix_trace_*' 'posix_trace_st?p' \
		'posix_trace_[f]lush_*'; do
		for command in live record; do
			refuses "$name: system events of the standard are always recorded" \
				"$command" -x "idle,$name" -- true
		done
	done
	# These match other event types, too, or only those.
	for name in '*' 'p*' '*_start' 'posix_trace_unnamed_userevent' 'posix_trace_mine*'; do
		accepts live -x "$name"
		accepts record -o new -x "$name"
		[ ! -e new ]
	done
}

test_list_all_is_about_event_types()
{
	refuses '--all: needs a PID or a LOG' list --all
	refuses '--all: needs a PID or a LOG' list -a "$(command -v posixtrace)"
	printf '%s\n' 'name 65 tick' end | write_log log
	run 0 posixtrace list -a log
	grep -q '^  *2  posix_trace_start$' out
	run 1 posixtrace list -a missing
	complains 'posixtrace: missing: No such file or directory'
}

test_sizes_are_at_least_1()
{
	refuses '--size: must be at least 1 (got "0")' live --size=0 -- true
	refuses '--size: must be at least 1 (got "0K")' record -s 0K -- true
	refuses '--log-size: must be at least 1 (got "0")' record --log-policy=loop --log-size=0 -- true
	refuses '--log-size: must be at least 1 (got "0")' record --log-size=0 -- true
	[ ! -e posixtrace.log ]
	accepts live --size=1 --data-size=0
}

tap_main
