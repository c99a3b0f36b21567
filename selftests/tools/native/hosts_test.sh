#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests that commands read logs of several hosts as one, and confuse nothing of them.
# shellcheck source=selftests/tools/native/cases.sh
. "$(dirname "$0")/cases.sh"

# host NUMBER NAME: prints the first lines of a script for write_log
host()
{
	printf '%s\n' "cookie $1" 'cpus 4' 'classes sched,syscall,process' "boot 0$1" "host $2 x86_64"
}

# worker NAME SHIFT: prints the events of a thread. All hosts use the same ids and processor
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
		0.800 ? alpha 0 7 one-7
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

# Without pairs of clocks, times of different hosts cannot be compared.
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
	[ "$(wc -l <out)" -eq 18 ]
	run 1 posixtrace dump --pid=8 a.log b.log
	run 0 posixtrace dump '--filter=step.duration>5us' a.log b.log
	[ "$(wc -l <out)" -eq 4 ]
}

# states_of LOG...: prints the states in an export: begin, duration and state, sorted
states_of()
{
	run 0 posixtrace export --format=jsonl --table=states -o - "$@"
	jq -r '[.begin_ns, .duration_ns, .state] | join(" ")' out | sort
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
	{ states_of a.log; states_of b.log; } | sort >wanted
	[ "$(wc -l <wanted)" -ge 2 ]
	states_of a.log b.log >got
	prints got <wanted
}

# clocks TIME OFFSET ERROR: prints the pairs of clocks at a time
clocks()
{
	printf '%s\n' "clock 0 $1 $(($1 + $2)) 0" "clock 1024 $1 $(($1 + $2)) $3"
}

# ticks TIME...: prints events at these times
ticks()
{
	printf '%s\n' 'name 65 tick' 'block 0'
	printf 'event 65 %d pid=7\n' "$@"
	echo end
}

# order LOG...: stores the time and the host of each event, and if its order is unknown
order()
{
	run 0 posixtrace dump --json "$@"
	jq -c '[.ns, .host, .unordered]' out >got
}

# The error grows by 500 ppm after the pair, twice: for CLOCK_REALTIME, and for UTC.
test_errors_that_overlap_make_the_order_unknown()
{
	local since='since 1700000000000000000'
	{ host 1 alpha; echo "$since"; clocks 0 0 100; ticks 1000 3000 4000; } | write_log a.log
	{ host 2 beta; echo "$since"; clocks 0 0 100; ticks 1150 3500 3990; } | write_log b.log
	order a.log b.log
	prints got <<-'END'
		[0,"alpha",false]
		[150,"beta",true]
		[2000,"alpha",false]
		[2500,"beta",false]
		[2990,"beta",false]
		[3000,"alpha",true]
	END
	jq -e 'select(.error_ns < 100 or .error_ns > 110)' out && return 1
	# The wall clock was set back by 900 ns before: the clock of the events is ahead of it.
	{ host 2 beta; echo "$since"; clocks 0 -900 100; ticks 1150 3500; } | write_log b.log
	order a.log b.log
	prints got <<-'END'
		[0,"alpha",false]
		[150,"beta",true]
		[2000,"alpha",false]
		[2500,"beta",true]
		[3000,"alpha",true]
	END
	# A log without a bound makes the order of all events after its first one unknown.
	{ host 3 gamma; echo "$since"; ticks 2000; } | write_log c.log
	order a.log c.log
	prints got <<-'END'
		[0,"alpha",false]
		[1000,"gamma",true]
		[2000,"alpha",true]
		[3000,"alpha",true]
	END
}

# The clock of the events never goes back in a log, but may do so between two logs of a boot.
test_a_clock_set_back_between_logs_is_noticed()
{
	local i since='since 1700000000000000000'
	for i in 1 2; do
		{ host 1 alpha | sed "s/cookie 1/cookie $i/"; echo "$since"; printf '%s\n' \
			"clock 1 ${i}000 ${i}500 10" "clock 1 ${i}900 $((i * 1000 + 1400)) 10" 'name 65 tick' \
			'block 0' "event 65 ${i}000 pid=7" end; } | write_log $i.log
	done
	run 0 posixtrace dump 2.log 1.log
	{ host 1 alpha | sed "s/cookie 1/cookie 3/"; echo "$since"; printf '%s\n' 'clock 1 500 9000 10' \
		'name 65 tick' 'block 0' 'event 65 500 pid=7' end; } | write_log 3.log
	run 1 posixtrace dump 1.log 3.log
	complains 'posixtrace: 3.log: cannot compare its times with 1.log: a clock was set back'
	# Errors that are larger than the difference prove nothing.
	{ host 1 alpha | sed "s/cookie 1/cookie 4/"; echo "$since"; printf '%s\n' 'clock 1 500 9000 -' \
		'name 65 tick' 'block 0' 'event 65 500 pid=7' end; } | write_log 4.log
	run 0 posixtrace dump 1.log 4.log
	# Another host may have any clock.
	{ host 2 beta; echo "$since"; printf '%s\n' 'clock 1 500 9000 10' 'name 65 tick' 'block 0' \
		'event 65 500 pid=7' end; } | write_log 5.log
	run 0 posixtrace dump 1.log 5.log
}

# drifting NUMBER OFFSET PPM: writes NUMBER.log of a host with this offset and drift of its clock, as
# far as its pairs of clocks admit. Each event has its true time as text.
drifting()
{
	{ host "$1" "host$1"; echo 'since 1700000000000000000'; awk -v seed="$1" -v offset="$2" -v ppm="$3" '
	function clock(t) { return int(t + offset + t * ppm / 1000000) }
	function bound(t) { t = clock(t) - t; return (t < 0 ? -t : t) + 1 }
	BEGIN {
		srand(seed)
		print "name 65 tick"
		for (t = 1000000; t < 4000000000; t += 1000000000) {
			printf "clock 0 %.0f %.0f 0\nclock 1024 %.0f %.0f %.0f\n", clock(t), clock(t), \
				clock(t), clock(t), bound(t)
		}
		print "block 0"
		for (t = 2000000 + int(rand() * 1000); t < 4000000000; t += int(rand() * 2000000))
			printf "event 65 %.0f pid=7 text=%.0f\n", clock(t), t
		print "end"
	}'; } | write_log "$1.log"
}

# No event that is not marked may be earlier than an event of another host that is listed before it.
test_no_false_order_of_clocks_that_drift()
{
	drifting 1 50000 90
	drifting 2 -70000 -80
	drifting 3 400000 300
	run 0 posixtrace dump --json 1.log 2.log 3.log
	jq -r '[.host, .unordered, .text] | join(" ")' out | awk '
	{
		for (host in last) {
			if (host == $1)
				continue
			pairs += count[host]
			wrong += last[host] > $3
			if ($2 == "false" && last[host] > $3) {
				print "false order at line", NR, $0
				bad = 1
			}
		}
		known += $2 == "false"
		count[$1]++
		if ($3 + 0 > last[$1])
			last[$1] = $3 + 0
	}
	END {
		print pairs " pairs, " known " of " NR " events in known order, " wrong " would be wrong"
		exit bad || pairs < 1000000 || known < 100 || !wrong
	}'
}

test_hundred_logs_of_hosts_are_read_in_bounded_memory()
{
	local i
	mkdir logs
	for ((i = 1; i <= 100; i++)); do
		{ printf '%s\n' "cookie $i" "boot $(printf %04x $((i % 50 + 1)))" "host host$((i % 50 + 1))" 'name 65 tick' 'block 0'
			awk -v i=$i 'BEGIN { for (n = 0; n < 40; n++) print "event 65", 1000000 + n * 100 + (i * 37 + n * 11) % 100, "pid=7 zeros=24000" }'
			echo end; } | write_log logs/$i.log
	done
	[ "$(stat -c %s logs/1.log)" -gt 900000 ]
	run 0 bash -c 'ulimit -v 1000000; exec posixtrace dump --json logs'
	[ "$(wc -l <out)" -eq 4000 ]
	jq .ns out >got
	sort -n got | cmp - got
	[ "$(jq -r .host out | sort -u | wc -l)" -eq 50 ]
}

test_tables_name_the_host()
{
	two_hosts
	run 0 posixtrace export --format=jsonl -o tables a.log b.log
	jq -c '[.host, .utid, .upid, .pid, .tid, .name, .events]' tables/threads.jsonl >got
	prints got <<-'END'
		["alpha",1,1,7,7,"one",9]
		["beta",2,2,7,7,"two",9]
	END
	jq -c '[.host, .pid, .name, .command]' tables/processes.jsonl >got
	prints got <<-'END'
		["alpha",7,"one","/bin/one"]
		["beta",7,"two","/bin/two"]
	END
	jq -c '[.host, .node, .events, .first_ns, .last_ns, .ended]' tables/hosts.jsonl >got
	prints got <<-'END'
		["alpha","alpha",9,1000,8000,true]
		["beta","beta",9,1300,8300,true]
	END
	jq -c '[.host, .pid, .tid, .cpu, .error_ns, .unordered]' tables/events.jsonl | head -n 2 >got
	prints got <<-'END'
		["alpha",7,7,0,null,false]
		["beta",7,7,0,null,true]
	END
	jq -c '[.utid, .name, .duration_ns, .complete]' tables/scopes.jsonl >got
	prints got <<-'END'
		[1,"step",6000,true]
		[2,"step",6000,true]
	END
	[ "$(jq .waker_pid tables/waits.jsonl | grep -v null | sort -u)" = 7 ]
	lacks ':[0-9]\{7,18\}[,}]' tables/states.jsonl
	run 0 posixtrace export --format=jsonl --table=threads -o - a.log
	[ "$(jq .host out)" = null ]
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

# Impossible ids in a forged log must not name threads of another host.
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
	for format in ctf chrome html; do
		run 1 posixtrace export --format=$format -o out.$format a.log b.log
		complains "posixtrace: --format=$format: cannot show several hosts (perfetto, csv, jsonl, arrow and parquet can)"
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
