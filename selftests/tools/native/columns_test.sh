#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that the columns of tables stay aligned for names of any length.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

long=a_name_of_an_event_type_with_more_than_forty_characters

# log_of_names FILE: writes a log with short and long names of threads and event types
log_of_names()
{
	write_log "$1" <<-END
		host h
		name 65 tick
		name 66 $long
		name 67 ${long}_begin
		name 68 ${long}_end
		task 10 10 1 short
		task 10 4194303 1 exactly_15_char
		task 11 11 1 \\x1b\\x1b\\x1b\\x1b
		since 1700000000000000000
		block 0
		event 65 1000 pid=10 tid=10 thread=1
		event 66 2000 pid=10 tid=4194303 thread=2
		event 65 3000 pid=10 tid=10 thread=1
		event 67 4000 pid=11 tid=11 thread=3
		event 68 5000 pid=11 tid=11 thread=3
		event 65 6000 pid=10 tid=10 thread=1
		end
	END
}

# aligned HEADER COLUMN FILE: in each row of the table, a word ends where COLUMN ends in line HEADER
aligned()
{
	awk -v header="$1" -v column="$2" '
		!NF { end = 0 }
		end && (substr($0, end, 1) == " " || substr($0, end + 1, 1) !~ /^ ?$/) { print; bad = 1 }
		end { rows++ }
		index($0, header) && index($0, column) { end = index($0, column) + length(column) - 1 }
		END { exit bad || !rows }' "$3"
}

test_tables_of_stat()
{
	log_of_names log
	run 0 posixtrace stat --no-histogram log
	aligned EVENT COUNT out
	aligned EVENT max out
	aligned PROCESS COUNT out
	aligned PROCESS LAST out
	aligned 'FROM BEGIN' COUNT out
	grep -q "^ *10 exactly_15_char-4194303  *1 " out
}

test_tables_of_states()
{
	write_log log <<-'END'
		classes sched
		host h
		thread A 10 10 0xa
		thread B 10 4194303 0xb
		task 10 10 1 short
		task 10 4194303 1 exactly_15_char
		since 1700000000000000000
		kernel sched_switch_in 1000 cpu=0 @A
		kernel sched_switch_in 1000 cpu=1 @B
		kernel sched_switch_out 2000 cpu=0 @A state=83 reason=blocked
		kernel sched_switch_out 2000 cpu=1 @B state=83 reason=blocked
		kernel sched_switch_in 5000 cpu=0 @A
		kernel sched_switch_in 6000 cpu=1 @B
		end
	END
	run 0 posixtrace stat --states log
	aligned RUNNABLE RUNNABLE out
	grep -q '^ *10  exactly_15_char-4194303 ' out
}

# The first line with a longer name widens the column for all later lines.
test_lines_of_dump()
{
	log_of_names log
	run 0 posixtrace dump log
	[ "$(awk 'NR > 1 { print match($0, /tick|a_name/) }' out | sort -u | wc -l)" -eq 1 ]
}

run_cases
