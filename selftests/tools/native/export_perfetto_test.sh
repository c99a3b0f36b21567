#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tests "posixtrace export --format=perfetto" with protoc. Prints TAP.
# shellcheck disable=SC2317	# cases are called by their names

# shellcheck source=selftests/tools/native/export_common.sh
. "$(dirname "$0")/export_common.sh"

schema=$(cd "$(dirname "$0")" && pwd -P)

# decode FILE: decodes with protoc. It prints fields that the schema lacks by number: fails then.
decode()
{
	protoc --decode=posixtrace.test.Trace -I "$schema" perfetto.proto <"$1" >decoded \
		2>complaints
	cat complaints
	[ ! -s complaints ]
	not grep -nE '^ *[0-9]+[: ]' decoded
}

# events: prints the decoded events, one per line: TYPE NAME TRACK TIME. Resolves interned names
# as a reader does.
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

names_of_the_log_are_used_case()
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

every_event_is_exported_once_case()
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
	# Each name is written once.
	[ "$(grep -A 2 'event_names {' decoded | grep -c 'name: ')" -eq \
		"$(grep -A 2 'event_names {' decoded | grep 'name: ' | sort -u | wc -l)" ]
	[ "$(grep -c '^INSTANT tick' got)" -eq "$(grep -c '^event 67' script)" ]
}

# The first packets declare the clock and the begin of interned names.
sequence_begins_as_readers_expect_case()
{
	whole_log log <<-'END'
		name 65 tick
		block 0
		event 65 1700000000000000001
	END
	export_log perfetto out log
	decode out
	head -n 32 decoded | diff - <(cat <<-'END'
		packet {
		  clock_snapshot {
		    clocks {
		      clock_id: 1
		      timestamp: 1700000000000000001
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
		  }
		  sequence_flags: 1
		  trace_packet_defaults {
		    timestamp_clock_id: 1
		  }
		}
	END
	)
	[ "$(grep -c '^packet' decoded)" -eq "$(grep -c 'trusted_packet_sequence_id: 1$' decoded)" ]
	[ "$(grep -c 'sequence_flags: 2' decoded)" -eq "$(grep -c track_event decoded)" ]
}

pairs_are_slices_case()
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
		event 65 5000 thread=2
		event 67 6000 thread=2
		event 66 7000 thread=2
		event 68 8000 thread=2
		event 66 9000 thread=2
		event 67 9001 thread=2
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

lost_events_are_reported_case()
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

hostile_names_and_data_case()
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

layout_of_data_case()
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

# arguments: prints the arguments of the decoded events, each in a line
arguments()
{
	awk '
	/^    debug_annotations \{/ { on = 1; line = "" }
	on { sub(/^ +/, ""); line = line " " $0 }
	on && /\{/ { depth++ }
	on && /^\}/ && !--depth { on = 0; print line }' decoded |
		sed 's/^ debug_annotations { //; s/ }$//; s/dict_entries/entry/g; s/array_values/item/g'
}

descriptions_in_the_log_case()
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

counters_have_tracks_case()
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

memory_is_bounded_case()
{
	many_events 300000 7 | whole_log log
	(ulimit -v 24576 && export_log perfetto out log)
	[ "$(stat -c %s out)" -gt 10000000 ]
}

# Binary output would confuse a terminal.
terminal_is_refused_case()
{
	whole_log log <<<'name 65 tick'
	script -qec 'posixtrace export -f perfetto log; echo "status $?"' /dev/null >said </dev/null
	cat said
	grep -q 'posixtrace: --output: required when standard output is a terminal' said
	grep -q 'status 1' said
}

run_cases
