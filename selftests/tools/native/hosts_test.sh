#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that commands read logs of several hosts as one, and confuse nothing of them.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# host NUMBER NAME: prints the first lines of a script for write_log
host()
{
	printf '%s\n' "cookie $1" 'cpus 4' 'classes sched,syscall,process' "boot $1" "host $2 x86_64"
}

# worker NAME SHIFT: prints the events of a thread, whose ids and processor are the same on all hosts
worker()
{
	local at=$2
	printf '%s\n' "task 7 7 0 $1" "program 7 0 /bin/$1" 'name 65 step:begin' 'name 66 step:end' \
		'block 0' \
		"kernel sched_switch_in $((at + 1000)) pid=7 tid=7" \
		"event 65 $((at + 1500)) pid=7 tid=7" \
		"kernel syscall_entry $((at + 1800)) pid=7 tid=7 nr=0 name=read args=3,0,64" \
		"kernel sched_switch_out $((at + 2000)) pid=7 tid=7 state=1 reason=blocked" \
		"kernel sched_wakeup $((at + 5000)) pid=7 tid=7 by=thread waker_pid=7 waker_tid=8" \
		"kernel sched_switch_in $((at + 6000)) pid=7 tid=7" \
		"kernel syscall_exit $((at + 6100)) pid=7 tid=7 nr=0 name=read result=1" \
		"event 66 $((at + 7500)) pid=7 tid=7" \
		"kernel sched_switch_out $((at + 8000)) pid=7 tid=7 state=1 reason=blocked" end
}

# two_hosts: writes a.log and b.log, with equal ids, at almost the same times
two_hosts()
{
	{ host 1 alpha; worker one 0; } | write_log a.log
	{ host 2 beta; worker two 300; } | write_log b.log
}

# columns: removes leading and repeated spaces from the file out
columns()
{
	sed -E 's/^ +//; s/ +/ /g' out
}

test_each_line_names_the_host()
{
	two_hosts
	run 0 posixtrace dump a.log b.log
	complains
	columns | cut -d ' ' -f 1-6 | head -n 4 >got
	prints got <<-'END'
		0.000 alpha 0 7 one-7 sched_switch_in
		0.300 ? beta 0 7 two-7
		0.500 ? alpha 0 7 one-7
		0.800 ? beta 0 7 two-7
	END
	run 0 posixtrace dump --json a.log b.log
	jq -c '[.ns, .host, .log, .pid, .tid, .cpu, .comm]' out | head -n 3 >got
	prints got <<-'END'
		[0,"alpha","a.log",7,7,0,"one"]
		[300,"beta","b.log",7,7,0,"two"]
		[500,"alpha","a.log",7,7,0,"one"]
	END
	run 0 posixtrace dump --json a.log
	[ "$(jq 'has("host")' out | sort -u)" = false ]
}

# Without pairs of clocks, no time of one host can be compared to those of another.
test_without_pairs_of_clocks_the_order_is_unknown()
{
	{ host 1 alpha; printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1000 pid=7' 'event 65 2000 pid=7' \
		'event 65 9000000000 pid=7' end; } | write_log a.log
	{ host 2 beta; printf '%s\n' 'name 65 tick' 'block 0' 'event 65 5000000000 pid=7' end; } | write_log b.log
	run 0 posixtrace dump --json a.log b.log
	jq -c '[.ns, .host, .error_ns, .unordered]' out >got
	prints got <<-'END'
		[0,"alpha",null,false]
		[1000,"alpha",null,false]
		[4999999000,"beta",null,true]
		[8999999000,"alpha",null,true]
	END
}

# All that one log alone shows of its threads must be the same in both logs together.
test_equal_ids_of_hosts_are_different_threads()
{
	local log
	two_hosts
	run 0 posixtrace stat --states --all a.log b.log
	for log in a b; do
		posixtrace stat --states --all $log.log | sed -n '/^ *PROCESS/,/^$/p' | grep -E ' (one|two)-7 ' |
			awk '{ $1 = $1; sub(/[a-z]+-7/, ""); print }'
	done >wanted
	grep -E '(one|two)-7 ' out | awk '{ $1 = $1; sub(/(alpha|beta):[a-z]+-7/, ""); print }' >got
	while IFS= read -r line; do
		[ "$(grep -cFx -- "$line" got)" -ge 1 ] || { echo "$line"; cat got; return 1; }
	done <wanted
	run 0 posixtrace stat --by=thread a.log b.log
	grep -q 'alpha:one-7' out
	grep -q 'beta:two-7' out
	run 0 posixtrace stat --by=process a.log b.log
	grep -q 'alpha:one-7' out
	grep -q 'beta:two-7' out
	run 0 posixtrace why --scope=step --worst=2 a.log b.log
	grep -q 'of alpha:one-7, process 7' out
	grep -q 'of beta:two-7, process 7' out
	lacks '[0-9]\{7,\}' out
}

test_selections_take_the_ids_of_each_host()
{
	two_hosts
	run 0 posixtrace dump --pid=7 --tid=7 --cpu=0 a.log b.log
	[ "$(wc -l <out)" -eq 16 ]
	run 1 posixtrace dump --pid=8 a.log b.log
	run 0 posixtrace dump '--filter=step.duration>5us' a.log b.log
	[ "$(wc -l <out)" -eq 4 ]
}

# The end of a process and the reuse of its id on one host mean nothing for another host.
test_lives_are_those_of_a_host()
{
	{ host 1 alpha; printf '%s\n' 'task 7 7 0 first' 'block 0' 'kernel sched_switch_in 1000 pid=7 tid=7' \
		'kernel sched_process_exit 2000 pid=7 tid=7 group_dead=true' \
		'kernel sched_switch_out 3000 pid=7 tid=7 state=X reason=ended' end; } | write_log a.log
	{ host 2 beta; printf '%s\n' 'task 7 7 0 second' 'block 0' 'kernel sched_switch_in 1500 pid=7 tid=7' \
		'kernel syscall_entry 5000 pid=7 tid=7 nr=0 name=read args=3,0,64' \
		'kernel sched_switch_out 6000 pid=7 tid=7 state=1 reason=blocked' end; } | write_log b.log
	run 0 posixtrace stat --states a.log b.log
	columns | grep -E '^7 .*(first|second)-7' | cut -d ' ' -f 2-6 | head -n 2 | sort >got
	prints got <<-'END'
		alpha:first-7 2.00 us 2.00
		beta:second-7 4.50 us 4.50
	END
}

test_boots_of_one_machine_are_different_hosts()
{
	local i
	for i in 1 2 3; do
		{ host $i machine; printf '%s\n' 'name 65 tick' 'block 0' "event 65 ${i}000 pid=7" end; } | write_log $i.log
	done
	run 0 posixtrace dump --json 1.log 2.log 3.log
	jq -r .host out >got
	prints got <<<$'machine\nmachine#2\nmachine#3'
}

# Impossible ids in a forged log must not be those of another host.
test_impossible_ids_are_those_of_no_other_host()
{
	local id
	for id in 4194311 8388615 -7 2147483647; do
		{ host 1 alpha; printf '%s\n' 'name 65 tick' 'task 7 7 0 one' 'block 0' "event 65 1000 pid=$id tid=$id" \
			'event 65 1100 pid=7 tid=7' end; } | write_log a.log
		{ host 2 beta; printf '%s\n' 'name 65 tick' 'task 7 7 0 two' 'block 0' 'event 65 1200 pid=7 tid=7' end; } | write_log b.log
		run 0 posixtrace dump --json a.log b.log
		jq -c 'select(.host == "beta") | [.pid, .tid, .comm]' out >got
		prints got <<<'[7,7,"two"]'
		run 0 posixtrace stat --by=thread a.log b.log
		[ "$(grep -c 'beta:two-7' out)" -eq "$(posixtrace stat --by=thread b.log | grep -c 'two-7')" ]
	done
}

test_formats_without_hosts_are_refused()
{
	local format
	two_hosts
	for format in ctf chrome perfetto html; do
		run 1 posixtrace export --format=$format -o out.$format a.log b.log
		complains "posixtrace: --format=$format: cannot show several hosts: export the logs of each host, or use csv, jsonl, arrow or parquet"
		[ ! -e out.$format ]
	done
}

test_each_log_has_its_own_warnings()
{
	two_hosts
	head -c $(($(stat -c %s b.log) - 200)) b.log >cut.log
	{ host 3 gamma; printf '%s\n' 'name 65 tick' 'block 0' 'event 65 1000 pid=7' 'end lost=5'; } | write_log c.log
	run 0 posixtrace stat a.log cut.log c.log
	complains 'posixtrace: cut.log: the log has no end: it is still being written, or was cut short' \
		'posixtrace: c.log: 5 events were lost: use a larger stream'
}

run_cases
