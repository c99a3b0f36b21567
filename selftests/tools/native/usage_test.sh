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

tap_main
