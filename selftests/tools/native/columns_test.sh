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

# aligned_left HEADER COLUMN FILE: in each row of the table, the text of COLUMN begins where COLUMN
# does in line HEADER, or further right if it is indented
aligned_left()
{
	awk -v header="$1" -v column="$2" '
		!NF { at = 0 }
		at && (substr($0, at - 1, 1) != " " || substr($0, at) !~ /[^ ]/) { print; bad = 1 }
		at { rows++ }
		index($0, header) && index($0, column) { at = index($0, column) }
		END { exit bad || !rows }' "$3"
}

test_tables_of_stat_by()
{
	log_of_names log
	run 0 posixtrace stat --by=thread log
	aligned EVENT COUNT out
	aligned EVENT RATE out
	aligned_left EVENT THREAD out
	aligned_left 'FROM BEGIN' THREAD out
	aligned 'FROM BEGIN' max out
	grep -q '^tick .* exactly_15_char-4194303 \|exactly_15_char-4194303  *1 ' out
}

test_tables_of_top()
{
	write_log log <<-END
		classes sched
		host h
		name 65 tick
		name 66 $long
		name 67 ${long}_begin
		name 68 ${long}_end
		name 69 short_begin
		name 70 short_end
		task 10 10 1 short
		thread short 10 10 0xa
		thread exactly_15_char 10 4194303 0xb
		block 0
		state short 1500 1000 1 24 0 0 7 0 0 0 read
		state exactly_15_char 1500 1000 1 24 0 0 7 0 0 0 read
		event 65 2000 @short
		event 66 2001 @exactly_15_char
		event 67 2002 @exactly_15_char
		event 68 2003 @exactly_15_char
		event 69 2004 @short
		event 70 2005 @short
		end
	END
	run 0 top_tables log 1000000
	# Add the blank lines that the screen has instead.
	sed -i -E 's/^(EVENT|FROM|   PROCESS)/\n&/' out
	aligned 'FROM BEGIN' NOW out
	aligned 'FROM BEGIN' UNMATCHED out
	aligned EVENT NOW out
	aligned EVENT TOTAL out
	aligned 'THREAD (sampled)' EVENTS out
	aligned 'THREAD (sampled)' TIME out
	aligned_left 'THREAD (sampled)' STATE out
	grep -q '^ *10  exactly_15_char-4194303 ' out
}

test_parts_of_why()
{
	write_log log <<-'END'
		classes all
		host h
		name 65 request_begin
		name 66 request_end
		task 10 10 1 short
		task 10 4194303 1 exactly_15_char
		thread A 10 10 0xa
		thread B 10 4194303 0xb
		block 0
		event 65 1 cpu=0 @A
		kernel syscall_entry 20 cpu=1 @B nr=1 name=write args=5
		kernel syscall_entry 100 cpu=0 @A nr=202 name=futex args=0x1000
		kernel sched_switch_out 110 cpu=0 @A state=S reason=blocked
		kernel sched_wakeup 700 cpu=1 @A by=thread waker_pid=@B waker_tid=@B
		kernel sched_switch_in 710 cpu=0 @A runnable=10
		kernel syscall_exit 810 cpu=0 @A nr=202
		event 66 901 cpu=0 @A
		end
	END
	run 0 posixtrace why --scope=request log
	aligned_left WHAT WHAT out
	grep -q 'woken by exactly_15_char-4194303' out
	run 0 posixtrace stat --states log
	aligned 'LONGEST WAITS' TIME out
	aligned_left 'LONGEST WAITS' 'BLOCKED IN' out
	aligned_left 'LONGEST WAITS' 'WOKEN BY' out
	aligned_left 'BLOCKED IN' 'BLOCKED IN' out
}

# A description follows its name.
test_event_types_of_list()
{
	write_log log <<-END
		name 65 tick
		name 1000 $long
		describe 65 { u32 size; }
		host h
		block 0
		event 65 1000 thread=1 hex=00000000
		end
	END
	run 0 posixtrace list log
	grep -qF "  1000  $long" out
	grep -qE '^    65  tick  ' out
}

# The first line with a longer name widens the column for all later lines.
test_lines_of_dump()
{
	log_of_names log
	run 0 posixtrace dump log
	[ "$(awk 'NR > 1 { print match($0, /tick|a_name/) }' out | sort -u | wc -l)" -eq 1 ]
}

run_cases
