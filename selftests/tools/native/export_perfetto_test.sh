#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=perfetto" with protoc. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

schema=$(cd "$(dirname "$0")" && pwd -P)

# decode FILE: decodes with protoc, which prints unknown fields as numbers. Fails if there are any that
# the trace does not describe.
# Writes the packets unchanged to the file short, and with complete times, names and switches to the
# file decoded.
decode()
{
	protoc --decode=posixtrace.test.Trace -I "$schema" perfetto.proto <"$1" >short \
		2>complaints
	cat complaints
	[ ! -s complaints ]
	"$schema/expand_perfetto" <short >decoded
	not grep -nE '^ *[0-9]+[: ]' decoded
}

# events: prints the decoded events, one per line: TYPE NAME TRACK TIME. Resolves interned names
# like a reader.
events()
{
	awk '
	function value(line) { sub(/^[^:]*: /, "", line); gsub(/^"|"$/, "", line); return line }
	/^packet \{/ { type = name = iid = ""; path = "" }
	/\{$/ { path = path "/" $1 }
	/^ +timestamp:/ { time = $2 }
	path == "/packet/track_event" && /^ +type:/ { type = $2 }
	path == "/packet/track_event" && /^ +name_iid:/ { iid = $2 }
	path == "/packet/track_event" && /^ +name:/ { name = value($0) }
	path == "/packet/track_event" && /^ +track_uuid:/ { track = $2 }
	path == "/packet/interned_data/event_names" && /iid:/ { new = $2 }
	path == "/packet/interned_data/event_names" && /name:/ { known[new] = value($0) }
	path == "/packet/track_descriptor" && /^ +uuid:/ { uuid = $2 }
	path == "/packet/track_descriptor" && /^ +name:/ { track_name[uuid] = value($0) }
	/thread_name:/ { track_name[uuid] = value($0) }
	/^ *\}$/ { sub(/\/[^\/]*$/, "", path) }
	/^\}/ && type != "" {
		if (iid != "" && !(iid in known))
			print "unknown name", iid
		if (!(track in track_name))
			print "unknown track", track
		sub(/TYPE_/, "", type)
		print type, name iid == "" ? "-" : iid == "" ? name : known[iid],
			"(" track_name[track] ")", time
	}' decoded
}

test_names_of_the_log_are_used()
{
	whole_log log <<-'END'
		host of-a-test
		name 65 tick
		task 7 9 1700000000000000000 worker
		program 7 1700000000000000000 /usr/bin/prog\x00--option
		block 0
		event 65 1700000000000000001 pid=7 tid=9 thread=0x7f0000000001
	END
	export_log perfetto out log
	decode out
	grep -q 'thread_name: "worker-9"' decoded
	grep -q 'process_name: "prog"' decoded
}

test_every_event_is_exported_once()
{
	many_events 3000 6 >script
	whole_log log <script
	export_log perfetto out log
	decode out
	events >got
	head -n 20 got
	not grep unknown got
	[ "$(wc -l <got)" -eq "$(grep -c '^event' script)" ]
	[ "$(grep -c ^SLICE_BEGIN got)" -eq "$(grep -c ^SLICE_END got)" ]
	[ "$(grep -c ^SLICE_END got)" -gt 900 ]
	# Each name is written once in a sequence, or expand_perfetto fails.
	[ "$(grep -A 2 'event_names {' decoded | grep -c 'name: ')" -lt 50 ]
	[ "$(grep -c '^INSTANT tick' got)" -eq "$(grep -c '^event 67' script)" ]
}

# The first packets must declare the clocks and start the interned names. An event that is older
# than the previous one must be in a sequence whose times count from a different moment.
test_sequence_begins_as_readers_expect()
{
	whole_log log <<-'END'
		name 65 work_begin
		name 66 work_end
		name 67 tick
		block 0
		event 65 1700000000000000001
		event 67 1700000000000000004
		event 66 1700000000000000009
	END
	export_log perfetto out log
	decode out
	head -n 55 short | diff - <(cat <<-'END'
		packet {
		  trusted_packet_sequence_id: 2
		  system_info {
		    utsname {
		      sysname: "Linux"
		      release: "6.1"
		      machine: ""
		    }
		  }
		}
		packet {
		  clock_snapshot {
		    clocks {
		      clock_id: 1
		      timestamp: 1700000000000000001
		    }
		    clocks {
		      clock_id: 65
		      timestamp: 1700000000000000001
		      is_incremental: true
		    }
		    primary_trace_clock: 1
		  }
		  trusted_packet_sequence_id: 1
		  first_packet_on_sequence: true
		}
		packet {
		  trusted_packet_sequence_id: 1
		  interned_data {
		    event_categories {
		      iid: 1
		      name: "user"
		    }
		    event_categories {
		      iid: 2
		      name: "system"
		    }
		    event_categories {
		      iid: 3
		      name: "lost"
		    }
		    event_categories {
		      iid: 4
		      name: "kernel"
		    }
		    event_categories {
		      iid: 5
		      name: "why"
		    }
		  }
		  sequence_flags: 1
		  trace_packet_defaults {
		    timestamp_clock_id: 65
		  }
		}
	END
	)
	# threads are described in a separate sequence
	[ "$(grep -c 'trusted_packet_sequence_id: 2$' decoded)" -eq "$(($(grep -c '^    thread {' decoded) + 1))" ]
	[ "$(grep -c '^packet' decoded)" -eq "$(grep -c 'trusted_packet_sequence_id: [123]$' decoded)" ]
	[ "$(grep -c 'trusted_packet_sequence_id: 3$' decoded)" -eq 3 ]
	events | awk '{ print $NF }' | paste -sd ' ' | sed 's/1700000000000000//g' >got
	diff got - <<<'004 001 009'
	# a time since the previous event; for the older event, a time since the declared moment,
	# which is a quarter of the span earlier; and a time since the previous event again
	grep -E '^  timestamp: [0-9]{1,11}$' short | awk '{ print $2 }' | paste -sd ' ' >got
	diff got - <<<'3 8589934592 5'
}

# In an hour, more moments are declared than a sequence may have clocks. The begin of a duration is older
# than the last event of its thread, which has a sequence, and of the others.
test_older_events_of_a_long_log()
{
	awk 'BEGIN {
		print "name 65 tick\nname 66 work_begin\nname 67 work_end\nblock 0"
		for (i = 0; i < 5000; i++) {
			time = 1700000000 + i
			print "event 66 " time "000000000"
			print "event 65 " time "000000005 text=tock" i % 7
			print "event 65 " time "000000006 thread=" 10 + i % 900
			print "event 67 " time "000000007"
		}
	}' | whole_log log
	export_log perfetto out log
	decode out
	events | awk '{ print $1, $2, $NF }' | sort -k 3 >got
	for ((i = 1700000000; i < 1700005000; i++)); do
		printf 'SLICE_BEGIN work %d000000000\nINSTANT tick %d000000005\n' $i $i
		printf 'INSTANT tick %d000000006\nSLICE_END - %d000000007\n' $i $i
	done >wanted
	diff got wanted
	[ "$(grep -c 'trusted_packet_sequence_id: [56]$' short)" -gt 0 ]
	[ "$(grep -c 'clock_snapshot' short)" -gt 130 ]
	# a text is defined when it is used the second time, once in each sequence
	[ "$(grep -c 'name: "tock' short)" -eq 14 ]
}

# A trace with 16384 different names has more than can be interned, but all of them must be shown.
test_more_names_than_have_numbers()
{
	awk 'BEGIN {
		for (i = 0; i < 200; i++)
			for (j = 0; j < 100; j++)
				types[i] = types[i] " u8 field_" 100 * i + j ";"
		for (i = 0; i < 200; i++)
			printf "name %d type%d\ndescribe %d struct {%s }\n", 65 + i, i, 65 + i, types[i]
		print "block 0"
		for (i = 0; i < 200; i++)
			printf "event %d 17000000000000%05d zeros=100\n", 65 + i, i
	}' | whole_log log
	export_log perfetto out log
	decode out
	arguments | grep -o 'name: "field_.*' >names
	[ "$(wc -l <names)" -eq 20000 ]
	[ "$(sort -u names | wc -l)" -eq 20000 ]
	[ "$(grep -A 1 'uint_value: 0$' short | grep -c 'name: "field_')" -gt 3000 ]
	[ "$(grep -A 1 'uint_value: 0$' short | grep -c 'name: "field_')" -lt 4000 ]
}

# unpack FILE: prints the packets inside the compressed packets of a trace; each of those must be
# smaller than 512 KiB
unpack()
{
	python3 - "$1" <<-'END'
		import sys, zlib

		def varint(data, at):
		    value = shift = 0
		    while True:
		        value |= (data[at] & 0x7f) << shift
		        shift += 7
		        at += 1
		        if data[at - 1] < 0x80:
		            return value, at

		data = open(sys.argv[1], "rb").read()
		at = 0
		while at < len(data):
		    assert data[at] == 1 << 3 | 2
		    size, at = varint(data, at + 1)
		    assert size < 512 << 10
		    end = at + size
		    tag, at = varint(data, at)
		    assert tag == 50 << 3 | 2
		    size, at = varint(data, at)
		    assert at + size == end
		    sys.stdout.buffer.write(zlib.decompress(data[at:end]))
		    at = end
	END
}

# There are more packets than fit into a compressed one.
test_compressed_packets()
{
	many_events 30000 8 | whole_log log
	export_log perfetto plain log
	export_log perfetto small log --compress
	unpack small | cmp - plain
	[ "$(wc -c <plain)" -gt 1000000 ]
	[ "$(wc -c <small)" -lt $(($(wc -c <plain) / 3)) ]
	posixtrace export --format=perfetto --compress log | cmp - small
}

test_long_packets_are_compressed()
{
	{
		printf '%s\n' 'name 65 long' "describe 65 struct { u8 field_with_a_name[65000]; }" 'block 0'
		seq -f 'event 65 %.0f zeros=65000' 1700000000 1700000004
	} | whole_log log
	export_log perfetto plain log
	export_log perfetto small log --compress
	unpack small | cmp - plain
	[ "$(wc -c <plain)" -gt 1000000 ]
}

# A duration that is held for the one around it uses names. Events that are later in the log but
# earlier in the file use them as well.
test_names_of_events_that_wait()
{
	whole_log log <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner_begin
		name 68 inner_end
		name 69 tick
		block 0
		event 65 1700000000000000000 thread=1
		event 67 1700000000000000000 thread=1 text=some
		event 68 1700000000000000100 thread=1 text=some
		event 69 1700000000000000150 thread=2 text=some
		event 67 1700000000000000160 thread=2
		event 68 1700000000000000170 thread=2
		event 66 1700000000000000200 thread=1
	END
	export_log perfetto out log
	decode out
	events | sed 's/(.*1700000000000000//' >got
	diff got - <<-'END'
		INSTANT tick 150
		SLICE_BEGIN inner 160
		SLICE_END - 170
		SLICE_BEGIN outer 000
		SLICE_BEGIN inner 000
		SLICE_END - 100
		SLICE_END - 200
	END
}

test_pairs_are_slices()
{
	whole_log log <<-'END'
		name 65 a_begin
		name 66 a_end
		name 67 b_begin
		name 68 b_end
		block 0
		event 65 1000 thread=1
		event 67 2000 thread=1
		event 68 3000 thread=1
		event 66 4000 thread=1
		event 65 5000 tid=4712 thread=2
		event 67 6000 tid=4712 thread=2
		event 66 7000 tid=4712 thread=2
		event 68 8000 tid=4712 thread=2
		event 66 9000 tid=4712 thread=2
		event 67 9001 tid=4712 thread=2
	END
	export_log perfetto out log
	decode out
	events >got
	diff - got <<-'END'
		SLICE_BEGIN b (thread 0x1) 2000
		SLICE_END - (thread 0x1) 3000
		SLICE_BEGIN a (thread 0x1) 1000
		SLICE_END - (thread 0x1) 4000
		SLICE_BEGIN a (a) 5000
		SLICE_END - (a) 7000
		SLICE_BEGIN b (thread 0x2) 6000
		SLICE_END - (thread 0x2) 8000
		INSTANT a_end (thread 0x2) 9000
		INSTANT b_begin (thread 0x2) 9001
	END
}

test_lost_events_are_reported()
{
	whole_log log <<-'END'
		name 65 work_begin
		name 66 work_end
		block 0
		event 65 1700000000000000003
		lost 7 1700000000000000004
		block 0
		event 66 1700000000000000010
	END
	export_log perfetto out log
	decode out
	events >got
	cat got
	[ "$(grep -c 'INSTANT 7 events lost (lost events) ' got)" -eq 1 ]
	[ "$(grep -B 1 'name: "lost"' decoded | grep -c 'uint_value: 7')" -eq 2 ]
}

test_hostile_names_and_data()
{
	whole_log log <<-'END'
		name 65 "},{"\x5c
		name 66 \x1b[31m\x07\xff
		name 67 größe_begin
		name 68 größe_end
		block 0
		event 65 1700000000000000001 text="\x5c"\x00
		event 66 1700000000000000002 hex=1b5b33316d
		event 67 1700000000000000003 pid=-5 thread=0xffffffffffffffff
		event 68 18446744073709551615 pid=-5 thread=0xffffffffffffffff hex=ff
		event 65 18446744073709551615 zeros=65488
	END
	export_log perfetto out log
	decode out
	events >got
	cut -d'(' -f1 got >names
	diff - names <<-'END'
		INSTANT \"},{\"\\\\ 
		INSTANT \\x1b[31m\\x07\\xff 
		SLICE_BEGIN gr\303\266\303\237e 
		SLICE_END - 
		INSTANT \"},{\"\\\\ 
	END
	grep -q 'string_value: "\\"\\\\\\\\\\""' decoded
	grep -q 'string_value: "1b5b33316d"' decoded
	grep -q 'pid: -5' decoded
	grep -q 'uint_value: 65488' decoded
}

test_layout_of_data()
{
	cat >formats <<-'END'
		all { u64 u; i64 i; x16 x; f32 f; f64 d; char c[2]; string s; pad[1]; }
	END
	whole_log log <<-'END'
		name 65 all
		block 0
		event 65 1700000000000000001 hex=ffffffffffffffffffffffffffffffff34120000c03f00000000000004c06100222f00aa
	END
	export_log perfetto out log --format-file=formats
	decode out
	grep -E '_value|^ +name: ".{1,2}"' decoded | sed 's/^ *//' | head -n 14 | paste - - >got
	diff - got <<-'END'
		uint_value: 18446744073709551615	name: "u"
		int_value: -1	name: "i"
		pointer_value: 4660	name: "x"
		double_value: 1.5	name: "f"
		double_value: -2.5	name: "d"
		string_value: "a"	name: "c"
		string_value: "\"/"	name: "s"
	END
}

# arguments: prints the arguments of the decoded events, one per line
arguments()
{
	awk '
	/^    debug_annotations \{/ { on = 1; line = "" }
	on { sub(/^ +/, ""); line = line " " $0 }
	on && /\{/ { depth++ }
	on && /^\}/ && !--depth { on = 0; print line }' decoded |
		sed 's/^ debug_annotations { //; s/ }$//; s/dict_entries/entry/g; s/array_values/item/g'
}

test_descriptions_in_the_log()
{
	described_log log
	export_log perfetto out log
	decode out
	arguments | grep -v on_cpu | sed '11,30d' >got
	diff got - <<-'END'
		string_value: "set it" name: "op"
		uint_value: 2 name: "n"
		name: "sizes" item { pointer_value: 1 } item { pointer_value: 2 }
		bool_value: true name: "ok"
		double_value: 1.5 name: "f"
		double_value: -2.5 name: "d"
		string_value: "a" name: "c"
		string_value: "ab" name: "s"
		string_value: "hello" name: "key"
		name: "units" entry { string_value: "B" name: "sizes" }
		uint_value: 2 name: "n"
		name: "at" item { entry { int_value: 1 name: "x" } entry { int_value: 2 name: "y" } } item { entry { int_value: 3 name: "x" } entry { int_value: 4 name: "y" } }
		name: "m" item { item { uint_value: 5 } item { uint_value: 6 } item { uint_value: 7 } } item { item { uint_value: 8 } item { uint_value: 9 } item { uint_value: 10 } }
		name: "names" item { entry { uint_value: 2 name: "l" } entry { string_value: "aa" name: "name" } } item { entry { uint_value: 1 name: "l" } entry { string_value: "k" name: "name" } }
		name: "units" entry { string_value: "m" name: "at.x" }
		uint_value: 67305985 name: "a"
		bool_value: true name: "data_truncated"
		string_value: "010203" name: "bytes"
		uint_value: 1 name: "a"
	END
}

test_counters_have_tracks()
{
	counter_log log
	export_log perfetto out log
	decode out
	events >got
	diff got - <<-'END'
		COUNTER - (queue) 1700000000000000000
		COUNTER - (queue) 1700000000000100000
		COUNTER - (queue) 1700000000000150000
		COUNTER - (load) 1700000000000200000
		INSTANT both (thread 0) 1700000000000300000
		INSTANT queue (thread 0) 1700000000000400000
	END
	grep -E 'counter_value|unit|counter \{' decoded | sed 's/^ *//' >got
	diff got - <<-'END'
		counter {
		unit: UNIT_SIZE_BYTES
		counter_value: 10
		counter_value: 20
		counter {
		unit: UNIT_SIZE_BYTES
		double_counter_value: 1.8446744073709552e+19
		counter {
		unit_name: "1/s"
		double_counter_value: -1.5
	END
}

# ftrace: prints the kernel events in the format of ftrace, in order of time, one per line: TIME CPU
# PID TYPE FIELDS
ftrace()
{
	awk '
	/^  ftrace_events \{/ { on = 1; cpu = 0 }
	/^  \}/ { on = 0 }
	!on { next }
	/^    cpu:/ { cpu = $2 }
	/^    event \{/ { line = flags = "" }
	/^      timestamp:/ { time = substr($2, length($2) > 6 ? length($2) - 5 : 1) + 0 }
	/^      pid:/ { pid = $2 }
	/^      common_flags:/ { flags = " flags=" $2 }
	/^      [a-z_]* \{/ { line = " " $1 }
	/^        / { sub(/^ */, ""); sub(/: /, "="); line = line " " $0 }
	/^    \}/ { print time, cpu, pid line flags }' decoded | sort -s -n -k 1,1
}

# Two successive threads on a processor make one switch. Anything else that runs there is thread 0.
test_events_of_the_scheduler()
{
	whole_log log <<-'END'
		classes sched,process
		host of-a-test
		task 7 7 1 one
		task 7 8 1 two
		thread one 7 7 0x7f01
		thread two 7 8 0x7f02
		thread child 9 9 0
		name 65 tick
		since 1700000000000000000
		event 65 500 cpu=0 @one
		kernel sched_process_fork 600 cpu=0 @one child_pid=7 child_tid=8
		kernel sched_process_fork 700 cpu=0 @one child_pid=9 child_tid=9
		kernel sched_process_fork 800 cpu=0 @one child_pid=10 child_tid=10
		kernel sched_switch_out 1000 cpu=0 @one prio=120 state=S reason=blocked next_tid=@two next_prio=100
		kernel sched_switch_in 1001 cpu=0 @two prio=100 prev_tid=@one prev_prio=120
		kernel sched_wakeup 1100 cpu=0 @one prio=120 target_cpu=1 by=thread waker_pid=@two waker_tid=@two
		kernel sched_migrate_task 1200 cpu=0 @one prio=120 orig_cpu=0 dest_cpu=1
		kernel sched_switch_in 1300 cpu=1 @one prio=120
		kernel sched_switch_out 1400 cpu=0 @two prio=100 state=R reason=preempted
		kernel sched_switch_out 1500 cpu=1 @one prio=120 state=D reason=io
		kernel sched_wakeup 1600 cpu=1 @one prio=120 target_cpu=1 by=interrupt
		kernel sched_wakeup 1650 cpu=1 @one prio=120 target_cpu=1 by=softirq waker_pid=@two waker_tid=@two
		kernel sched_wakeup 1660 cpu=1 @one prio=120 target_cpu=1 by=timer
		kernel sched_wakeup 1700 cpu=1 @one prio=120 target_cpu=1 by=another
		kernel sched_switch_in 1800 cpu=1 @one prio=120
		kernel sched_process_exec 1900 cpu=0 @child filename=/bin/true
		kernel sched_switch_in 2000 cpu=0 @two prio=100
		kernel sched_process_exit 2100 cpu=0 @two exit_code=0
		kernel sched_switch_out 2200 cpu=0 @two prio=100 state=X reason=ended
		kernel task_rename 2300 cpu=1 @one oldcomm=one newcomm=uno
		kernel sched_process_exit 2400 cpu=1 @one exit_code=0 group_dead=true
		kernel sched_wakeup 2500 cpu=1 @child prio=120 target_cpu=0 by=thread waker_pid=@one waker_tid=@one
	END
	export_log perfetto out log
	decode out
	ftrace >got
	diff got - <<-'END'
		500 0 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_comm="one" next_pid=7 next_prio=120
		600 0 7 task_newtask pid=8 comm="two" clone_flags=65536
		700 0 7 task_newtask pid=9 comm="process 9" clone_flags=0
		1000 0 7 sched_switch prev_comm="one" prev_pid=7 prev_prio=120 prev_state=1 next_comm="two" next_pid=8 next_prio=100
		1100 0 8 sched_waking comm="one" pid=7 prio=120 target_cpu=1
		1200 0 0 sched_migrate_task comm="one" pid=7 prio=120 orig_cpu=0 dest_cpu=1
		1300 1 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_comm="one" next_pid=7 next_prio=120
		1400 0 8 sched_switch prev_comm="two" prev_pid=8 prev_prio=100 prev_state=256 next_pid=0 next_prio=120
		1500 1 7 sched_switch prev_comm="one" prev_pid=7 prev_prio=120 prev_state=2 next_pid=0 next_prio=120
		1500 1 7 sched_blocked_reason pid=7 io_wait=1
		1600 1 0 sched_waking comm="one" pid=7 prio=120 target_cpu=1 flags=8
		1650 1 8 sched_waking comm="one" pid=7 prio=120 target_cpu=1 flags=16
		1660 1 0 sched_waking comm="one" pid=7 prio=120 target_cpu=1 flags=8
		1700 1 2147483647 task_rename pid=2147483647 newcomm="another"
		1700 1 2147483647 sched_waking comm="one" pid=7 prio=120 target_cpu=1
		1800 1 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_comm="one" next_pid=7 next_prio=120
		1900 0 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_pid=9 next_prio=120
		1900 0 9 sched_switch prev_pid=9 prev_prio=120 prev_state=32768 next_pid=0 next_prio=120
		1900 0 9 sched_process_exec filename="/bin/true" pid=9 old_pid=9
		2000 0 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_comm="two" next_pid=8 next_prio=100
		2100 0 8 sched_process_exit comm="two" pid=8 tgid=7
		2200 0 8 sched_switch prev_comm="two" prev_pid=8 prev_prio=100 prev_state=16 next_pid=0 next_prio=120
		2201 0 8 sched_process_free pid=8
		2400 1 7 sched_process_exit comm="uno" pid=7 tgid=7
		2400 1 7 sched_switch prev_comm="uno" prev_pid=7 prev_prio=120 prev_state=16 next_pid=0 next_prio=120
		2500 1 7 sched_waking pid=9 prio=120 target_cpu=0
		2501 1 7 sched_process_free pid=7
	END
	# The other events are shown on their threads, with the ids in the kernel.
	events >got
	diff got - <<-'END'
		INSTANT tick (one-7) 1700000000000000500
		INSTANT sched_process_fork (one-7) 1700000000000000600
		INSTANT sched_process_fork (one-7) 1700000000000000700
		INSTANT sched_process_fork (one-7) 1700000000000000800
		INSTANT sched_process_exec (thread 9) 1700000000000001900
		INSTANT sched_process_exit (two-8) 1700000000000002100
		INSTANT task_rename (one-7) 1700000000000002300
		INSTANT sched_process_exit (one-7) 1700000000000002400
	END
	[ "$(grep -c 'tid: 8$' decoded)" -eq 1 ]
	# By default, Perfetto reads times of ftrace events as clock 6. It needs the release for states.
	grep -A 12 'clock_snapshot' short | grep -A 1 'clock_id: 64' | tail -n 1 >clock
	diff clock - <<<'      timestamp: 0'
	[ "$(grep -c 'ftrace_clock: FTRACE_CLOCK_GLOBAL' short)" -eq "$(grep -c ' ftrace_events {' short)" ]
	lacks 'clock_id: 6$' short
	[ "$(grep -c 'release: ' decoded)" -eq 1 ]
}

# When an ended thread wakes its parent, Perfetto would assume that a new thread does, if it knew
# that the old one has ended. Perfetto uses a new name of a main thread for the process. An id must
# be freed before another thread uses it, even if there are no kernel events.
test_ends_and_names_of_processes()
{
	whole_log log <<-'END'
		classes all
		host h
		task 7 7 1 child
		task 8 8 1 parent
		program 7 1 /usr/bin/a-program-with-a-long-name
		thread parent 8 8 0x7f02
		thread child 7 7 0x7f01
		since 1700000000000000000
		block 0
		kernel sched_switch_in 500 @parent
		kernel sched_process_fork 600 @parent child_pid=7 child_tid=7
		kernel sched_switch_in 700 cpu=1 @child
		kernel task_rename 800 @child oldcomm=child newcomm=other
		kernel sched_process_exit 900 @child group_dead=true
		kernel sched_wakeup 1000 @parent by=thread waker_pid=@child waker_tid=@child
	END
	export_log perfetto out log
	decode out
	ftrace | grep -E '(newtask|rename|waking|free)' >got
	diff got - <<-'END'
		600 0 8 task_newtask pid=7 comm="a-program-with-a-long-name" clone_flags=0
		1000 1 7 sched_waking comm="parent" pid=8 prio=0 target_cpu=0
		1001 1 7 sched_process_free pid=7
	END
	whole_log log <<-'END'
		host h
		name 65 tick
		born 1
		task 7 7 1 first
		born 1700000000000005000
		task 7 7 1700000000000005000 second
		since 1700000000000000000
		block 0
		event 65 1000 pid=7 tid=7 thread=1
		event 65 9000 pid=7 tid=7 thread=1
	END
	rm out
	export_log perfetto out log
	decode out
	ftrace >got
	diff got - <<<'1001 0 7 sched_process_free pid=7'
}

# The kernel does not report which system call a return from a signal handler ends.
test_return_from_a_handler_is_a_slice()
{
	whole_log log <<-'END'
		classes all
		thread one 7 7 0x7f01
		since 1700000000000000000
		block 0
		kernel syscall_entry 1000 @one nr=15 name=rt_sigreturn
		kernel syscall_exit 1500 @one nr=-1 result=3
	END
	export_log perfetto out log
	decode out
	events | cut -d' ' -f 1,2 >got
	diff got - <<-'END'
		SLICE_BEGIN rt_sigreturn
		SLICE_END -
	END
}

# The exit of the first call and the entry of the last one were lost.
test_lost_parts_of_system_calls()
{
	whole_log log <<-'END'
		classes all
		thread one 7 7 0x7f01
		since 1700000000000000000
		block 0
		kernel syscall_entry 1000 @one nr=1 name=write
		lost 1 1700000000000001500
		block 0
		kernel syscall_entry 2000 @one nr=1 name=write
		kernel syscall_exit 2500 @one nr=1 result=3
		lost 1 1700000000000003000
		block 0
		kernel syscall_exit 3500 @one nr=1 result=3
	END
	export_log perfetto out log
	decode out
	events | grep -v lost | sed 's/(.*) //' >got
	grep -v posix_trace got >calls
	diff calls - <<-'END'
		INSTANT syscall_entry 1700000000000001000
		SLICE_BEGIN write 1700000000000002000
		SLICE_END - 1700000000000002500
		INSTANT syscall_exit 1700000000000003500
	END
}

# At a loss, the state of a thread ends with the thread's last event. Any later event shows that the
# thread runs.
test_lost_switches()
{
	whole_log log <<-'END'
		classes sched,fault
		thread one 7 7 0x7f01
		thread two 7 8 0x7f02
		block 0
		kernel sched_switch_in 1000 @one prio=120
		kernel page_fault 1100 @one
		kernel sched_switch_in 1500 cpu=1 @two prio=120
		kernel sched_switch_out 1600 cpu=1 @two prio=120 state=S
		kernel page_fault 1700 cpu=1 @two
		lost 7 1800
		kernel page_fault 2000 cpu=0 @two
		kernel page_fault 2100 cpu=1 @two
	END
	export_log perfetto out log
	decode out
	ftrace >got
	sed 's/prev_prio=120 //; s/ next_prio=120//' got >switches
	diff switches - <<-'END'
		1000 0 0 sched_switch prev_pid=0 prev_state=0 next_pid=7
		1100 0 7 sched_switch prev_pid=7 prev_state=32768 next_pid=0
		1500 1 0 sched_switch prev_pid=0 prev_state=0 next_pid=8
		1600 1 8 sched_switch prev_pid=8 prev_state=1 next_pid=0
		2000 0 0 sched_switch prev_pid=0 prev_state=0 next_pid=8
		2000 0 8 sched_switch prev_pid=8 prev_state=32768 next_pid=0
		2100 1 0 sched_switch prev_pid=0 prev_state=0 next_pid=8
	END
}

# starts: prints the states of threads that did not run at the start: TIME TID NAME STATE
starts()
{
	awk '
	/^  generic_kernel_task_state_event \{/ { on = 1 }
	/^  timestamp:/ { time = substr($2, length($2) > 6 ? length($2) - 5 : 1) + 0 }
	on && /comm:/ { comm = $2 }
	on && /tid:/ { tid = $2 }
	on && /state:/ { print time, tid, comm, $2 }
	/^  \}/ { on = 0 }' decoded
}

# A thread that ran has a switch at the time of START. Any other thread has an event with its state,
# unless it has an earlier event.
test_states_at_the_start()
{
	whole_log log <<-'END'
		classes sched,process
		host of-a-test
		task 7 7 1700000000000000000 main
		task 7 8 1700000000000000000 worker
		task 7 9 1700000000000000000 disk
		task 7 10 1700000000000000000 ready
		task 7 11 1700000000000000000 halted
		task 7 12 1700000000000000000 early
		task 7 13 1700000000000000000 idle
		thread main 7 7 0x7f00
		thread worker 7 8 0x7f01
		thread disk 7 9 0x7f02
		thread ready 7 10 0x7f03
		thread halted 7 11 0x7f04
		thread early 7 12 0x7f05
		thread idle 7 13 0x7f06
		since 1700000000000000000
		block 4
		event 2 1000
		state main 1500 500 1 24 0 0 3 0 0 0 read
		state worker 1600 1500 0 3 1 0 0 0 0 0 -
		state disk 1610 900 2 28 0 74 3 0 0 0 fsync
		state ready 1620 900 0 2 0 0 0 0 0 0 -
		state halted 1630 900 3 0 0 0 0 0 0 0 -
		state early 1640 900 1 24 0 0 3 0 0 0 read
		state idle 1650 900 4294967295 0 0 0 0 0 0 0 -
		state disk 9500 9100 0 3 2 0 0 0 0 0 -
		state worker 9510 9200 1 24 1 7 0 0 0 0 poll
		block 2
		kernel sched_switch_in 1100 @early
		block 0
		kernel sched_wakeup 4000 @main by=timer
		kernel sched_switch_in 5000 @main runnable=1000
		block 4
		event 3 8000
		event 2 9000
		event 2 9900
	END
	export_log perfetto out log
	decode out
	starts >got
	diff got - <<-'END'
		1000 7 "main-7" TASK_STATE_INTERRUPTIBLE_SLEEP
		1000 9 "disk-9" TASK_STATE_UNINTERRUPTIBLE_SLEEP
		1000 10 "ready-10" TASK_STATE_RUNNABLE
		1000 11 "halted-11" TASK_STATE_STOPPED
		9000 8 "worker-8" TASK_STATE_INTERRUPTIBLE_SLEEP
	END
	ftrace | grep -E 'switch|blocked' | sed 's/ [a-z]*_\(comm="[^"]*"\|prio=[0-9]*\)//g' >got
	diff got - <<-'END'
		1000 0 7 sched_blocked_reason pid=7 caller=1 io_wait=0
		1000 0 9 sched_blocked_reason pid=9 caller=2 io_wait=1
		1000 0 11 sched_blocked_reason pid=11 io_wait=0
		1000 1 0 sched_switch prev_pid=0 prev_state=0 next_pid=8
		1100 2 0 sched_switch prev_pid=0 prev_state=0 next_pid=12
		1100 2 12 sched_switch prev_pid=12 prev_state=32768 next_pid=0
		1600 1 8 sched_switch prev_pid=8 prev_state=32768 next_pid=0
		5000 0 0 sched_switch prev_pid=0 prev_state=0 next_pid=7
		9000 1 8 sched_blocked_reason pid=8 caller=3 io_wait=0
		9000 2 0 sched_switch prev_pid=0 prev_state=0 next_pid=9
	END
	sed -n '/kernel_symbols {/,/}/s/^ *name: "\(.*\)"$/\1/p' decoded >got
	diff got - <<-'END'
		read
		fsync
		poll
	END
	# A filter may leave out events that changed the states, so there are no states.
	rm out
	export_log perfetto out log --filter=sched_switch_in
	decode out
	starts >got
	[ ! -s got ]
}

test_system_calls_and_interrupts_are_slices()
{
	whole_log log <<-'END'
		classes syscall,irq,fault
		name 65 work_begin
		name 66 work_end
		thread one 7 7 0x7f01
		thread early 7 7 0
		block 0
		kernel syscall_exit 500 @early nr=59
		kernel syscall_entry 1000 @early nr=0 args=3,0x1000,64 name=read
		event 65 1500 @one
		kernel syscall_exit 2000 @one nr=0 result=-11
		event 66 2500 @one
		event 65 3000 @one
		kernel syscall_entry 3100 @one nr=999
		kernel irq 3500 @one number=24 duration=300 name=virtio0
		kernel irq 3600 @one number=3 kind=softirq duration=3601
		kernel syscall_exit 3900 @one nr=999 result=5
		event 66 4000 @one
		kernel syscall_entry 5000 @one nr=1 name=write
		kernel syscall_exit 6000 @one nr=2 result=5
		kernel syscall_entry 7000 @one nr=231 name=exit_group
	END
	export_log perfetto out log
	decode out
	events >got
	diff got - <<-'END'
		INSTANT syscall_exit (thread 7) 500
		SLICE_BEGIN read (system calls) 1000
		SLICE_END - (system calls) 2000
		SLICE_BEGIN work (thread 7) 1500
		SLICE_END - (thread 7) 2500
		SLICE_BEGIN virtio0 (interrupts) 3200
		SLICE_END - (interrupts) 3500
		SLICE_BEGIN softirq 3 (interrupts) 0
		SLICE_END - (interrupts) 3600
		SLICE_BEGIN system call 999 (thread 7) 3100
		SLICE_END - (thread 7) 3900
		SLICE_BEGIN work (thread 7) 3000
		SLICE_END - (thread 7) 4000
		INSTANT syscall_entry (thread 7) 5000
		INSTANT syscall_exit (thread 7) 6000
		INSTANT syscall_entry (thread 7) 7000
	END
	arguments | grep '"args"' | head -n 1 >got
	diff got - <<-'END'
		name: "args" item { pointer_value: 3 } item { pointer_value: 4096 } item { pointer_value: 64 }
	END
	arguments | grep -q '^int_value: -11 name: "result"$'
	[ "$(grep -c 'category_iids: 4' decoded)" -eq 8 ]
}

# Arguments must not repeat the name, length, thread or CPU that the viewer already shows.
test_no_argument_repeats_what_is_shown()
{
	whole_log log <<-'END'
		classes all
		thread one 7 7 0x7f01
		block 0
		kernel syscall_entry 1000 @one nr=39 args=1,2,3,4,5,6 name=getpid
		kernel syscall_exit 1100 @one nr=39 result=7
		kernel syscall_entry 1200 @one nr=999 args=1,2,3,4,5,6
		kernel syscall_exit 1300 @one nr=999 result=-2
		kernel irq 2000 @one number=236 duration=100 kind=vector name=local_timer
		kernel page_fault 2100 @one user=true write=true address=0x1000
		kernel sched_switch_in 3000 @one prio=120
		kernel page_fault 3100 @one user=true exec=true address=0x2000
		kernel page_fault 3200 cpu=1 @one address=0x3000
		kernel sched_switch_out 4000 cpu=0 @one prio=120 state=S
		kernel signal_generate 5000 cpu=1 @one sig=9
	END
	export_log perfetto out log
	decode out
	arguments >got
	diff got - <<-'END'
		uint_value: 0 name: "on_cpu"
		int_value: 7 name: "result"
		name: "args" item { pointer_value: 1 } item { pointer_value: 2 } item { pointer_value: 3 } item { pointer_value: 4 } item { pointer_value: 5 } item { pointer_value: 6 }
		uint_value: 0 name: "on_cpu"
		int_value: -2 name: "result"
		uint_value: 236 name: "number"
		string_value: "vector" name: "kind"
		uint_value: 0 name: "on_cpu"
		bool_value: true name: "user"
		bool_value: true name: "write"
		pointer_value: 4096 name: "address"
		pointer_value: 0 name: "ip"
		uint_value: 0 name: "on_cpu"
		bool_value: true name: "user"
		bool_value: true name: "exec"
		pointer_value: 8192 name: "address"
		pointer_value: 0 name: "ip"
		pointer_value: 12288 name: "address"
		pointer_value: 0 name: "ip"
		uint_value: 1 name: "on_cpu"
		string_value: "SIGKILL" name: "sig"
		int_value: 0 name: "code"
		string_value: "another" name: "by"
		string_value: "delivered" name: "result"
		int_value: 0 name: "sender_pid"
		int_value: 0 name: "sender_tid"
		uint_value: 1 name: "on_cpu"
	END
}

# Sizes in percent of the uncompressed log.
test_traces_are_little_larger_than_logs()
{
	local limit log
	while read -r log limit; do
		xz -dc "$schema/logs/$log.log.xz" >plain
		rm -f out
		export_log perfetto out plain
		echo "$log: $(stat -c %s out) bytes, log $(stat -c %s plain)"
		[ $(($(stat -c %s out) * 100)) -le $(($(stat -c %s plain) * limit)) ]
	done <<-'END'
		gitgc 150
		tar 130
	END
}

# Events with impossible values, or without the fields of their type, are shown unchanged.
test_hostile_events_of_the_kernel()
{
	whole_log log <<-'END'
		cpus 2000
		classes all
		describe 17 struct { string tid; }
		describe 22 struct { i32 tid; }
		thread one 7 7 0x7f01
		block 0
		kernel sched_switch_out 1000 @one state=99 reason=77 prio=-2147483648 next_tid=-5
		kernel sched_switch_out 1001 @one state=99 reason=77 prio=-2147483648
		kernel sched_switch_out 1002 @one cut
		kernel sched_switch_out 1003 @one hex=01
		kernel sched_switch_in 1004 @one hex=61626300
		kernel sched_process_exit 1005 @one hex=07000000
		kernel sched_wakeup 1006 @one waker_tid=-1
		kernel sched_wakeup 1007 @one by=200 target_cpu=4294967295
		kernel sched_switch_out 1008 cpu=1500 @one state=S
		kernel sched_wakeup 1009 cpu=0 pid=-3 tid=7
		kernel irq 1010 @one duration=18446744073709551615 kind=255 name=\xff\x1b
		kernel syscall_entry 1011 @one nr=-2147483648 name=\x00"
		kernel syscall_exit 1012 @one nr=-2147483648 result=-9223372036854775808
		kernel sched_process_fork 1013 @one child_pid=7 child_tid=7
		kernel sched_process_exec 1014 @one filename=\xff"
	END
	export_log perfetto out log
	decode out
	ftrace >got
	diff got - <<-'END'
		1001 0 0 sched_switch prev_pid=0 prev_prio=120 prev_state=0 next_pid=7 next_prio=-2147483648
		1001 0 7 sched_switch prev_pid=7 prev_prio=-2147483648 prev_state=32768 next_pid=0 next_prio=120
		1007 0 2147483647 task_rename pid=2147483647 newcomm="another"
		1007 0 2147483647 sched_waking pid=7 prio=0 target_cpu=-1
		1008 0 7 sched_process_free pid=7
		1010 0 7 sched_process_free pid=7
		1014 0 7 sched_process_exec filename="\\xff\"" pid=7 old_pid=7
	END
	events | cut -d' ' -f 1,2 >got
	diff got - <<-'END'
		INSTANT sched_switch_out
		INSTANT sched_switch_out
		INSTANT sched_switch_out
		INSTANT sched_switch_in
		INSTANT sched_process_exit
		INSTANT sched_wakeup
		INSTANT sched_switch_out
		INSTANT sched_wakeup
		SLICE_BEGIN \\xff\\x1b
		SLICE_END -
		SLICE_BEGIN system
		SLICE_END -
		INSTANT sched_process_fork
		INSTANT sched_process_exec
	END
}

test_memory_is_bounded_for_durations_that_wait()
{
	waiting_durations_log log
	(ulimit -v 81920 && export_log perfetto out log)
	[ "$(grep -aoc inner out)" -gt 0 ]
}

test_memory_is_bounded()
{
	many_events 300000 7 | whole_log log
	(ulimit -v 24576 && export_log perfetto out log)
	[ "$(stat -c %s out)" -gt 10000000 ]
}

# Binary output would confuse a terminal.
test_terminal_is_refused()
{
	whole_log log <<<'name 65 tick'
	script -qec 'posixtrace export -O perfetto log; echo "status $?"' /dev/null >said </dev/null
	cat said
	grep -q 'posixtrace: --output: required when standard output is a terminal' said
	grep -q 'status 1' said
}

# Values that are not finite numbers must not be points of the curve.
test_counter_without_a_number()
{
	whole_log log <<-'END'
		name 65 load
		describe 65 { f64 counter; }
		block 0
		event 65 1000 hex=000000000000f83f
		event 65 2000 hex=000000000000f87f
		event 65 3000 hex=000000000000f07f
	END
	export_log perfetto out log
	decode out
	events | cut -d' ' -f 1,2 >got
	diff - got <<-'END'
		COUNTER -
		INSTANT load
		INSTANT load
	END
}

# Perfetto keeps the order of the file, so if two slices begin together, the outer one must come
# first.
test_slices_with_equal_begins()
{
	whole_log log <<-'END'
		name 65 outer_begin
		name 66 outer_end
		name 67 inner_begin
		name 68 inner_end
		block 0
		event 65 1000 thread=1
		event 67 1000 thread=1
		event 68 2000 thread=1
		event 66 2000 thread=1
		event 65 3000 thread=1
		event 67 3000 thread=1
		event 68 4000 thread=1
	END
	export_log perfetto out log
	decode out
	events | cut -d' ' -f 1,2 >got
	diff - got <<-'END'
		SLICE_BEGIN outer
		SLICE_BEGIN inner
		SLICE_END -
		SLICE_END -
		INSTANT outer_begin
		SLICE_BEGIN inner
		SLICE_END -
	END
}

# If two processes had the same id, they must have two tracks.
test_process_id_is_used_again()
{
	whole_log log <<-'END'
		host h
		name 65 tick
		task 10 10 0 old
		program 10 0 /bin/old
		born 5000
		task 10 10 5000 new
		program 10 5000 /bin/new
		block 0
		event 65 1000 pid=10 tid=10 thread=1
		event 65 9000 pid=10 tid=10 thread=1
	END
	export_log perfetto out log
	decode out
	awk '$1 == "uuid:" { uuid = $2 } $1 == "process_name:" { print $2, uuid }' decoded >got
	cut -d' ' -f 1 got | diff - <(printf '%s\n' '"old"' '"new"')
	[ "$(cut -d' ' -f 2 got | sort -u | wc -l)" -eq 2 ]
}

# why_perfetto_test.sh compares the path with that of "posixtrace why".
test_critical_path_has_slices_and_a_flow()
{
	kernel_log log
	export_log perfetto out log --scope=work
	decode out
	[ "$(grep -c '^    flow_ids: 1$' decoded)" -eq 1 ]
	[ "$(grep -c '^    terminating_flow_ids: 1$' decoded)" -eq 1 ]
	events | grep -E '\(work 1 of 1\)|woke' | sed 's/17000000000000//' >got
	head -n 12 got | diff - <(cat <<-'END'
		SLICE_BEGIN work (work 1 of 1) 01000
		SLICE_BEGIN main-7: running in the program (work 1 of 1) 01000
		SLICE_END - (work 1 of 1) 02000
		SLICE_BEGIN main-7: running in read, fd 3 (work 1 of 1) 02000
		SLICE_END - (work 1 of 1) 03000
		SLICE_BEGIN main-7: blocked in read, fd 3, woken by worker-8 (work 1 of 1) 03000
		SLICE_BEGIN worker-8: unknown (work 1 of 1) 03000
		SLICE_END - (work 1 of 1) 08000
		SLICE_END - (work 1 of 1) 08000
		INSTANT woke main-7 (worker-8) 08000
		SLICE_BEGIN main-7: runnable, woken (work 1 of 1) 08000
		SLICE_BEGIN main-7: no thread of the log ran there (work 1 of 1) 08000
	END
	)
}

run_cases
