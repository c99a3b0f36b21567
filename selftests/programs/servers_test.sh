#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares all readers on freshly recorded logs of redis, Python, git, nginx and PostgreSQL.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/../tools/native/cases.sh"
# shellcheck source=selftests/tools/native/readers/common.sh
. "$native/readers/common.sh"

: "${traced:?run by selftests/programs/run}"
logs=(redis python git nginx postgres)

test_programs_did_their_work()
{
	grep -q 'GET: ' "$traced/redis.out"
	[ "$(grep -cx page "$traced/nginx.out")" -ge 50 ]
	grep -q 4002000 "$traced/postgres.out"
}

test_logs_have_events_of_many_threads()
{
	local log
	for log in "${logs[@]}"; do
		posixtrace stat --states --all "$traced/$log.log" >table
		sed -n '/^ *PROCESS/,/^$/p' table | head -n -1 | tee threads
		[ "$(wc -l <threads)" -gt 3 ]
	done
}

# The logs are compressed, so log_bytes adds up the sizes of the uncompressed records. See
# performance.rst.
test_events_and_traces_are_small()
{
	"$native/../../bench/log_bytes" "$traced"/*.log | tee sizes
	awk '/kernel events of/ && $6 > 25 || /Perfetto/ && $(NF - 3) > 2 { print; bad = 1 }
		END { exit bad || NR != 10 }' sizes
}

test_states_hold()
{
	"$native/check_states" "$traced"/*.log
}

test_all_readers_show_the_same()
{
	compare_readers "$traced"/*.log
}

run_cases
