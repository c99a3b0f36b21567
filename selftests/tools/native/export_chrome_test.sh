#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=chrome" and the matching of pairs, with jq. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

# events FILE: prints the events, except metadata, one per line: phase, name, times, process
events()
{
	jq -r '.traceEvents[] | select(.ph != "M") |
		[.ph, .name, .ts, .dur, .pid, .id, .args.end.text, .args.lost] |
		map(select(. != null)) | join(" ")' "$1"
}

test_every_event_is_exported_once()
{
	many_events 20000 3 >script
	whole_log log <script
	export_log chrome out log
	jq -r '.traceEvents[] | select(.ph == "X" or .ph == "i" or .ph == "b") | .ph' out |
		sort | uniq -c | awk '{ print $2, $1 }' >got
	cat got
	wanted=$(grep -c '^event' script)
	[ "$(awk '{ n += $2 * ($1 == "i" ? 1 : 2) } END { print n }' got)" -eq "$wanted" ]
	[ "$(jq -r .otherData.events out)" -eq "$wanted" ]
	# Of six events, two are begins and two are ends; one is tick and one is message.
	[ "$(awk '$1 == "X" { print $2 }' got)" -gt $((wanted / 4)) ]
	[ "$(jq '[.traceEvents[] | select(.name == "tick")] | length' out)" -eq \
		"$(grep -c '^event 67' script)" ]
	# The durations of a thread are nested, as a viewer requires.
	jq -r '.traceEvents[] | select(.ph == "X") |
		[.tid, (.ts * 1000 | round), ((.ts + .dur) * 1000 | round)] | join(" ")' out |
		sort -k1,1n -k2,2n -k3,3nr | awk '
		$1 != tid { tid = $1; depth = 0 }
		{
			while (depth && end[depth] <= $2) depth--
			if (depth && end[depth] < $3) { print "not nested:", $0; exit 1 }
			end[++depth] = $3
		}'
}

test_pairs_are_durations()
{
	whole_log log <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner:begin
		name 68 inner:end
		name 69 _begin
		name 70 inner_end
		block 0
		event 65 1000000000000000000 thread=1 text=in
		event 67 1000000000000000500 thread=1
		event 65 1000000000000000750 thread=2
		event 70 1000000000000000900 thread=1
		event 69 1000000000000000950 thread=1
		event 68 1000000000000001001 thread=1
		event 66 1000000000001234567 thread=1 text=out
		event 66 1000000000001300000 thread=1
		event 67 1000000000001400000 thread=1
		event 67 1000000000001400001 thread=1
		event 68 1000000000001400002 thread=1
		event 68 1000000000001400004 thread=1
	END
	export_log chrome out log
	events out >got
	diff - got <<-'END'
		i inner_end 0.9 4711
		i _begin 0.95 4711
		X inner 0.5 0.501 4711
		X outer 0 1234.567 4711 out
		i outer_end 1300 4711
		X inner 1400.001 0.001 4711
		X inner 1400 0.004 4711
		i outer_begin 0.75 4711
	END
	jq -e '.traceEvents[] | select(.name == "outer") | .args.begin.text == "in"' out
	jq -e '.otherData.first_event_ns == "1000000000000000000"' out
}

# The order is: A begins, B begins, A ends, B ends. So A gets a separate track.
test_overlapping_pairs_are_asynchronous()
{
	whole_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		name 68 b_end
		block 0
		event 65 1700000000000001000 thread=1
		event 67 1700000000000002000 thread=1
		event 66 1700000000000003000 thread=1
		event 68 1700000000000004000 thread=1
		event 65 1700000000000005000 thread=1
		event 67 1700000000000005000 thread=1
		event 68 1700000000000005000 thread=1
		event 66 1700000000000006000 thread=1
	END
	export_log chrome out log
	events out >got
	diff - got <<-'END'
		b a 0 4711 0x1
		e a 2 4711 0x1
		X b 1 2 4711
		X a 4 1 4711
		X b 4 0 4711
	END
}

# An event that was written two flushes late is also read late.
test_times_that_go_back()
{
	whole_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		block 0
		event 65 1700000000000005000
		epoch
		epoch
		block 0
		event 66 1700000000000003999
		event 66 1700000000000005500
	END
	export_log chrome out log
	events out >got
	diff - got <<-'END'
		i a_begin 0 4711
		i a_end -1.001 4711
		i a_end 0.5 4711
	END
}

test_threads_and_processes_have_names()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000001 pid=7 thread=0x7f0000000001
		event 65 1700000000000000002 pid=8 thread=0x7f0000000001
		event 65 1700000000000000003 pid=7 thread=0x7f0000000001
		block 4
		event 3 1700000000000000004 pid=0 hex=00000000
	END
	export_log chrome out log
	jq -r '.traceEvents[] | select(.ph == "M") | [.name, .pid, .tid, .args.name] |
		join(" ")' out >got
	diff - got <<-'END'
		trace_name 0 0 of a test
		process_name 7 1 process 7
		thread_name 7 1 thread 0x7f0000000001
		process_name 8 2 process 8
		thread_name 8 2 thread 0x7f0000000001
		process_name 0 3 trace stream
		thread_name 0 3 system events
	END
}

test_names_of_the_log_are_used()
{
	whole_log log <<-'END'
		host of-a-test
		name 65 tick
		task 7 9 1700000000000000000 before
		task 7 9 1700000000000000005 work"er
		program 7 1700000000000000000 /usr/bin/prog\x00--option
		block 0
		event 65 1700000000000000001 pid=7 tid=9 thread=0x7f0000000001
	END
	export_log chrome out log
	jq -r '.traceEvents[] | select(.ph == "M") | [.name, .args.name] | join(" ")' out >got
	diff - got <<-'END'
		trace_name of a test
		process_name prog
		thread_name work"er-9
	END
}

test_lost_events_are_reported()
{
	whole_log log <<-'END'
		name 65 work_begin
		name 66 work_end
		block 0
		event 65 1700000000000000001
		event 66 1700000000000000002
		event 65 1700000000000000003
		lost 7 1700000000000000004
		block 0
		event 66 1700000000000000010
	END
	export_log chrome out log
	jq -e '[.traceEvents[] | select(.cat == "lost")] | length == 1' out
	jq -e '.traceEvents[] | select(.cat == "lost") | .name == "7 events lost" and .args.lost == 7' out
	jq -e '[.traceEvents[] | select(.ph == "X") | .args.lost] == [null, 7]' out
	jq -e '.otherData.events_lost == "7"' out
}

test_hostile_names_and_data()
{
	whole_log log <<-'END'
		name 65 "},{"\x5c
		name 66 \x1b[31m\x07\xff
		name 67 </script>\xe2\x80\xa8größe
		block 0
		event 65 1700000000000000001 text="\x5c"\x00
		event 66 1700000000000000002 hex=1b5b33316d
		event 67 18446744073709551615 pid=-5 thread=0xffffffffffffffff hex=ff
		event 65 18446744073709551615 text=line\x0aline\x09tab
		event 65 18446744073709551615 zeros=65488
	END
	export_log chrome out log
	not grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	jq -r '.traceEvents[] | select(.ph == "i") | .name' out >names
	diff - names <<-'END'
		"},{"\\
		\x1b[31m\x07\xff
		</script>\xe2\x80\xa8größe
		"},{"\\
		"},{"\\
	END
	jq -r '.traceEvents[] | select(.ph == "i") | .args.text // .args.bytes[:20]' out >data
	diff - data <<-'END'
		"\\"
		1b5b33316d
		ff
		line\nline\ttab
		00000000000000000000
	END
	jq -e '[.traceEvents[].args.data_len | select(. != null)] == [65488]' out
}

test_layout_of_data()
{
	cat >formats <<-'END'
		all { u64 u; i64 i; x16 x; f32 f; f64 d; char c[2]; string s; pad[1]; }
	END
	whole_log log <<-'END'
		name 65 all
		block 0
		event 65 1700000000000000001 hex=ffffffffffffffffffffffffffffffff34120000c03f000000000000f87f6100222f00aa
		event 65 1700000000000000002 hex=01
	END
	export_log chrome out log --format-file=formats
	jq -c '.traceEvents[] | select(.name == "all") | .args | .fields // .bytes' out >got
	diff - got <<-'END'
		{"u":"18446744073709551615","i":-1,"x":"0x1234","f":1.5,"d":"nan","c":"a","s":"\"/"}
		"01"
	END
}

test_descriptions_in_the_log()
{
	described_log log
	export_log chrome out log
	jq -c '.traceEvents[] | select(.ph == "i") | .args | del(.cpu)' out >got
	diff got - <<-'END'
		{"fields":{"op":"set it","n":2,"sizes":["0x1","0x2"],"ok":true,"f":1.5,"d":-2.5,"c":"a","s":"ab","key":"hello"},"units":{"sizes":"B"}}
		{"fields":{"op":"neg","n":0,"sizes":[],"ok":false,"f":0,"d":0,"c":"","s":"","key":"\\x00\\x00"},"units":{"sizes":"B"}}
		{"fields":{"op":7,"n":0,"sizes":[],"ok":false,"f":0,"d":0,"c":"","s":"","key":"\\xff\\n"},"units":{"sizes":"B"}}
		{"fields":{"n":2,"at":[{"x":1,"y":2},{"x":3,"y":4}],"m":[[5,6,7],[8,9,10]],"names":[{"l":2,"name":"aa"},{"l":1,"name":"k"}]},"units":{"at.x":"m"}}
		{"fields":{"a":67305985},"truncated":true}
		{"bytes":"010203"}
		{"fields":{"a":1}}
	END
}

# A begin shows the fields that are complete in the kept part of its data.
test_fields_of_pairs()
{
	whole_log log <<-'END'
		name 65 work_begin
		name 66 work_end
		describe 65 { u8 a; u8 more[299]; }
		describe 66 { bool ok; }
		block 0
		event 65 1700000000000000001 zeros=300
		event 66 1700000000000000002 hex=01
		event 65 1700000000000000003 zeros=301
		event 66 1700000000000000004 hex=00
	END
	export_log chrome out log
	jq -c '.traceEvents[] | select(.ph == "X") | .args | del(.begin.cpu, .end.cpu) |
		del(.begin.fields.more, .begin.bytes)' out >got
	diff got - <<-'END'
		{"begin":{"fields":{"a":0},"data_len":300},"end":{"fields":{"ok":true}}}
		{"begin":{"data_len":301},"end":{"fields":{"ok":false}}}
	END
}

test_counters()
{
	counter_log log
	export_log chrome out log
	jq -c '.traceEvents[] | select(.ph == "C" or .ph == "i") |
		[.ph, .name, .pid, .args.counter // .args.fields]' out >got
	diff got - <<-'END'
		["C","queue",7,10]
		["C","queue",7,20]
		["C","queue",8,18446744073709552000]
		["C","load",7,-1.5]
		["i","both",7,{"counter":1,"other":2}]
		["i","queue",7,null]
	END
	posixtrace dump --json log | jq -c 'select(.user) | .counter' | paste -sd' ' >got
	diff got - <<<'true true true true null null'
}

test_format_file_wins_over_descriptions()
{
	described_log log
	echo 'other struct { i32 b; }' >formats
	export_log chrome out log --format-file=formats
	jq -c '.traceEvents[] | select(.name == "other") | .args.fields' out | tail -n 1 >got
	diff got - <<<'{"b":1}'
}

# A format file that does not fit the log causes warnings.
test_wrong_layouts_are_reported()
{
	cat >formats <<-'END'
		right { u64 number; }
		wide { u64 number; }

		narrow { u32 number; }
		path { string path; }
		more { string path;
			u8 number; }
		text { char text[4]; }
		unknown { u8 number; }
		cut { u64 number; }
		silent { u64 number; }
		"bad\x1bname" { u8 number; }
		posix_trace_start { u8 number; }
	END
	whole_log log <<-'END'
		name 65 right
		name 66 wide
		name 67 narrow
		name 68 path
		name 69 more
		name 70 text
		name 71 cut
		name 72 silent
		block 0
		event 65 1 zeros=8
		event 66 2 zeros=6
		event 66 3 zeros=8
		event 66 4 zeros=5
		event 67 5 zeros=8
		event 68 6 zeros=3
		event 69 7 zeros=1
		event 70 8 hex=ff6100
		event 71 9 zeros=4 cut
		event 72 10 zeros=8
	END
	for format in chrome perfetto ctf html; do
		posixtrace export -O "$format" --format-file=formats -o "$format" log 2>said
		diff -u - said <<-'END'
			posixtrace: formats:2: wide: the fields have 8 bytes, an event has 6: shown as bytes
			posixtrace: formats:4: narrow: the fields have 4 bytes, an event has 8: shown as bytes
			posixtrace: formats:5: path: the 3 bytes of an event do not match these fields: shown as bytes
			posixtrace: formats:6: more: the fields have at least 2 bytes, an event has 1: shown as bytes
			posixtrace: formats:8: text: the fields have 4 bytes, an event has 3: shown as bytes
			posixtrace: formats:9: unknown: the log has no such user event type
			posixtrace: formats:12: bad\x1bname: the log has no such user event type
			posixtrace: formats:13: posix_trace_start: the log has no such user event type
		END
	done
}

# spans FILE: prints the states, system calls and interrupts: thread, category, name, times, details
spans()
{
	jq -r '([.traceEvents[] | select(.ph == "M" and .name == "thread_name") |
		{ key: "\(.tid)", value: .args.name }] | from_entries) as $names |
		[.traceEvents[] | select(.cat == "state" or .cat == "syscall" or .cat == "irq")] |
		sort_by(.tid, .cat, .ts) | .[] |
		[$names["\(.tid)"], .cat, .ph, .name, .ts, .dur // .id, (.args | del(.cpu) | tojson)] |
		join(" ")' "$1"
}

test_states_at_the_start()
{
	whole_log log <<-'END'
		classes sched,process
		host h
		task 7 7 1700000000000000000 main
		task 7 8 1700000000000000000 worker
		thread main 7 7 0x7f00
		thread worker 7 8 0x7f01
		since 1700000000000000000
		block 4
		event 2 1000
		state main 1500 500 1 24 0 0 3 0 0 0 read
		state worker 1600 1500 0 3 1 0 0 0 0 0 -
		block 0
		kernel sched_wakeup 4000 @main by=timer
		kernel sched_switch_in 5000 @main runnable=1000
	END
	run 0 posixtrace export --format=chrome -o chrome log
	spans chrome >got
	grep ' state X ' got >states
	prints states <<-'END'
		main-7: states state X blocked (sleep) 0 3 {"letter":"S","call":"read","by":"timer"}
		main-7: states state X runnable 3 1 {"by":"timer"}
		worker-8: states state X running 0 4 {"open":true}
	END
	# A filter may leave out events that changed the states, so there are no states.
	run 0 posixtrace export --format=chrome --filter=sched_switch_in -o filtered log
	! grep -q "\"call\":\"read\"" filtered
}

test_states_and_calls()
{
	kernel_log log
	export_log chrome out log
	spans out >got
	diff -u - got <<-'END'
		main-7 syscall X read 2 7.5 {"args":["0x3","0x7f00","0x64","0x0","0x0","0x0"],"nr":0,"result":100}
		main-7 syscall X exit_group 20.5 0.5 {"args":["0x0","0x0","0x0","0x0","0x0","0x0"],"nr":231,"unfinished":true}
		worker-8 syscall X fsync 11 0 {"args":["0x5","0x0","0x0","0x0","0x0","0x0"],"nr":74,"unfinished":true,"lost":7}
		main-7: states irq X ata 9.6 0.3 {"kind":"irq","number":4,"nested":false}
		main-7: states state X running 0 3 {}
		main-7: states state X blocked (sleep) 3 5 {"letter":"S","call":"read","by":"thread","waker":[7,8]}
		main-7: states state X runnable 8 1 {"by":"thread","waker":[7,8]}
		main-7: states state X running 9 1.5 {}
		main-7: states state X runnable 10.5 1.5 {"preempted":true}
		main-7: states state X running 12 2 {}
		main-7: states state X unknown 14 5.9 {}
		main-7: states state X runnable 19.9 0.1 {}
		main-7: states state X running 20 1 {}
		born-9: states state X runnable 2.6 0.1 {"by":"thread","waker":[7,7]}
		born-9: states state X running 2.7 1.3 {}
		born-9: states state X stopped 4 2 {"letter":"T"}
		born-9: states state X runnable 6 0.5 {}
		born-9: states state X running 6.5 7.5 {}
		born-9: states state X unknown 14 7 {}
		worker-8: states state X runnable 4.5 0.5 {}
		worker-8: states state X running 5 7 {}
		worker-8: states state X blocked (I/O) 12 2 {"letter":"D","io":true,"call":"fsync"}
		worker-8: states state X unknown 14 7 {}
	END
	# The track of states follows the track of the thread.
	jq -r '.traceEvents[] | select(.name == "thread_sort_index") |
		"\(.args.sort_index) \(.tid)"' out | sort -n >got
	diff - got <<-'END'
		2 1
		3 1000001
		4 2
		5 1000002
		6 3
		7 1000003
		8 4
	END
	# The other events are marks of their threads, not of all threads.
	jq -r '.traceEvents[] | select(.cat == "kernel") | [.ph, .name, .s] | join(" ")' out >got
	diff - got <<-'END'
		i sched_process_exec t
		i sched_process_fork t
		i sched_wakeup t
		i page_fault t
		i sched_process_exit t
	END
	# Logs without kernel events have no such tracks.
	many_events 100 1 | whole_log other
	export_log chrome plain other
	not grep -E 'sort_index|: states' plain
}

# A system call that overlaps another duration gets a separate track.
test_overlapping_calls_are_asynchronous()
{
	whole_log log <<-'END'
		classes syscall
		name 65 a_begin
		name 66 a_end
		thread a 7 7 0x1000
		since 1700000000000000000
		block 0
		event 65 0 @a
		kernel syscall_entry 1000 @a nr=1 name=inside
		kernel syscall_exit 2000 @a nr=1
		kernel syscall_entry 3000 @a nr=2 name=over_end
		event 66 4000 @a
		kernel syscall_exit 5000 @a nr=2
		kernel syscall_entry 6000 @a nr=3 name=over_begin
		event 65 7000 @a
		kernel syscall_exit 8000 @a nr=3
		event 66 9000 @a
		kernel syscall_entry 10000 @a nr=4 name=around
		event 65 10100 @a
		event 66 10200 @a
		kernel syscall_exit 11000 @a nr=4
	END
	export_log chrome out log
	jq -r '.traceEvents[] | select(.ph != "M") | [.ph, .name, .ts, .dur // .id] | join(" ")' out >got
	diff -u - got <<-'END'
		X inside 1 1
		X a 0 4
		b over_end 3 0x1
		e over_end 5 0x1
		b over_begin 6 0x2
		e over_begin 8 0x2
		X a 7 2
		X a 10.1 0.1
		X around 10 1
	END
}

test_hostile_events_of_the_kernel()
{
	whole_log log <<-'END'
		classes all
		since 1700000000000000000
		block 0
		kernel syscall_entry 100 nr=-1 name="},{\x22\x00\xff\x1b
		kernel sched_switch_out 200 state=S reason=blocked
		kernel sched_wakeup 250 by=thread waker_pid=8 waker_tid=-2147483648
		kernel sched_wakeup 300 by=thread waker_pid=-1 waker_tid=2147483647
		kernel sched_switch_in 400 runnable=18446744073709551615
		kernel syscall_exit 500 nr=-1 result=-9223372036854775808
		kernel irq 600 duration=18446744073709551615 kind=77 number=4294967295 name="\x5c\x07
		kernel sched_switch_out 700 state=200 reason=200
		kernel sched_switch_in 800 hex=00
		kernel syscall_entry 900 name=
		kernel syscall_entry 950 pid=-1 tid=-1 name=
	END
	export_log chrome out log
	not grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	jq -e '.traceEvents | map(select(.cat == "syscall")) | map(.name) |
		. == ["\"},{\"", "system call 0"]' out
	jq -e '[.traceEvents[] | select(.cat == "irq")] | length == 1 and .[0].ts == 0' out
	jq -e '[.traceEvents[].args.waker // empty] | unique == [[-1,2147483647]]' out
	# Events that contradict each other are shown as events, and do not change a state.
	jq -e '[.traceEvents[] | select(.ph == "i") | [.name, .ts]] |
		index([["sched_wakeup", 0.15]]) and index([["sched_switch_in", 0.7]]) and
		index([["syscall_entry", 0.85]])' out
	# Without descriptions there are no states.
	whole_log bare <<-'END'
		classes all bare
		block 0
		kernel sched_switch_in 1700000000000000000
		kernel sched_switch_out 1700000000000000100
	END
	export_log chrome without bare
	jq -e '[.traceEvents[] | select(.ph != "M") | .ph] == ["i", "i"]' without
}

# Begins without an end must not affect how others are matched, and their number is limited.
test_begins_without_end()
{
	{
		echo 'name 65 leak_begin'
		echo 'name 66 work_begin'
		echo 'name 67 work_end'
		echo 'block 0'
		for ((i = 0; i < 1500; i++)); do
			echo "event 65 $((1700000000000000000 + i * 10)) thread=1"
			echo "event 66 $((1700000000000000001 + i * 10)) thread=1"
			echo "event 67 $((1700000000000000005 + i * 10)) thread=1"
		done
	} >script
	whole_log log <script
	export_log chrome out log
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and (.dur * 1000 | round) == 4)] | length' out)" -eq 1500 ]
	[ "$(jq '[.traceEvents[] | select(.name == "leak_begin" and .ph == "i")] | length' out)" \
		-eq 1500 ]
	# When there are 1024 open begins, export drops the first one, long before the end of the
	# log.
	[ "$(grep -n leak_begin out | head -n 1 | cut -d: -f1)" -lt 1100 ]
}

# An exec ends the other threads of its process. It must not visit the threads of other processes:
# 20000 execs would visit 200000 threads each.
test_exec_visits_its_process_only()
{
	awk 'BEGIN {
		print "classes all"
		print "block 0"
		for (i = 1; i <= 200000; i++)
			printf "kernel sched_switch_out %d pid=%d tid=%d state=S reason=blocked\n", i, i, i
		print "kernel sched_switch_in 200001 pid=7 tid=200001"
		for (i = 1; i <= 20000; i++)
			printf "kernel sched_process_exec %d pid=7 tid=7\n", 200001 + i
		print "kernel page_fault 300000 pid=1 tid=1"
	}' | whole_log log
	(ulimit -t 20 && export_log chrome out log)
	# the first exec ended one state; all others last until the end of the log
	[ "$(grep '"name":"blocked (sleep)"' out | grep -c '"open":true')" -eq 200000 ]
	grep '"name":"running"' out | grep -vc '"open":true' | grep -qx 1
}

test_memory_is_bounded_for_durations_that_wait()
{
	waiting_durations_log log
	(ulimit -v 81920 && export_log chrome out log)
	# durations beyond the limit have separate tracks
	[ "$(grep '"name":"inner"' out | grep -c '"ph":"[Xb]"')" -eq 8000 ]
	[ "$(grep '"name":"inner"' out | grep -c '"ph":"X"')" -gt 500 ]
}

test_memory_is_bounded()
{
	many_events 300000 4 | whole_log log
	(ulimit -v 24576 && export_log chrome out log)
	[ "$(grep -c '"ph":"X"' out)" -gt 90000 ]
}

# Begin plus length must not exceed the begin of the next duration, even after rounding to floating
# point.
test_durations_meet()
{
	awk 'BEGIN {
		print "name 65 a_begin\nname 66 a_end\nblock 0"
		time = 1000
		for (i = 0; i < 20000; i++) {
			printf "event %d %d thread=1\n", 65 + i % 2, time
			time += i % 2 ? 0 : 1 + int(rand() * 1000000)
		}
	}' | whole_log log
	export_log chrome out log
	jq -r '[.traceEvents[] | select(.ph == "X") | [.ts, .ts + .dur]] |
		[.[:-1], .[1:]] | transpose[] | select(.[0][1] > .[1][0])' out >got
	[ ! -s got ]
	[ "$(jq '[.traceEvents[] | select(.ph == "X")] | length' out)" -eq 10000 ]
}

# Viewers use signed 64-bit integers.
test_large_counters()
{
	whole_log log <<-'END'
		name 65 bytes
		describe 65 { u64 counter "B"; }
		block 0
		event 65 1000 hex=ffffffffffffff7f
		event 65 2000 hex=0000000000000080
		event 65 3000 hex=ffffffffffffffff
	END
	export_log chrome out log
	grep -o '"counter":[^}]*' out >got
	diff - got <<-'END'
		"counter":9223372036854775807
		"counter":9.2233720368547758e+18
		"counter":1.8446744073709552e+19
	END
}

# Events with equal times have a known order, so pairs are nested.
test_pairs_with_equal_times()
{
	whole_log log <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner_begin
		name 68 inner_end
		name 69 core_begin
		name 70 core_end
		block 0
		event 65 1000 thread=1
		event 67 1000 thread=1
		event 69 1000 thread=1
		event 70 2000 thread=1
		event 68 3000 thread=1
		event 66 3000 thread=1
		event 67 4000 thread=1
		event 69 4000 thread=1
		event 70 5000 thread=1
	END
	export_log chrome out log
	events out >got
	diff - got <<-'END'
		X outer 0 2 4711
		X inner 0 2 4711
		X core 0 1 4711
		i inner_begin 3 4711
		X core 3 1 4711
	END
}

# An interrupted export must leave no file.
test_interrupted_export()
{
	many_events 400000 5 | whole_log log
	for format in chrome perfetto html ctf; do
		for signal in INT TERM HUP; do
			# a background job ignores SIGINT
			env --default-signal=INT posixtrace export -O "$format" -o out log &
			until [ -e out ]; do
				kill -0 $!
			done
			kill -s "$signal" $!
			status=0
			wait $! || status=$?
			[ "$status" -eq $((128 + $(kill -l "$signal"))) ]
			[ ! -e out ]
		done
		fails 1 'File too large' sh -c "ulimit -f 100; posixtrace export -O $format -o out log"
		[ ! -e out ]
	done
}

# An existing file must not be overwritten, and no incomplete file may remain.
test_output()
{
	whole_log log <<<'name 65 tick'
	echo precious >out
	fails 1 'posixtrace: --output: out: File exists; remove it, or choose another name' \
		posixtrace export -O chrome -o out log
	[ "$(cat out)" = precious ]
	posixtrace export -O chrome log >stdout
	posixtrace export -O chrome -o - log >dash
	cmp stdout dash
	jq -e '.traceEvents | length == 1' stdout
	many_events 5000 5 | whole_log log
	fails 1 'File too large' sh -c \
		'trap "" XFSZ; ulimit -f 100; posixtrace export -O chrome -o cut log'
	[ ! -e cut ]
	fails 1 'No space left' sh -c 'posixtrace export -O chrome log >/dev/full'
}

# Perfetto misreads a number with more than 18 decimal places, and then drops the next duration
# because the two seem to overlap. These durations have the longest numbers.
test_lengths_have_few_digits()
{
	{
		echo 'name 65 a_begin'
		echo 'name 66 a_end'
		echo 'block 0'
		for ((time = 1000; time < 9000; time += 7)); do
			echo "event 65 $time thread=1"
			echo "event 66 $((time + 1)) thread=1"
		done
	} | whole_log log
	export_log chrome out log
	not grep -E '"dur":[0-9]*\.[0-9]{19}' out
	grep -qE '"dur":[0-9]*\.[0-9]{10}' out
}

# Viewers would show an interrupt without a name, so give it one.
test_interrupts_without_a_name()
{
	whole_log log <<-'END'
		classes all
		thread one 7 7 0x7f01
		block 0
		kernel sched_switch_in 500 @one
		kernel irq 1000 @one duration=10 number=4 kind=irq
		kernel irq 2000 @one duration=10 number=236 kind=vector name=local_timer
	END
	export_log chrome out log
	jq -r '.traceEvents[] | select(.cat == "irq") | .name' out >got
	diff got - <<<$'irq 4\nlocal_timer'
}

test_compressed_with_gzip()
{
	many_events 30000 8 | whole_log log
	export_log chrome plain log
	export_log chrome small log --compress
	zcat small | cmp - plain
	gzip --test small
	[ "$(wc -c <small)" -lt $(($(wc -c <plain) / 5)) ]
	posixtrace export --format=chrome --compress log | cmp - small
	whole_log log </dev/null
	rm small
	posixtrace export --format=chrome --compress --output=small log 2>said
	grep -q '^posixtrace: log: no events: ' said
	zcat small | jq -e . >/dev/null
}

test_compressed_output_is_not_for_a_terminal()
{
	whole_log log </dev/null
	fails 1 '--output: required when standard output is a terminal' \
		script -qec "posixtrace export --format=chrome --compress log" /dev/null
}

run_cases
