#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests what Perfetto's trace processor makes of the logs of several hosts: in one trace, in traces
# that are concatenated, and in traces in an archive.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

trace_processor=$("$native/../../programs/trace_processor")

# query TRACE: prints the rows of the queries in standard input
query()
{
	node "$native/../../programs/query.mjs" "$trace_processor" "$1"
}

# host NUMBER NAME OFFSET: prints the first lines of a script for write_log. OFFSET is CLOCK_REALTIME
# minus the clock of the events.
host()
{
	printf '%s\n' "cookie $1" 'cpus 4' 'classes sched,syscall,process' "boot 0$1" "host $2 x86_64" \
		'since 1700000000000000000' "clock 0 0 $3 0" 'clock 1 0 5000 10' 'clock 7 0 9000 10' \
		"clock 0 20000 $(($3 + 20000)) 0" 'clock 1 20000 25001 10' 'clock 7 20000 29001 10'
}

# worker NAME FIELD SHIFT: prints the events of a thread. All hosts use the same ids and processor.
# Its scopes have one field, often enough that it becomes an extension.
worker()
{
	local at=$3 i
	printf '%s\n' "task 7 7 0 $1" "program 7 0 /bin/$1" 'name 65 step:begin' 'name 66 step:end' \
		"describe 65 { u32 $2; }" 'block 0' "kernel sched_switch_in $((at + 1000)) pid=7 tid=7"
	for ((i = 0; i < 50; i++)); do
		printf '%s\n' "event 65 $((at + 1100 + i * 10)) pid=7 tid=7 hex=0$((i % 10))000000" \
			"event 66 $((at + 1105 + i * 10)) pid=7 tid=7"
	done
	printf '%s\n' "kernel syscall_entry $((at + 1800)) pid=7 tid=7 nr=0 name=read args=3,0,64" \
		"kernel sched_switch_out $((at + 2000)) pid=7 tid=7 state=1 reason=blocked" \
		"kernel sched_wakeup $((at + 5000)) pid=7 tid=7 by=thread waker_pid=7 waker_tid=8 target_cpu=1" \
		"kernel sched_switch_in $((at + 6000)) pid=7 tid=7" \
		"kernel syscall_exit $((at + 6100)) pid=7 tid=7 nr=0 name=read result=1" \
		"kernel sched_switch_out $((at + 8000)) pid=7 tid=7 state=1 reason=blocked" end
}

# two_hosts: writes a.log and b.log: the same at the same times of CLOCK_REALTIME
two_hosts()
{
	{ host 1 alpha 0; worker one size 0; } | write_log a.log
	{ host 2 beta -300; worker two depth 300; } | write_log b.log
}

# rows TRACE: prints what the trace has of both hosts
rows()
{
	query "$1" <<-'END'
		SELECT 'machine', raw_id, sysname, arch FROM machine WHERE sysname IS NOT NULL ORDER BY raw_id;
		SELECT 'process', machine.raw_id, pid, name FROM process JOIN machine ON machine_id = machine.id
			WHERE pid ORDER BY machine.raw_id;
		SELECT 'thread', machine.raw_id, tid, name, is_main_thread FROM thread JOIN machine
			ON machine_id = machine.id WHERE tid AND name IS NOT NULL ORDER BY machine.raw_id;
		SELECT 'slice', machine.raw_id, slice.name, count(*), min(ts), max(ts + dur) FROM slice
			JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid)
			JOIN machine ON thread.machine_id = machine.id GROUP BY 2, 3 ORDER BY 2, 3;
		SELECT 'state', machine.raw_id, ts, thread_state.dur, state, cpu.cpu FROM thread_state
			JOIN thread USING (utid) JOIN machine ON thread.machine_id = machine.id
			LEFT JOIN cpu ON cpu.id = thread_state.ucpu ORDER BY 2, 3;
		SELECT 'arg', machine.raw_id, flat_key, sum(int_value) FROM slice JOIN args USING (arg_set_id)
			JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid)
			JOIN machine ON thread.machine_id = machine.id GROUP BY 2, 3 ORDER BY 2, 3;
		SELECT 'clock', machine.raw_id, ts, clock_name, clock_value FROM clock_snapshot
			JOIN machine ON machine_id = machine.id WHERE clock_name IN ('MONOTONIC', 'BOOTTIME') ORDER BY 2, 3, 4;
		SELECT 'stat', name, value FROM stats WHERE severity != 'info' AND value > 0
	END
}

# expected: prints the rows that all traces must have
expected()
{
	local id t=1700000000000
	printf '%s\t%s\t%s\t%s\n' machine 1 Linux x86_64 machine 2 Linux x86_64 process 1 7 one process 2 7 two
	printf '%s\t%s\t%s\t%s\t%s\n' thread 1 7 one-7 1 thread 2 7 two-7 1
	for id in 1 2; do
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' slice $id read 1 ${t}001800 ${t}006100 \
			slice $id step 50 ${t}001100 ${t}001595
	done
	for id in 1 2; do
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' state $id ${t}001000 1000 Running 0 state $id ${t}002000 3000 S '' \
			state $id ${t}005000 1000 R '' state $id ${t}006000 2000 Running 0 state $id ${t}008000 -1 S ''
	done
	printf '%s\t%s\t%s\t%s\n' arg 1 debug.args 67 arg 1 debug.result 1 arg 1 debug.size 225 \
		arg 2 debug.args 67 arg 2 debug.depth 225 arg 2 debug.result 1
	# The clock of the events of beta is 300 ns ahead.
	printf '%s\t%s\t%s\t%s\t%s\n' clock 1 ${t}000000 BOOTTIME ${t}009000 clock 1 ${t}000000 MONOTONIC ${t}005000 \
		clock 1 ${t}020000 BOOTTIME ${t}029001 clock 1 ${t}020000 MONOTONIC ${t}025001 \
		clock 2 1699999999999999700 BOOTTIME ${t}009000 clock 2 1699999999999999700 MONOTONIC ${t}005000 \
		clock 2 ${t}019700 BOOTTIME ${t}029001 clock 2 ${t}019700 MONOTONIC ${t}025001
}

test_hosts_in_one_trace()
{
	two_hosts
	export_log perfetto out b.log a.log
	rows out >got
	diff <(expected) got
	export_log perfetto small b.log --compress a.log
	[ "$(stat -c %s small)" -lt "$(stat -c %s out)" ]
	rows small | diff got -
}

# Each has extensions of Perfetto's schema, of which there is one set for all.
test_hosts_in_several_traces()
{
	two_hosts
	export_log perfetto a a.log --machine-id=1
	export_log perfetto b b.log --machine-id=2
	cat a b >both
	rows both >got
	diff <(expected) got
	tar -cf archive a b
	rows archive | diff got -
}

test_a_trace_names_its_machine()
{
	two_hosts
	export_log perfetto out a.log
	protoc --decode=posixtrace.test.Trace -I "$native" perfetto.proto <out >short
	[ "$(grep -c 'machine_name: "alpha"' short)" -eq 1 ]
	[ "$(grep -c 'machine_id' short)" -eq 0 ]
	export_log perfetto out2 b.log a.log
	protoc --decode=posixtrace.test.Trace -I "$native" perfetto.proto <out2 >short
	grep 'machine_name' short | sort >got
	diff got - <<<$'    machine_name: "alpha"\n    machine_name: "beta"'
	[ "$(grep -c '^packet' short)" -eq "$(grep -c '^  machine_id: [12]$' short)" ]
	export_log perfetto out3 b.log --machine-id=8 a.log
	protoc --decode=posixtrace.test.Trace -I "$native" perfetto.proto <out3 >short
	[ "$(grep '^  machine_id' short | sort -u | tr -dc 0-9)" = 89 ]
}

test_machine_id_is_for_perfetto()
{
	two_hosts
	fails 2 'posixtrace: --machine-id: needs --format=perfetto' \
		posixtrace export --format=chrome --machine-id=1 a.log
}

run_cases
